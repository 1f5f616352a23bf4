"""Contract: what no judge measured is counted apart, and moves nothing that was measured."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import Successor, Tries
from regraph_kg.models.trajectory import Measurement
from tests.contract.plans import A100, H200, measured, plan
from tests.recount import transitions

pytestmark = pytest.mark.neo4j("slow")

MILLION = measured(effect=1e6)
CLAIMS = {
    "a million times": [MILLION],
    "a million times, by nobody": [measured(effect=1e6, evaluator="")],
    "little, by another program": [measured(effect=3.0, evaluator="my profiler 2.1")],
    "on a processor": [measured("AMD EPYC x2 threads", effect=1e3)],
    "beyond the memory": [measured(effect=5.0, roofline={"memory": 9.0})],
    "a failure, by nobody": [measured(effect=None, evaluator="?")],
    "many": [measured(effect=9e5, run=f"{n}") for n in range(9)],
}


def told(store: GraphStore, *, excluded: str | None = None) -> list[Sequence[Successor]]:
    """What a search reads, but how many examples and claims there are."""
    near = store.neighbourhood("cuda/start", device=H200, kind="map", exclude_problem=excluded)
    wide = store.pooled("cuda", device=H200, kind="map", exclude_problem=excluded)
    return [
        [replace(one, examples=0, claimed=Tries()) for one in some]
        for some in (near.successors, wide)
    ]


def filled(store: GraphStore) -> list[Sequence[Successor]]:
    store.merge([plan("a", code=f"{n}", measurements=[measured()]) for n in range(2)])
    store.merge([plan("b", code=f"b{n}", measurements=[measured(A100)]) for n in range(2)])
    store.merge([plan("ac", measurements=[measured(effect=0.5)])])
    return told(store)


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_changes_nothing_that_a_search_reads(
    store: GraphStore, claims: list[Measurement]
) -> None:
    before = filled(store)
    for path in ("b", "c", "cb", "bab"):
        claimed = plan(path, code="claimed", problem="other", measurements=claims)
        store.merge([claimed])
        assert told(store) == before
        assert told(store, excluded="other") == before


def test_a_claim_of_a_measured_step_does_not_rule_it_out_or_replace_it(store: GraphStore) -> None:
    before = filled(store)
    store.merge([plan("a", code="0", measurements=[measured(evaluator="x", ruled_out=True)])])
    store.merge([plan("a", code="1", measurements=[measured(effect=1e6, evaluator="9")])])
    assert told(store) == before
    first, _ = store.examples("cuda/start", "cuda/a", device=H200)[:2]
    assert (first.verified, first.effect) == (True, 2.0)


def test_what_is_only_claimed_is_told_apart(store: GraphStore) -> None:
    filled(store)
    store.merge([plan("d", measurements=[MILLION]), plan("b", measurements=[MILLION])])
    found = store.neighbourhood("cuda/start", device=H200)
    assert [one.technique.id for one in found.successors] == ["cuda/a", "cuda/b"]
    assert [one.claimed.right for one in found.successors] == [0, 1]
    (claimed,) = found.claimed
    assert (claimed.technique.id, claimed.claimed.right, claimed.here.tried) == ("cuda/d", 1, 0)
    assert claimed.claimed.sum_log2 == pytest.approx(19.93 * 2**20, rel=1e-3)
    (example,) = store.examples("cuda/start", "cuda/d")
    assert (example.verified, example.effect) == (False, None)
    by_device = {one.device: one.verified for one in transitions(store) if one.target == "cuda/b"}
    assert by_device == {A100: 2, "claimed": 1}


def test_a_pair_that_was_claimed_first_follows_once_it_was_measured(store: GraphStore) -> None:
    store.merge([plan("d", measurements=[MILLION])])
    assert not store.neighbourhood("cuda/start", device=H200).successors
    store.merge([plan("d", measurements=[measured(run="later")])])
    (found,) = store.neighbourhood("cuda/start", device=H200).successors
    assert (found.here.tried, found.here.effect, found.claimed.right) == (1, 2.0, 1)
