"""Is the GPU well? Asked past the candidate, whose words about it prove nothing.

A worker runs hostile code, so the CUDA error that it reports may be forged: counted as the
machine's, it would end a whole search. Therefore a failed candidate has failed by itself unless an
independent look finds the device ill: its driver answers no more, the count of uncorrected ECC
errors has grown, a fresh process of ours cannot make a context or does not read back what it wrote,
or other processes hold more than half of the device's memory. The look costs about a context
(0.3 s), and is taken only where the diagnosis accuses the machine, or a call never ended.

Not covered: a device that computes wrong values and reports nothing; the one candidate that a
passing illness hit, if the device is well again when looked at; memory held by our own workers
counts as the others'.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.toolchain import Cuda
from regraph_kg.evaluation.gpu.device import NO_GPU, nvidia_smi
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.worker.spawn import passed_on
from regraph_kg.models.evaluation import Outcome

_ACCUSES = re.compile(
    "out of memory|initialization error|driver shutting down|driver version is insufficient"
    "|busy or unavailable|no CUDA-capable device|uncorrectable|hardware|not yet initialized"
    "|unsupported display driver|MPS |unspecified launch failure|unknown error|invalid device",
    re.IGNORECASE,
)
"""Texts of CUDA errors that can mean a failed machine (cudaGetErrorString, CUDA 13.0)."""
_PATIENCE_SECONDS = 60.0
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
_REMEDIES = (
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
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _with_remedy(f"a new process gets no context within {_PATIENCE_SECONDS:.0f} s")
    if process.returncode:
        message = (process.stderr.strip().splitlines() or [f"ended with {process.returncode}"])[-1]
        return _with_remedy(message.removeprefix("error: ")[:200])
    free, total = map(int, process.stdout.split())
    if free < (1 - _HELD_BY_OTHERS) * total:
        share = f"{(total - free) / 2**30:.1f} of {total / 2**30:.1f} GiB"
        return _with_remedy(f"{share} of its memory are held by others")
    return None


def _with_remedy(fault: str) -> str:
    remedy = next((r for words, r in _REMEDIES if re.search(words, fault)), NO_GPU)
    return f"GPU: {fault}; {remedy}"
