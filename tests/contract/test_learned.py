"""Contract: what a search taught the graph stands beside what it was given, never above it."""

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.trajectory import Source
from tests.contract.plans import A100, H200, measured, plan
from tests.contract.vectors import TINY, Table, embed, reasoned

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
    assert (anywhere.statistics, anywhere.tried) == ("other-devices", 40)
    (without,) = store.neighbourhood("cuda/start", device=H200, exclude_problem="own").successors
    assert (without.statistics, without.tried) == ("other-devices", 8)


def test_similarity_comes_before_where_an_example_is_from(store: GraphStore) -> None:
    table = Table(TINY, {"north": (1, 0, 0, 0), "east": (0, 1, 0, 0)})
    source = Source(model="small@1", learned=True)
    given, done = reasoned("a", ["east"], measurements=[measured()]), [measured()]
    store.merge([given, reasoned("a", ["north"], source=source, measurements=done)])
    store.merge([reasoned("a", ["east"], code="2", source=source, measurements=done)])
    embed(store, table)
    near = table.vector("north")
    found = store.examples("cuda/start", "cuda/a", near=near)
    assert [(one.reasoning, one.learner) for one in found] == [
        ("north", "small@1"),
        ("east", None),
        ("east", "small@1"),
    ]
