"""Contract: what was said not to apply counts apart: it is no try, and no failure."""

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import LEARNED_TRIES, MergePlan, Successor
from regraph_kg.models.trajectory import FailedStep, Source
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.recount import transitions, wrong_counts

pytestmark = pytest.mark.neo4j("slow")


def declined(name: str = "b", after: int = 1, **fields: object) -> FailedStep:
    fields = {"outcome": Outcome.DECLINED, "diagnosis": "nothing to tile"} | fields
    return failure(name, after, **fields)


def successor(store: GraphStore, **asked: object) -> Successor:
    """b after a, as a search on an H200 is told of it."""
    (found,) = store.neighbourhood("cuda/a", device=H200, **asked).successors  # type: ignore[arg-type]
    return found


def test_what_was_declined_is_counted_and_is_no_try(store: GraphStore) -> None:
    one = plan("ab", measurements=[measured()], failures=[declined(), declined(diagnosis="other")])
    store.merge([one])
    assert (successor(store).tried, successor(store).verified) == (1, 1)
    assert successor(store).declined == 2
    (row, _) = transitions(store)
    assert (row.target, row.tried, row.verified, row.declined) == ("cuda/b", 1, 1, 2)
    assert store.failures("cuda/a", "cuda/b") == ()
    assert wrong_counts(store) == []


def test_what_was_declined_on_any_device_is_told(store: GraphStore) -> None:
    store.merge([plan("ab", measurements=[measured()], failures=[declined(device=A100)])])
    store.merge([plan("ab", code="x", measurements=[measured()], failures=[declined(device=None)])])
    assert successor(store).declined == 2
    assert successor(store).tried_elsewhere == 0


def test_what_was_only_declined_is_no_successor_but_counted(store: GraphStore) -> None:
    store.merge([plan("a", failures=[declined("c")])])
    assert store.neighbourhood("cuda/a", device=H200).successors == ()
    (row, _) = transitions(store)
    assert (row.source, row.target, row.tried, row.declined) == ("cuda/a", "cuda/c", 0, 1)
    assert wrong_counts(store) == []


def test_a_problem_left_out_takes_what_was_declined_on_it_away(store: GraphStore) -> None:
    store.merge([plan("ab", failures=[declined()])])
    store.merge([plan("ab", code="x", problem="own", failures=[declined(), failure("b")])])
    assert successor(store).declined == 2
    assert successor(store, exclude_problem="own").declined == 1


def learned(code: str, count: int) -> MergePlan:
    said = [declined(diagnosis=f"{number}") for number in range(count)]
    source = Source(model="small@1", run=code, learned=True)
    return plan("ab", code=code, source=source, failures=said)


def test_one_model_that_always_declines_does_not_silence_a_technique(store: GraphStore) -> None:
    store.merge([learned("x", 20)])
    assert successor(store).declined == LEARNED_TRIES
    store.merge([plan("ab", failures=[declined(diagnosis=f"{number}") for number in range(20)])])
    assert successor(store).declined == LEARNED_TRIES + 20
    assert sum(row.declined for row in transitions(store)) == 40
