"""Checks that this machine meets the judge's needs: a table with remedies.

A check is a small function; an error in it becomes a red row. Green: works. Red: matters and does
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
    """Result of one check. `name` where a check shows several things; `remedy` where red."""

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
    """One check; `look` may raise, and may take seconds."""

    part: str
    name: str
    look: Callable[[], CheckResult | Sequence[CheckResult]]
    alone: bool = False
    """It times something: nothing else is looked at meanwhile."""
    ahead: Callable[[], object] | None = None
    """What can be done for it beside other checks; whatever fails there, `look` meets again."""

    def rows(self) -> Iterator[CheckRow]:
        """The check's rows; never raises."""
        try:
            shown = self.look()
        except RegraphError as error:
            shown = CheckResult("red", *_split_remedy(error))
        except Exception as error:  # noqa: BLE001 (a broken machine breaks in its own ways)
            shown = CheckResult("red", f"{type(error).__name__}: {' '.join(str(error).split())}")
        for row in (shown,) if isinstance(shown, CheckResult) else shown:
            name = row.name or self.name
            yield CheckRow(self.part, name, row.state, row.found, row.remedy, row.expected)


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
    """Scope of a check: `target` None means every target, cuda only where there is a GPU."""

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
        """The requested target, else those whose candidates can be judged here."""
        if self.target:
            return (self.target,)
        return ON_CPU + (ON_GPU if self.sees_gpu else ())

    @property
    def gpu(self) -> Gpu:
        """The first GPU. Raises `ToolError` where there is none."""
        return self._first.find()

    @property
    def sees_gpu(self) -> bool:
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
                number: pool.submit(_rows_of, check)
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


def _rows_of(check: Check) -> tuple[CheckRow, ...]:
    return tuple(check.rows())


def checks(scope: Scope) -> tuple[Check, ...]:
    """All checks except the exploits."""
    looks_at_gpu = scope.target is None or scope.target in ON_GPU
    busy, temporary = used_by_others(), Path(tempfile.gettempdir())
    table = [
        Check("machine", "cores", partial(_cores, busy)),
        Check("machine", "memory", _memory),
        Check("machine", "clock", _clock),
        Check("machine", "shared memory", _shared_memory),
        Check("machine", "cache folder", partial(_loadable, scope.cache, "REGRAPH_CACHE_DIR")),
        Check("machine", "temporary folder", partial(_folder, temporary, "TMPDIR")),
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
    text = f"{usable} usable, others use {busy:.1f}; {machine_facts()['cpu']}"
    if usable < 2:  # noqa: PLR2004 (judge and candidate)
        return CheckResult("red", text, "judge and candidate take turns on one core: give it two")
    if busy > usable / 2:
        return CheckResult("red", text, "times mean little on a busy machine: end other programs")
    return CheckResult("green", text)


def _memory() -> CheckResult:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    free = 1024 * int(re.findall(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)[0])
    amount = f"{free / 2**30:.1f} GiB available"
    if free >= _LEAST_MEMORY:
        return CheckResult("green", amount)
    return CheckResult(
        "red", amount, f"end other programs: {_LEAST_MEMORY / 2**30:.0f} GiB are needed"
    )


def _clock() -> CheckResult:
    cost = min(_clock_cost() for _ in range(1000))
    source = _CLOCK.read_text(encoding="ascii").strip() if _CLOCK.exists() else "unknown source"
    text = f"{source}, {cost} ns a reading"
    if cost < _SLOW_CLOCK_NS and (source in _STEADY_CLOCKS or not _CLOCK.exists()):
        return CheckResult("green", text)
    return CheckResult("red", text, "short calls are timed badly: boot with clocksource=tsc")


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
    text = f"{folder}: {free / 2**30:.1f} GiB free"
    if free < _LEAST_DISK:
        return CheckResult("red", text, f"free the disk, or set {setting}")
    return CheckResult("green", text)


def _loadable(folder: Path, setting: str) -> CheckResult:
    """`_folder`, and compiled code in it can be loaded; nothing runs from TMPDIR."""
    result = _folder(folder, setting)
    if result.state == "green" and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        remedy = f"set {setting}: shared objects are loaded here"
        return CheckResult("red", f"{result.found}, noexec", remedy)
    return result


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
    result = _compiler(cache).host(code, (*HOST_FLAGS, "-fopenmp"))
    if isinstance(result, Failure):
        return CheckResult("red", result.diagnosis[:200], "install g++ with OpenMP (libgomp)")
    return CheckResult("green", f"{ctypes.CDLL(str(result)).regraph_threads()} threads")


def _compiler_sandbox() -> CheckResult:
    """Whether a source can make a compiler read this machine's files."""
    sandbox = compiler_confinement()
    return CheckResult("red" if sandbox.remedy else "green", sandbox.what, sandbox.remedy)


def _nvcc(scope: Scope) -> CheckResult:
    try:
        cuda = find_cuda()
    except ToolError as error:
        expected = scope.sees_gpu or scope.target in ON_GPU
        return CheckResult("red" if expected else "absent", *_split_remedy(error))
    arch = scope.gpu.arch if scope.sees_gpu else "90"
    code = 'extern "C" __attribute__((visibility("default"))) int regraph_zero() { return 0; }\n'
    result = _compiler(scope.cache).cuda(code, cuda, arch)
    text = f"{cuda.version} ({cuda.nvcc}), {cuda.runtime.name}, compiles for sm_{arch}"
    if isinstance(result, Failure):
        return CheckResult("red", result.diagnosis[:200], "install another CUDA toolkit")
    return CheckResult("green", text)


def _gpu(scope: Scope) -> CheckResult:
    try:
        gpu = scope.gpu
    except ToolError as error:
        expected = scope.target in ON_GPU or shutil.which("nvidia-smi")
        return CheckResult("red" if expected else "absent", *_split_remedy(error))
    return CheckResult("green", f"{gpu.name}, sm_{gpu.arch}, driver {gpu.driver}")


def _context(scope: Scope) -> CheckResult:
    """A process of ours makes a context, and reads back what it wrote to the device."""
    if not (scope.sees_gpu or scope.target in ON_GPU):
        return CheckResult("absent", "no GPU")
    ill = Health(find_cuda(), scope.gpu.visible).illness()
    if ill:
        return CheckResult("red", *_split_remedy(ill))
    return CheckResult("green", "made; memory holds what is written to it")


def _gpu_settings(scope: Scope) -> Sequence[CheckResult]:
    """The GPU's settings, as the driver reports them."""
    if not scope.sees_gpu:
        return [CheckResult("absent", "no GPU")]
    gpu = settings(scope.gpu.visible)
    ecc = f"ECC {gpu.ecc.lower() or 'unknown'}, {gpu.ecc_errors} uncorrected errors"
    persistence = f"persistence {gpu.persistence.lower() or 'unknown'}"
    text = f"{ecc}, {persistence}, compute mode {gpu.compute_mode.lower() or 'unknown'}"
    if gpu.ecc_errors:
        return [CheckResult("red", text, "reset the GPU (nvidia-smi --gpu-reset) or replace it")]
    return [CheckResult("green", text), _driver_version(gpu)]


def _driver_version(gpu: GpuSettings) -> CheckResult:
    """Whether the driver is new enough for the toolkit."""
    name, cuda = "driver and toolkit", find_cuda()
    if not gpu.cuda:
        return CheckResult(
            "absent", "nvidia-smi does not say which CUDA the driver supports", name=name
        )
    text = f"driver for CUDA {gpu.cuda}, toolkit {cuda.version}"
    newest = gpu.cuda.partition(".")[0]
    if int(newest) >= int(cuda.version.partition(".")[0]):
        return CheckResult("green", text, name=name)
    return CheckResult(
        "red", text, f"install a newer driver, or a toolkit of CUDA {newest}", name=name
    )


def _sandbox() -> Sequence[CheckResult]:
    return [
        CheckResult(
            "green" if layer.holds else "red",
            layer.what,
            "" if layer.holds else layer.remedy,
            layer.name,
        )
        for layer in probe()
    ]


def _peaks(scope: Scope, target: Target, busy: float) -> CheckResult:
    """Measured once a device, then read; peaks of a busy machine would be too low."""
    gpu = scope.gpu if target in ON_GPU else None
    measured = None if scope.remeasure else peaks(scope.cache, target, gpu)
    if measured:
        return CheckResult("green", str(measured))
    if busy > threads() / 2:
        text = f"not measured: the machine is busy, others use {busy:.1f} of {threads()} cores"
        return CheckResult("absent", text, "run regraph doctor --remeasure when it is idle")
    return CheckResult("green", str(measure_peaks(scope.cache, target, gpu)))


def _compiler(cache: Path) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), JudgeLimits())


def _split_remedy(error: object) -> tuple[str, str]:
    """Fault and remedy of a message, which names them in this order."""
    fault, _, remedy = " ".join(str(error).split()).rpartition("; ")
    return (fault, remedy) if fault else (remedy, "")
