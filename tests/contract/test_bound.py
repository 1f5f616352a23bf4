"""Bounded edges: a pair keeps its best examples as TRANSITIONs, and nothing is lost."""

import random

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.stores import cypher

pytestmark = pytest.mark.neo4j("slow")

BOUND = 8


@pytest.fixture
def bounded(store: GraphStore) -> GraphStore:
    """An empty store with a bound of 8."""
    list(store.set_bound(BOUND))
    return store


def crowd(count: int, *, seed: int = 1) -> list[MergePlan]:
    """One pair's examples: three problems, effects at random, some unmeasured."""
    rng = random.Random(seed)
    return [
        plan(
            "a",
            problem=f"problem-{rng.randrange(3)}",
            code=f"int x{seed}_{number};",
            measurements=[measured(effect=rng.uniform(0.5, 9))] if rng.random() < 0.8 else (),
        )
        for number in range(count)
    ]


def counted(settings: Settings) -> tuple[int, int]:
    """TRANSITIONs, and steps of all trajectories."""
    (kept,) = cypher(settings, "MATCH ()-[r:TRANSITION]->() RETURN count(r) AS n")
    (steps,) = cypher(settings, "MATCH (s:Steps) RETURN sum(size(s.codes)) AS n")
    return int(str(kept["n"])), int(str(steps["n"]))


def test_what_is_beyond_the_bound_is_counted_and_exported(
    bounded: GraphStore, store_settings: Settings
) -> None:
    sent = crowd(60)
    for first in range(0, 60, 7):
        bounded.merge(sent[first : first + 7])
    kept, steps = counted(store_settings)
    assert kept <= BOUND + BOUND // 4
    assert steps == 60
    assert bounded.stats().transitions == 60
    assert [one.id for one in bounded.export()] == sorted(one.trajectory.id for one in sent)
    assert bounded.check() == ()


def test_a_pair_that_is_pruned_again_and_again_has_as_many_transitions_as_it_counts(
    store: GraphStore,
) -> None:
    """The embedded store once left some of many that one statement deletes."""
    for first in range(0, 640, 64):
        store.merge([plan(code=f"int x{first + number};") for number in range(64)])
        assert store.check() == ()


@pytest.mark.slow
def test_the_best_examples_are_those_of_a_store_without_bound(bounded: GraphStore) -> None:
    sent = crowd(60)
    for one in sent:
        bounded.merge([one])
    found = [example.id for example in bounded.examples("cuda/start", "cuda/a", device=H200)]
    list(bounded.set_bound(1000))
    everything = bounded.examples("cuda/start", "cuda/a", device=H200, limit=100)
    assert len(everything) == 60
    assert [example.id for example in everything[:3]] == found


def test_another_bound_keeps_every_example_exactly_once(
    bounded: GraphStore, store_settings: Settings
) -> None:
    bounded.merge(crowd(40))
    before = list(bounded.export()), bounded.transitions()
    for bound in (3, 30, 1, 8):
        steps = list(bounded.set_bound(bound))
        assert steps == [(1, 1)]
        assert bounded.bound() == bound
        assert counted(store_settings) == (bound, 40)
        assert (list(bounded.export()), bounded.transitions()) == before
        assert bounded.check() == ()


@pytest.mark.neo4j("quick")
def test_an_archived_example_that_turns_out_to_be_good_comes_back(bounded: GraphStore) -> None:
    sent = crowd(40)
    bounded.merge(sent)
    shown = {example.trajectory for example in bounded.examples("cuda/start", "cuda/a", limit=40)}
    (step, key) = next(
        (one.trajectory.steps[0], one.trajectory) for one in sent if one.trajectory.id not in shown
    )
    better = measured(A100, effect=100.0)
    update = key.model_copy(
        update={"steps": (step.model_copy(update={"measurements": (better,)}),)}
    )
    bounded.merge([MergePlan(update, plan("a").labels)])
    best, *_ = bounded.examples("cuda/start", "cuda/a", device=A100)
    assert (best.trajectory, best.seen_from(A100)) == (key.id, (100.0, A100))
    assert bounded.check() == ()


def test_a_transition_that_comes_back_is_what_it_was(
    bounded: GraphStore, store_settings: Settings
) -> None:
    whole = "MATCH ()-[r:TRANSITION]->() RETURN properties(r) AS p ORDER BY r.id"
    again = Source(model="m", created="2026-11-20T10:00:00Z", learned=True)
    bounded.merge([*crowd(4), plan("ab", source=again, measurements=[measured(), measured(A100)])])
    before = cypher(store_settings, whole)
    list(bounded.set_bound(1))
    assert counted(store_settings) == (2, 6)
    list(bounded.set_bound(30))
    assert cypher(store_settings, whole) == before


def test_an_archived_example_keeps_what_it_learns(bounded: GraphStore) -> None:
    sent = crowd(40)
    bounded.merge(sent)
    for one in sent:
        steps = tuple(
            step.model_copy(update={"measurements": (measured(run="again", effect=0.1),)})
            for step in one.trajectory.steps
        )
        bounded.merge([MergePlan(one.trajectory.model_copy(update={"steps": steps}), one.labels)])
    runs = [{m.run for m in one.steps[0].measurements} for one in bounded.export()]
    assert all("again" in run for run in runs)
    assert bounded.check() == ()


def test_failures_keep_code_up_to_a_cap_and_come_back_in_an_export(
    bounded: GraphStore, store_settings: Settings
) -> None:
    failures = [
        failure("b", after=0, code=f"int bad{n};", code_hash=f"sha256:{n}") for n in range(30)
    ]
    bounded.merge([plan("a", failures=failures)])
    (exported,) = bounded.export()
    assert len(exported.failures) == 30
    assert sum(bool(failure.code) for failure in exported.failures) == 20
    rows = cypher(store_settings, "MATCH (f:Failure) RETURN f.pair AS pair, f.outcome AS outcome")
    assert rows == [{"pair": "cuda/start cuda/b", "outcome": "crashed"}] * 30
    assert bounded.check() == ()


def test_a_known_trajectory_learns_new_failures_once(bounded: GraphStore) -> None:
    bounded.merge([plan("a", failures=[failure("b")])])
    again = plan("a", failures=[failure("b"), failure("c", diagnosis="another")])
    assert bounded.merge([again]).failures == 1
    assert bounded.merge([again]).failures == 0
    assert {(row.target, row.tried) for row in bounded.transitions() if row.tried} == {
        ("cuda/b", 1),
        ("cuda/c", 1),
    }
    assert bounded.check() == ()
