"""Contract: after a purge a graph is what it were had it never been told."""

import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from regraph_kg.backends.written import key
from regraph_kg.graph import GraphStore
from regraph_kg.llm.embedder import HashEmbedder
from regraph_kg.models.graph import FreeChoice, FreeRun, FreeSteps, MergePlan
from regraph_kg.models.purge import Provenance, PurgeCounts
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_purge, open_store
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.contract.whole_graphs import everything
from tests.stores import cypher, wipe

pytestmark = pytest.mark.neo4j("slow")

T = TypeVar("T")

BOUND = 8
VOCABULARY = [technique(name) for name in "abc"]


def kept(count: int = 30) -> list[MergePlan]:
    """What others have told: more than a pair has room for."""
    return [
        plan(
            "ab" if number % 3 else "ca",
            problem=f"p{number % 4}",
            code=f"int kept{number};",
            measurements=[measured(effect=1 + number / 10)],
            failures=[failure("b", 1)] if number % 5 == 0 else (),
        )
        for number in range(count)
    ]


def purged(count: int = 30) -> list[MergePlan]:
    """What is to go: better, so that it displaces the others; a technique and a name of its own."""
    plans = [
        plan(
            "abn" if number % 2 else "ab",
            problem="secret",
            code=f"int gone{number};",
            model="leaver",
            measurements=[measured(effect=100 + number), measured(A100, effect=3.0)],
            failures=[failure("c", 1), failure("m", 0)],
        )
        for number in range(count)
    ]
    return [_of_run(one, f"run {number % 2}") for number, one in enumerate(plans)]


def _of_run(one: MergePlan, run: str) -> MergePlan:
    """Told by a run, whose first label relabelling has taken for cuda/a."""
    source = Source(model="leaver", run=run, created="2026-11-20T10:00:00Z", licence="MIT")
    trajectory = one.trajectory.model_copy(update={"source": source})
    first, *others = one.labels
    first = replace(first, label="Learned", stage="lexical")
    steps = trajectory.steps
    named = steps[0].model_copy(update={"label": "Learned"})
    trajectory = trajectory.model_copy(update={"steps": (named, *steps[1:])})
    new = tuple(each.model_copy(update={"review": True}) for each in one.new)
    return replace(one, trajectory=trajectory, labels=(first, *others), new=new)


def free_run(problem: str, model: str, run: str) -> FreeRun:
    """What a search's free steps came to."""
    steps = FreeSteps(tried=2, verified=1, sum_log2_effect=5)
    choice = FreeChoice(first=steps, later=FreeSteps())
    return FreeRun(
        run=run, model=model, target="cuda", device="GPU", problem=problem, choice=choice
    )


def fill(store: GraphStore, *sent: list[MergePlan]) -> None:
    """A graph that was told these in turn, with vectors."""
    list(store.set_bound(BOUND))
    store.add_techniques(VOCABULARY)
    for plans in sent:
        for first in range(0, len(plans), 7):
            store.merge(plans[first : first + 7])
    embed(store)


def embed(store: GraphStore) -> None:
    """Give a vector to what has none."""
    list(store.embed(HashEmbedder().space, HashEmbedder().embed))


def purge(settings: Settings, origin: Provenance) -> PurgeCounts:
    """All of one origin."""
    with closing(open_purge(settings)) as graph:
        *_, done = graph.run(origin)
    return done


def whole(store: GraphStore, settings: Settings) -> dict[str, Any]:
    """All that a graph holds once every pair has chosen its examples from all of them.

    Without when something was written, and how often.
    """
    list(store.set_bound(BOUND))
    embed(store)
    nodes = cypher(settings, "MATCH (n) RETURN labels(n)[0] AS label, properties(n) AS node")
    arrows = cypher(
        settings,
        "MATCH (s)-[r]->(d) RETURN type(r) AS label, s.id AS source, d.id AS target,"
        " properties(r) AS node",
    )
    for row in (*nodes, *arrows):
        for name in ("created", "written", "checksum"):
            row["node"].pop(name, None)
        row["node"] = sorted(row["node"].items(), key=str)
    return {
        "everything": everything(store),
        "rows": sorted(map(str, (*nodes, *arrows))),
        "check": store.check(),
    }


_NEVER: dict[Path, dict[str, Any]] = {}
"""Data folder of a server -> what its graph is without what is purged."""


@pytest.fixture
def never(store: GraphStore, store_settings: Settings) -> dict[str, Any]:
    """The graph that has not seen it; the store is empty again."""
    place = store_settings.data_dir
    if place not in _NEVER:
        fill(store, kept())
        store.add_free_runs([free_run("p1", "other", "run 9")])
        _NEVER[place] = whole(store, store_settings)
        wipe(store_settings)
        store.apply_schema()
    return _NEVER[place]


@pytest.mark.parametrize(
    ("origins", "first"),
    [
        ([Provenance("problem", "secret")], True),
        ([Provenance("problem", "secret")], False),
        ([Provenance("model", "leaver")], False),
        ([Provenance("run", "run 0"), Provenance("run", "run 1")], True),
    ],
    ids=["problem, told first", "problem, told last", "source", "run"],
)
def test_what_is_purged_leaves_no_trace(
    store: GraphStore,
    store_settings: Settings,
    never: dict[str, Any],
    origins: list[Provenance],
    *,
    first: bool,
) -> None:
    fill(store, *((purged(), kept()) if first else (kept(), purged())))
    store.add_free_runs([free_run("secret", "leaver", "run 0"), free_run("p1", "other", "run 9")])
    assert {technique.id for technique in store.techniques()} >= {"cuda/n", "cuda/m"}
    done = PurgeCounts()
    for origin in origins:
        done += purge(store_settings, origin)
    assert done == PurgeCounts(30, 75, 60, 1, 2)
    assert store.check() == ()
    assert whole(store, store_settings) == never
    rows = cypher(store_settings, "MATCH ()-[n:NEXT]->() RETURN n.written AS written")
    assert {abs(one) for row in rows for one in row["written"]}.isdisjoint({key("secret")})


@pytest.mark.neo4j("quick")
def test_what_is_counted_before_is_what_goes(store: GraphStore, store_settings: Settings) -> None:
    fill(store, kept(), purged())
    with closing(open_purge(store_settings)) as graph:
        assert graph.count(Provenance("run", "run 0")) == PurgeCounts(15, 30, 30)
        assert graph.count(Provenance("run", "nobody's")) == PurgeCounts()
        *_, done = graph.run(Provenance("run", "nobody's"))
    assert done == PurgeCounts()
    assert store.stats().trajectories == 60


def test_a_purge_that_was_stopped_is_finished_by_the_next(
    store: GraphStore,
    store_settings: Settings,
    never: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("regraph_kg.backends.purge.AT_ONCE", 4)
    fill(store, kept(), purged())
    store.add_free_runs([free_run("p1", "other", "run 9")])
    with closing(open_purge(store_settings)) as graph:
        assert next(iter(graph.run(Provenance("problem", "secret")))).trajectories == 4
    assert store.check() == ()
    assert store.stats().trajectories == 56
    assert purge(store_settings, Provenance("problem", "secret")).trajectories == 26
    assert whole(store, store_settings) == never


@pytest.mark.slow
def test_a_purge_beside_ingests_of_this_and_other_problems_loses_nothing_else(
    store: GraphStore, store_settings: Settings, never: dict[str, Any]
) -> None:
    fill(store, purged())
    store.add_free_runs([free_run("p1", "other", "run 9")])
    failures: list[Exception] = []

    def ingest(plans: list[MergePlan]) -> None:
        try:
            with closing(open_store(store_settings, retry_seconds=60.0)) as writer:
                for plan in plans:
                    writer.merge([plan])
        except Exception as error:  # noqa: BLE001 - the test shows it
            failures.append(error)

    writers = [threading.Thread(target=ingest, args=(some,)) for some in (kept(), purged())]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        purge(store_settings, Provenance("problem", "secret"))
    assert not failures
    purge(store_settings, Provenance("problem", "secret"))
    assert whole(store, store_settings) == never
