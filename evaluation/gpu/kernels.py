"""What a GPU call's time is spent on: its kernels and copies by CUPTI. Advice only.

A separate pass in a separate worker, never the one that is timed: recording slows launches down.
harness/profile.cpp is loaded before the worker makes its context, records one call, and says what
it saw; times of kernels that overlap are counted once. The candidate shares the process and could
say anything: text that does not hold together is nothing (None), and no verdict rests on it.

Not covered: kernels that a kernel launches; copies that a kernel makes itself from host memory.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import INSTALL_TOOLKIT, Cuda
from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

_HARNESS = Path(__file__).parents[1] / "worker" / "harness"
_PROFILE = "profile.cpp"
_NANO = 1e-9
_SHOWN = 3


def _tidy(name: str) -> str:
    """A kernel's name, which the candidate chooses, on one line."""
    return " ".join(plain(name).split())


class Kernel(NamedTuple):
    """All launches of one kernel in one call; their durations added up."""

    name: Annotated[str, AfterValidator(_tidy)]
    launches: int
    nanoseconds: int

    @property
    def seconds(self) -> float:
        return self.nanoseconds * _NANO


class KernelTimes(BaseModel):
    """The record of profile.cpp: the device's work in one call.

    Durations that overlap are counted once; bytes are summed.
    """

    model_config = ConfigDict(frozen=True)

    launches: NonNegativeInt = Field(alias="kernels")
    kernel_ns: NonNegativeInt
    copies: NonNegativeInt
    copy_ns: NonNegativeInt
    busy_ns: NonNegativeInt  # some kernel or copy was running
    dropped: Literal[0]  # lost records: of a record without them nothing is known
    in_bytes: NonNegativeInt  # copied from host to device
    out_bytes: NonNegativeInt
    inside_bytes: NonNegativeInt  # copied within the device, or between hosts
    names: tuple[Kernel, ...]  # the longest first; as many as the worker had room for

    @property
    def kernel_seconds(self) -> float:
        return self.kernel_ns * _NANO

    @property
    def copy_seconds(self) -> float:
        return self.copy_ns * _NANO

    @property
    def busy_seconds(self) -> float:
        return self.busy_ns * _NANO

    def facts(self) -> dict[str, str]:
        return {
            "kernel_launches": str(self.launches),
            "kernel_seconds": f"{self.kernel_seconds:.4g}",
            "copy_seconds": f"{self.copy_seconds:.4g}",
            "copied_in_bytes": str(self.in_bytes),
            "copied_out_bytes": str(self.out_bytes),
            "kernels": "; ".join(kernel.name for kernel in self.names),
        }


class Profiled(Protocol):
    """A worker with the profiler loaded."""

    def profile(self, row: int, seconds: float) -> str | Failure:
        """Call one prepared row within `seconds`; the profiler's text."""


@dataclass(frozen=True, slots=True)
class Cupti:
    """CUPTI's headers and library."""

    include: Path
    library: Path


def find_cupti(cuda: Cuda) -> Cupti:
    """CUPTI in a toolkit's folders, its extras/CUPTI, or the wheel. Raises `ToolError`."""
    roots = {cuda.include.parent: None, cuda.nvcc.resolve().parents[1]: None}
    roots |= {root / "extras" / "CUPTI": None for root in tuple(roots)}
    headers = (root / "include" for root in roots)
    include = next((folder for folder in headers if (folder / "cupti.h").exists()), None)
    library = next(_libraries(roots), None)
    if include and library:
        return Cupti(include, library)
    raise ToolError(
        f"CUPTI: not found beside the CUDA toolkit; install its CUPTI part, or {INSTALL_TOOLKIT}"
    )


def profiler(compiler: Compiler, cuda: Cuda) -> Path:
    """The library that a worker loads to be profiled. Raises `ToolError`."""
    cupti = find_cupti(cuda)
    folder = cupti.library.parent
    flags = (
        *("-std=c++17", "-O2", f"-I{cupti.include}", f"-I{cuda.include}"),
        *("-Wl,--no-as-needed", f"-L{folder}", f"-l:{cupti.library.name}", f"-Wl,-rpath,{folder}"),
    )
    result = compiler.host((_HARNESS / _PROFILE).read_text(encoding="utf-8"), flags, keep=True)
    if isinstance(result, Failure):
        raise ToolError(f"{_PROFILE}: does not compile: {result.diagnosis[:300]}")
    return result


def profile(worker: Profiled, row: int, seconds: float) -> KernelTimes | Failure | None:
    """Kernels and copies of one call of a prepared row; None where the record is not sound."""
    text = worker.profile(row, seconds)
    return text if isinstance(text, Failure) else parsed(text)


def unfinished(times: KernelTimes) -> Failure | None:
    """Failure of a right call without a finished kernel on record."""
    if times.launches:
        return None
    return Failure(
        Outcome.SUSPICIOUS,
        "one call, profiled, shows no kernel that had finished when it returned",
    )


def parsed(text: str) -> KernelTimes | None:
    """The record of profile.cpp; None where it is malformed, or where records were dropped."""
    with contextlib.suppress(ValidationError):
        times = KernelTimes.model_validate_json(text)
        if max(times.kernel_ns, times.copy_ns) <= times.busy_ns:
            return times
    return None


def advice(times: KernelTimes, seconds: float) -> str:
    """One line on what a call of `seconds` (timed without the profiler) spends its time on."""
    copies = times.busy_seconds - times.kernel_seconds
    parts = {
        "kernels": times.kernel_seconds,
        "transfers": copies,
        "host code, launches and allocations": max(0.0, seconds - times.busy_seconds),
    }
    longest = max(parts, key=lambda name: parts[name])
    summary = f"kernels {_micro(times.kernel_seconds)} of {_micro(seconds)}: {longest} dominate"
    if not times.launches:
        return f"no kernel was launched; {summary.partition(': ')[2]}"
    shown = ", ".join(
        f"{kernel.name} {_micro(kernel.seconds)}"
        + (f" in {kernel.launches} launches" if kernel.launches > 1 else "")
        for kernel in times.names[:_SHOWN]
    )
    return f"{summary} ({shown})" if shown else summary


def _libraries(roots: dict[Path, None]) -> Iterator[Path]:
    for root in roots:
        for folder in ("lib64", "lib"):
            yield from sorted((root / folder).glob("libcupti.so*"), key=lambda p: len(p.name))


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us"
