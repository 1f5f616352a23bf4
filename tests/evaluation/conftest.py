"""Tiny problems, a judge whose compiled code is shared by all tests, and a pretended GPU."""

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, find_cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.evaluation.worker.process import wait_for_leaving
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from tests.requirement import require

from .desk import desks

__all__ = ["desks"]

HERE = Path(__file__).parent
SOON = JudgeLimits(call_seconds=1.0)  # limits for candidates that hang


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judge")


@pytest.fixture(scope="session", autouse=True)
def _arrays(cache: Path) -> None:
    """Arrays are drawn and compared by compiled code, of the compiler that was made last."""
    Compiler(cache / "compiled", find_gcc(), JudgeLimits())


def problem_named(name: str) -> Problem:
    return load_problem(HERE / "problems" / name)


@pytest.fixture(scope="session")
def judge(cache: Path) -> Iterator[Judge]:
    """Without what comes last and takes most: test_further.py is about that."""
    with Judge(cache, limits=SOON, defences=Defences(further=False)) as judge:
        yield judge


@pytest.fixture
def problem_folder(tmp_path: Path) -> Callable[..., Path]:
    """A copy of the problem "scale" with texts replaced: problem_folder(serial=(old, new), ...)."""

    def copy(**replaced: tuple[str, str]) -> Path:
        folder = tmp_path / "problem"
        shutil.copytree(HERE / "problems" / "scale", folder)
        files = {"toml": folder / "problem.toml", "serial": folder / "serial.cpp"}
        for name, (old, new) in replaced.items():
            text = files[name].read_text()
            assert old in text
            files[name].write_text(text.replace(old, new))
        return folder

    return copy


@pytest.fixture(scope="session")
def scaled(judge: Judge) -> Callable[[str], EvalReport]:
    """Judge an openmp body of `scale(const float* x, float* y, float a, int n)`."""
    problem = problem_named("scale")

    def evaluate(body: str, before: str = "") -> EvalReport:
        return judge.evaluate(Candidate("openmp", scale_source(body, before)), problem)

    return evaluate


def passed(report: EvalReport) -> bool:
    """Verified; whether this machine was quiet enough to time it is another question."""
    sys.stdout.write(f"{report.outcome.value}: {report.diagnosis}\n")  # pytest shows it on failure
    return report.outcome in (Outcome.PASSED, Outcome.UNSTABLE_TIMING)


def scale_source(body: str, before: str = "") -> str:
    return (
        f"{before}\n"
        f'extern "C" void scale(const float* x, float* y, float a, int n) {{\n{body}\n}}\n'
    )


@pytest.fixture(scope="session")
def fake_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toolkit folder whose nvcc is g++ and whose device is host memory."""
    root = tmp_path_factory.mktemp("cuda")
    source = HERE / "fake_cuda"
    for folder in ("bin", "include", "lib"):
        (root / folder).mkdir()
    for name in ("nvcc", "nvidia-smi"):
        shutil.copy(source / name, root / "bin")
    shutil.copy(source / "cuda_runtime_api.h", root / "include")
    subprocess.run(
        [
            *("g++", "-std=c++17", "-O2", "-fPIC", "-shared", f"-I{source}", source / "cudart.cpp"),
            *("-Wl,-soname,libcudart.so.13", "-o", root / "lib" / "libcudart.so.13"),
        ],
        check=True,
    )
    return root


@pytest.fixture(scope="session")
def toolkit() -> Cuda:
    try:
        return find_cuda()
    except ToolError as error:
        require("nvcc", str(error))


@pytest.fixture(scope="session")
def gpu(toolkit: Cuda) -> None:
    try:
        find_gpu()
    except ToolError as error:
        require("gpu", str(error))


@pytest.fixture
def on_device(problem_folder: Callable[..., Path]) -> Problem:
    name = 'entry = "scale"'
    return load_problem(problem_folder(toml=(name, f'{name}\nmetric = "device"')))


@pytest.fixture
def pretended_gpu(fake_cuda: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{fake_cuda / 'bin'}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def faults(fake_cuda: Path) -> Iterator[Callable[..., None]]:
    """Make the pretended GPU fail: faults("smi 1", "cudaMalloc 2"); cudart.cpp and nvidia-smi."""
    file = fake_cuda / "lib" / "faults"
    file.touch()
    yield lambda *lines: (file.write_text("".join(f"{line}\n" for line in lines)), None)[1]
    file.write_text("")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of our own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def nothing_is_left(scratch: Path) -> Iterator[None]:
    """No process, zombie, shared memory or folder outlives a fault."""
    before, shared = children(), memory_files()
    yield
    wait_for_leaving(60)
    assert children() <= before
    assert memory_files() <= shared
    assert [path.name for path in scratch.glob("regraph-*/")] == []


def children() -> set[int]:
    """Processes that we started and that are not reaped; pytest-xdist's own are there before."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            found |= set(map(int, (task / "children").read_text().split()))
    return found


def memory_files() -> int:
    """Open anonymous files: shared memory and candidates."""
    if _memory_files():
        gc.collect()  # a traceback's frames hold a shared memory's mapping, in a cycle
    return _memory_files()


def _memory_files() -> int:
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of this very listing
            found += os.readlink(entry).startswith("/memfd:")
    return found
