"""Outcomes, reports and the problem's own faults, with real compilers and workers."""

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome, code_hash

from .conftest import passed, problem_named, scale_source

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
Scaled = Callable[..., EvalReport]


def test_a_right_candidate_passes_with_speedup_and_circumstances(judge: Judge) -> None:
    code = scale_source(f"#pragma omp parallel for\n{RIGHT}")
    report = judge.evaluate(Candidate("openmp", code), problem_named("scale"))
    assert passed(report), report.diagnosis
    assert report.timing is not None
    assert report.baseline is not None
    assert report.speedup == pytest.approx(report.baseline.median / report.timing.median)
    assert report.speedup_interval is not None
    assert report.speedup_interval.low <= report.speedup <= report.speedup_interval.high
    assert report.code_hash == code_hash(code)
    assert report.device == judge.device("openmp")
    assert report.toolchain == judge.toolchain("openmp")
    assert report.grade == "screening"
    assert set(report.stages) >= {"compile", "verify", "time", "total"}
    assert "seccomp" in report.facts["sandbox"]


@pytest.mark.slow
def test_the_full_grade_uses_several_fresh_workers(judge: Judge) -> None:
    candidate = Candidate("openmp", scale_source(RIGHT))
    never_given_up = 1.0  # seconds: a worker that a busy machine holds up is timed to the end
    report = judge.evaluate(
        candidate, problem_named("scale"), grade="full", incumbent_seconds=never_given_up
    )
    assert report.timing is not None, report.diagnosis
    assert report.grade == "full"
    assert report.facts["workers"] == "5"
    assert report.facts["censored"] == "false"


@pytest.mark.parametrize(
    ("body", "outcome", "says"),
    [
        ("y[0] = ;", Outcome.COMPILE_FAILED, "candidate.cpp:3"),
        ("", Outcome.WRONG_ANSWER, "never written"),
        (RIGHT.replace("a *", "2 * a *"), Outcome.WRONG_ANSWER, "1 of 1 elements are wrong"),
        (RIGHT.replace("< n", "< n / 8 * 8"), Outcome.WRONG_ANSWER, "expected"),
        (RIGHT.replace("a * x[i]", "0.0f / 0.0f"), Outcome.WRONG_ANSWER, "nan"),
        (RIGHT.replace("= a", "+= a"), Outcome.WRONG_ANSWER, "expected"),
        (RIGHT + "((float*)x)[0] += 1;", Outcome.MUTATED_INPUT, "changed input x"),
        (RIGHT + "y[-1] = 0;", Outcome.CRASHED, "before the start of y"),
        (RIGHT + "y[-1] += 7;", Outcome.CRASHED, "before the start of y"),
        (RIGHT + "((int*)y)[-3] |= n;", Outcome.CRASHED, "before the start of y"),
        (RIGHT + "y[n] = 0;", Outcome.CRASHED, "past the end of y"),
        (RIGHT.replace("< n", "< n + 9999"), Outcome.CRASHED, "past the end of array"),
        ("*(volatile int*)0 = 1;", Outcome.CRASHED, "SIGSEGV"),
        ("__builtin_trap();", Outcome.CRASHED, "SIGILL"),
        ('for (;;) asm volatile("");', Outcome.TIMED_OUT, "no result after 1 s"),
        ("static int calls; ++calls;" + RIGHT + "y[0] += calls;", Outcome.NONDETERMINISTIC, "race"),
    ],
)
def test_failures_are_told_apart(scaled: Scaled, body: str, outcome: Outcome, says: str) -> None:
    report = scaled(body)
    assert report.outcome is outcome, report.diagnosis
    assert says in report.diagnosis
    assert report.speedup is None


def test_output_that_depends_on_its_old_contents_is_said_so(scaled: Scaled) -> None:
    report = scaled("for (int i = 0; i < n; ++i) y[i] = y[i] > 0 ? 1 : 2;")
    assert report.outcome is Outcome.WRONG_ANSWER
    assert "initialise it" in report.diagnosis


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("", "_exit(0);"),
        ("__attribute__((constructor)) static void early() { _exit(0); }", ""),
        ("", "exit(0);"),
    ],
)
def test_leaving_early_with_exit_code_0_is_a_crash(scaled: Scaled, before: str, body: str) -> None:
    report = scaled(body, f"#include <stdlib.h>\n#include <unistd.h>\n{before}")
    assert report.outcome is Outcome.CRASHED
    assert "exit code 0" in report.diagnosis


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the mode is read on x86-64 only")
def test_the_mode_of_floating_point_numbers_must_be_put_back(scaled: Scaled) -> None:
    flush = "const unsigned mode = _mm_getcsr(); _mm_setcsr(mode | 0x8040);"
    report = scaled(f"{flush}\n{RIGHT}", "#include <immintrin.h>")
    assert report.outcome is Outcome.WRONG_ANSWER
    assert "another floating-point mode" in report.diagnosis
    assert passed(scaled(f"{flush}\n{RIGHT}\n_mm_setcsr(mode);", "#include <immintrin.h>"))


def test_a_candidate_without_the_entry_point_fails_to_compile(judge: Judge) -> None:
    code = scale_source(RIGHT).replace('extern "C" ', "")
    report = judge.evaluate(Candidate("openmp", code), problem_named("scale"))
    assert report.outcome is Outcome.COMPILE_FAILED
    assert 'export extern "C" void scale(const float* x' in report.diagnosis


@pytest.mark.parametrize("code", ["", " \n\t", "int x\x00;", "int x; // \ud800"])
def test_empty_and_binary_sources_are_rejected(judge: Judge, code: str) -> None:
    report = judge.evaluate(Candidate("openmp", code), problem_named("scale"))
    assert report.outcome is Outcome.REJECTED_SOURCE


def test_a_far_slower_candidate_is_timed_briefly_and_passes(scaled: Scaled) -> None:
    again = ' asm volatile("" ::: "memory"); }'
    report = scaled("for (int k = 0; k < 300; ++k) { " + RIGHT + again)
    assert passed(report), report.diagnosis
    assert report.timing is not None
    assert report.facts["censored"] == "true"
    assert len(report.timing.samples) < 6
    assert report.speedup is not None
    assert report.speedup < 0.5


@pytest.mark.slow
def test_results_remembered_by_address_are_found_among_timed_calls(scaled: Scaled) -> None:
    report = scaled(
        f"""
        static std::map<const float*, std::vector<float>> known;
        if (n < 100000) {{ {RIGHT} return; }}
        auto& kept = known[x];
        if (kept.empty()) {{ {RIGHT} kept.assign(y, y + n); }}
        std::copy(kept.begin(), kept.end(), y);
        """,
        "#include <algorithm>\n#include <map>\n#include <vector>",
    )
    assert report.outcome is Outcome.WRONG_ANSWER
    assert report.diagnosis.startswith("timed calls")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        (
            "total",
            """extern "C" void total(const float* x, float* s, long long n) {
                 float sum = 0;
                 #pragma omp parallel for reduction(+ : sum)
                 for (long long i = 0; i < n; ++i) sum += x[i];
                 s[0] = sum; }""",
        ),
        (
            "bump",
            """extern "C" void bump(int* b, const unsigned char* t, int n, int k) {
                 #pragma omp parallel for
                 for (int i = 0; i < n; ++i) b[i] += t[i % k]; }""",
        ),
    ],
)
def test_reductions_and_inout_integers_pass(judge: Judge, name: str, code: str) -> None:
    report = judge.evaluate(Candidate("openmp", code), problem_named(name))
    assert passed(report), report.diagnosis


@pytest.mark.slow
def test_inout_arrays_are_refilled_before_timed_calls(judge: Judge) -> None:
    code = """extern "C" void bump(int* b, const unsigned char* t, int n, int k) {
                if (n < 50000) { for (int i = 0; i < n; ++i) b[i] += t[i % k]; return; }
                for (int i = 0; i < n; ++i) b[i] += 1; }"""
    report = judge.evaluate(Candidate("openmp", code), problem_named("bump"))
    assert report.outcome is Outcome.WRONG_ANSWER
    assert report.diagnosis.startswith("timed calls")


@pytest.mark.parametrize(
    ("serial", "says"),
    [
        (("y[i] =", "y[i] = ="), "serial.cpp does not compile"),
        (("void scale", "void other"), 'export extern "C" void scale'),
        (
            ("for (int", "static int calls; a += ++calls; for (int"),
            "serial.cpp differs from run to run",
        ),
        (("i < n", "i < n - 1"), "never written"),
        (("a * x[i]", "x[i] < 0 ? *(float*)0 : 1"), "SIGSEGV"),
    ],
)
def test_a_faulty_serial_code_is_bad_input(
    cache: Path, problem_folder: Callable[..., Path], serial: tuple[str, str], says: str
) -> None:
    problem = load_problem(problem_folder(serial=serial))
    with (
        Judge(cache, limits=JudgeLimits(call_seconds=1)) as judge,
        pytest.raises(BadInput) as error,
    ):
        judge.evaluate(Candidate("openmp", scale_source(RIGHT)), problem)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_an_own_reference_is_used_with_its_wide_signature(
    cache: Path, problem_folder: Callable[..., Path]
) -> None:
    folder = problem_folder()
    (folder / "reference.cpp").write_text(
        'extern "C" void scale(const double* x, double* y, double a, int n) {'
        " for (int i = 0; i < n; ++i) y[i] = 3 * a * x[i]; }"
    )
    with Judge(cache) as judge, pytest.raises(BadInput, match=r"fails its own check"):
        judge.evaluate(Candidate("openmp", scale_source(RIGHT)), load_problem(folder))


def test_openmp_refuses_device_pointers(judge: Judge, problem_folder: Callable[..., Path]) -> None:
    entry = 'entry = "scale"'
    problem = load_problem(problem_folder(toml=(entry, f'{entry}\nmetric = "device"')))
    with pytest.raises(BadInput, match="needs target cuda"):
        judge.evaluate(Candidate("openmp", scale_source(RIGHT)), problem)


def test_cuda_without_a_toolkit_says_so_in_one_line(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("regraph_kg.evaluation.compile.toolchain._nvccs", lambda: iter(()))
    with pytest.raises(ToolError, match=r"^nvcc: .*pip install") as error:
        judge.evaluate(Candidate("cuda", scale_source(RIGHT)), problem_named("scale"))
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("pretended_gpu")
def test_cuda_without_a_gpu_says_so_in_one_line(
    cache: Path, fake_cuda: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{fake_cuda / 'bin'}:/usr/bin:/bin")
    with Judge(cache) as judge, pytest.raises(ToolError, match="GPU: nvidia-smi fails"):
        judge.evaluate(Candidate("cuda", scale_source(RIGHT)), problem_named("scale"))


def test_a_judge_without_a_compiler_says_so(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"^g\+\+: not found on PATH"):
        Judge(cache)
