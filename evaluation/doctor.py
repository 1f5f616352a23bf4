"""What a judge needs of this machine, looked at for real: a table of checks with remedies.

A check is a small function; what it raises becomes a red row. Green: works. Red: matters and does
not work. Absent: not here, and not asked for (no GPU, say). Checks that time something are looked
at alone, after all the others, which run side by side.

Not covered: exploits (drill.py), store and model server (wiring/doctor.py); whether timings are
steady (a busy machine shows in reports); GPUs other than the first visible one.
"""

import ctypes
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from regraph_kg.errors import RegraphError, ToolError
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.confined import compiler_confinement
from regraph_kg.evaluation.device import Gpu, find_gpu, machine_facts, threads
from regraph_kg.evaluation.health import GpuSettings, Health, settings
from regraph_kg.evaluation.load import used_by_others
from regraph_kg.evaluation.peaks import measure_peaks, peaks
from regraph_kg.evaluation.rules import Failure, Limits
from regraph_kg.evaluation.sandbox import probe
from regraph_kg.evaluation.toolchain import find_cuda, find_gcc
from regraph_kg.models.base import Target

State = Literal["green", "red", "absent"]

_LEAST_AT_ONCE = 4
"""Checks side by side; several only wait for a process."""
_LEAST_DISK, _LEAST_MEMORY = 2**30, 2 * 2**30
_STEADY_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_SLOW_CLOCK_NS = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """What one look showed. `name` where a check shows several things; `remedy` where red."""

    state: State
    found: str
    remedy: str = ""
    name: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    part: str
    name: str
    state: State
    found: str
    remedy: str
    expected: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at; `look` may raise, and may take seconds."""

    part: str
    name: str
    look: Callable[[], Finding | Sequence[Finding]]
    alone: bool = False
    """It times something: nothing else is looked at meanwhile."""
    ahead: Callable[[], object] | None = None
    """What can be done for it beside other checks; whatever fails there, `look` meets again."""

    def rows(self) -> Iterator[Row]:
        """What it shows; never raises."""
        try:
            found = self.look()
        except RegraphError as error:
            found = Finding("red", *_parted(error))
        except Exception as error:  # noqa: BLE001 (a broken machine breaks in its own ways)
            found = Finding("red", f"{type(error).__name__}: {' '.join(str(error).split())}")
        for one in (found,) if isinstance(found, Finding) else found:
            name = one.name or self.name
            yield Row(self.part, name, one.state, one.found, one.remedy, one.expected)


class _FirstGpu:
    """The first visible GPU, looked for once: the driver's tool takes up to a second a question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Gpu | ToolError | None = None

    def find(self) -> Gpu:
        """Raises `ToolError` where there is none."""
        with self._lock:
            if self._found is None:
                try:
                    self._found = find_gpu()
                except ToolError as error:
                    self._found = error
        if isinstance(self._found, ToolError):
            raise ToolError(str(self._found))
        return self._found


@dataclass(frozen=True, slots=True)
class Scope:
    """What to look at: `target` None means every target, cuda only where there is a GPU."""

    cache: Path
    """Folder that the judge keeps compiled code and peaks in."""
    target: Target | None = None
    quick: bool = False
    """No peaks measured, no candidate judged."""
    remeasure: bool = False
    """Measure the peaks although they are known."""
    _first: _FirstGpu = field(default_factory=_FirstGpu, init=False, repr=False, compare=False)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Targets whose candidates can be judged here, or that were asked for."""
        if self.target:
            return (self.target,)
        return ("openmp", "cuda") if self.sees_gpu else ("openmp",)

    @property
    def gpu(self) -> Gpu:
        """The first GPU. Raises `ToolError` where there is none."""
        return self._first.find()

    @property
    def sees_gpu(self) -> bool:
        """Whether there is a GPU."""
        try:
            self._first.find()
        except ToolError:
            return False
        return True


def rows(
    checks: Iterable[Check], show: Callable[[int, str], object] = lambda *_: None
) -> Iterator[Row]:
    """The table, row by row as it comes; `show` hears how many checks are done, and the next."""
    table = tuple(checks)
    with ThreadPoolExecutor(max(_LEAST_AT_ONCE, threads()), "doctor") as pool:
        try:
            early = {
                number: pool.submit(_looked, check)
                for number, check in enumerate(table)
                if not check.alone
            }
            begun: list[Future[Any]] = [*early.values()]
            begun += [pool.submit(check.ahead) for check in table if check.ahead]
            for number, check in enumerate(table):
                show(number, f"{check.part}: {check.name}")
                if check.alone:
                    wait(begun)
                yield from check.rows() if check.alone else early[number].result()
        except BaseException:  # Ctrl-C too: what has not begun is not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _looked(check: Check) -> tuple[Row, ...]:
    return tuple(check.rows())


def checks(scope: Scope) -> tuple[Check, ...]:
    """Everything but the exploits."""
    wants_cuda = scope.target != "openmp"
    busy = used_by_others()
    table = [
        Check("machine", "cores", partial(_cores, busy)),
        Check("machine", "memory", _memory),
        Check("machine", "clock", _clock),
        Check("machine", "shared memory", _shared_memory),
        Check("machine", "cache folder", partial(_loadable, scope.cache, "REGRAPH_CACHE_DIR")),
        Check("machine", "temporary folder", partial(_folder, _temporary(), "TMPDIR")),
        Check("compilers", "g++", _gcc),
        Check("compilers", "g++ -fopenmp", partial(_openmp, scope.cache)),
        Check("compilers", "sandbox", _compiler_sandbox),
    ]
    if wants_cuda:
        table += [
            Check("compilers", "nvcc", partial(_nvcc, scope)),
            Check("GPU", "driver", partial(_gpu, scope)),
            Check("GPU", "context", partial(_context, scope)),
            Check("GPU", "settings", partial(_gpu_settings, scope)),
        ]
    table.append(Check("sandbox", "features", _sandbox))
    if not scope.quick:
        table += [
            Check("peaks", target, partial(_peaks, scope, target, busy), alone=True)
            for target in scope.targets
        ]
    return tuple(table)


def _cores(busy: float) -> Finding:
    usable = threads()
    found = f"{usable} usable, others use {busy:.1f}; {machine_facts()['cpu']}"
    if usable < 2:  # noqa: PLR2004 (judge and candidate)
        return Finding("red", found, "judge and candidate take turns on one core: give it two")
    if busy > usable / 2:
        return Finding("red", found, "times mean little on a busy machine: end other programs")
    return Finding("green", found)


def _memory() -> Finding:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    free = 1024 * int(re.findall(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)[0])
    found = f"{free / 2**30:.1f} GiB available"
    if free >= _LEAST_MEMORY:
        return Finding("green", found)
    return Finding("red", found, f"end other programs: {_LEAST_MEMORY / 2**30:.0f} GiB are needed")


def _clock() -> Finding:
    cost = min(_clock_cost() for _ in range(1000))
    source = _CLOCK.read_text(encoding="ascii").strip() if _CLOCK.exists() else "unknown source"
    found = f"{source}, {cost} ns a reading"
    if cost < _SLOW_CLOCK_NS and (source in _STEADY_CLOCKS or not _CLOCK.exists()):
        return Finding("green", found)
    return Finding("red", found, "short calls are timed badly: boot with clocksource=tsc")


def _clock_cost() -> int:
    start = time.perf_counter_ns()
    return time.perf_counter_ns() - start


def _shared_memory() -> Finding:
    descriptor = os.memfd_create("doctor")
    try:
        os.posix_fallocate(descriptor, 0, 2**20)
    finally:
        os.close(descriptor)
    return Finding("green", "memfd; /dev/shm is not used")


def _temporary() -> Path:
    return Path(tempfile.gettempdir())


def _folder(folder: Path, setting: str) -> Finding:
    """Can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return Finding("red", f"{folder}: {error.strerror}", f"set {setting} to a folder of yours")
    free = shutil.disk_usage(folder).free
    found = f"{folder}: {free / 2**30:.1f} GiB free"
    if free < _LEAST_DISK:
        return Finding("red", found, f"free the disk, or set {setting}")
    return Finding("green", found)


def _loadable(folder: Path, setting: str) -> Finding:
    """The same, and what is compiled there can be loaded; nothing runs from TMPDIR."""
    seen = _folder(folder, setting)
    if seen.state == "green" and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        remedy = f"set {setting}: shared objects are loaded here"
        return Finding("red", f"{seen.found}, noexec", remedy)
    return seen


def _gcc() -> Finding:
    gcc = find_gcc()
    return Finding("green", f"{gcc.version} ({gcc.path})")


def _openmp(cache: Path) -> Finding:
    """Compiles and runs a parallel region, in this process: the code is ours."""
    code = (
        "#include <omp.h>\n"
        'extern "C" int regraph_threads() { int n = 0;\n'
        "#pragma omp parallel reduction(+ : n)\nn += 1;\nreturn n; }\n"
    )
    built = _compiler(cache).host(code, (*HOST_FLAGS, "-fopenmp"))
    if isinstance(built, Failure):
        return Finding("red", built.diagnosis[:200], "install g++ with OpenMP (libgomp)")
    return Finding("green", f"{ctypes.CDLL(str(built)).regraph_threads()} threads")


def _compiler_sandbox() -> Finding:
    """What keeps a source from having this machine's files read."""
    held = compiler_confinement()
    return Finding("red" if held.remedy else "green", held.what, held.remedy)


def _nvcc(scope: Scope) -> Finding:
    try:
        cuda = find_cuda()
    except ToolError as error:
        wanted = scope.sees_gpu or scope.target == "cuda"
        return Finding("red" if wanted else "absent", *_parted(error))
    arch = scope.gpu.arch if scope.sees_gpu else "90"
    code = 'extern "C" __attribute__((visibility("default"))) int regraph_zero() { return 0; }\n'
    built = _compiler(scope.cache).cuda(code, cuda, arch)
    found = f"{cuda.version} ({cuda.nvcc}), {cuda.runtime.name}, compiles for sm_{arch}"
    if isinstance(built, Failure):
        return Finding("red", built.diagnosis[:200], "install another CUDA toolkit")
    return Finding("green", found)


def _gpu(scope: Scope) -> Finding:
    try:
        gpu = scope.gpu
    except ToolError as error:
        wanted = scope.target == "cuda" or shutil.which("nvidia-smi")
        return Finding("red" if wanted else "absent", *_parted(error))
    return Finding("green", f"{gpu.name}, sm_{gpu.arch}, driver {gpu.driver}")


def _context(scope: Scope) -> Finding:
    """A process of ours makes a context, and reads back what it wrote to the device."""
    if not (scope.sees_gpu or scope.target == "cuda"):
        return Finding("absent", "no GPU")
    ill = Health(find_cuda(), scope.gpu.visible).illness()
    if ill:
        return Finding("red", *_parted(ill))
    return Finding("green", "made; memory holds what is written to it")


def _gpu_settings(scope: Scope) -> Sequence[Finding]:
    """What the driver says of the GPU."""
    if not scope.sees_gpu:
        return [Finding("absent", "no GPU")]
    said = settings(scope.gpu.visible)
    ecc = f"ECC {said.ecc.lower() or 'unknown'}, {said.ecc_errors} uncorrected errors"
    persistence = f"persistence {said.persistence.lower() or 'unknown'}"
    found = f"{ecc}, {persistence}, compute mode {said.compute_mode.lower() or 'unknown'}"
    if said.ecc_errors:
        return [Finding("red", found, "reset the GPU (nvidia-smi --gpu-reset) or replace it")]
    return [Finding("green", found), _fits(said)]


def _fits(said: GpuSettings) -> Finding:
    """Whether the driver is new enough for the toolkit."""
    name, cuda = "driver and toolkit", find_cuda()
    if not said.cuda:
        return Finding(
            "absent", "nvidia-smi does not say which CUDA the driver supports", name=name
        )
    found = f"driver for CUDA {said.cuda}, toolkit {cuda.version}"
    newest = said.cuda.partition(".")[0]
    if int(newest) >= int(cuda.version.partition(".")[0]):
        return Finding("green", found, name=name)
    return Finding(
        "red", found, f"install a newer driver, or a toolkit of CUDA {newest}", name=name
    )


def _sandbox() -> Sequence[Finding]:
    return [
        Finding(
            "green" if one.holds else "red", one.what, "" if one.holds else one.remedy, one.name
        )
        for one in probe()
    ]


def _peaks(scope: Scope, target: Target, busy: float) -> Finding:
    """Measured once a device, then read; peaks of a busy machine would be too low."""
    gpu = scope.gpu if target == "cuda" else None
    known = None if scope.remeasure else peaks(scope.cache, target, gpu)
    if known:
        return Finding("green", str(known))
    if busy > threads() / 2:
        found = f"not measured: the machine is busy, others use {busy:.1f} of {threads()} cores"
        return Finding("absent", found, "run regraph doctor --remeasure when it is idle")
    return Finding("green", str(measure_peaks(scope.cache, target, gpu)))


def _compiler(cache: Path) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), Limits())


def _parted(error: object) -> tuple[str, str]:
    """What is wrong, and the remedy: our messages have them in this order."""
    what, _, remedy = " ".join(str(error).split()).rpartition("; ")
    return (what, remedy) if what else (remedy, "")
