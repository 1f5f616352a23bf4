"""Compilers that are killed or starved, and full disks: whose failure it is, and what is left."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile import sandboxed
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.own_folder import PREFIX, own_folder
from regraph_kg.evaluation.compile.toolchain import Gcc, find_gcc
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome
from tests.requirement import require

from ..conftest import HERE, scale_source

ROOT = HERE.parents[1]
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def compiler(cache: Path, **limits: float) -> Compiler:
    return Compiler(cache, find_gcc(), JudgeLimits(**limits))  # type: ignore[arg-type]


def fake_gcc(folder: Path, script: str) -> Gcc:
    path = folder / "fake-gcc"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Gcc(path, "1.0")


def entries(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob("*") if path.is_file()]


def test_a_compiler_that_was_killed_is_our_failure(tmp_path: Path) -> None:
    killed = Compiler(tmp_path / "cache", fake_gcc(tmp_path, "kill -9 $$"), JudgeLimits())
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
    monkeypatch.setattr(sandboxed, "_oom_kills", lambda: next(counts))
    gcc = fake_gcc(tmp_path, f'echo "{says}" >&2; exit 1')
    made = Compiler(tmp_path / "cache", gcc, JudgeLimits())
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
        Compiler(tmp_path / "cache", unfit, JudgeLimits()).host("x", HOST_FLAGS)


@pytest.mark.nightly
def test_a_source_that_takes_the_compilers_memory_is_the_candidates_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandboxed, "_memory_bytes", lambda: 300 * 2**20)
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
    limited = fake_gcc(tmp_path, "ulimit -t; exit 1")
    failed = Compiler(tmp_path / "cache", limited, JudgeLimits(compile_seconds=7)).host(
        "x", HOST_FLAGS
    )
    assert isinstance(failed, Failure)
    assert failed.diagnosis == "7"


FULL = """
import sys
from pathlib import Path
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.compile.toolchain import find_gcc
try:
    Compiler(Path(sys.argv[1]), find_gcc(), JudgeLimits()).host(sys.argv[2], HOST_FLAGS)
except ToolError as error:
    print(error, [path.name for path in Path(sys.argv[1]).rglob("*") if path.is_file()])
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
        require("namespaces", done.stderr.strip())
    return done


def test_a_full_disk_is_our_failure_and_leaves_no_half_entry(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = mounted(folder, 8, [sys.executable, "-c", FULL, str(folder), scale_source(RIGHT)])
    assert "No space left on device; make room, remove it" in done.stdout, done
    assert done.stdout.rstrip().endswith("[]")


@pytest.mark.nightly
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


def test_a_folder_of_a_killed_process_is_swept_by_the_next_and_a_living_ones_is_not(
    tmp_path: Path,
) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from regraph_kg.evaluation.compile.own_folder import own_folder\n"
        "with own_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'candidate.cpp').touch(); print(folder, flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    mine = tmp_path / "regraph-notes"
    mine.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(mine)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        theirs = Path(other.stdout.readline().decode().strip())
        with own_folder(tmp_path) as ours:
            assert theirs.exists()
            other.kill()
            other.wait()
        assert not ours.exists()
        assert theirs.exists()
    with own_folder(tmp_path) as ours:
        assert not theirs.exists()
    assert mine.exists()


SLOW = """
import sys
from pathlib import Path
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import Gcc
from regraph_kg.evaluation.rules import JudgeLimits
Compiler(Path(sys.argv[1]), Gcc(Path(sys.argv[2]), "1.0"), JudgeLimits()).host("x", HOST_FLAGS)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_judge_killed_while_it_compiles_leaves_no_process_and_no_file(
    tmp_path: Path, how: signal.Signals
) -> None:
    slow = 'case "$*" in *out.so) mkdir deep; touch begun deep/x; exec sleep 600;; esac'
    gcc = fake_gcc(tmp_path, slow)
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", SLOW, str(cache), str(gcc.path)]
    with subprocess.Popen(command, cwd=ROOT) as judge:
        until(lambda: bool([*cache.glob("building/*/*/deep/x")]))
        judge.send_signal(how)
        judge.wait()
    until(lambda: not [*cache.glob("building/*")])


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)
