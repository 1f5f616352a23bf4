"""Contract: what a search taught the graph stands beside what it was given, never above it."""

from dataclasses import replace

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import EFFECT_SCALE, Likeness, MergePlan, Tries
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.recount import wrong_counts
from tests.stores import cypher

pytestmark = pytest.mark.neo4j("slow")


def learned(path: str = "a", model: str = "small@1", **fields: object) -> MergePlan:
    """A trajectory that `regraph learn` took from a search with `model`."""
    source = Source(model=model, run="run", learned=True)
    return plan(path, source=source, **fields)  # type: ignore[arg-type]


def test_learned_examples_rank_below_given_ones_at_equal_evidence(store: GraphStore) -> None:
    plans = {
        "given here": plan("a", code="1", measurements=[measured(effect=1.5)]),
        "learned here": learned(code="2", measurements=[measured(effect=9.0)]),
        "given elsewhere": plan("a", code="3", measurements=[measured(A100, effect=1.5)]),
        "learned elsewhere": learned(code="4", measurements=[measured(A100, effect=9.0)]),
        "given": plan("a", code="5"),
        "learned": learned(code="6"),
    }
    store.merge(list(plans.values()))
    names = {one.trajectory.id: name for name, one in plans.items()}
    found = store.examples("cuda/start", "cuda/a", device=H200, limit=9)
    assert [names[one.trajectory] for one in found] == list(plans)


def test_what_was_learned_does_not_bring_a_transition_before_what_was_given(
    store: GraphStore,
) -> None:
    store.merge([learned(path="c", code=f"{n}", measurements=[measured()]) for n in range(3)])
    store.merge([learned(path="d", measurements=[measured()])])
    store.merge([plan("a", problem="own"), plan("b"), plan("b", code="2")])
    near, without = (
        store.neighbourhood("cuda/start", device=H200, exclude_problem=problem)
        for problem in (None, "own")
    )
    assert [successor.technique.id for successor in near.successors] == [
        "cuda/b",
        "cuda/a",
        "cuda/c",
        "cuda/d",
    ]
    assert [successor.technique.id for successor in without.successors] == [
        "cuda/b",
        "cuda/c",
        "cuda/d",
    ]
    (best,) = store.neighbourhood("cuda/start", device=H200, limit=1).successors
    assert best.technique.id == "cuda/b"


def test_the_cap_holds_over_other_devices_and_beside_an_excluded_problem(
    store: GraphStore,
) -> None:
    store.merge([learned(code=f"{n}", measurements=[measured(A100)]) for n in range(20)])
    own = [plan("a", problem="own", code=f"{n}", measurements=[measured(A100)]) for n in range(20)]
    store.merge(own)
    (anywhere,) = store.neighbourhood("cuda/start", device=H200).successors
    assert (anywhere.statistics, anywhere.here.tried) == ("other-devices", 40)
    (without,) = store.neighbourhood("cuda/start", device=H200, exclude_problem="own").successors
    assert (without.statistics, without.here.tried) == ("other-devices", 8)


def test_similarity_comes_before_where_an_example_is_from(store: GraphStore) -> None:
    done = [measured()]
    given = plan("a", code="east east", measurements=done)
    store.merge([given, learned(code="north north", measurements=done)])
    store.merge([learned(code="east east", problem="other", measurements=done)])
    list(store.embed())
    for near, models in (("north", ["small@1", "m", "small@1"]), ("east", ["m", "small@1"])):
        found = store.examples("cuda/start", "cuda/a", near=Likeness(near), limit=len(models))
        assert [one.model for one in found] == models


def by_transform(path: str = "a", *, failed: bool = False, **fields: object) -> MergePlan:
    """A trajectory of a search whose steps a transform made, as it made what failed."""
    given = learned(path, **fields)
    steps = (one.model_copy(update={"transform": "cuda/a/one"}) for one in given.trajectory.steps)
    failures = (failure("a", after=0, transform="cuda/a/one"),) if failed else ()
    updated = given.trajectory.model_copy(update={"steps": tuple(steps), "failures": failures})
    return replace(given, trajectory=updated)


def test_a_step_that_a_transform_made_is_a_try_of_no_model(store: GraphStore) -> None:
    made = by_transform(failed=True, code="1", measurements=[measured(effect=4.0)])
    store.merge([learned(code="2", measurements=[measured()]), made])
    asked = {"device": H200, "model": "small@1"}
    (one,) = store.neighbourhood("cuda/start", **asked).successors  # type: ignore[arg-type]
    assert (one.examples, one.here.tried, one.here.right) == (2, 1, 1)
    assert one.own == Tries(1, 1, EFFECT_SCALE)
    assert one.ruled == Tries(2, 1, 2 * EFFECT_SCALE)
    other = replace(one, own=Tries())
    assert store.neighbourhood("cuda/start", device=H200, model="other").successors == (other,)


def test_a_transforms_tries_on_the_own_problem_are_left_out(store: GraphStore) -> None:
    own = by_transform(failed=True, problem="own", measurements=[measured(effect=4.0)])
    store.merge([own, by_transform(code="2", measurements=[measured(effect=2.0)])])
    asked = {"device": H200, "exclude_problem": "own"}
    (one,) = store.neighbourhood("cuda/start", **asked).successors  # type: ignore[arg-type]
    (pooled,) = store.pooled("cuda", **asked)  # type: ignore[arg-type]
    assert one.ruled == pooled.ruled == Tries(1, 1, EFFECT_SCALE)


def test_who_made_a_step_is_kept_in_an_export_and_at_its_transition(
    store: GraphStore, store_settings: Settings
) -> None:
    made = by_transform(failed=True)
    store.merge([made, learned(code="2")])
    exported = {one.id: one for one in store.export()}[made.trajectory.id]
    assert [one.transform for one in exported.steps] == ["cuda/a/one"]
    assert [one.transform for one in exported.failures] == ["cuda/a/one"]
    rows = cypher(
        store_settings, "MATCH ()-[r:TRANSITION]->() RETURN r.transform AS by, r.applied_by"
    )
    told = sorted(tuple(map(str, row.values())) for row in rows)
    assert told == [("None", "None"), ("cuda/a/one", "['cuda/a/one']")]


def test_a_later_measurement_counts_for_who_made_the_step_and_for_the_kind_of_code(
    store: GraphStore,
) -> None:
    serial = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] += 1; }"
    for run in ("r1", "r2"):
        store.merge([by_transform(serial=serial, measurements=[measured(run=run)])])
        assert wrong_counts(store) == []
    (one,) = store.neighbourhood("cuda/start", device=H200, kind="map").successors
    assert one.ruled == one.ruled_alike == Tries(2, 2, 2 * EFFECT_SCALE)
