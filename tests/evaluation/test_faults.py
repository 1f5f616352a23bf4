"""What our own machine can do to a verdict: each fault ends as it should, and leaves nothing.

The GPU is a pretended one (fake_cuda) that fails on demand: what a real one says when it is lost or
has an ECC error has not been seen here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation import session
from regraph_kg.evaluation.compile.toolchain import find_cuda
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu import device
from regraph_kg.evaluation.gpu.device import find_gpu, silent, turn
from regraph_kg.evaluation.gpu.monitor import Health
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.verify import reference
from regraph_kg.models.evaluation import Candidate, Outcome

from .conftest import HERE, passed, problem_named, scale_source
from .gpu.test_fake_cuda import FROM_HOST, KERNEL
from .killed_judge import in_private

ROOT = HERE.parents[1]
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
FORGED = "fakeFails(214);"  # the candidate says of its own accord that the GPU has an ECC error
GREEDY = "float *p; cudaMalloc((void**)&p, 1ull << 40);"
Faults = Callable[..., None]

pytestmark = [pytest.mark.usefixtures("nothing_is_left"), pytest.mark.slow]


@pytest.fixture
def called() -> Problem:
    return problem_named("scale")


def cuda(body: str) -> Candidate:
    code = f'{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n) {{{body}}}'
    return Candidate("cuda", code)


# --- the GPU -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("cudaDeviceSynchronize 214", "uncorrectable ECC"),
        ("cudaDeviceSynchronize 719", "unspecified launch failure"),
        ("cudaDeviceSynchronize 999", "unknown error"),
    ],
)
def test_a_gpu_that_becomes_ill_in_mid_run_is_our_failure(
    cache: Path, called: Problem, faults: Faults, fault: str, says: str
) -> None:
    with Judge(cache, seed=5) as judge:
        assert passed(judge.evaluate(cuda(FROM_HOST), called))
        faults(fault)
        with pytest.raises(ToolError, match=says):
            judge.evaluate(cuda(FROM_HOST + "/* again */"), called)
        faults()
        assert passed(judge.evaluate(cuda(FROM_HOST), called))


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    "fault", ["cudaFree 100", "cudaFree 46", "cudaFree 803"], ids=["lost", "taken", "mismatch"]
)
def test_a_gpu_that_gives_no_context_is_our_failure(
    cache: Path, called: Problem, faults: Faults, fault: str
) -> None:
    faults(fault)
    with Judge(cache, seed=5) as judge, pytest.raises(ToolError) as caught:
        judge.evaluate(cuda(FROM_HOST), called)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("body", "says"),
    [(FORGED, "uncorrectable ECC error"), (GREEDY, "out of memory")],
    ids=["forged", "greedy"],
)
def test_what_a_candidate_says_of_a_healthy_gpu_is_its_own_failure(
    cache: Path, called: Problem, faults: Faults, body: str, says: str
) -> None:
    faults()
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(cuda(body), called)
    assert report.outcome is Outcome.CRASHED
    assert says in report.diagnosis


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("ecc 1", "1 new uncorrected ECC errors; reset it"),
        ("smi 1", "nvidia-smi fails: Unable to determine the device handle.*GPU is lost"),
        ("cudaMemcpy 700", "illegal memory access"),
        ("held 1", "12.0 of 16.0 GiB of its memory are held by others; end the other"),
    ],
)
def test_an_accusation_that_an_independent_look_confirms_is_our_failure(
    faults: Faults, fault: str, says: str
) -> None:
    faults()
    health = Health(find_cuda(), find_gpu().visible)
    forged = Failure(Outcome.CRASHED, "CUDA error after the call: out of memory")
    health.blame(forged)
    faults(fault)
    with pytest.raises(ToolError, match=says):
        health.blame(forged)


@pytest.mark.usefixtures("pretended_gpu")
def test_a_call_that_never_ended_is_looked_into_whatever_it_said(faults: Faults) -> None:
    faults()
    health = Health(find_cuda(), find_gpu().visible)
    late = Failure(Outcome.TIMED_OUT, "no result after 5 s: killed")
    health.blame(late)
    faults("cudaDeviceSynchronize 719")
    with pytest.raises(ToolError, match="unspecified launch failure"):
        health.blame(late)


@pytest.mark.usefixtures("pretended_gpu")
def test_the_drivers_own_count_is_used_where_there_is_one(faults: Faults) -> None:
    faults("ecc 9")
    counts = iter((2, 2, 3))
    health = Health(find_cuda(), find_gpu().visible, lambda: next(counts))
    accused = Failure(Outcome.CRASHED, "uncorrectable ECC error encountered")
    health.blame(accused)
    with pytest.raises(ToolError, match="1 new uncorrected ECC errors"):
        health.blame(accused)


@pytest.mark.usefixtures("pretended_gpu")
def test_old_ecc_errors_excuse_nobody(faults: Faults) -> None:
    faults("ecc 7")
    health = Health(find_cuda(), find_gpu().visible)
    health.blame(Failure(Outcome.CRASHED, "uncorrectable ECC error encountered"))


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    "failure",
    [
        Failure(Outcome.CRASHED, "an illegal memory access was encountered"),
        Failure(Outcome.WRONG_ANSWER, "uncorrectable ECC error encountered"),
    ],
)
def test_other_failures_cost_no_look_at_the_gpu(faults: Faults, failure: Failure) -> None:
    faults()
    health = Health(find_cuda(), find_gpu().visible)
    faults("smi 1", "cudaFree 100")
    health.blame(failure)


HOLDER = """
import sys
from regraph_kg.evaluation.gpu.device import silent, turn
with turn(sys.argv[1], silent):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_judges_take_turns_whatever_their_temporary_folders(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waits is told for whom, and goes on once the kernel has freed the dead holder's lock."""
    monkeypatch.setattr(device, "_TOLD_AFTER_SECONDS", 0.05)
    heard: list[str] = []
    name = f"test-{os.getpid()}"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, name],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"

        def hear(text: str) -> None:
            heard.append(text)
            other.kill()

        with turn(name, hear) as waited:
            assert waited > 0.05
        with turn(name, silent) as waited:
            assert waited < 0.05
    assert len(heard) == 1
    assert f"process {other.pid}" in heard[0]
    assert not list(scratch.iterdir())


# --- problems that take too long -----------------------------------------------------------------


@pytest.fixture
def slow(problem_folder: Callable[..., Path]) -> Problem:
    """Its serial code takes 0.3 s at the timing shape."""
    head = 'extern "C" void scale(const float* x, float* y, float a, int n) {'
    spin = (
        "timespec t, u; clock_gettime(CLOCK_MONOTONIC, &t); do clock_gettime(CLOCK_MONOTONIC, &u);"
        "while (n > 5000 && (u.tv_sec - t.tv_sec) * 1e3 + (u.tv_nsec - t.tv_nsec) / 1e6 < 300);"
    )
    return load_problem(problem_folder(serial=(head, f"#include <time.h>\n{head}{spin}")))


def test_a_reference_that_takes_minutes_says_so(
    cache: Path, slow: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "_PATIENCE_SECONDS", 0.1)
    says = "make that shape smaller|make the shape smaller"
    with Judge(cache, seed=5) as judge, pytest.raises(BadInput, match=says):
        judge.evaluate(Candidate("openmp", scale_source(RIGHT)), slow)


def test_serial_code_that_takes_minutes_says_so(
    cache: Path, slow: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_BASELINE_SECONDS", 0.1)
    with Judge(cache, seed=5) as judge, pytest.raises(BadInput, match="make the sizes smaller"):
        judge.evaluate(Candidate("openmp", scale_source(RIGHT)), slow)


# --- SIGKILL -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count", [3, pytest.param(10, marks=[pytest.mark.nightly, pytest.mark.timeout(600)])]
)
def test_judges_killed_at_random_moments_leave_nothing(tmp_path: Path, count: int) -> None:
    """benchmarks/judge_kills.py plays 50."""
    folder = tmp_path / "play"
    folder.mkdir()
    command = [sys.executable, "-m", "tests.evaluation.killed_judge", "play", str(folder)]
    done = subprocess.run(
        in_private([*command, "7", str(count)]),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    played = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(played) == count
    for one in played:
        assert one["processes"] == 0
        assert one["shared_memory"] in (0, None)
        assert one["broken"] == 0
        assert one["different"] in ({}, None)
        assert one["folders"] == 0
    assert played[-1]["different"] == {}
    assert played[-1]["drafts"] == 0
