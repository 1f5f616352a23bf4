"""A problem is judged before it judges: each fault is one line with the line that mends it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.evaluation.checkup import checkup
from regraph_kg.evaluation.checkup.checkup import Checker, mismatch
from regraph_kg.evaluation.checkup.findings import Checkup, ProblemFinding
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate, Outcome

from ..conftest import passed, problem_named, scale_source
from .test_calibration import CLASSES, EACH, of

pytestmark = pytest.mark.nightly

Check = Callable[[Problem], Checkup]
Compare = Callable[[str], ProblemFinding | None]


@pytest.fixture
def check(cache: Path, tmp_path: Path) -> Check:
    if (cache / "compiled").exists():
        shutil.copytree(cache / "compiled", tmp_path / "compiled")
    (cache / "compiled").mkdir(exist_ok=True)
    return Checker(tmp_path, lambda _: None).check


@pytest.fixture(scope="module")
def compare(cache: Path) -> Compare:
    """Compare a head of `scale` with its declaration."""
    compiler, problem = (
        Compiler(cache / "compiled", find_gcc(), JudgeLimits()),
        problem_named("scale"),
    )

    def compare(head: str) -> ProblemFinding | None:
        body = "{ return 0; }" if head.startswith("int") else "{ }"
        return mismatch(problem, f'extern "C" {head} {body}', compiler, "serial.cpp")

    return compare


def told(seen: Checkup, severity: str) -> list[str]:
    return [str(found) for found in seen.findings if found.severity == severity]


def test_a_true_declaration_is_good_and_known_the_next_time(check: Check, tmp_path: Path) -> None:
    problem = problem_named("scale")
    first = check(problem)
    assert first.errors == ()
    assert [found.about for found in first.findings] == ["timing shape"], "a tiny test problem"
    again = check(problem)
    assert (again.findings, again.seconds) == (first.findings, None)


def test_a_spoiled_memory_of_findings_is_looked_at_anew(check: Check, tmp_path: Path) -> None:
    problem = of(f"{EACH} q[i] = 1;")
    first = check(problem)
    (kept,) = (tmp_path / "problems").glob("*.json")
    kept.write_text('[{"severity": "fine"}]')
    assert check(problem).findings == first.findings
    assert kept.read_text() != '[{"severity": "fine"}]'


def test_code_that_does_not_compile_is_named_with_its_line(check: Check) -> None:
    (said,) = told(check(of(f"{EACH} q[i] = 1;")), "error")
    assert said.startswith("serial.cpp: does not compile: serial.cpp:3:")
    assert "'q' was not declared" in said


@pytest.mark.parametrize(
    "head",
    [
        "void scale(const float* x, float* y, float a, int n)",
        "void scale(float* x, float* y, float a, int n)",
        "void scale(const float* __restrict__ x, float* y, const float a, const int n) noexcept",
    ],
)
def test_a_signature_may_lack_const_on_inputs(compare: Compare, head: str) -> None:
    assert compare(head) is None


def test_rows_whose_tolerance_is_too_narrow_get_a_wider_one(check: Check) -> None:
    compact = load_problem(Path(__file__).parents[2] / "adversarial" / "problem" / "compact")
    code = compact.serial_code.replace("sqrtf(x[i])", "sinf(100 * x[i])")
    far = compact.model_copy(update={"serial_code": code, "tolerance": "conditioned"})
    (said,) = told(check(far), "error")
    assert "serial.cpp fails its own check" in said
    assert 'tolerance = { rule = "conditioned", terms = "' in said


@pytest.mark.parametrize(
    ("struct", "says"),
    [
        ("struct Particle { float x, v; int steps; };", None),
        (
            "struct Particle { float x; int steps; float v; };",
            "has not the fields float32 x, float3",
        ),
        ("struct Particle { float x, v; short steps; };", "has not the fields"),
        ("struct Body { float x, v; int steps; }; typedef Body Particle;", None),
    ],
)
def test_the_fields_of_a_struct_are_where_they_are_declared(
    cache: Path, struct: str, says: str | None
) -> None:
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    drift = load_problem(Path(__file__).parents[2] / "adversarial" / "problem" / "drift")
    code = f"{struct}\n{drift.signature()} {{ }}"
    found = mismatch(drift, code, compiler, "serial.cpp")
    assert (found is None) if says is None else (found is not None and says in found.text)


_MEND = "a reference.cpp, or mend serial.cpp: is every variable set before it is read?"
SIGNATURE = 'extern "C" void scale(const float* x, float* y, float a, int n)'


@pytest.mark.parametrize(
    ("head", "write"),
    [
        ("void scale(const float* x, float* y, float a, long n)", SIGNATURE),
        ("void scale(const float* x, float* y, float a, unsigned n)", SIGNATURE),
        ("void scale(const double* x, float* y, float a, int n)", SIGNATURE),
        ("void scale(const float& x, float* y, float a, int n)", SIGNATURE),
        (
            "void scale(const float* y, float* x, float a, int n)",
            "[[args]] in the order y, x, a, n",
        ),
        ("int scale(const float* x, float* y, float a, int n)", SIGNATURE),
        ("void scale(const float* x, float* y, float a)", SIGNATURE),
        ("void scale(const float* x, float* y, float a, bool n)", SIGNATURE),
        ("void scael(const float* x, float* y, float a, int n)", SIGNATURE),
    ],
)
def test_another_signature_is_found_by_the_compiler(
    compare: Compare, head: str, write: str
) -> None:
    found = compare(head)
    assert found is not None
    assert (found.severity, found.write) == ("error", write)


def test_integers_are_alike_by_size_and_sign(cache: Path) -> None:
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    problem = of(f"{EACH} z[i] = x[i] + y[i];", tolerance="exact", type="int64")
    for spelled, good in [("long", True), ("int64_t", True), ("size_t", False), ("int", False)]:
        code = "#include <stdint.h>\n" + problem.serial_code.replace("long long", spelled)
        assert (mismatch(problem, code, compiler, "serial.cpp") is None) is good, spelled


def test_a_tolerance_that_the_serial_code_fails_is_an_error_with_one_that_it_passes(
    check: Check,
) -> None:
    strict = CLASSES["softmax"].model_copy(update={"tolerance": "conditioned"})
    (said,) = told(check(strict), "error")
    assert said.startswith("tolerance: serial.cpp fails its own check at n=")
    line = said.partition("; write: ")[2]
    assert line.startswith('tolerance = { rule = "conditioned", terms = "')
    terms = line.split('"')[3]
    mended = {"tolerance": {"rule": "conditioned", "terms": terms}}
    text = strict.model_dump(by_alias=True) | mended
    assert check(Problem.model_validate(text)).errors == ()


def test_an_output_that_is_written_in_part_only_is_an_error(check: Check) -> None:
    (said,) = told(check(of("for (int i = 0; i < n; i += 2) z[i] = x[i] + y[i];")), "error")
    assert "z[1] is nan, expected 0" in said
    assert said.endswith('role = "inout" where the function leaves what it does not write')


def test_a_false_word_on_separation_is_a_note(check: Check) -> None:
    problem = CLASSES["copy"].model_copy(update={"separates": False})
    notes = told(check(problem), "note")
    assert any(said.endswith("it is found; write: separates = true") for said in notes), notes


def test_floats_that_are_small_integers_only_are_a_note(check: Check) -> None:
    problem = of(f"{EACH} z[i] = x[i] + y[i];", values=["small-int"], tolerance="exact")
    notes = told(check(problem), "note")
    assert any(said.endswith('write: values = ["normal", "small-int"]') for said in notes), notes
    assert not any("8 bits" in said for said in told(check(CLASSES["copy"]), "note"))


def test_serial_code_that_is_not_its_own_reference_is_an_error(check: Check) -> None:
    problem = of(f"{EACH} z[i] = x[i];")
    other = problem.promoted().serial_code.replace("float", "double").replace("x[i]", "2 * x[i]")
    seen = check(problem.model_copy(update={"reference_code": other}))
    (said,) = told(seen, "error")
    assert "serial.cpp fails its own check" in said
    assert said.endswith(f"write: {_MEND}")


TRIVIAL = {
    "z is 0 within the tolerance, whatever the input": of(f"{EACH} z[i] = 0 * x[i] * y[i];"),
    "z is 0 within": of(
        f"{EACH} z[i] = 1e-3f * x[i] * y[i];",
        tolerance={"absolute": 0.5},
        values=["uniform"],
        separates=False,
    ),
    "z is 3 within the tolerance, whatever the input": of(f"{EACH} z[i] = 3 + 0 * (x[i] + y[i]);"),
}


@pytest.mark.parametrize("text", TRIVIAL)
def test_an_output_that_needs_no_computing_is_an_error(check: Check, text: str) -> None:
    errors = told(check(TRIVIAL[text]), "error")
    assert any(said.startswith(f"output: {text}") for said in errors), errors


STATUS = Problem.model_validate(
    {
        "schema": 1,
        "name": "status",
        "entry": "scale",
        "returns": {"type": "int32"},
        "tolerance": "conditioned",
        "sizes": {"check": [{"n": 1}, {"n": 1000}], "time": {"n": 2**22}},
        "args": [
            {"name": "x", "type": "float32", "role": "inout", "shape": ["n"]},
            {"name": "n", "type": "int32", "role": "size", "size": "n"},
        ],
        "serial_code": 'extern "C" int scale(float* x, int n) {'
        " for (int i = 0; i < n; i++) x[i] *= 2; return RESULT; }",
    }
)


@pytest.mark.parametrize(
    ("result", "value"), [("0", "0"), ("1", "1"), ("-1", "-1"), ("n < 0 ? -2 : 7", "7")]
)
def test_a_constant_status_beside_results_that_vary_is_a_note(
    check: Check, result: str, value: str
) -> None:
    code = STATUS.serial_code.replace("RESULT", result)
    seen = check(STATUS.model_copy(update={"serial_code": code}))
    assert not told(seen, "error")
    (said,) = (one for one in told(seen, "note") if one.startswith("output: "))
    assert said.startswith(f"output: return is {value} within the tolerance, whatever the input")


def test_an_input_that_no_output_depends_on_is_a_note(check: Check) -> None:
    notes = told(check(of(f"{EACH} z[i] = 2 * x[i];")), "note")
    assert any(said.startswith("input: no output changes where y does") for said in notes), notes
    assert not any("where x does" in said for said in notes)


def test_memory_is_compared_before_anything_starts(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "available_bytes", lambda: 2**20)
    (said,) = told(check(problem_named("scale")), "error")
    assert said == (
        "memory: judging takes about 0.2 GiB, 0.0 GiB are free: end other programs, or make the"
        " timing shape smaller"
    )


TOP = {
    "schema": 1,
    "name": "top",
    "entry": "top",
    "sizes": {
        "check": [{"n": 1, "k": 1}, {"n": 5000, "k": 7}, {"n": 9000, "k": 9000}],
        "time": {"n": 200000, "k": 1000},
    },
    "args": [
        {"name": "x", "type": "float32", "role": "in", "shape": ["n"]},
        {"name": "z", "type": "float32", "role": "out", "shape": ["k"]},
        {"name": "n", "type": "int32", "role": "size", "size": "n"},
        {"name": "k", "type": "int32", "role": "size", "size": "k"},
    ],
    "serial_code": """extern "C" void top(const float* x, float* z, int n, int k) {
      for (int i = 0; i < k; ++i) z[i] = k > n ? ((volatile float*)0)[0] : x[n - k + i];
    }""",
}


def test_code_that_fails_at_the_secret_shape_needs_a_relation(check: Check) -> None:
    (said,) = told(check(Problem.model_validate(TOP)), "error")
    assert "killed by SIGSEGV" in said
    related = {**TOP, "sizes": {**TOP["sizes"], "require": ["k <= n"]}}  # type: ignore[dict-item]
    assert check(Problem.model_validate(related)).errors == ()


RIGHT_AT_ALL = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"


@pytest.mark.parametrize(
    ("body", "outcome", "says"),
    [
        (RIGHT_AT_ALL, None, ""),
        ("if (!x || !y) __builtin_trap();" + RIGHT_AT_ALL, None, ""),
        (RIGHT_AT_ALL + "if (!n) y[0] = 1;", Outcome.CRASHED, "at shape n=0"),
        (
            RIGHT_AT_ALL + "if (n == 1000) y[n] = 1;",
            Outcome.CRASHED,
            "wrote right past the end of y",
        ),
        (RIGHT_AT_ALL + "if (n == 1000) y[n + 1] = 1;", Outcome.CRASHED, "wrote 4 bytes past the"),
        (RIGHT_AT_ALL + "if (n == 1000) y[-1] = 1;", Outcome.CRASHED, "wrote right before the st"),
    ],
)
def test_empty_arrays_are_judged_and_lie_before_a_guard(
    cache: Path, problem_folder: Callable[..., Path], body: str, outcome: Outcome | None, says: str
) -> None:
    problem = load_problem(problem_folder(toml=("{ n = 1 }", "{ n = 0 }")))
    with Judge(cache) as judge:
        report = judge.evaluate(Candidate("openmp", scale_source(body)), problem)
    if outcome is None:
        assert passed(report), report.diagnosis
    else:
        assert report.outcome is outcome
        assert says in report.diagnosis
