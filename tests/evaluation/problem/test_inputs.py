"""Inputs follow their seed and distribution; those of inputs.py are checked."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation import confined
from regraph_kg.evaluation.confined import probe
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem import custom_inputs as custom_module
from regraph_kg.evaluation.problem import inputs
from regraph_kg.evaluation.problem.custom_inputs import rest
from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.inputs import (
    Inputs,
    describe,
    distributions,
    factors,
    generate,
    levels,
    move_by_one_ulp,
    variant_of,
)
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate
from tests.requirement import require

from ..conftest import passed, problem_named


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


def test_float_distributions() -> None:
    assert abs(of("normal").std() - 1) < 0.05
    assert 0 <= of("uniform").min() < 0.01
    assert 0.08 < np.count_nonzero(of("sparse")) / 10_000 < 0.12
    assert np.abs(of("large-range")).max() > 1e3
    assert set(np.unique(of("small-int"))) == set(range(-4, 5))
    assert (np.diff(of("sorted")) >= 0).all()
    assert of("uniform", range=[-3, -2]).max() <= -2


@pytest.mark.parametrize("values", ["uniform", "normal", "sparse", "large-range"])
@pytest.mark.parametrize(("type_", "narrow"), [("float64", "f4"), ("complex128", "c8")])
def test_a_wide_float_is_not_one_of_fp32(values: str, type_: str, narrow: str) -> None:
    """A candidate that takes its inputs for fp32 must lose something."""
    drawn = of(values, type=type_)
    assert np.mean(drawn[drawn != 0].astype(narrow) != drawn[drawn != 0]) > 0.99


@pytest.mark.parametrize("values", ["uniform", "normal", "sparse", "small-int", "large-range"])
def test_bools_are_bytes_of_0_and_1(values: str) -> None:
    drawn = of(values, type="bool")
    assert drawn.dtype == np.uint8
    assert set(np.unique(drawn)) == {0, 1}


def test_complex_numbers_are_drawn_in_both_parts_and_moved_in_both() -> None:
    drawn = of("uniform", type="complex64", range=[2, 3])
    assert drawn.dtype == np.complex64
    for part in (drawn.real, drawn.imag):
        assert 2 <= part.min() < 2.01
        assert 2.99 < part.max() <= 3
    assert abs(np.corrcoef(drawn.real, drawn.imag)[0, 1]) < 0.05


def test_fields_of_structs_are_drawn_and_moved_by_themselves() -> None:
    fields = {"a": "float32", "b": "float32", "c": "int32"}
    drawn = of("normal", type="struct", struct="S", fields=fields, shape=["n // 2", "2"])
    assert drawn.dtype.itemsize == 12
    assert abs(np.corrcoef(drawn["a"].reshape(-1), drawn["b"].reshape(-1))[0, 1]) < 0.05
    problem = problem_named("scale")
    update = {"type": "struct", "struct": "S", "fields": fields}
    arg = problem.args[0].model_copy(update=update)
    changed = problem.model_copy(update={"args": (arg, *problem.args[1:])})
    moved = drawn.copy()
    move_by_one_ulp(changed, {"x": moved}, 1)
    for field in ("a", "b"):
        ratio = moved[field] / drawn[field]
        assert 0 < np.abs(ratio - 1).max() < 3e-7
        assert (moved[field] != drawn[field]).mean() > 0.9
    assert np.array_equal(moved["c"], drawn["c"])


def test_fields_stay_within_what_their_type_has_of_the_range() -> None:
    fields = {"a": "int8", "b": "bool", "c": "uint16", "d": "float32"}
    drawn = of("uniform", type="struct", struct="S", fields=fields, range=[-1000, 1000])
    limits = {name: (drawn[name].min(), drawn[name].max()) for name in fields}
    assert limits["a"] == (-128, 127)
    assert limits["b"] == (0, 1)
    assert limits["c"] == (0, 1000)
    assert limits["d"][0] < -900


def test_halves_stay_finite() -> None:
    drawn = of("large-range", type="float16")
    assert drawn.dtype == np.float16
    assert np.isfinite(drawn).all()
    assert np.abs(drawn).max() > 50


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


@pytest.mark.parametrize("type_", ["int64", "uint64", "size_t"])
def test_normal_integers_of_64_bits_vary(type_: str) -> None:
    drawn = of("normal", type=type_)
    assert len(np.unique(drawn)) > 9_000
    assert 5e5 < np.std(drawn.astype(np.float64) - float(drawn[0])) < 2e6


def test_one_ulp_moves_floats_only() -> None:
    spmv = problem_named("spmv")
    views = {arg.name: np.ones(1000, np.int32) for arg in spmv.inputs}
    views |= {"value": np.ones(1000), "x": np.ones(70_000)}
    move_by_one_ulp(spmv, views, 1)
    for name in ("value", "x"):
        assert set(np.unique(views[name])) == {1 - 2.0**-23, 1 + 2.0**-23}
    assert set(views["start"]) == {1}


def test_a_unit_may_be_that_of_a_lower_precision() -> None:
    views = {"x": np.ones(1000)}
    move_by_one_ulp(problem_named("scale"), views, 1, 2.0**-10)
    assert set(np.unique(views["x"])) == {1 - 2.0**-10, 1 + 2.0**-10}


def test_a_variant_says_which_distribution_each_argument_takes() -> None:
    problem = problem_named("spmv")
    assert factors(problem) == (2, 2, 2)
    for places in ((0, 0, 0), (1, 0, 0), (0, 1, 1)):
        assert levels(problem, variant_of(problem, places)) == places
    drawn = distributions(problem, variant_of(problem, (0, 1, 0)))
    assert drawn == {"start": "custom", "column": "custom", "value": "normal", "x": "small-int"}
    assert describe(problem_named("scale"), 1) == "x uniform"


def test_inputs_are_drawn_once_and_cannot_be_written() -> None:
    problem = problem_named("scale")
    kept = Inputs(problem)
    one = kept.get({"n": 100}, 0, 1)
    assert kept.get({"n": 100}, 0, 1) is one
    assert not one["x"].flags.writeable
    assert np.array_equal(one["x"], generate(problem, {"n": 100}, 0, 1)["x"])
    assert not np.array_equal(one["x"], kept.get({"n": 100}, 0, 2)["x"])


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_KEPT_BYTES", 3300)
    kept = Inputs(problem_named("scale"))
    assert kept.get({"n": 207}, 0, 1) is not kept.get({"n": 207}, 0, 1), "more than a quarter"
    seeds = range(5)
    again = [kept.get({"n": 200}, 0, seed) is kept.get({"n": 200}, 0, seed) for seed in seeds]
    assert again == [True] * 4 + [False]


def test_a_problem_may_bring_its_own_generator() -> None:
    problem = problem_named("spmv")
    sizes = {"rows": 100, "nonzeros": 400}
    made = generate(problem, sizes, variant_of(problem, (0, 0, 0)), 1)
    assert list(made) == ["value", "x", "start", "column"]
    assert made["start"][[0, -1]].tolist() == [0, 400]
    assert np.array_equal(made["start"], generate(problem, sizes, 0, 1)["start"])
    assert not np.array_equal(made["start"], generate(problem, sizes, 0, 2)["start"])
    all_in_one = generate(problem, sizes, variant_of(problem, (0, 0, 1)), 1)
    assert all_in_one["start"][1:].tolist() == [400] * 100


def test_the_generator_is_part_of_a_problems_identity() -> None:
    problem = problem_named("spmv")
    other = problem.model_copy(update={"inputs_code": f"{problem.inputs_code}\n"})
    assert problem.model_dump_json() != other.model_dump_json()


@pytest.fixture
def custom(problem_folder: Callable[..., Path]) -> Callable[[str], Problem]:
    """The problem "scale" with an inputs.py whose body is given."""

    def make(body: str) -> Problem:
        values = 'shape = ["n"]\nvalues = ["custom"]\nrange = [0, 9]'
        folder = problem_folder(toml=('shape = ["n"]', values))
        toml = folder / "problem.toml"
        head, _, tail = toml.read_text().partition('name = "y"')
        toml.write_text(head + 'name = "y"' + tail.replace(values, 'shape = ["n"]'))
        head = "import numpy as np\ndef generate(sizes, variant, rng):\n    "
        (folder / "inputs.py").write_text(head + body)
        return load_problem(folder)

    return make


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return {}", "gives [], needs ['x']"),
        ("return {'x': np.zeros(sizes['n'])}", "x: dtype float64, declared float32"),
        ("return {'x': np.zeros(5, np.float32)}", "x: shape [5], declared [7]"),
        ("return {'x': np.full(7, np.nan, np.float32)}", "x: has NaN or Inf"),
        ("return {'x': np.full(7, 10, np.float32)}", "x: values from 10 to 10, declared range"),
        ("return {'x': 1 / 0}", "line 3: ZeroDivisionError: division by zero"),
        ("return None", "TypeError"),
        ("import os; os._exit(3)", "it ended without a word"),
    ],
)
def test_a_faulty_generator_is_named_in_one_line(
    custom: Callable[[str], Problem], body: str, says: str
) -> None:
    with pytest.raises(BadInput) as error:
        generate(custom(body), {"n": 7}, 0, 1)
    assert str(error.value).startswith("problem scale: inputs.py at n=7: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_generator_may_print(custom: Callable[[str], Problem]) -> None:
    body = "print('noise', flush=True); return {'x': np.arange(7, dtype=np.float32)}"
    assert generate(custom(body), {"n": 7}, 0, 1)["x"].tolist() == list(range(7))


def test_a_generator_does_not_see_the_judges_environment(
    custom: Callable[[str], Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGRAPH_TEST_SECRET", "1")
    body = (
        "import os; seen = float('REGRAPH_TEST_SECRET' in os.environ)\n"
        "    return {'x': np.full(7, seen, np.float32)}"
    )
    assert not generate(custom(body), {"n": 7}, 0, 1)["x"].any()


def test_a_generator_that_never_ends_is_ended(
    custom: Callable[[str], Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custom_module, "_SECONDS", 1.5)
    with pytest.raises(BadInput, match="no arrays after"):
        generate(custom("while True: pass"), {"n": 7}, 0, 1)


HOSTILE = {
    "reads a file": ("open(SECRET).read()", "No such file or directory"),
    "reads a file of the machine": ("open('/etc/passwd').read()", "No such file or directory"),
    "lists a folder": ("__import__('os').listdir(FOLDER)", "No such file or directory"),
    "reads its parent": (
        "import os; open(f'/proc/{os.getppid()}/environ').read()",
        "No such file or directory",
    ),
    "opens a socket": ("import socket; socket.socket()", "Function not implemented"),
    "makes a file": ("open('made', 'w')", "Operation not permitted"),
    "makes a file in a shared folder": ("open('/dev/shm/made', 'w')", "Operation not permitted"),
    "changes an attribute": (
        "import os; os.setxattr(os.__file__, 'user.a', b'b')",
        "Function not implemented",
    ),
    "changes a mode": ("import os; os.chmod('/', 0o777)", "Function not implemented"),
    "removes a file": ("import os; os.unlink(SECRET)", "Function not implemented"),
    "forks": ("import os; os.fork()", "Function not implemented"),
    "starts a program": ("import os; os.execv('/bin/sh', ['sh'])", "Function not implemented"),
    "signals its parent": ("import os; os.kill(os.getppid(), 0)", "Function not implemented"),
    "fills memory": ("bytearray(2**40)", "MemoryError"),
    "fills memory piece by piece": ("[bytes(2**24) for _ in range(10**6)]", "MemoryError"),
    "prints a gigabyte": ("[print('x' * 2**20) for _ in range(1024)]", "prints more than 1048576"),
    "gives a gigabyte": (
        "import os; [os.write(n, bytes(2**20)) for n in range(3, 9) for _ in range(1024)]",
        "",
    ),
    "gives too much": ("import os; os.write(3, b'[' * 60000); os._exit(0)", "more bytes than"),
    "gives too little": ("import os; os.write(3, b'[' * 20); os._exit(0)", "without a word"),
    "paints the terminal": (r"raise ValueError('\x1b[2Jpassed')", "ValueError:  [2Jpassed"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_generator_does_no_harm_and_ends_in_one_line(
    custom: Callable[[str], Problem], tmp_path: Path, what: str
) -> None:
    if probe_lacks():
        require("sandbox", f"{probe_lacks()} does not hold here")
    body, says = HOSTILE[what]
    secret = tmp_path / "secret"
    secret.write_text("secret")
    before = secret.stat()
    body = body.replace("SECRET", repr(str(secret))).replace("FOLDER", repr(str(tmp_path)))
    lines = f"{body}\n    return {{'x': np.zeros(7, np.float32)}}"
    with pytest.raises(BadInput) as error:
        generate(custom(lines), {"n": 7}, 0, 1)
    text = str(error.value)
    assert text.startswith("problem scale: inputs.py at n=7: ")
    assert says in text
    assert len(text) < 500
    assert text.isprintable()
    assert secret.read_text() == "secret"
    assert secret.stat().st_mode == before.st_mode


@cache
def probe_lacks() -> str:
    """Confinements that do not hold here, of those that the tests above show."""
    wanted = ("seccomp", "own root")
    return " and ".join(name for name in wanted if not probe.tried(name)[0])


def test_a_generator_is_stopped_by_landlock_too(
    custom: Callable[[str], Problem], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not probe.tried("landlock")[0]:
        require("sandbox", "there is no landlock here")
    copy = tmp_path / "confined"
    shutil.copytree(confined.FOLDER, copy)
    with (copy / "files.py").open("a") as file:
        file.write("\n\ndef hide_others(*_: object) -> bool:\n    return False\n")
    monkeypatch.setattr(confined, "FOLDER", str(copy))
    rest()
    body = "open('/etc/passwd'); return {}"
    with pytest.raises(BadInput, match="Permission denied"):
        generate(custom(body), {"n": 7}, 0, 1)


ATTEMPTS = (
    'fopen("/etc/passwd", "r") == nullptr',
    "fork() == -1",
    "socket(AF_INET, SOCK_STREAM, 0) == -1",
    'chmod("/", 0777) == -1',
    'system("true") != 0',
    'getenv("REGRAPH_TEST_SECRET") == nullptr',
)


@pytest.mark.nightly
def test_serial_code_is_confined_as_a_candidate_is(
    judge: Judge, problem_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one problem: each would have to be opened."""
    monkeypatch.setenv("REGRAPH_TEST_SECRET", "1")
    headers = "".join(
        f"#include <{name}>\n"
        for name in ("stdio.h", "stdlib.h", "sys/socket.h", "sys/stat.h", "unistd.h")
    )
    head = 'extern "C" void scale(const float* x, float* y, float a, int n) {\n'
    traps = "".join(
        f'  if (!({attempt})) fputs(R"({attempt})", stderr), __builtin_trap();\n'
        for attempt in ATTEMPTS
    )
    problem = load_problem(problem_folder(serial=(head, headers + head + traps)))
    report = judge.evaluate(Candidate("openmp", problem_named("scale").serial_code), problem)
    assert passed(report), report.diagnosis
