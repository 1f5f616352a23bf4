"""What a judge needs of this machine, looked at for real: a table of checks with remedies.

A check is a small function; what it raises becomes a red row. Green: works. Red: matters and does
not work. Absent: not here, and not asked for (no GPU, say). Checks that time something are looked
at alone, after all the others, which run side by side.

Not covered: exploits (exploit_check.py), store and model server (wiring/doctor.py); whether
timings are steady (a busy machine shows in reports); GPUs other than the first visible one.
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
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.sandboxed import compiler_confinement
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.confined.probe import probe
from regraph_kg.evaluation.gpu.device import Gpu, find_gpu, machine_facts, threads
from regraph_kg.evaluation.gpu.health import GpuSettings, Health, settings
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.load import used_by_others
from regraph_kg.evaluation.timing.peaks import measure_peaks, peaks
from regraph_kg.models.target import ON_CPU, ON_GPU, Target

CheckState = Literal["green", "red", "absent"]

_LEAST_AT_ONCE = 4
"""Checks side by side; several only wait for a process."""
_LEAST_DISK, _LEAST_MEMORY = 2**30, 2 * 2**30
_STEADY_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_SLOW_CLOCK_NS = 1000


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one look showed. `name` where a check shows several things; `remedy` where red."""

    state: CheckState
    found: str
    remedy: str = ""
    name: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the table."""

    part: str
    name: str
    state: CheckState
    found: str
    remedy: str
    expected: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at; `look` may raise, and may take seconds."""

    part: str
    name: str
    look: Callable[[], CheckResult | Sequence[CheckResult]]
    alone: bool = False
    """It times something: nothing else is looked at meanwhile."""
    ahead: Callable[[], object] | None = None
    """What can be done for it beside other checks; whatever fails there, `look` meets again."""

    def rows(self) -> Iterator[CheckRow]:
        """What it shows; never raises."""
        try:
            found = self.look()
        except RegraphError as error:
            found = CheckResult("red", *_parted(error))
        except Exception as error:  # noqa: BLE001 (a broken machine breaks in its own ways)
            found = CheckResult("red", f"{type(error).__name__}: {' '.join(str(error).split())}")
        for one in (found,) if isinstance(found, CheckResult) else found:
            name = one.name or self.name
            yield CheckRow(self.part, name, one.state, one.found, one.remedy, one.expected)


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
        return ON_CPU + (ON_GPU if self.sees_gpu else ())

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
) -> Iterator[CheckRow]:
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


def _looked(check: Check) -> tuple[CheckRow, ...]:
    return tuple(check.rows())


def checks(scope: Scope) -> tuple[Check, ...]:
    """Everything but the exploits."""
    looks_at_gpu = scope.target is None or scope.target in ON_GPU
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
    if looks_at_gpu:
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


def _cores(busy: float) -> CheckResult:
    usable = threads()
    found = f"{usable} usable, others use {busy:.1f}; {machine_facts()['cpu']}"
    if usable < 2:  # noqa: PLR2004 (judge and candidate)
        return CheckResult("red", found, "judge and candidate take turns on one core: give it two")
    if busy > usable / 2:
        return CheckResult("red", found, "times mean little on a busy machine: end other programs")
    return CheckResult("green", found)


def _memory() -> CheckResult:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    free = 1024 * int(re.findall(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)[0])
    found = f"{free / 2**30:.1f} GiB available"
    if free >= _LEAST_MEMORY:
        return CheckResult("green", found)
    return CheckResult(
        "red", found, f"end other programs: {_LEAST_MEMORY / 2**30:.0f} GiB are needed"
    )


def _clock() -> CheckResult:
    cost = min(_clock_cost() for _ in range(1000))
    source = _CLOCK.read_text(encoding="ascii").strip() if _CLOCK.exists() else "unknown source"
    found = f"{source}, {cost} ns a reading"
    if cost < _SLOW_CLOCK_NS and (source in _STEADY_CLOCKS or not _CLOCK.exists()):
        return CheckResult("green", found)
    return CheckResult("red", found, "short calls are timed badly: boot with clocksource=tsc")


def _clock_cost() -> int:
    start = time.perf_counter_ns()
    return time.perf_counter_ns() - start


def _shared_memory() -> CheckResult:
    descriptor = os.memfd_create("doctor")
    try:
        os.posix_fallocate(descriptor, 0, 2**20)
    finally:
        os.close(descriptor)
    return CheckResult("green", "memfd; /dev/shm is not used")


def _temporary() -> Path:
    return Path(tempfile.gettempdir())


def _folder(folder: Path, setting: str) -> CheckResult:
    """Can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return CheckResult(
            "red", f"{folder}: {error.strerror}", f"set {setting} to a folder of yours"
        )
    free = shutil.disk_usage(folder).free
    found = f"{folder}: {free / 2**30:.1f} GiB free"
    if free < _LEAST_DISK:
        return CheckResult("red", found, f"free the disk, or set {setting}")
    return CheckResult("green", found)


def _loadable(folder: Path, setting: str) -> CheckResult:
    """The same, and what is compiled there can be loaded; nothing runs from TMPDIR."""
    seen = _folder(folder, setting)
    if seen.state == "green" and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        remedy = f"set {setting}: shared objects are loaded here"
        return CheckResult("red", f"{seen.found}, noexec", remedy)
    return seen


def _gcc() -> CheckResult:
    gcc = find_gcc()
    return CheckResult("green", f"{gcc.version} ({gcc.path})")


def _openmp(cache: Path) -> CheckResult:
    """Compiles and runs a parallel region, in this process: the code is ours."""
    code = (
        "#include <omp.h>\n"
        'extern "C" int regraph_threads() { int n = 0;\n'
        "#pragma omp parallel reduction(+ : n)\nn += 1;\nreturn n; }\n"
    )
    built = _compiler(cache).host(code, (*HOST_FLAGS, "-fopenmp"))
    if isinstance(built, Failure):
        return CheckResult("red", built.diagnosis[:200], "install g++ with OpenMP (libgomp)")
    return CheckResult("green", f"{ctypes.CDLL(str(built)).regraph_threads()} threads")


def _compiler_sandbox() -> CheckResult:
    """What keeps a source from having this machine's files read."""
    held = compiler_confinement()
    return CheckResult("red" if held.remedy else "green", held.what, held.remedy)


def _nvcc(scope: Scope) -> CheckResult:
    try:
        cuda = find_cuda()
    except ToolError as error:
        wanted = scope.sees_gpu or scope.target in ON_GPU
        return CheckResult("red" if wanted else "absent", *_parted(error))
    arch = scope.gpu.arch if scope.sees_gpu else "90"
    code = 'extern "C" __attribute__((visibility("default"))) int regraph_zero() { return 0; }\n'
    built = _compiler(scope.cache).cuda(code, cuda, arch)
    found = f"{cuda.version} ({cuda.nvcc}), {cuda.runtime.name}, compiles for sm_{arch}"
    if isinstance(built, Failure):
        return CheckResult("red", built.diagnosis[:200], "install another CUDA toolkit")
    return CheckResult("green", found)


def _gpu(scope: Scope) -> CheckResult:
    try:
        gpu = scope.gpu
    except ToolError as error:
        wanted = scope.target in ON_GPU or shutil.which("nvidia-smi")
        return CheckResult("red" if wanted else "absent", *_parted(error))
    return CheckResult("green", f"{gpu.name}, sm_{gpu.arch}, driver {gpu.driver}")


def _context(scope: Scope) -> CheckResult:
    """A process of ours makes a context, and reads back what it wrote to the device."""
    if not (scope.sees_gpu or scope.target in ON_GPU):
        return CheckResult("absent", "no GPU")
    ill = Health(find_cuda(), scope.gpu.visible).illness()
    if ill:
        return CheckResult("red", *_parted(ill))
    return CheckResult("green", "made; memory holds what is written to it")


def _gpu_settings(scope: Scope) -> Sequence[CheckResult]:
    """What the driver says of the GPU."""
    if not scope.sees_gpu:
        return [CheckResult("absent", "no GPU")]
    said = settings(scope.gpu.visible)
    ecc = f"ECC {said.ecc.lower() or 'unknown'}, {said.ecc_errors} uncorrected errors"
    persistence = f"persistence {said.persistence.lower() or 'unknown'}"
    found = f"{ecc}, {persistence}, compute mode {said.compute_mode.lower() or 'unknown'}"
    if said.ecc_errors:
        return [CheckResult("red", found, "reset the GPU (nvidia-smi --gpu-reset) or replace it")]
    return [CheckResult("green", found), _fits(said)]


def _fits(said: GpuSettings) -> CheckResult:
    """Whether the driver is new enough for the toolkit."""
    name, cuda = "driver and toolkit", find_cuda()
    if not said.cuda:
        return CheckResult(
            "absent", "nvidia-smi does not say which CUDA the driver supports", name=name
        )
    found = f"driver for CUDA {said.cuda}, toolkit {cuda.version}"
    newest = said.cuda.partition(".")[0]
    if int(newest) >= int(cuda.version.partition(".")[0]):
        return CheckResult("green", found, name=name)
    return CheckResult(
        "red", found, f"install a newer driver, or a toolkit of CUDA {newest}", name=name
    )


def _sandbox() -> Sequence[CheckResult]:
    return [
        CheckResult(
            "green" if one.holds else "red", one.what, "" if one.holds else one.remedy, one.name
        )
        for one in probe()
    ]


def _peaks(scope: Scope, target: Target, busy: float) -> CheckResult:
    """Measured once a device, then read; peaks of a busy machine would be too low."""
    gpu = scope.gpu if target in ON_GPU else None
    known = None if scope.remeasure else peaks(scope.cache, target, gpu)
    if known:
        return CheckResult("green", str(known))
    if busy > threads() / 2:
        found = f"not measured: the machine is busy, others use {busy:.1f} of {threads()} cores"
        return CheckResult("absent", found, "run regraph doctor --remeasure when it is idle")
    return CheckResult("green", str(measure_peaks(scope.cache, target, gpu)))


def _compiler(cache: Path) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), JudgeLimits())


def _parted(error: object) -> tuple[str, str]:
    """What is wrong, and the remedy: our messages have them in this order."""
    what, _, remedy = " ".join(str(error).split()).rpartition("; ")
    return (what, remedy) if what else (remedy, "")
