"""Contract: what an example gained on each device, whatever order its measurements arrived in."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.recount import wrong_counts
from tests.stores import cypher, wipe

pytestmark = pytest.mark.neo4j("slow")

EARLY, LATE = "2026-11-20T10:00:00Z", "2026-11-22T10:00:00+02:00"
FAST_HERE = [measured(H200, effect=5.0, run=EARLY), measured(A100, effect=0.5, run=LATE)]


def test_examples_are_ranked_and_told_by_the_device_that_is_asked_for(store: GraphStore) -> None:
    store.merge([plan("a", code="1", measurements=FAST_HERE[:1])])
    store.merge([plan("a", code="2", measurements=[measured(H200, effect=2.0)])])
    store.merge([plan("a", code="1", measurements=FAST_HERE[1:])])

    def asked(device: str | None) -> list[object]:
        found = store.examples("cuda/start", "cuda/a", device=device)
        return [one.seen_from(device) for one in found]

    assert asked(H200) == [(5.0, H200), (2.0, H200)]
    assert asked(A100) == [(0.5, A100), (2.0, H200)]
    assert asked(None) == [(2.0, H200), (0.5, A100)]


def derived(settings: Settings) -> list[str]:
    """All that a graph holds."""
    rows = cypher(settings, "MATCH (n) RETURN labels(n)[0] AS k, properties(n) AS p")
    rows += cypher(settings, "MATCH ()-[r]->() RETURN type(r) AS k, properties(r) AS p")
    return sorted(repr((row["k"], sorted(row["p"].items()))) for row in rows)


def parts(rng: random.Random) -> list[MergePlan]:
    """Six trajectories, each in four parts that have measurements of their own."""
    sent = []
    for number in range(6):
        for judge in range(4):
            some: list[dict[str, Any]] = [
                {"device": rng.choice((H200, A100)), "effect": rng.choice((None, 0.5, 1.0, 2.0))}
                for _ in range(2)
            ]
            sent.append(
                plan(
                    "ab",
                    problem=f"problem {number % 2}",
                    code=f"int x{number};",
                    measurements=[
                        measured(
                            **one,
                            evaluator=str(9 + rng.randrange(3)),
                            run=f"{rng.choice((EARLY, LATE, 'soon'))} {judge} {index}",
                        )
                        for index, one in enumerate(some)
                    ],
                )
            )
    return sent


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_arrival_changes_nothing(
    store: GraphStore, store_settings: Settings, seed: int
) -> None:
    rng = random.Random(seed)
    sent, found = parts(rng), []
    for _ in range(3):
        wipe(store_settings)
        store.apply_schema()
        store.add_techniques([technique for one in sent for technique in one.new])
        rng.shuffle(sent)
        for first in range(0, len(sent), 5):
            store.merge(sent[first : first + 5])
        assert wrong_counts(store) == []
        found.append((derived(store_settings), list(store.export())))
    assert found[0] == found[1] == found[2]


@pytest.mark.neo4j("quick")
def test_a_newer_judge_says_anew_where_an_example_is_verified(store: GraphStore) -> None:
    def told() -> Sequence[object]:
        (one,) = store.examples("cuda/start", "cuda/a")
        return one.verified_on, one.effects, one.verified, one.outcome

    store.merge([plan("a", measurements=FAST_HERE)])
    assert told() == ((A100, H200), (0.5, 5.0), True, "passed")
    store.merge([plan("a", measurements=[measured(A100, effect=None, evaluator="2")])])
    assert told()[:3] == ((H200,), (5.0,), True)
    store.merge([plan("a", measurements=[measured(H200, evaluator="2", before_seconds=None)])])
    assert told()[:3] == ((H200,), (0.0,), True)
    assert store.examples("cuda/start", "cuda/a")[0].seen_from(H200) is None
    store.merge([plan("a", failures=[failure("b")])])
    assert wrong_counts(store) == []
