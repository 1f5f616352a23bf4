"""`check` finds every kind of damage that we can do, and `repair` mends what is derived."""

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.settings import Settings
from tests.contract.plans import failure, measured, plan
from tests.stores import cypher

pytestmark = pytest.mark.neo4j("slow")

DAMAGE = {
    "a wrong count": ("statistics", "MATCH ()-[n:NEXT]->() SET n.tried = n.tried + 1"),
    "a wrong sum": ("statistics", "MATCH ()-[n:NEXT]->() SET n.sum_log2_effect = 7"),
    "a wrong best": ("statistics", "MATCH ()-[n:NEXT]->() SET n.best_effect = 77.0"),
    "lost statistics": ("statistics", "MATCH ()-[n:NEXT]->() DELETE n"),
    "invented statistics": (
        "statistics",
        "MATCH (a:Technique {id: 'cuda/a'}) CREATE (a)-[:NEXT {id: 'cuda/a cuda/a X', device: 'X',"
        " examples: 1, tried: 0, verified: 0, verified_first: 0, sum_log2_effect: 0}]->(a)",
    ),
    "a wrong share": ("statistics", "MATCH (s:Share) SET s.tried = 7"),
    "a share's wrong best": ("statistics", "MATCH (s:Share) SET s.best_effect = 77.0"),
    "lost shares": ("statistics", "MATCH (s:Share) DELETE s"),
    "an invented share": (
        "statistics",
        "CREATE (:Share {id: 'x', pair: 'cuda/a cuda/a', source: 'cuda/a', problem: 'none',"
        " device: 'X', examples: 1})",
    ),
    "a wrong second best": ("statistics", "MATCH ()-[n:NEXT]->() SET n.best_other = 77.0"),
    "a wrong checksum": ("statistics", "MATCH ()-[n:NEXT]->() SET n.checksum = n.checksum + 1"),
    "a share's wrong checksum": ("statistics", "MATCH (s:Share) SET s.written = [9]"),
    "a lost failure": ("failure", "MATCH (f:Failure) DELETE f"),
    "a failure elsewhere": ("failure", "MATCH (f:Failure) SET f.pair = 'cuda/b cuda/b'"),
    "a wrong bookkeeping": ("edge", "MATCH (e:Edge) SET e.kept = 99"),
    "a lost Edge": ("edge", "MATCH (e:Edge) DELETE e"),
}


def fill(store: GraphStore) -> None:
    list(store.set_bound(4))
    store.merge(
        [plan("ab", code=f"int x{n};", measurements=[measured(effect=1.0 + n)]) for n in range(12)]
        + [plan("a", failures=[failure("b")])]
    )


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found_and_mended(
    store: GraphStore, store_settings: Settings, damage: str
) -> None:
    fill(store)
    assert store.check() == ()
    right = store.transitions(), list(store.export()), store.stats()
    kind, statement = DAMAGE[damage]
    cypher(store_settings, statement)
    found = store.check()
    assert kind in {finding.kind for finding in found}
    store.repair(found)
    assert store.check() == ()
    assert (store.transitions(), list(store.export()), store.stats()) == right


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MATCH (a:Archived) WITH a ORDER BY a.id LIMIT 1 DELETE a", "nowhere"),
        (
            "MATCH (s)-[r:TRANSITION]->(d) WITH s, d, r ORDER BY r.id LIMIT 1 CREATE (a:Archived)"
            " SET a = properties(r), a.source = s.id, a.target = d.id, a.pair = s.id + ' ' + d.id",
            " and ",
        ),
    ],
    ids=["lost", "doubled"],
)
def test_an_example_that_is_lost_or_doubled_is_found(
    store: GraphStore, store_settings: Settings, statement: str, said: str
) -> None:
    fill(store)
    cypher(store_settings, statement)
    examples = [finding for finding in store.check() if finding.kind == "example"]
    assert len(examples) == 1
    assert said in examples[0].found
