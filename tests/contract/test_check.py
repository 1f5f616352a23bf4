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
    "a lost TRANSITION": ("edge", "MATCH ()-[r:TRANSITION {step: 2}]->() DELETE r"),
    "a TRANSITION elsewhere": (
        "edge",
        "MATCH (s)-[r:TRANSITION]->(d) WITH s, d, r ORDER BY r.id LIMIT 1 WITH s, d, r,"
        " properties(r) AS p DELETE r WITH s, d, p CREATE (d)-[n:TRANSITION]->(s) SET n = p",
    ),
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


def test_texts_that_are_lost_are_found_and_no_repair_invents_them(
    store: GraphStore, store_settings: Settings
) -> None:
    fill(store)
    cypher(store_settings, "MATCH (s:Steps) WITH s ORDER BY s.id LIMIT 1 DELETE s")
    cypher(store_settings, "MATCH ()-[r:TRANSITION]->() DELETE r")
    assert len([finding for finding in store.check() if finding.kind == "example"]) == 1
    store.repair(store.check())
    assert [(finding.kind, finding.found) for finding in store.check()] == [("example", "nowhere")]
