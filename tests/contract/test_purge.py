"""Contract: after a purge a graph is what it were had it never been told."""

from dataclasses import replace
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.graph import MergePlan, Provenance, PurgeCounts
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.recount import wrong_counts
from tests.stores import cypher, wipe

VOCABULARY = [technique(name) for name in "abc"]


def kept() -> list[MergePlan]:
    """What others have told."""
    return [
        plan(
            "ab" if number % 3 else "ca",
            problem=f"p{number % 4}",
            code=f"int kept{number};",
            measurements=[measured(effect=1 + number / 10)],
            failures=[failure("b", 1)] if number % 5 == 0 else (),
        )
        for number in range(12)
    ]


def purged() -> list[MergePlan]:
    """What is to go, with techniques that only an ingest made for it."""
    plans = [
        plan(
            "abn" if number % 2 else "ab",
            problem="secret",
            code=f"int gone{number};",
            source=Source(model="leaver", run=f"run {number % 2}"),
            measurements=[measured(effect=100 + number), measured(A100, effect=3.0)],
            failures=[failure("c", 1), failure("m", 0)],
        )
        for number in range(12)
    ]
    return [replace(one, new=tuple(map(reviewed, one.new))) for one in plans]


def reviewed(one: Any) -> Any:
    return one.model_copy(update={"review": True})


def fill(store: GraphStore, *sent: list[MergePlan]) -> None:
    """A graph that was told these in turn, with vectors."""
    store.add_techniques(VOCABULARY)
    for plans in sent:
        for first in range(0, len(plans), 7):
            store.merge(plans[first : first + 7])
    list(store.embed(HashEmbedder().space, HashEmbedder().embed))


def whole(settings: Settings) -> list[str]:
    """All that a graph holds, but for when it was told."""
    rows = cypher(settings, "MATCH (n) RETURN labels(n)[0] AS kind, properties(n) AS had")
    rows += cypher(
        settings,
        "MATCH (s)-[r]->(d) RETURN type(r) + s.id + d.id AS kind, properties(r) AS had",
    )
    for row in rows:
        row["had"].pop("created", None)
    return sorted(f"{row['kind']} {sorted(row['had'].items(), key=str)}" for row in rows)


@pytest.mark.parametrize(
    ("origins", "first"),
    [
        ([Provenance("problem", "secret")], True),
        ([Provenance("model", "leaver")], False),
        ([Provenance("run", "run 0"), Provenance("run", "run 1")], True),
    ],
    ids=["problem, told first", "source, told last", "run"],
)
def test_what_is_purged_leaves_no_trace(
    store: GraphStore, store_settings: Settings, origins: list[Provenance], *, first: bool
) -> None:
    fill(store, kept())
    never = whole(store_settings)
    wipe(store_settings)
    store.apply_schema()
    fill(store, *((purged(), kept()) if first else (kept(), purged())))
    assert {technique.id for technique in store.techniques()} >= {"cuda/n", "cuda/m"}
    counted = sum((store.count_of(origin) for origin in origins), PurgeCounts())
    done = PurgeCounts()
    for origin in origins:
        *_, last = store.purge(origin)
        done += last
    assert (done.trajectories, done.examples, done.failures, done.techniques) == (12, 30, 24, 2)
    assert replace(done, techniques=0) == counted
    assert wrong_counts(store) == []
    assert whole(store_settings) == never


def test_a_purge_that_was_stopped_is_finished_by_the_next_and_then_nothing_is_left(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regraph_kg.backends.store.PURGED", 4)
    secret = Provenance("problem", "secret")
    fill(store, kept(), purged())
    assert next(iter(store.purge(secret))).trajectories == 4
    assert wrong_counts(store) == []
    *_, done = store.purge(secret)
    assert done.trajectories == 8
    assert store.stats().trajectories == 12
    *_, nothing = store.purge(secret)
    assert nothing == store.count_of(secret) == PurgeCounts()


def test_a_technique_that_is_used_elsewhere_stays(store: GraphStore) -> None:
    store.merge(purged()[1:2])  # makes a, b and n, which nobody has reviewed
    store.merge([plan("a", problem="p")])
    list(store.purge(Provenance("problem", "secret")))
    assert {technique.id for technique in store.techniques()} == {"cuda/a"}
