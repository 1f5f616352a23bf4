"""Inputs follow their seed and distribution."""

import numpy as np
import pytest

from regraph_kg.evaluation.inputs import generate, moved_by_one_ulp, variants
from regraph_kg.evaluation.problem import Argument

from .conftest import problem_named


def of(values: str, **fields: object) -> np.ndarray:
    problem = problem_named("scale")
    arg = Argument.model_validate(
        {"name": "x", "type": "float32", "role": "in", "shape": ["n"], "values": [values]} | fields
    )
    changed = problem.model_copy(update={"args": (arg, *problem.args[1:])})
    return generate(changed, {"n": 10_000}, 0, 7)["x"]


def test_the_same_seed_gives_the_same_inputs_and_another_others() -> None:
    problem = problem_named("scale")
    one = generate(problem, {"n": 100}, 0, 1)["x"]
    assert np.array_equal(one, generate(problem, {"n": 100}, 0, 1)["x"])
    assert not np.array_equal(one, generate(problem, {"n": 100}, 0, 2)["x"])
    assert one.dtype == np.float32
    assert variants(problem) == 4


def test_float_distributions() -> None:
    assert abs(of("normal").std() - 1) < 0.05
    assert 0 <= of("uniform").min() < 0.01
    assert 0.08 < np.count_nonzero(of("sparse")) / 10_000 < 0.12
    assert np.abs(of("large-range")).max() > 1e3
    assert set(np.unique(of("small-int"))) == set(range(-4, 5))
    assert (np.diff(of("sorted")) >= 0).all()
    assert of("uniform", range=[-3, -2]).max() <= -2


@pytest.mark.parametrize("values", ["uniform", "normal", "sparse", "small-int", "sorted"])
def test_integers_stay_within_their_range(values: str) -> None:
    drawn = of(values, type="uint8", range=[3, 9])
    assert drawn.dtype == np.uint8
    assert drawn.min() >= 3
    assert drawn.max() <= 9


@pytest.mark.parametrize("values", ["uniform", "normal", "sparse", "small-int", "large-range"])
@pytest.mark.parametrize("type_", ["int8", "uint8", "int32", "uint64", "int64"])
def test_every_integer_type_can_be_drawn(values: str, type_: str) -> None:
    assert of(values, type=type_).dtype == np.dtype(type_)


def test_one_ulp_moves_floats_only() -> None:
    made = {"x": np.ones(1000, np.float32), "k": np.arange(5)}
    moved = moved_by_one_ulp(made, 1)
    assert set(np.unique(moved["x"])) == {1 - 2.0**-23, 1 + 2.0**-23}
    assert moved["k"] is made["k"]
