"""Contract: what techniques and pairs brought on each device, as the graph's page tells it."""

from collections.abc import Iterable

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import TransitionStats
from regraph_kg.runs.graph_page import strongest_pairs, technique_gains
from tests.contract.plans import A100, H200, measured, plan

Told = list[tuple[str, str, str, int, int, float | None]]


def told(gains: Iterable[TransitionStats]) -> Told:
    """Source, target, device, verified, tried and mean, without what all have in common."""
    return [
        (
            gain.source.removeprefix("cuda/"),
            gain.target.removeprefix("cuda/"),
            gain.device,
            gain.verified,
            gain.tried,
            gain.mean,
        )
        for gain in gains
    ]


def grow(store: GraphStore) -> None:
    """On H200 b gained 4 after the start and 16 after a, which itself gained 16; on A100 b failed.

    c was never measured.
    """
    store.merge(
        [
            plan("b", code="1", measurements=[measured(H200, effect=4.0)]),
            plan("ab", code="2", measurements=[measured(H200, effect=16.0)]),
            plan("b", code="3", measurements=[measured(A100, effect=None)]),
            plan("c", code="4"),
        ]
    )


def test_an_empty_graph_has_no_gains(store: GraphStore) -> None:
    assert (technique_gains(store.transitions()), strongest_pairs(store.transitions())) == ([], [])


def test_gains_are_summed_over_what_stood_before(store: GraphStore) -> None:
    grow(store)
    assert told(technique_gains(store.transitions())) == [
        ("", "b", H200, 2, 2, 8.0),
        ("", "a", H200, 1, 1, 16.0),
        ("", "b", A100, 0, 1, None),
    ]


def test_the_strongest_pairs_come_first_and_unverified_ones_not_at_all(store: GraphStore) -> None:
    grow(store)
    store.merge([plan("ab", code="5", measurements=[measured(H200, effect=16.0)])])
    assert told(strongest_pairs(store.transitions())) == [
        ("a", "b", H200, 2, 2, 16.0),
        ("start", "a", H200, 2, 2, 16.0),
        ("start", "b", H200, 1, 1, 4.0),
    ]


def test_one_lucky_measurement_stands_behind_several_good_ones(store: GraphStore) -> None:
    lucky = plan("a", code="0", measurements=[measured(H200, effect=10.0)])
    good = [plan("b", code=f"{n}", measurements=[measured(H200, effect=8.0)]) for n in range(5)]
    store.merge([lucky, *good])
    assert [one.target for one in strongest_pairs(store.transitions())] == ["cuda/b", "cuda/a"]
