"""Checks that this machine meets the judge's needs: a list of (part, name, look, remedy).

Not covered: store and model server (cli/doctor.py); whether timings are steady (a busy machine
shows in reports); GPUs other than the first visible one; whether the judge catches exploits, which
is the same on every machine (tests/adversarial).
"""

import ctypes
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from regraph_kg.errors import RegraphError, ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.sandboxed import compiler_confinement
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.confined.probe import PROBES, tried
from regraph_kg.evaluation.gpu.device import Gpu, find_gpu, machine_facts, threads
from regraph_kg.evaluation.gpu.monitor import Health, ecc_errors
from regraph_kg.evaluation.problem.memory import available_bytes
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.load import used_by_others
from regraph_kg.evaluation.timing.roofline import known_peaks, measure_peaks
from regraph_kg.models.target import ON_CPU, ON_GPU, Target

CheckState = Literal["green", "red", "absent"]

_LEAST_DISK, _LEAST_MEMORY = 2**30, 2 * 2**30
_STEADY_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_SLOW_CLOCK_NS = 1000

Found = tuple[bool | None, str]
"""Whether it works (None: it is not here, and need not be), and what was found."""


class Check(NamedTuple):
    """One line of the table before it is looked at."""

    part: str  # of the table
    name: str
    look: Callable[[], Found]  # may raise, which is red; may take seconds
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the table."""

    state: CheckState
    found: str
    remedy: str = ""
    name: str = ""
    part: str = ""


def rows(
    checks: Iterable[Check], show: Callable[[int, str], object] = lambda *_: None
) -> Iterator[CheckRow]:
    """The table, row by row as it comes; `show` hears how many checks are done, and the next."""
    for number, check in enumerate(checks):
        show(number, f"{check.part}: {check.name}")
        remedy, works = check.remedy, None
        try:
            works, found = check.look()
        except RegraphError as error:  # its line ends with what to do, mostly
            fault, _, told = " ".join(str(error).split()).rpartition("; ")
            works, found, remedy = False, fault or told, told if fault else remedy
        except Exception as error:  # noqa: BLE001 (a broken machine breaks in its own ways)
            works, found = False, f"{type(error).__name__}: {' '.join(str(error).split())}"
        state: CheckState = "absent" if works is None else "green" if works else "red"
        remedy = "" if works else remedy
        yield CheckRow(state, found, remedy, check.name, check.part)


@dataclass(frozen=True)
class Scope:
    """Scope of a check: `target` None means every target, cuda only where there is a GPU."""

    cache: Path  # folder that the judge keeps compiled code and peaks in
    target: Target | None = None
    quick: bool = False  # no peaks measured
    remeasure: bool = False  # measure the peaks although they are known

    @property
    def targets(self) -> tuple[Target, ...]:
        """The requested target, else those whose candidates can be judged here."""
        if self.target:
            return (self.target,)
        return ON_CPU + (ON_GPU if isinstance(self.first, Gpu) else ())

    @property
    def gpu(self) -> Gpu:
        """The first visible GPU. Raises `ToolError` where there is none."""
        if isinstance(self.first, ToolError):
            raise self.first
        return self.first

    @cached_property
    def first(self) -> Gpu | ToolError:
        """That GPU, or why there is none; the driver's tool takes up to a second a question."""
        try:
            return find_gpu()
        except ToolError as error:
            return error


def checks(scope: Scope) -> tuple[Check, ...]:
    busy, temporary = used_by_others(), Path(tempfile.gettempdir())
    room = "set {} to a folder of yours with 1 GiB of room, on a disk that is not noexec"
    folder = partial(_folder, scope.cache, loads=True)
    openmp = partial(_openmp, scope.cache)
    table = [
        Check("machine", "cores", partial(_cores, busy), "give it two cores; end other programs"),
        Check("machine", "memory", _memory, "end other programs: 2 GiB are needed"),
        Check("machine", "clock", _clock, "short calls are timed badly: boot with clocksource=tsc"),
        Check("machine", "cache folder", folder, room.format("REGRAPH_CACHE_DIR")),
        Check("machine", "temporary folder", partial(_folder, temporary), room.format("TMPDIR")),
        Check("compilers", "g++", _gcc),
        Check("compilers", "g++ -fopenmp", openmp, "install g++ with OpenMP (libgomp)"),
        Check("compilers", "sandbox", _compiler_sandbox),
        *(_gpu_checks(scope) if scope.target is None or scope.target in ON_GPU else ()),
        *(Check("sandbox", it, partial(tried, it), remedy) for it, (_, remedy) in PROBES.items()),
    ]
    if not scope.quick:
        idle = "run regraph doctor --remeasure when it is idle"
        table += [Check("peaks", t, partial(_peaks, scope, t, busy), idle) for t in scope.targets]
    return tuple(table)


def _gpu_checks(scope: Scope) -> Iterator[Check]:
    """What a GPU and its toolkit must be; without a GPU only what was asked for."""
    sees, wants = isinstance(scope.first, Gpu), scope.target in ON_GPU
    if sees or wants:
        yield Check("compilers", "nvcc", partial(_nvcc, scope), "install another CUDA toolkit")
    yield Check("GPU", "driver", partial(_gpu, scope))
    if sees:
        reset = "reset the GPU (nvidia-smi --gpu-reset) or replace it"
        yield Check("GPU", "context", partial(_context, scope))
        yield Check("GPU", "memory", partial(_gpu_memory, scope), reset)


def _cores(busy: float) -> Found:
    usable = threads()
    text = f"{usable} usable, others use {busy:.1f}; {machine_facts()['cpu']}"
    # One for the judge, one for the candidate; times mean little on a busy machine.
    return usable > 1 and busy <= usable / 2, text


def _memory() -> Found:
    free = available_bytes() or 0
    return free >= _LEAST_MEMORY, f"{free / 2**30:.1f} GiB available"


def _clock() -> Found:
    readings = [time.perf_counter_ns() for _ in range(1000)]
    cost = min(after - before for before, after in pairwise(readings))
    source = _CLOCK.read_text(encoding="ascii").strip() if _CLOCK.exists() else "unknown source"
    steady = source in _STEADY_CLOCKS or not _CLOCK.exists()
    return cost < _SLOW_CLOCK_NS and steady, f"{source}, {cost} ns a reading"


def _folder(folder: Path, *, loads: bool = False) -> Found:
    """Can be written and has room; with `loads`, compiled code in it can be loaded."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return False, f"{folder}: {error.strerror}"
    free = shutil.disk_usage(folder).free
    barred = ", noexec" if loads and os.statvfs(folder).f_flag & os.ST_NOEXEC else ""
    return free >= _LEAST_DISK and not barred, f"{folder}: {free / 2**30:.1f} GiB free{barred}"


def _gcc() -> Found:
    gcc = find_gcc()
    return True, f"{gcc.version} ({gcc.path})"


def _openmp(cache: Path) -> Found:
    """Compiles and runs a parallel region, in this process: the code is ours."""
    code = (
        "#include <omp.h>\n"
        'extern "C" int regraph_threads() { int n = 0;\n'
        "#pragma omp parallel reduction(+ : n)\nn += 1;\nreturn n; }\n"
    )
    result = _compiler(cache).host(code, (*HOST_FLAGS, "-fopenmp"))
    if isinstance(result, Failure):
        return False, result.diagnosis[:200]
    return True, f"{ctypes.CDLL(str(result)).regraph_threads()} threads"


def _compiler_sandbox() -> Found:
    """Whether a source can make a compiler read this machine's files."""
    what, remedy = compiler_confinement()
    if remedy:
        raise ToolError(what, remedy=remedy)
    return True, what


def _nvcc(scope: Scope) -> Found:
    cuda, gpu = find_cuda(), scope.first
    arch = gpu.arch if isinstance(gpu, Gpu) else "90"
    code = 'extern "C" __attribute__((visibility("default"))) int regraph_zero() { return 0; }\n'
    result = _compiler(scope.cache).cuda(code, cuda, arch)
    if isinstance(result, Failure):
        return False, result.diagnosis[:200]
    return True, f"{cuda.version} ({cuda.nvcc}), {cuda.runtime.name}, compiles for sm_{arch}"


def _gpu(scope: Scope) -> Found:
    if isinstance(scope.first, ToolError) and scope.target is None:
        is_broken = shutil.which("nvidia-smi")  # a driver is here, and its GPU is not
        return False if is_broken else None, str(scope.first)
    return True, f"{scope.gpu.name}, sm_{scope.gpu.arch}, driver {scope.gpu.driver}"


def _context(scope: Scope) -> Found:
    """A process of ours makes a context, and reads back what it wrote to the device."""
    ill = Health(find_cuda(), scope.gpu.visible).illness()
    if ill is not None:
        raise ToolError(str(ill))
    return True, "made; memory holds what is written to it"


def _gpu_memory(scope: Scope) -> Found:
    errors = ecc_errors(scope.gpu.visible)
    return not errors, f"{errors} uncorrected errors"


def _peaks(scope: Scope, target: Target, busy: float) -> Found:
    """Measured once a device, then read; peaks of a busy machine would be too low."""
    gpu = scope.gpu if target in ON_GPU else None
    measured = None if scope.remeasure else known_peaks(scope.cache, target, gpu)
    if measured is None and busy > threads() / 2:
        text = f"not measured: the machine is busy, others use {busy:.1f} of {threads()} cores"
        return None, text
    return True, str(measured or measure_peaks(scope.cache, target, gpu))


def _compiler(cache: Path) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), JudgeLimits())
