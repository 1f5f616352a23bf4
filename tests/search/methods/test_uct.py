"""UCT's arithmetic, against tables computed by hand."""

import math

import pytest

from regraph_kg.search.uct import Visits, level_reward


@pytest.mark.parametrize(
    ("speedup", "expected"),
    [
        (None, -1.0),
        (1.0, 0.0),
        (math.e**2, 2.0),
        (100.0, 3.0),
        (0.5, -math.log(2)),
        (0.01, -1.0),
    ],
)
def test_the_reward_of_a_level(speedup: float | None, expected: float) -> None:
    assert level_reward(speedup) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("visits", "parent", "weight", "expected"),
    [
        (Visits(), 9, 2.0, math.inf),
        (Visits(1, 0.5), 1, 2.0, 0.5),
        (Visits(2, 1.0), 8, 2.0, 0.5 + 2 * math.sqrt(math.log(8) / 2)),
        (Visits(2, 1.0, under_way=2), 8, 2.0, 0.5 + 2 * math.sqrt(math.log(8) / 4)),
        (Visits(0, 0.0, under_way=3), 8, 1.0, math.sqrt(math.log(8) / 3)),
        (Visits(4, -4.0), 8, 0.0, -1.0),
    ],
)
def test_the_bound(visits: Visits, parent: int, weight: float, expected: float) -> None:
    assert visits.bound(parent, weight) == pytest.approx(expected)


def test_a_visit_counts_from_its_beginning_and_pays_at_its_end() -> None:
    visits = Visits()
    visits.begin()
    visits.begin()
    assert (visits.all, visits.n, visits.total) == (2, 0, 0.0)
    visits.end(0.5)
    assert (visits.all, visits.n, visits.total) == (2, 1, 0.5)
    visits.end(None)
    assert (visits.all, visits.n, visits.total) == (1, 1, 0.5)
