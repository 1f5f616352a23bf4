"""Formulas over sizes are found by their values alone, the simplest one first."""

import pytest

from regraph_kg.adopt.fit import Fitting, axes, rounded
from regraph_kg.evaluation.problem.declaration import size_of

POINTS = [
    {"m": m, "n": n, "k": k}
    for m, n, k in ((7, 5, 17), (11, 13, 3), (19, 9, 7), (5, 17, 11), (3, 19, 13), (17, 7, 5))
]


@pytest.mark.parametrize(
    "text",
    ["1", "n", "m*n", "m*n*k", "m*m", "n + 1", "4*n", "64*n - 63", "-k + m + 1"],
)
def test_a_formula_is_found_by_its_values(text: str) -> None:
    values = [size_of(text, point) for point in POINTS]
    assert Fitting(POINTS).find(values) == text


def test_what_is_taken_away_from_a_product_is_its_border() -> None:
    text = Fitting(POINTS).find([point["m"] * point["n"] - point["n"] for point in POINTS])
    assert text == "m*n - n"
    assert axes(rounded(text)) == ("m", "n")


def test_a_size_beside_an_index_and_below_another_size_are_told_apart() -> None:
    fitting = Fitting(POINTS)
    beside = fitting.mostly([max(point["n"], point["k"] + 1) for point in POINTS], ["k"])
    assert beside == ("n", "k", "")
    text, place, bound = fitting.mostly([min(p["n"], p["m"]) for p in POINTS], ["k"])
    assert {text, bound} == {"m", "n"}
    assert not place


def test_values_of_no_formula_are_none() -> None:
    assert not Fitting(POINTS).find([3, 1, 4, 1, 5, 9])
    assert not Fitting([]).find([])
