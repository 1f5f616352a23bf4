"""Ranges of inputs: said over sizes, of a struct's fields, and what lies nearest to zero in one."""

import numpy as np
import pytest

from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.inputs import generate

from ..conftest import problem_named
from .test_inputs import of


def of_indices(low: object, high: object, n: int) -> np.ndarray:
    problem = problem_named("scale")
    fields = {"name": "x", "type": "int32", "role": "in", "shape": ["100"], "range": [low, high]}
    arg = Argument.model_validate({**fields, "values": ["uniform"]})
    changed = problem.model_copy(update={"args": (arg, *problem.args[1:])})
    return generate(changed, {"n": n}, 0, 7)["x"]


def test_a_range_may_be_said_over_sizes() -> None:
    assert set(of_indices(0, "n - 1", 3)) == {0, 1, 2}
    assert set(of_indices("-n", 1, 1)) == {-1, 0, 1}
    assert set(of_indices(0, "n - 1", 0)) == {0}  # nothing lies between: its lower end


def test_fields_of_a_struct_may_have_ranges_of_their_own() -> None:
    fields = {"row": "int32", "value": "float32"}
    drawn = of(
        "uniform", type="struct", struct="E", fields=fields, ranges={"row": [5, "n // 1000"]}
    )
    assert (drawn["row"].min(), drawn["row"].max()) == (5, 10)
    assert 0 <= drawn["value"].min() < drawn["value"].max() < 1
    with pytest.raises(ValueError, match="no field 'column'"):
        of("uniform", type="struct", struct="E", fields=fields, ranges={"column": [0, 1]})


@pytest.mark.parametrize(("limits", "nearest"), [([32, 126], 32), ([-90, -40], -44)])
def test_small_integers_of_a_range_without_any_are_its_nearest(
    limits: list[int], nearest: int
) -> None:
    drawn = of("small-int", type="char", range=limits)
    assert set(drawn) == set(range(nearest, nearest + 5))


def test_a_range_that_its_type_has_not_at_some_shape_is_told() -> None:
    fields = {"name": "x", "type": "int8", "role": "in", "shape": ["n"], "range": [0, "n"]}
    arg = Argument.model_validate(fields)
    assert arg.at({"n": 127}).limits == (0, 127)
    with pytest.raises(ValueError, match="more than int8 has"):
        arg.at({"n": 128})
