"""What our own machine can do to a verdict: each fault ends as it should, and leaves nothing.

The GPU is a pretended one (fake_cuda) that fails on demand: what a real one says when it is lost or
has an ECC error has not been seen here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation import compile as compile_module
from regraph_kg.evaluation import device, reference, session
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.device import find_gpu, tenancy
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.health import Health
from regraph_kg.evaluation.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Failure, Limits
from regraph_kg.evaluation.toolchain import Gcc, find_cuda, find_gcc
from regraph_kg.models.evaluation import Candidate, Outcome

from .conftest import HERE, passed, problem_named, scale_source
from .killed_judge import in_private
from .test_fake_cuda import FROM_HOST, KERNEL

ROOT = HERE.parents[1]
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
FORGED = "fakeFails(214);"
"""The candidate says of its own accord that the GPU has an ECC error."""
GREEDY = "float *p; cudaMalloc((void**)&p, 1ull << 40);"
Faults = Callable[..., None]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of our own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def nothing_is_left(scratch: Path) -> Iterator[None]:
    """No process, zombie, descriptor of shared memory or folder outlives a fault."""
    before = children()
    yield
    assert children() <= before
    assert [path.name for path in scratch.glob("regraph-*/")] == []


@pytest.fixture
def on_device(problem_folder: Callable[..., Path]) -> Problem:
    name = 'entry = "scale"'
    return load_problem(problem_folder(toml=(name, f'{name}\nmetric = "device"')))


@pytest.fixture
def called() -> Problem:
    return problem_named("scale")


def children() -> set[int]:
    """Processes that we started and that are not reaped; pytest-xdist's own are there before."""
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def cuda(body: str) -> Candidate:
    code = f'{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n) {{{body}}}'
    return Candidate("cuda", code)


def compiler(cache: Path, **limits: float) -> Compiler:
    return Compiler(cache, find_gcc(), Limits(**limits))  # type: ignore[arg-type]


def fake_gcc(folder: Path, script: str) -> Gcc:
    path = folder / "fake-gcc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Gcc(path, "1.0")


def entries(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*") if path.is_file()]


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
from regraph_kg.evaluation.device import find_gpu, tenancy
with tenancy(find_gpu()):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.usefixtures("pretended_gpu")
def test_two_judges_take_turns_on_a_gpu(
    scratch: Path, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults()
    monkeypatch.setattr(device, "_TENANCY_SECONDS", 0.2)
    command = [sys.executable, "-c", HOLDER]
    with subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ToolError, match="another judge"), tenancy(find_gpu()):
            pass
        other.kill()
        other.wait()
        with tenancy(find_gpu()):  # the kernel has freed it with its holder
            pass


# --- the compiler, memory and disk ---------------------------------------------------------------


def test_a_compiler_that_was_killed_is_our_failure(tmp_path: Path) -> None:
    killed = Compiler(tmp_path / "cache", fake_gcc(tmp_path, "kill -9 $$"), Limits())
    with pytest.raises(ToolError, match="killed, most likely for lack of memory"):
        killed.host(scale_source(RIGHT), HOST_FLAGS)
    assert entries(tmp_path / "cache") == []


@pytest.mark.parametrize(
    "says",
    [
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "g++: fatal error: Killed signal terminated program cc1plus",
    ],
)
@pytest.mark.parametrize("kills", [1, 0])
def test_a_part_of_a_compiler_was_killed_only_where_the_kernel_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, kills: int
) -> None:
    """What the compiler says proves nothing: a source can make it say anything."""
    counts = iter((5, 5 + kills))
    monkeypatch.setattr(compile_module, "_oom_kills", lambda: next(counts))
    gcc = fake_gcc(tmp_path, f'echo "{says}" >&2; exit 1')
    made = Compiler(tmp_path / "cache", gcc, Limits())
    if kills:
        with pytest.raises(ToolError, match="killed, most likely for lack of memory"):
            made.host(scale_source(RIGHT), HOST_FLAGS)
    else:
        failed = made.host(scale_source(RIGHT), HOST_FLAGS)
        assert isinstance(failed, Failure)


@pytest.mark.parametrize(
    "claim",
    [
        "No space left on device",
        "Disk quota exceeded",
        "Killed signal terminated program cc1plus",
        "Unsupported gpu architecture 'compute_90'",
    ],
)
def test_a_source_that_claims_a_fault_of_the_machine_fails_by_itself(
    tmp_path: Path, claim: str
) -> None:
    for code in (f"#error {claim}\n", f'#line 1 "{claim}"\n#error x\n'):
        failed = compiler(tmp_path).host(code, HOST_FLAGS)
        assert isinstance(failed, Failure)
        assert failed.outcome is Outcome.COMPILE_FAILED


def test_a_toolkit_that_does_not_know_the_gpu_is_our_failure(tmp_path: Path) -> None:
    unfit = fake_gcc(tmp_path, "echo \"nvcc fatal   : Unsupported gpu architecture 'x'\"; exit 1")
    with pytest.raises(ToolError, match=r"Unsupported gpu architecture.*install another"):
        Compiler(tmp_path / "cache", unfit, Limits()).host("x", HOST_FLAGS)


def test_a_source_that_takes_the_compilers_memory_is_the_candidates_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_module, "_memory_bytes", lambda: 300 * 2**20)
    bomb = (
        "template<int D, long N> struct T { T<D - 1, 2 * N> a; T<D - 1, 2 * N + 1> b; };\n"
        "template<long N> struct T<0, N> {};\nT<24, 1> t;\n"
    )
    failed = compiler(tmp_path).host(bomb + scale_source(RIGHT), HOST_FLAGS)
    assert isinstance(failed, Failure)
    assert failed.outcome is Outcome.COMPILE_FAILED
    assert re.search("memory|[Aa]lloc", failed.diagnosis), failed.diagnosis


def test_an_orphaned_compiler_ends_by_itself(tmp_path: Path) -> None:
    """Its judge being dead, nobody ends it at the deadline: its CPU time does."""
    seen = tmp_path / "seen"
    limited = fake_gcc(tmp_path, f"ulimit -t > {seen}; exit 1")
    Compiler(tmp_path / "cache", limited, Limits(compile_seconds=7)).host("x", HOST_FLAGS)
    assert seen.read_text() == "7\n"


FULL = """
import sys
from pathlib import Path
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.rules import Limits
from regraph_kg.evaluation.toolchain import find_gcc
try:
    Compiler(Path(sys.argv[1]), find_gcc(), Limits()).host(sys.argv[2], HOST_FLAGS)
except ToolError as error:
    print(error, [path.name for path in Path(sys.argv[1]).iterdir()])
"""


def mounted(folder: Path, kib: int, command: list[str]) -> "subprocess.CompletedProcess[str]":
    """Run a command where `folder` is a disk of this size. Skips where the kernel refuses that."""
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    script = 'mount -t tmpfs -o size="$0" none "$1" && shift && exec "$@"'
    done = subprocess.run(
        [*alone, script, f"{kib}k", str(folder), *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"namespaces: {done.stderr.strip()}")
    return done


@pytest.mark.parametrize("full", ["cache", "tmp"])
def test_a_full_disk_is_our_failure_and_leaves_no_half_entry(
    tmp_path: Path, scratch: Path, full: str
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    cache = folder if full == "cache" else tmp_path / "cache"
    command = [sys.executable, "-c", FULL, str(cache), scale_source(RIGHT)]
    if full == "tmp":
        command = ["env", f"TMPDIR={folder}", *command]
    done = mounted(folder, 8, command)
    assert "No space left on device; free the disk or set REGRAPH_CACHE_DIR" in done.stdout, done
    assert done.stdout.rstrip().endswith("[]")


def test_the_judge_needs_no_dev_shm(tmp_path: Path) -> None:
    """It works where /dev/shm holds nothing: shared memory is a memfd."""
    source = tmp_path / "candidate.cpp"
    source.write_text(scale_source(RIGHT))
    folder = str(tmp_path / "cache")
    script = "from regraph_kg.cli.app import main; main()"
    command = [
        *("env", f"REGRAPH_CACHE_DIR={folder}", f"REGRAPH_CORPUS={HERE}"),
        *(sys.executable, "-c", script, "evaluate", "scale", str(source), "--json"),
    ]
    done = mounted(Path("/dev/shm"), 4, command)
    assert json.loads(done.stdout)["outcome"] in ("passed", "unstable_timing"), done.stderr


def test_what_killed_compilations_left_is_swept_after_an_hour(scratch: Path, cache: Path) -> None:
    old, new = scratch / "regraph-compile-abcd1234", scratch / "regraph-compile-wxyz_567"
    other = scratch / "regraph-compile-my-own-notes"
    drafts = cache / "compiled"
    drafts.mkdir(exist_ok=True)
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "candidate.cpp").touch()
    (drafts / "tmpabcdefgh").touch()
    long_ago = time.time() - 4000
    for path in (old, other, drafts / "tmpabcdefgh"):
        os.utime(path, (long_ago, long_ago))
    compiler(drafts)
    assert not old.exists()
    assert new.exists()
    assert other.exists()
    assert not (drafts / "tmpabcdefgh").exists()
    shutil.rmtree(new)
    shutil.rmtree(other)


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


def test_judges_killed_at_random_moments_leave_nothing_that_matters(tmp_path: Path) -> None:
    """benchmarks/judge_kills.py plays 50; here are 5."""
    folder = tmp_path / "play"
    folder.mkdir()
    command = [sys.executable, "-m", "tests.evaluation.killed_judge", "play", str(folder)]
    done = subprocess.run(
        in_private([*command, "7", "5"]),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    played = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(played) == 5
    for one in played:
        assert one["processes"] == 0
        assert one["shared_memory"] in (0, None)
        assert one["broken"] == 0
        assert one["different"] in ({}, None)
    assert played[-1]["different"] == {}
    assert played[-1]["folders"] <= 5
