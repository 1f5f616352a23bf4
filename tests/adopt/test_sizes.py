"""Shapes to check and to time: what they must show, by their extents alone."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from regraph_kg.adopt.sizes import _scaled, check_shapes
from regraph_kg.evaluation.problem.declaration import size_of
from regraph_kg.evaluation.problem.problem import Problem, load_problem


@pytest.mark.parametrize(
    ("names", "extents", "quotient"),
    [
        (["cols", "n"], ["n", "(n // cols)"], "n // cols"),
        (["n", "cols"], ["n", "(n // cols)*cols"], "n // cols"),
        (["n"], ["n", "((n + 63) // 64)"], "(n + 63) // 64"),
        (["n"], ["n // 600"], "n // 600"),
        (["a", "b"], ["b // (a - 1)"], "b // (a - 1)"),
    ],
)
@pytest.mark.parametrize("powers", [False, True])
def test_a_quotient_of_sizes_varies(
    names: Sequence[str], extents: Sequence[str], quotient: str, *, powers: bool
) -> None:
    shapes = check_shapes(names, extents, powers=powers)
    values = [size_of(quotient, sizes) for sizes in shapes]
    assert len(set(values)) > 1
    assert max(values) >= 13
    assert min(values) >= 1
    if powers:
        assert all(size & (size - 1) == 0 for sizes in shapes for size in sizes.values())


def test_shapes_without_quotients_are_the_usual_ones() -> None:
    assert check_shapes(["m", "n"], ["m", "n"]) == [
        {"m": 1, "n": 1},
        {"m": 31, "n": 17},
        {"m": 64, "n": 100},
    ]


def test_square_arrays_are_checked_small_and_slow_code_smaller_still() -> None:
    assert check_shapes(["n"], ["n", "n"], ["n*n"])[-1] == {"n": 100}
    assert check_shapes(["n"], ["n"], ["n"], halved=3) == [{"n": 1}, {"n": 3}, {"n": 125}]
    assert check_shapes(["n"], ["n - 20"], halved=2)[-1] == {"n": 250}


@pytest.mark.parametrize("powers", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_each_size_is_larger_than_each_other_one_at_some_shape(count: int, *, powers: bool) -> None:
    names = list("abcdefg"[:count])
    shapes = check_shapes(names, names, powers=powers)
    for one, other in permutations(names, 2):
        assert any(sizes[one] > sizes[other] for sizes in shapes)
    if powers:
        assert all(size & (size - 1) == 0 for sizes in shapes for size in sizes.values())


@pytest.mark.parametrize("said", [{"n": 100}, {"m": 7}, {}])
def test_what_a_person_says_of_a_size_does_not_grow(said: dict[str, int]) -> None:
    problem = load_problem(Path(__file__).parents[2] / "corpus" / "problems" / "matmul")
    assert isinstance(problem, Problem)
    sizes = {"m": 64, "n": 64, "k": 64} | said
    larger = _scaled(problem, sizes, 2.0, said, powers=False)
    assert larger is not None
    assert {name: larger[name] for name in said} == said
    assert all(larger[name] > sizes[name] for name in sizes if name not in said)
