"""Clock, heat, power and errors of one GPU, read through NVML between batches of timed calls.

A `GpuWatch` follows one measurement: it says which samples were taken while the GPU was slowed
down by heat (to be thrown away), keeps the others, tagged where power was capped. It also says
which other process computed on the GPU meanwhile. In containers that show no processes only the
GPU's own use tells of others, and only while our workers stand still.

Not covered: setting clocks (needs root; another's decision); attributing an error to a process;
others' use inside a container while we time, and what uses a GPU for less than NVML's period.
Readings are up to some milliseconds old: NVML does not say how old.

Whether the GPU is well (`Health`) is asked past the candidate, whose words about it may be forged:
counted as the machine's, they would end a whole search. So a failed candidate has failed by itself
unless an independent look finds the device ill (docs/evaluation.md: how faults end). The look costs
about a context (0.3 s), and is taken only where the diagnosis accuses the machine, or a call never
ended.

Not covered there: a device that computes wrong values and reports nothing; the one candidate that a
passing illness hit, if the device is well again when looked at; memory held by our own workers
counts as the others'.
"""

import contextlib
import importlib
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.toolchain import Cuda
from regraph_kg.evaluation.gpu.device import NO_GPU, nvidia_smi
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.spawn import passed_on
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_UNCORRECTED, _SINCE_DRIVER_LOAD = 1, 0
_LOST, _RESET_REQUIRED, _MISMATCH = 15, 16, 18
_KEPT_STATES = 4096
_STEADY = 0.02
_USED_PERCENT = 5.0  # of the SMs' time: less disturbs nobody more than the noise
_PATIENCE_SECONDS, _POLL_SECONDS = 2.0, 0.05
_AGAIN_SECONDS = 30.0
"""After so long a look is taken again where it is not for free, or where waiting did not help."""

REASONS = {
    0x001: "idle",
    0x002: "clocks set by the user",
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x010: "sync boost",
    0x020: "thermal (software)",
    0x040: "thermal (hardware)",
    0x080: "power brake",
    0x100: "display clocks",
}
"""NVML's clock event reasons, by bit."""
_IDLE = "idle"
_HOT = frozenset({"thermal (software)", "thermal (hardware)", "hardware slowdown"})
_STARVED = frozenset({"power cap", "power brake"})

_REMEDIES = {
    _LOST: "it fell off the bus; reboot the machine, then run `nvidia-smi`",
    _RESET_REQUIRED: "it needs a reset: end every process on it, then `nvidia-smi --gpu-reset`",
    _MISMATCH: "driver and library are of different versions: reboot, or reload the nvidia modules",
}


@dataclass(frozen=True, slots=True)
class GpuState:
    """One reading."""

    sm_mhz: int | None  # None: this GPU or driver does not say
    reasons: tuple[str, ...]  # why clocks are lower than they could be, in words; see `REASONS`

    @property
    def hot(self) -> bool:
        """Whether heat slows it down: a sample taken now means nothing."""
        return bool(_HOT.intersection(self.reasons))

    @property
    def starved(self) -> bool:
        """Whether its power supply slows it down: such samples are kept, tagged."""
        return bool(_STARVED.intersection(self.reasons))


class GpuMonitor:
    """Reads one GPU. Methods raise `ToolError` where it is lost; one reading takes microseconds."""

    def __init__(self, library: Any, handle: object, name: str) -> None:
        """`library`: pynvml (package nvidia-ml-py), of which no types are known."""
        self._library, self._handle, self.name = library, handle, name
        self.plateau_mhz: float | None = None
        """Median SM clock of the last measurement that nothing slowed down."""
        self._look_again = 0.0

    def read(self) -> GpuState:
        bits = self._ask("CurrentClocksEventReasons")
        return GpuState(
            sm_mhz=self._ask("ClockInfo", _SM_CLOCK),
            reasons=tuple(word for bit, word in REASONS.items() if (bits or 0) & bit),
        )

    def uncorrected_errors(self) -> int | None:
        """Uncorrectable memory errors since the driver was loaded; None without ECC."""
        return self._ask("TotalEccErrors", _UNCORRECTED, _SINCE_DRIVER_LOAD)

    def memory_rate(self) -> float | None:
        """Bytes a second of its memory by clock and bus, two transfers a clock."""
        mhz, bits = self._ask("MaxClockInfo", _MEMORY_CLOCK), self._ask("MemoryBusWidth")
        return 2e6 * mhz * bits / 8 if mhz and bits else None

    def used_by_others(self, since: float) -> str:
        """Processes that are not ours and computed on it since a time of the clock; "" for none."""
        # one that has ended, or that this container does not see, is not told
        used: defaultdict[int, list[int]] = defaultdict(list)
        for sample in self._say("ProcessUtilization", int(since * 1e6)) or ():
            used[sample.pid].append(sample.smUtil)
        found = []
        for pid, percents in used.items():
            mean = sum(percents) / len(percents)
            if mean >= _USED_PERCENT and (name := _stranger(pid)):
                found.append(f"pid {pid} {name}, {mean:.0f} %")
        return f"another process used the GPU ({'; '.join(found)})" if found else ""

    def await_others(self) -> str:
        """Who still computes on it after a little wait, "" for nobody; our workers stand still."""
        start = time.monotonic()
        pids = [process.pid for process in self._say("ComputeRunningProcesses") or ()]
        hidden = not any(Path(f"/proc/{pid}").exists() for pid in pids)  # or they mean others here
        if hidden and start < self._look_again:
            return ""  # the end of our own use would have to be waited for each time
        while user := self._unseen() if hidden else self.used_by_others(time.time() - 1.0):
            if start < self._look_again or time.monotonic() - start > _PATIENCE_SECONDS:
                break
            time.sleep(_POLL_SECONDS)
        self._look_again = start + _AGAIN_SECONDS if hidden or user else 0.0
        return user

    def _unseen(self) -> str:
        rates = self._say("UtilizationRates")
        if rates is None or rates.gpu < _USED_PERCENT:
            return ""
        return f"another process used the GPU (hidden from this container, {rates.gpu} %)"

    def _ask(self, what: str, *which: int) -> int | None:
        answer = self._say(what, *which)
        return None if answer is None else int(answer)

    def _say(self, what: str, *which: int) -> Any:
        """The answer of `nvmlDeviceGet<what>`; None where this GPU, or its driver, does not say."""
        try:
            return getattr(self._library, f"nvmlDeviceGet{what}")(self._handle, *which)
        except self._library.NVMLError as error:
            _require_usable(error, self.name)
            return None


class GpuWatch:
    """The states of one GPU during one measurement."""

    def __init__(self, monitor: GpuMonitor) -> None:
        self._monitor = monitor
        self._errors = monitor.uncorrected_errors()
        self._states: list[GpuState] = []
        self.discarded = 0  # samples thrown away because heat slowed the GPU down

    def take(self) -> GpuState:
        """Read the GPU once more, after a sample. Raises `ToolError` where it is lost."""
        state = self._monitor.read()
        if len(self._states) < _KEPT_STATES:
            self._states.append(state)
        return state

    @property
    def steady(self) -> bool:
        """Whether the SM clock is within 2 % of the reading before and of its plateau."""
        # A clock held down by heat or power is as high as it will get; one that cannot be read
        # counts as steady.
        clocks = [state.sm_mhz for state in self._states[-2:] if state.sm_mhz is not None]
        if not clocks:
            return True
        if self._states[-1].hot or self._states[-1].starved:
            return True
        before = [*clocks[:-1], self._monitor.plateau_mhz]
        return len(clocks) > 1 and all(
            abs(clocks[-1] - other) <= _STEADY * other for other in before if other
        )

    def finish(self) -> dict[str, str]:
        """Facts for the report. Raises `ToolError` where memory errors occurred meanwhile."""
        errors = self._monitor.uncorrected_errors()
        if errors is not None and self._errors is not None and errors > self._errors:
            raise ToolError(
                f"GPU {self._monitor.name}: {errors - self._errors} uncorrectable memory errors"
                " while it was timed; nothing it computed counts: see `nvidia-smi -q -d ECC`,"
                " reset or replace it"
            )
        clocks = [s.sm_mhz for s in self._states if s.sm_mhz and not (s.hot or s.starved)]
        if clocks:
            self._monitor.plateau_mhz = median(clocks)
        read = [state.sm_mhz for state in self._states if state.sm_mhz is not None]
        words = {word for state in self._states for word in state.reasons if word != _IDLE}
        return ({"sm_clock_mhz": f"{median(read):.0f}"} if read else {}) | {
            "throttled": ", ".join(sorted(words)) or "no",
            "samples_discarded_hot": str(self.discarded),
        }


def open_gpu(uuid: str) -> GpuMonitor | None:
    """A monitor; None where NVML has none. Raises `ToolError` for a GPU that cannot be used."""
    library: Any = importlib.import_module("pynvml")  # has no types
    try:
        library.nvmlInit()
        handle = library.nvmlDeviceGetHandleByUUID(uuid)
    except library.NVMLError as error:
        _require_usable(error, uuid)
        return None
    return GpuMonitor(library, handle, uuid)


def _stranger(pid: int) -> str:
    """Name of a process; "" where it is ours, a child of ours, or not to be seen."""
    name, ancestor = "", pid
    with contextlib.suppress(OSError, ValueError):
        while ancestor > 1:
            if ancestor == os.getpid():
                return ""
            head, _, rest = Path(f"/proc/{ancestor}/stat").read_text("utf-8").rpartition(")")
            name = name or head.partition("(")[2]
            ancestor = int(rest.split()[1])
    return plain(name)


def _require_usable(error: Any, name: str) -> None:
    """Raise `ToolError` where NVML's error means that the GPU cannot be used at all."""
    if remedy := _REMEDIES.get(error.value):
        raise ToolError(f"GPU {name}: {error}: {remedy}") from None


_ACCUSES = re.compile(
    "out of memory|initialization error|driver shutting down|driver version is insufficient"
    "|busy or unavailable|no CUDA-capable device|uncorrectable|hardware|not yet initialized"
    "|unsupported display driver|MPS |unspecified launch failure|unknown error|invalid device",
    re.IGNORECASE,
)
"""Texts of CUDA errors that can mean a failed machine (cudaGetErrorString, CUDA 13.0)."""
_CONTEXT_SECONDS = 60.0
_HELD_BY_OTHERS = 0.5
_LOOK = r"""
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
cuda.cudaGetErrorString.restype = ctypes.c_char_p
def must(code):
    if code:
        sys.exit("error: " + cuda.cudaGetErrorString(code).decode(errors="replace"))
must(cuda.cudaFree(None))
free, total, memory = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
must(cuda.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total)))
size = 1 << 20
wrote, read = bytes(range(256)) * (size // 256), ctypes.create_string_buffer(size)
must(cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(size)))
must(cuda.cudaMemcpy(memory, wrote, ctypes.c_size_t(size), 1))
must(cuda.cudaMemcpy(read, memory, ctypes.c_size_t(size), 2))
must(cuda.cudaDeviceSynchronize())
must(cuda.cudaFree(memory))
if read.raw != wrote:
    sys.exit("error: its memory does not hold what is written to it")
print(free.value, total.value)
"""
_BY_FAULT = (
    ("insufficient|unsupported display", "install a driver that is new enough for the toolkit"),
    ("out of memory|held by others", "end the other processes on it (nvidia-smi lists them)"),
    ("busy or unavailable", "set its compute mode to default, or wait for who uses it"),
    ("ECC|does not hold", "reset it (nvidia-smi --gpu-reset) or replace it"),
)


class Health:
    """One GPU as it was when first asked, and whether it has become ill since.

    `visible` is what CUDA_VISIBLE_DEVICES must be for it: its UUID; "" = whatever is visible.
    `count` reads its uncorrected ECC errors, and raises `ToolError` where it is lost (NVML does in
    microseconds); None asks nvidia-smi. Raises `ToolError` as that does.
    """

    def __init__(
        self, cuda: Cuda, visible: str = "", count: Callable[[], int | None] | None = None
    ) -> None:
        self._cuda, self._visible = cuda, visible
        self._count = count or partial(ecc_errors, visible)
        self._errors = self._count() or 0

    def blame(self, failure: Failure) -> None:
        """Raise `ToolError` where a candidate's failure is the device's."""
        accused = failure.outcome is Outcome.CRASHED and _ACCUSES.search(failure.diagnosis)
        if accused or failure.outcome is Outcome.TIMED_OUT:
            ill = self.illness()
            if ill:
                raise ToolError(ill)

    def illness(self) -> str | None:
        """The device's fault and the remedy in one line; None where it is well."""
        try:
            errors = self._count() or 0
        except ToolError as error:
            return str(error)
        if errors > self._errors:
            return _with_remedy(f"{errors - self._errors} new uncorrected ECC errors")
        return _look(self._cuda, self._visible)


def ecc_errors(visible: str) -> int:
    """Uncorrected errors since the driver was loaded; 0 where the GPU counts none."""
    query = "--query-gpu=ecc.errors.uncorrected.volatile.total", "--format=csv,noheader"
    said = nvidia_smi(visible, *query).partition("\n")[0].strip()
    return int(said) if said.isdigit() else 0


def _look(cuda: Cuda, visible: str) -> str | None:
    """A fresh process of ours makes a context, and writes to and reads from the device."""
    chosen = {"CUDA_VISIBLE_DEVICES": visible} if visible else {}
    try:
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LOOK, str(cuda.runtime)],
            env=passed_on() | chosen | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
            capture_output=True,
            text=True,
            timeout=_CONTEXT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _with_remedy(f"a new process gets no context within {_CONTEXT_SECONDS:.0f} s")
    if process.returncode:
        message = (process.stderr.strip().splitlines() or [f"ended with {process.returncode}"])[-1]
        return _with_remedy(message.removeprefix("error: ")[:200])
    free, total = map(int, process.stdout.split())
    if free < (1 - _HELD_BY_OTHERS) * total:
        share = f"{(total - free) / 2**30:.1f} of {total / 2**30:.1f} GiB"
        return _with_remedy(f"{share} of its memory are held by others")
    return None


def _with_remedy(fault: str) -> str:
    remedy = next((r for words, r in _BY_FAULT if re.search(words, fault)), NO_GPU)
    return f"GPU: {fault}; {remedy}"
