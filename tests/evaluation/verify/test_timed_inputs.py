"""Inputs of timed calls by name: never two alike, few elements change, what is valid stays so."""

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation.problem import custom_inputs
from regraph_kg.evaluation.problem.inputs import distributions, generate
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.timed_inputs import (
    Contents,
    TimedInputs,
    changeable,
    with_changes,
)

from ..conftest import problem_named

SECRET = 5
N = 10_000  # elements: several blocks of a drawing


def problem(*values: str, type: str = "float32", n: int = N) -> Problem:
    """z[n] = f(x[n], ...), one input for each name of a distribution."""
    array: dict[str, Any] = {"type": type, "shape": ["n"]}
    if type == "struct":
        array |= {
            "struct": "S",
            "fields": {"a": "float32", "b": "int16", "c": "bool", "d": "uint8"},
        }
    limits = [0, {"bool": 1, "int8": 100, "uint8": 200}.get(type, 1000)]
    inputs = [
        {"name": f"x{index}", "role": "in", "values": [kind], "range": limits, **array}
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
    seen = [bits(contents.arrays(TimedInputs(seed))) for seed in range(200)]
    assert len(set(seen)) == 200
    again = Contents(problem(kind, n=n), SECRET)
    assert [bits(again.arrays(TimedInputs(seed))) for seed in range(200)] == seen
    other = Contents(problem(kind, n=n), SECRET + 1)
    assert bits(other.arrays(TimedInputs(0))) != seen[0]


@pytest.mark.parametrize("kind", ["normal", "uniform", "sparse"])
@pytest.mark.parametrize("of_type", ["bool", "complex64", "complex128", "float16", "struct"])
def test_arrays_of_every_type_change_and_are_known_again(of_type: str, kind: str) -> None:
    contents = Contents(problem(kind, type=of_type), SECRET)
    seen = [bits(contents.arrays(TimedInputs(seed))) for seed in range(50)]
    assert len(set(seen)) == 50
    content = TimedInputs(3)
    made = contents.arrays(content)
    assert contents.altered(content, made) is None
    made["x0"].view(np.uint8)[-1] ^= 1
    assert contents.altered(content, made) == "x0"
    changed, before = contents.arrays(content.next), contents.arrays(content)
    assert 0 < (changed["x0"] != before["x0"]).sum() <= contents.changed


@pytest.mark.parametrize(
    ("of_type", "low", "high"),
    [
        ("int64", -(10**6), 10**6),
        ("uint64", 3, 2**53),
        ("int64", -(2**53), 2**53),
        ("size_t", 0, 10**6),
        ("int8", -100, 100),
        ("uint32", 5, 2**32 - 1),
        ("int32", -(2**31), 2**31 - 1),
    ],
)
def test_whole_numbers_of_a_range_are_others_in_each_timed_call_and_stay_in_it(
    of_type: str, low: int, high: int
) -> None:
    """Else what one call worked out for a value, or for a run of them, would serve the next."""
    made = problem("uniform", type=of_type)
    x = made.args[0].model_copy(update={"range": (low, high)})
    contents = Contents(made.model_copy(update={"args": (x, *made.args[1:])}), SECRET)
    seen = [contents.arrays(TimedInputs(seed))["x0"] for seed in range(8)]
    for one in seen:
        assert low <= int(one.min()) <= int(one.max()) <= high
        assert int(one.max()) - int(one.min()) > (high - low) * 0.9
    if high - low > 2**16:
        runs = [{one[at : at + 8].tobytes() for at in range(N - 8)} for one in seen]
        assert all(not (a & b) for at, a in enumerate(runs) for b in runs[:at])


def test_no_piece_of_a_content_is_in_another() -> None:
    """Else a memo of pieces would be right, and fast."""
    contents = Contents(problem("normal"), SECRET)
    seen = [contents.arrays(TimedInputs(seed))["x0"] for seed in range(8)]
    runs = [{one[at : at + 2].tobytes() for at in range(N - 1)} for one in seen]
    assert all(not (a & b) for at, a in enumerate(runs) for b in runs[:at])


@pytest.mark.parametrize("type", ["float32", "float64", "int32", "uint8"])
def test_a_version_differs_in_few_places_and_never_near_the_ends(type: str) -> None:
    made = problem("uniform", type=type) if type != "uint8" else bytes_problem()
    contents = Contents(made, SECRET)
    places = set()
    for seed in range(20):
        before, after = (contents.arrays(TimedInputs(seed, version)) for version in (1, 2))
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
    before, after = (contents.arrays(TimedInputs(3, version)) for version in (0, 1))
    at = np.flatnonzero(before["x0"] != after["x0"])
    assert after["x0"][at].min() > 3, "among the largest of thousands of normal numbers"
    assert after["x0"].sum() - before["x0"].sum() > 16


def test_changing_in_place_gives_what_writing_the_version_gives() -> None:
    contents = Contents(problem("normal", "uniform"), SECRET)
    content = TimedInputs(7)
    made = contents.arrays(content)
    for _ in range(3):
        content = content.next
        contents.change(content, made)
        assert bits(made) == bits(contents.arrays(content))
    assert content == TimedInputs(7, 3)


def test_sorted_arrays_stay_sorted_and_do_not_change() -> None:
    contents = Contents(problem("sorted", "normal"), SECRET)
    assert contents.changeable == ("x1",)
    for seed in range(20):
        made = contents.arrays(TimedInputs(seed, 2))
        assert np.all(np.diff(made["x0"]) >= 0)
        assert set(contents.changes(TimedInputs(seed, 1))) == {"x1"}
    alone = Contents(problem("sorted"), SECRET)
    assert (alone.changed, alone.sizes) == (0, [])


def test_contents_are_of_the_declared_distribution() -> None:
    values = Contents(problem("uniform", type="int32"), SECRET).arrays(TimedInputs(1, 1))["x0"]
    assert (values.min() >= 0, values.max() <= 1000) == (True, True)
    assert 450 < values.mean() < 550


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> Iterator[Contents]:
    """A small problem with an inputs.py."""
    monkeypatch.setattr(custom_inputs, "_AHEAD_SECONDS", 0.3)
    spmv = problem_named("spmv")
    small = spmv.sizes.model_copy(update={"time": {"rows": 1000, "nonzeros": 5000}})
    with closing(Contents(spmv.model_copy(update={"sizes": small}), SECRET)) as made:
        yield made


def test_arrays_of_inputs_py_are_drawn_for_each_content_and_do_not_change(sparse: Contents) -> None:
    one, other, again = (sparse.arrays(TimedInputs(seed)) for seed in (0, 1, 0))
    assert sparse.changeable == ("value", "x")
    assert bits(one) == bits(again)
    assert one["column"].tobytes() != other["column"].tobytes()
    changed = sparse.arrays(TimedInputs(0, 1))
    assert changed["column"].tobytes() == one["column"].tobytes()
    assert changed["value"].tobytes() != one["value"].tobytes()


def test_no_worker_gets_a_drawing_twice_and_each_another_order(sparse: Contents) -> None:
    sparse.arrays(TimedInputs(77))
    orders = []
    for seed in (1, 2):
        supply = sparse.supply(random.Random(seed), lambda seed: seed == 77)
        assert supply.most(10**6) > 1
        orders.append([supply.next().seed for _ in range(500)])
        drawn = {sparse.arrays(TimedInputs(seed))["column"].tobytes() for seed in orders[-1][-100:]}
        assert len(drawn) == 100
        assert len(set(orders[-1])) == 500
        assert 77 not in orders[-1]
    shared = set(orders[0]) & set(orders[1])
    assert shared
    assert [s for s in orders[0] if s in shared] != [s for s in orders[1] if s in shared]


def test_a_drawing_that_was_told_of_is_handed_out_no_more(sparse: Contents) -> None:
    first = sparse.supply(random.Random(1), lambda _: False).next()
    sparse.retire(first)
    supply = sparse.supply(random.Random(2), lambda _: False)
    assert first not in {supply.next() for _ in range(500)}


def test_where_drawing_takes_long_a_batch_has_fewer_calls(
    sparse: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom_inputs, "_AHEAD_SECONDS", 0.0)
    assert sparse.supply(random.Random(1), lambda _: False).most(100) == 100
    sparse.arrays(TimedInputs(1))
    monkeypatch.setattr(custom_inputs.Drawings, "seconds", 0.1)
    assert sparse.supply(random.Random(1), lambda _: False).most(100) == 1


def test_what_is_not_kept_is_drawn_again_and_the_same(
    sparse: Contents, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = bits(sparse.arrays(TimedInputs(1)))
    monkeypatch.setattr(custom_inputs, "_KEPT_BYTES", 0)
    with closing(Contents(problem_of(sparse), SECRET)) as other:
        other.arrays(TimedInputs(2))
        assert bits(other.arrays(TimedInputs(1))) == kept


def problem_of(contents: Contents) -> Problem:
    return contents._problem


@pytest.mark.parametrize("kind", ["normal", "sorted"])
def test_an_array_is_compared_with_its_content(kind: str) -> None:
    contents = Contents(problem(kind), SECRET)
    made = contents.arrays(TimedInputs(3))
    assert contents.altered(TimedInputs(3), made) is None
    made["x0"][N - 1] += 1
    assert contents.altered(TimedInputs(3), made) == "x0"
    assert contents.altered(TimedInputs(3), {}) is None


@pytest.mark.parametrize("kind", KINDS)
def test_wider_arrays_get_the_same_values(kind: str) -> None:
    contents = Contents(problem(kind), SECRET)
    wide = {"x0": np.empty(N)}
    contents.write(TimedInputs(3, 1), wide)
    assert np.array_equal(wide["x0"], contents.arrays(TimedInputs(3, 1))["x0"])


def test_where_a_sample_of_the_output_is_looked_at_more_elements_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(large_outputs, "_SAMPLES", N // 10)
    assert Contents(problem("normal"), SECRET).changed == 16
    monkeypatch.setattr(large_outputs, "_WHOLE_BYTES", 0)
    assert Contents(problem("normal"), SECRET).changed == 160


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
