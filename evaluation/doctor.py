"""Checks that this machine meets the judge's needs: a table with remedies.

A check is a part of the table, a name, and a function; an error in it becomes a red row. Green:
works. Red: matters and does not work. Absent: not here, and not asked for (no GPU, say).

Not covered: exploits (exploit_check.py), store and model server (wiring/doctor.py); whether
timings are steady (a busy machine shows in reports); GPUs other than the first visible one.
"""

import ctypes
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

from regraph_kg.errors import RegraphError, ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.sandboxed import compiler_confinement
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.confined.probe import probe
from regraph_kg.evaluation.gpu.device import Gpu, find_gpu, machine_facts, threads
from regraph_kg.evaluation.gpu.health import Health, settings
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.load import used_by_others
from regraph_kg.evaluation.timing.peaks import measure_peaks, peaks
from regraph_kg.models.target import ON_CPU, ON_GPU, Target

CheckState = Literal["green", "red", "absent"]

_LEAST_DISK, _LEAST_MEMORY = 2**30, 2 * 2**30
_STEADY_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_SLOW_CLOCK_NS = 1000


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the table; `part` and `name` are the check's own unless a look says others."""

    state: CheckState
    found: str
    remedy: str = ""
    name: str = ""
    expected: str = ""
    part: str = ""


green, red, absent = (partial(CheckRow, state) for state in ("green", "red", "absent"))
Look = Callable[[], CheckRow | Sequence[CheckRow]]
"""Looks at one thing, or several; may raise, and may take seconds."""
Check = tuple[str, str, Look]  # part of the table, name, look


def rows(
    checks: Iterable[Check], show: Callable[[int, str], object] = lambda *_: None
) -> Iterator[CheckRow]:
    """The table, row by row as it comes; `show` hears how many checks are done, and the next."""
    for number, (part, name, look) in enumerate(checks):
        show(number, f"{part}: {name}")
        try:
            found = look()
        except RegraphError as error:
            found = _faulty(error)
        except Exception as error:  # noqa: BLE001 (a broken machine breaks in its own ways)
            found = red(f"{type(error).__name__}: {' '.join(str(error).split())}")
        for row in (found,) if isinstance(found, CheckRow) else found:
            yield replace(row, part=part, name=row.name or name)


@dataclass(frozen=True)
class Scope:
    """Scope of a check: `target` None means every target, cuda only where there is a GPU."""

    cache: Path  # folder that the judge keeps compiled code and peaks in
    target: Target | None = None
    quick: bool = False  # no peaks measured, no candidate judged
    remeasure: bool = False  # measure the peaks although they are known

    @property
    def targets(self) -> tuple[Target, ...]:
        """The requested target, else those whose candidates can be judged here."""
        if self.target:
            return (self.target,)
        return ON_CPU + (ON_GPU if self.sees_gpu else ())

    @property
    def gpu(self) -> Gpu:
        """The first visible GPU. Raises `ToolError` where there is none."""
        if isinstance(self._first, ToolError):
            raise self._first
        return self._first

    @property
    def sees_gpu(self) -> bool:
        return isinstance(self._first, Gpu)

    @property
    def needs_gpu(self) -> bool:
        return self.target in ON_GPU

    @cached_property
    def _first(self) -> Gpu | ToolError:
        """Looked for once: the driver's tool takes up to a second a question."""
        try:
            return find_gpu()
        except ToolError as error:
            return error


def checks(scope: Scope) -> tuple[Check, ...]:
    """All checks except the exploits."""
    busy, temporary = used_by_others(), Path(tempfile.gettempdir())
    table: list[Check] = [
        ("machine", "cores", partial(_cores, busy)),
        ("machine", "memory", _memory),
        ("machine", "clock", _clock),
        ("machine", "cache folder", partial(_loadable, scope.cache, "REGRAPH_CACHE_DIR")),
        ("machine", "temporary folder", partial(_folder, temporary, "TMPDIR")),
        ("compilers", "g++", _gcc),
        ("compilers", "g++ -fopenmp", partial(_openmp, scope.cache)),
        ("compilers", "sandbox", _compiler_sandbox),
    ]
    if scope.target is None or scope.needs_gpu:
        table += [
            ("compilers", "nvcc", partial(_nvcc, scope)),
            ("GPU", "driver", partial(_gpu, scope)),
            ("GPU", "context", partial(_context, scope)),
            ("GPU", "settings", partial(_gpu_settings, scope)),
        ]
    table.append(("sandbox", "features", _sandbox))
    if not scope.quick:
        table += [("peaks", one, partial(_peaks, scope, one, busy)) for one in scope.targets]
    return tuple(table)


def _cores(busy: float) -> CheckRow:
    usable = threads()
    text = f"{usable} usable, others use {busy:.1f}; {machine_facts()['cpu']}"
    if usable < 2:  # noqa: PLR2004 (judge and candidate)
        return red(text, "judge and candidate take turns on one core: give it two")
    if busy > usable / 2:
        return red(text, "times mean little on a busy machine: end other programs")
    return green(text)


def _memory() -> CheckRow:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    free = 1024 * int(re.findall(r"^MemAvailable:\s+(\d+)", text, re.MULTILINE)[0])
    amount = f"{free / 2**30:.1f} GiB available"
    if free >= _LEAST_MEMORY:
        return green(amount)
    return red(amount, f"end other programs: {_LEAST_MEMORY / 2**30:.0f} GiB are needed")


def _clock() -> CheckRow:
    cost = min(_clock_cost() for _ in range(1000))
    source = _CLOCK.read_text(encoding="ascii").strip() if _CLOCK.exists() else "unknown source"
    text = f"{source}, {cost} ns a reading"
    if cost < _SLOW_CLOCK_NS and (source in _STEADY_CLOCKS or not _CLOCK.exists()):
        return green(text)
    return red(text, "short calls are timed badly: boot with clocksource=tsc")


def _clock_cost() -> int:
    start = time.perf_counter_ns()
    return time.perf_counter_ns() - start


def _folder(folder: Path, setting: str) -> CheckRow:
    """Can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        return red(f"{folder}: {error.strerror}", f"set {setting} to a folder of yours")
    free = shutil.disk_usage(folder).free
    text = f"{folder}: {free / 2**30:.1f} GiB free"
    return green(text) if free >= _LEAST_DISK else red(text, f"free the disk, or set {setting}")


def _loadable(folder: Path, setting: str) -> CheckRow:
    """`_folder`, and compiled code in it can be loaded; nothing runs from TMPDIR."""
    row = _folder(folder, setting)
    if row.state == "green" and os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return red(f"{row.found}, noexec", f"set {setting}: shared objects are loaded here")
    return row


def _gcc() -> CheckRow:
    gcc = find_gcc()
    return green(f"{gcc.version} ({gcc.path})")


def _openmp(cache: Path) -> CheckRow:
    """Compiles and runs a parallel region, in this process: the code is ours."""
    code = (
        "#include <omp.h>\n"
        'extern "C" int regraph_threads() { int n = 0;\n'
        "#pragma omp parallel reduction(+ : n)\nn += 1;\nreturn n; }\n"
    )
    result = _compiler(cache).host(code, (*HOST_FLAGS, "-fopenmp"))
    if isinstance(result, Failure):
        return red(result.diagnosis[:200], "install g++ with OpenMP (libgomp)")
    return green(f"{ctypes.CDLL(str(result)).regraph_threads()} threads")


def _compiler_sandbox() -> CheckRow:
    """Whether a source can make a compiler read this machine's files."""
    sandbox = compiler_confinement()
    return CheckRow("red" if sandbox.remedy else "green", sandbox.what, sandbox.remedy)


def _nvcc(scope: Scope) -> CheckRow:
    try:
        cuda = find_cuda()
    except ToolError as error:
        return _faulty(error, expected=scope.sees_gpu or scope.needs_gpu)
    arch = scope.gpu.arch if scope.sees_gpu else "90"
    code = 'extern "C" __attribute__((visibility("default"))) int regraph_zero() { return 0; }\n'
    result = _compiler(scope.cache).cuda(code, cuda, arch)
    if isinstance(result, Failure):
        return red(result.diagnosis[:200], "install another CUDA toolkit")
    return green(f"{cuda.version} ({cuda.nvcc}), {cuda.runtime.name}, compiles for sm_{arch}")


def _gpu(scope: Scope) -> CheckRow:
    try:
        gpu = scope.gpu
    except ToolError as error:
        return _faulty(error, expected=scope.needs_gpu or bool(shutil.which("nvidia-smi")))
    return green(f"{gpu.name}, sm_{gpu.arch}, driver {gpu.driver}")


def _context(scope: Scope) -> CheckRow:
    """A process of ours makes a context, and reads back what it wrote to the device."""
    if not (scope.sees_gpu or scope.needs_gpu):
        return absent("no GPU")
    ill = Health(find_cuda(), scope.gpu.visible).illness()
    return _faulty(ill) if ill else green("made; memory holds what is written to it")


def _gpu_settings(scope: Scope) -> Sequence[CheckRow]:
    """The GPU's settings as the driver reports them, and whether it suits the toolkit."""
    if not scope.sees_gpu:
        return [absent("no GPU")]
    gpu = settings(scope.gpu.visible)
    ecc = f"ECC {gpu.ecc.lower() or 'unknown'}, {gpu.ecc_errors} uncorrected errors"
    persistence = f"persistence {gpu.persistence.lower() or 'unknown'}"
    text = f"{ecc}, {persistence}, compute mode {gpu.compute_mode.lower() or 'unknown'}"
    if gpu.ecc_errors:
        return [red(text, "reset the GPU (nvidia-smi --gpu-reset) or replace it")]
    cuda, name = find_cuda(), "driver and toolkit"
    newest = gpu.cuda.partition(".")[0]
    fits = f"driver for CUDA {gpu.cuda or 'unknown'}, toolkit {cuda.version}"
    if newest and int(newest) < int(cuda.version.partition(".")[0]):
        remedy = f"install a newer driver, or a toolkit of CUDA {newest}"
        return [green(text), red(fits, remedy, name)]
    return [green(text), CheckRow("green" if newest else "absent", fits, name=name)]


def _sandbox() -> Sequence[CheckRow]:
    return [
        green(layer.what, name=layer.name)
        if layer.holds
        else red(layer.what, layer.remedy, layer.name)
        for layer in probe()
    ]


def _peaks(scope: Scope, target: Target, busy: float) -> CheckRow:
    """Measured once a device, then read; peaks of a busy machine would be too low."""
    gpu = scope.gpu if target in ON_GPU else None
    measured = None if scope.remeasure else peaks(scope.cache, target, gpu)
    if measured:
        return green(str(measured))
    if busy > threads() / 2:
        text = f"not measured: the machine is busy, others use {busy:.1f} of {threads()} cores"
        return absent(text, "run regraph doctor --remeasure when it is idle")
    return green(str(measure_peaks(scope.cache, target, gpu)))


def _compiler(cache: Path) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), JudgeLimits())


def _faulty(error: object, *, expected: bool = True) -> CheckRow:
    """The row of a message, which names fault and remedy in this order."""
    fault, _, remedy = " ".join(str(error).split()).rpartition("; ")
    return CheckRow("red" if expected else "absent", *((fault, remedy) if fault else (remedy,)))
