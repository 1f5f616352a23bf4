"""problem.toml: what is accepted, and how each mistake is named."""

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.declaration import Argument, Returned, holds, size_of
from regraph_kg.evaluation.problem.problem import Problem, load_problem

from ..conftest import problem_named


def test_a_problem_knows_its_signature_shapes_and_roles() -> None:
    problem = problem_named("bump")
    assert problem.signature() == (
        'extern "C" void bump(int* b, const unsigned char* table, int n, int k)'
    )
    assert [arg.name for arg in problem.outputs] == ["b"]
    assert [arg.name for arg in problem.inputs] == ["b", "table"]
    assert problem.args[1].dimensions({"n": 100, "k": 7}) == (7,)
    assert problem.args[2].scalar({"n": 100, "k": 7}) == 100


def test_promotion_widens_float32_only() -> None:
    wide = problem_named("scale").promoted()
    assert [arg.type for arg in wide.args] == ["float64", "float64", "float64", "int32"]


def test_floats_that_decide_exact_outputs_keep_their_types() -> None:
    exact = problem_named("scale").model_copy(update={"tolerance": "exact"})
    assert exact.promoted().args == exact.args
    assert exact.truth_code == exact.serial_code
    own = exact.model_copy(update={"reference_code": "// in double"})
    assert own.promoted().args != exact.args
    assert own.truth_code == "// in double"
    assert "double" in problem_named("scale").truth_code


@pytest.mark.parametrize(
    ("text", "value"), [("m*n + 2", 14), ("(m - 1) * n // 3", 2), ("-1 + m", 2), ("m % 2", 1)]
)
def test_sizes_are_integer_expressions(text: str, value: int) -> None:
    assert size_of(text, {"m": 3, "n": 4}) == value


def test_relations_are_between_integer_expressions() -> None:
    assert holds("1 <= k < n - 1", {"k": 3, "n": 5})
    assert not holds("k % 4 == 0", {"k": 3})
    for text in ("k", "k in n", "k != n", "k < n.real"):
        with pytest.raises(ValueError, match=r"relation|allowed"):
            holds(text, {"k": 3, "n": 5})


@pytest.mark.parametrize(
    "text", ["__import__('os')", "m.real", "m ** 9", "m / 2", "q", "m if n else 1", "True", "m //0"]
)
def test_sizes_are_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"allowed|unknown|zero"):
        size_of(text, {"m": 3, "n": 4})


MISTAKES = [
    ("schema = 1", "schema = 2", "schema"),
    ('name = "scale"', 'name = "Scale It"', "name"),
    ('entry = "scale"', 'entry = "9lives"', "entry"),
    ('entry = "scale"', "", "entry"),
    (
        'entry = "scale"',
        'entry = "scale"\nmetrik = "call"',
        "metrik: no such field; did you mean m",
    ),
    (
        'role = "in"',
        'role = "in"\nshapes = ["n"]',
        "args.0: shapes: no such field; did you mean sh",
    ),
    ("{ n = 1 }", "{ n = 1 }]\nchek = [{ n = 1 }", "sizes: chek: no such field; did you mean che"),
    ("[sizes]", '[sizes]\nrequire = ["n < 1000"]', 'check[1] (n=1000) breaks require "n < 1000"'),
    ("[sizes]", '[sizes]\nrequire = ["n + 1"]', "is no relation"),
    ("[sizes]", '[sizes]\nrequire = ["n < q"]', "unknown size 'q'"),
    ("[{ n = 1 }, { n = 1000 }]", "[{ n = 0 }]", "arrays are empty in every shape"),
    ('entry = "scale"', 'entry = "scale"\nmetric = "wall"', "metric"),
    ('"conditioned"', '"loose"', "tolerance"),
    ('"conditioned"', '{ rule = "sum" }', "terms"),
    ('"conditioned"', '{ rule = "sum", terms = "q" }', "unknown size 'q'"),
    ('"conditioned"', "{ absolute = -1 }", "absolute"),
    ('"conditioned"', '{ rule = "conditioned", terms = "q" }', "unknown size 'q'"),
    ('"conditioned"', '"exact"\nprecision = "fp8"', "precision"),
    ("{ n = 1 }", "{ n = -1 }", "sizes.check"),
    ("time = { n = 200000 }", "time = { n = 0 }", "sizes.time"),
    ("{ n = 1 }", "{ m = 1 }", "names"),
    ("time = { n = 200000 }", "", "sizes.time"),
    ("time = { n = 200000 }", "time = { n = 2000000000 }", "8 GiB"),
    ("time = { n = 200000 }", "time = { n = 9000000000 }", "9e+09 is none of int32"),
    ('type = "float32"', 'type = "float32"\nrange = [0, inf]', "range [0.0, inf] is more than"),
    ('type = "float32"', 'type = "float32"\nrange = [nan, 1]', "is more than float32 has"),
    ('type = "float32"', 'type = "float16"\nrange = [0, 1e6]', "more than float16 has: -65504"),
    ('type = "float32"', 'type = "int8"\nrange = [0, 1000]', "more than int8 has: -128 to 127"),
    ('type = "float32"', 'type = "int32"\nrange = [0.2, 0.8]', "between whole numbers"),
    ('type = "float32"', 'type = "uint64"\nrange = [0, 1e18]', "beyond 2^53 are not kept"),
    ('type = "float32"', 'type = "float32"\nfields = { a = "int8" }', "no other does"),
    ('type = "float32"', 'type = "float8"', "args.0.type"),
    ('role = "in"', 'role = "input"', "args.0.role"),
    ('shape = ["n"]', 'shape = ["q"]', "args.x: unknown size 'q'"),
    ('shape = ["n"]', 'shape = ["n - 2"]', "args.x: shape [-1] is negative"),
    ('shape = ["n"]', 'shape = ["exit()"]', "args.0.shape"),
    ('shape = ["n"]', 'shape = ["n"]\nvalues = ["gaussian"]', "args.0.values"),
    ('shape = ["n"]', 'shape = ["n"]\nrange = [2, 1]', "args.0"),
    ('shape = ["n"]', 'shape = ["n"]\nvalues = ["custom", "normal"]', "stands alone"),
    ('shape = ["n"]', 'shape = ["n"]\nvalues = ["custom"]', "inputs.py need each other"),
    ('type = "float32"', 'type = "bfloat16"', "args.0.type: "),
    (
        'type = "float32"\nrole = "in"\nvalue',
        'type = "complex64"\nrole = "in"\nvalue',
        "for arrays",
    ),
    ('type = "float32"\nrole = "in"\nvalue', 'type = "float16"\nrole = "in"\nvalue', "for arrays"),
    ('type = "float32"', 'type = "complex64"\nvalues = ["sorted"]', "have no order"),
    ('type = "float32"', 'type = "bool"\nrange = [0, 2]', "more than bool has: 0 to 1"),
    ('type = "int32"', 'type = "bool"', "needs an integer type"),
    (
        'entry = "scale"',
        'entry = "scale"\nreturns = { type = "float16" }',
        "returns: float16 is for",
    ),
    ('entry = "scale"', 'entry = "scale"\nreturns = { typ = "int32" }', "returns: typ: no such"),
    ('role = "in"', 'role = "in"\ncount = "n"', "count is for outputs"),
    ('role = "out"', 'role = "out"\ncount = "n"', "count 'n' is no output"),
    ('role = "out"', 'role = "out"\ncount = "y"', "count 'y' is no output"),
    ('role = "out"', 'role = "out"\norder = "x"', "order: no such field"),
    ('type = "float32"', 'type = "struct"', 'needs struct = "<its name>" and fields'),
    (
        'type = "float32"',
        'type = "float32"\nstruct = "P"\nfields = { a = "int8" }',
        "no other does",
    ),
    (
        'type = "float32"',
        'type = "struct"\nstruct = "P"\nfields = { a = "int8", b = "int32" }',
        "struct P has padding: declare that as fields, too",
    ),
    (
        'type = "float32"',
        'type = "struct"\nstruct = "P"\nfields = { a = "int8" }\nrange = [200, 300]',
        "range holds no int8",
    ),
    (
        'type = "float32"',
        'type = "struct"\nstruct = "P"\nfields = { z = "complex64" }',
        "fields of a struct are real numbers",
    ),
    (
        'type = "float32"',
        'type = "struct"\nstruct = "P"\nfields = { a = "int8" }\nvalues = ["sorted"]',
        'neither "custom" nor "sorted"',
    ),
    (
        'type = "float32"\nrole = "in"\nvalue',
        'type = "struct"\nstruct = "P"\nfields = { a = "int8" }\nrole = "in"\nvalue',
        "for arrays",
    ),
    ("value = 2.5", "", "args.2"),
    ("value = 2.5", "value = inf", "value inf is none of float32"),
    ('size = "n"', "", "args.3"),
    ('role = "out"', 'role = "in"', 'role "out"'),
    ('name = "y"', 'name = "x"', "same name"),
    ('name = "scale"', 'name = "scale', "not TOML"),
    ('entry = "scale"', 'entry = "scale"\nserial_code = "x"', "serial_code"),
]


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES)
def test_every_mistake_is_named_in_one_line(
    problem_folder: Callable[..., Path], old: str, new: str, says: str
) -> None:
    folder = problem_folder(toml=(old, new))
    with pytest.raises(BadInput) as error:
        load_problem(folder)
    message = str(error.value)
    assert message.startswith(f"{folder / 'problem.toml'}: ")
    assert says in message
    assert "\n" not in message


def test_an_idle_generator_is_a_mistake(problem_folder: Callable[..., Path]) -> None:
    folder = problem_folder()
    (folder / "inputs.py").write_text("def generate(sizes, variant, rng): return {}")
    with pytest.raises(BadInput, match=r"inputs\.py need each other"):
        load_problem(folder)


def test_new_fields_have_defaults_that_change_nothing() -> None:
    problem = problem_named("scale")
    assert (problem.precision, problem.separates) == ("fp32", True)
    assert not problem.work.early_exit


def test_a_problem_knows_the_bytes_of_its_arrays() -> None:
    assert problem_named("bump").nbytes({"n": 100, "k": 7}) == 4 * 100 + 7
    assert problem_named("scale").nbytes({"n": 10}) == 80


def test_memory_grows_with_the_timing_shape_and_its_fp64_truth() -> None:
    scale = problem_named("scale")
    arrays, checked = scale.nbytes(scale.sizes.time), scale.nbytes({"n": 1000})
    own = Problem.model_validate(
        scale.model_dump(by_alias=True)
        | {"sizes": scale.sizes.model_dump() | {"time": {"n": 1000}}}
    )
    a_drawing, slots, kept = 0.5, 2, 8
    grown = scale.memory_bytes() - own.memory_bytes()
    assert grown == (a_drawing + slots + kept) * (arrays - checked)


@pytest.mark.parametrize("missing", ["problem.toml", "serial.cpp"])
def test_a_missing_file_is_named(problem_folder: Callable[..., Path], missing: str) -> None:
    folder = problem_folder()
    (folder / missing).unlink()
    with pytest.raises(BadInput, match=missing):
        load_problem(folder)


def test_types_are_spelled_as_the_compiler_has_them(problem_folder: Callable[..., Path]) -> None:
    array, size = 'type = "float32"\nrole = "in"\nshape', 'type = "int32"'
    for kind, gcc, nvcc in (
        ("complex64", "std::complex<float>", "std::complex<float>"),
        ("float16", "_Float16", "__half"),
        ("char", "char", "char"),
    ):
        folder = problem_folder(toml=(array, array.replace("float32", kind)))
        problem = load_problem(folder)
        assert f"const {gcc}* x, float* y" in problem.signature()
        assert f"const {nvcc}* x, float* y" in problem.signature(cuda=True)
        shutil.rmtree(folder)
    problem = load_problem(problem_folder(toml=(size, 'type = "size_t"')))
    assert problem.signature().endswith("size_t n)")
    assert problem.args[3].dtype == np.uint64


def test_what_is_returned_is_an_output_of_one_element(problem_folder: Callable[..., Path]) -> None:
    said = 'entry = "scale"\nreturns = { type = "complex64" }'
    problem = load_problem(problem_folder(toml=('entry = "scale"', said)))
    assert problem.signature().startswith('extern "C" std::complex<float> scale(')
    assert [arg.name for arg in problem.outputs] == ["y", "return"]
    assert problem.outputs[-1].dimensions({"n": 7}) == (1,)
    assert [arg.name for arg in problem.args] == ["x", "y", "a", "n"]
    assert problem.promoted().outputs[-1].type == "complex128"
    assert Problem.model_validate_json(problem.model_dump_json(by_alias=True)) == problem


def test_fields_of_structs_are_compared_by_themselves() -> None:
    problem = load_problem(ADVERSARIAL / "drift")
    assert problem.signature() == (
        'extern "C" void drift(const Particle* p, Particle* q, float dt, int n)'
    )
    assert [arg.name for arg in problem.outputs] == ["q"]
    assert [(arg.name, arg.type) for arg in problem.results] == [
        ("q.x", "float32"),
        ("q.v", "float32"),
        ("q.steps", "int32"),
    ]
    assert [arg.type for arg in problem.promoted().results] == ["float64", "float64", "int32"]
    assert problem.nbytes({"n": 10}) == 2 * 120
    assert Problem.model_validate_json(problem.model_dump_json(by_alias=True)) == problem


ADVERSARIAL = Path(__file__).parents[2] / "adversarial" / "problem"
DOCS = Path(__file__).parents[3] / "docs" / "problems.md"


def test_the_documented_problem_is_one() -> None:
    text = DOCS.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    problem = Problem.model_validate(tomllib.loads(text) | {"serial_code": ""})
    assert problem.signature() == 'extern "C" void saxpy(const float* x, float* y, float a, int n)'


def test_documented_arguments_are_some() -> None:
    fences = DOCS.read_text(encoding="utf-8").split("```toml\n")[1:]
    tables = [tomllib.loads(fence.partition("```")[0]) for fence in fences]
    read = [Argument.model_validate(arg) for table in tables for arg in table.get("args", ())]
    assert {"key", "place", "p"} <= {arg.name for arg in read}
    returned = [table["returns"] for table in tables if "returns" in table]
    assert [Returned.model_validate(each).type for each in returned] == ["float64", "int32"]


def test_the_documented_generator_is_that_of_the_example() -> None:
    text = DOCS.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    example = problem_named("spmv").inputs_code
    assert example is not None
    assert [line for line in text.splitlines() if '"""' not in line] == [
        line for line in example.splitlines()[2:] if '"""' not in line
    ]
