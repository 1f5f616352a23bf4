"""Inputs of timed calls by name: never two alike, few elements change, what is valid stays so."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation import contents as module
from regraph_kg.evaluation.contents import Content, Contents, changeable, with_changes
from regraph_kg.evaluation.inputs import distributions, generate
from regraph_kg.evaluation.problem import Problem

from .conftest import problem_named

SECRET = 5
N = 10_000
"""Elements: enough for an array to be pieced together."""


def problem(*values: str, type: str = "float32", n: int = N) -> Problem:
    """z[n] = f(x[n], ...), one input for each name of a distribution."""
    array = {"type": type, "shape": ["n"]}
    inputs = [
        {"name": f"x{index}", "role": "in", "values": [kind], "range": [0, 1000], **array}
        for index, kind in enumerate(values)
    ]
    return Problem.model_validate(
        {
            "schema": 1,
            "name": "made",
            "entry": "f",
            "tolerance": "exact",
            "sizes": {"check": [{"n": 2}], "time": {"n": n}},
            "args": [
                *inputs,
                {"name": "z", "role": "out", **array},
                {"name": "n", "type": "int32", "role": "size", "size": "n"},
            ],
            "serial_code": "",
        }
    )


def bits(made: Mapping[str, Any]) -> bytes:
    return b"".join(array.tobytes() for array in made.values())


KINDS = ["normal", "uniform", "sorted", "sparse", "small-int"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [N, 100])
def test_a_name_is_its_arrays_and_no_two_are_alike(kind: str, n: int) -> None:
    contents = Contents(problem(kind, n=n), SECRET)
    seen = [bits(contents.arrays(Content(seed))) for seed in range(200)]
    assert len(set(seen)) == 200
    again = Contents(problem(kind, n=n), SECRET)
    assert [bits(again.arrays(Content(seed))) for seed in range(200)] == seen
    other = Contents(problem(kind, n=n), SECRET + 1)
    assert bits(other.arrays(Content(0))) != seen[0]


def test_large_arrays_of_one_drawing_differ_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE_BYTES", 0)
    contents = Contents(problem("normal"), SECRET)
    assert len({bits(contents.arrays(Content(seed))) for seed in range(100)}) == 100


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "uint8"])
def test_a_version_differs_in_few_places_and_never_near_the_ends(type: str) -> None:
    made = problem("uniform", type=type) if type != "uint8" else bytes_problem()
    contents = Contents(made, SECRET)
    places = set()
    for seed in range(20):
        before, after = (contents.arrays(Content(seed, version)) for version in (1, 2))
        different = np.flatnonzero(before["x0"] != after["x0"])
        assert 1 <= different.size <= contents.changed == 16
        assert different.min() >= N // 8
        assert different.max() < N - N // 8
        places |= set(different)
    assert len(places) > 200, "other ones each time"


def bytes_problem() -> Problem:
    made = problem("uniform", type="uint8")
    args = [a.model_copy(update={"range": None}) if a.name == "x0" else a for a in made.args]
    return made.model_copy(update={"args": tuple(args)})


def test_changes_go_one_way_so_that_sums_show_them() -> None:
    contents = Contents(problem("normal"), SECRET)
    before, after = (contents.arrays(Content(3, version)) for version in (0, 1))
    at = np.flatnonzero(before["x0"] != after["x0"])
    assert after["x0"][at].min() > 3, "among the largest of thousands of normal numbers"
    assert after["x0"].sum() - before["x0"].sum() > 16


def test_changing_in_place_gives_what_writing_the_version_gives() -> None:
    contents = Contents(problem("normal", "uniform"), SECRET)
    content = Content(7)
    made = contents.arrays(content)
    for _ in range(3):
        content = content.next
        contents.change(content, made)
        assert bits(made) == bits(contents.arrays(content))
    assert content == Content(7, 3)


def test_sorted_arrays_stay_sorted_and_do_not_change() -> None:
    contents = Contents(problem("sorted", "normal"), SECRET)
    assert contents.changeable == ("x1",)
    for seed in range(20):
        made = contents.arrays(Content(seed, 2))
        assert np.all(np.diff(made["x0"]) >= 0)
        assert set(contents.changes(Content(seed, 1))) == {"x1"}
    alone = Contents(problem("sorted"), SECRET)
    assert (alone.changed, alone.sizes) == (0, [])


def test_pieces_are_of_the_declared_distribution() -> None:
    values = Contents(problem("uniform", type="int32"), SECRET).arrays(Content(1, 1))["x0"]
    assert (values.min() >= 0, values.max() <= 1000) == (True, True)
    assert 450 < values.mean() < 550


def test_arrays_of_inputs_py_recur_and_do_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CUSTOM_DRAWINGS", 2)
    spmv = problem_named("spmv")
    small = spmv.sizes.model_copy(update={"time": {"rows": 1000, "nonzeros": 5000}})
    contents = Contents(spmv.model_copy(update={"sizes": small}), SECRET)
    one, other, again = (contents.arrays(Content(seed)) for seed in (0, 1, 2))
    assert contents.changeable == ("value", "x")
    assert one["column"].tobytes() == again["column"].tobytes() != other["column"].tobytes()
    assert one["value"].tobytes() != again["value"].tobytes()
    changed = contents.arrays(Content(0, 1))
    assert changed["column"].tobytes() == one["column"].tobytes()
    assert changed["value"].tobytes() != one["value"].tobytes()


@pytest.mark.parametrize(("n", "most"), [(0, 0), (1, 1), (10, 10), (100, 16), (6400, 100)])
def test_a_case_of_any_shape_has_a_changed_version(n: int, most: int) -> None:
    made_of = problem("normal", "sorted")
    made = generate(made_of, {"n": n}, 0, 1)
    changed = with_changes(made_of, made, 0, 1)
    different = np.count_nonzero(changed["x0"] != made["x0"])
    assert (n > 9) <= different <= most
    assert changed["x1"].tobytes() == made["x1"].tobytes()


def test_what_can_change_depends_on_the_variant() -> None:
    made = problem("sorted")
    arg = made.args[0].model_copy(update={"values": ("normal", "sorted")})
    both = made.model_copy(update={"args": (arg, *made.args[1:])})
    assert [distributions(both, variant)["x0"] for variant in (0, 1)] == ["normal", "sorted"]
    assert [changeable(both, variant) for variant in (0, 1)] == [("x0",), ()]
