"""Where a GPU call's time goes: its kernels and copies by CUPTI. Advice only.

A separate pass in a separate worker, never the one that is timed: recording slows launches down.
harness/profile.cpp is loaded before the worker makes its context, records one call, and says what
it saw; times of kernels that overlap are counted once. The candidate shares the process and could
say anything: text that does not hold together is nothing (None), and no verdict rests on it.

Not covered: kernels that a kernel launches; copies that a kernel makes itself from host memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, Field, ValidationError

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, install_toolkit
from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

_HARNESS = Path(__file__).parents[1] / "worker" / "harness"
_PROFILE = "profile.cpp"
_NANO = 1e-9
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Kernel:
    """All launches of one kernel in one call; their durations added up, in seconds."""

    name: str
    launches: int
    seconds: float


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """The device's work in one call. Seconds that overlap are counted once; bytes are summed."""

    launches: int
    kernel_seconds: float
    copies: int
    copy_seconds: float
    busy_seconds: float
    """Some kernel or copy was running."""
    in_bytes: int
    """Copied from host to device."""
    out_bytes: int
    inside_bytes: int
    """Copied within the device, or between hosts."""
    names: tuple[Kernel, ...]
    """The longest first; as many as the worker had room for."""

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
        f"CUPTI: not found beside the CUDA toolkit; install its CUPTI part, or {install_toolkit()}"
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
    try:
        record = _Record.model_validate_json(text)
    except ValidationError:
        return None
    if record.dropped or max(record.kernel_ns, record.copy_ns) > record.busy_ns:
        return None
    names = tuple(Kernel(_tidy(name), count, spent * _NANO) for name, count, spent in record.names)
    return KernelTimes(
        launches=record.kernels,
        kernel_seconds=record.kernel_ns * _NANO,
        copies=record.copies,
        copy_seconds=record.copy_ns * _NANO,
        busy_seconds=record.busy_ns * _NANO,
        in_bytes=record.in_bytes,
        out_bytes=record.out_bytes,
        inside_bytes=record.inside_bytes,
        names=names,
    )


def _tidy(name: str) -> str:
    """A kernel's name, which the candidate chooses, on one line."""
    return " ".join(plain(name).split())


def advice(times: KernelTimes, seconds: float) -> str:
    """Where a call of `seconds` (timed without the profiler) spends its time, in one line."""
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


class _Record(BaseModel):
    """The record of profile.cpp."""

    kernels: int = Field(ge=0)
    kernel_ns: int = Field(ge=0)
    copies: int = Field(ge=0)
    copy_ns: int = Field(ge=0)
    busy_ns: int = Field(ge=0)
    dropped: int = Field(ge=0)
    in_bytes: int = Field(ge=0)
    out_bytes: int = Field(ge=0)
    inside_bytes: int = Field(ge=0)
    names: tuple[tuple[str, int, int], ...]


def _libraries(roots: dict[Path, None]) -> Iterator[Path]:
    for root in roots:
        for folder in ("lib64", "lib"):
            yield from sorted((root / folder).glob("libcupti.so*"), key=lambda p: len(p.name))


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:.3g} us"
