"""What a GPU call's time is spent on: its kernels and copies by CUPTI.

A separate pass in a separate worker, never the one that is timed: recording slows launches down.
Times of kernels that overlap are counted once. The candidate shares the process and could say
anything: text that does not hold together is nothing (None), and no verdict rests on it.

Not covered: kernels that a kernel launches; copies that a kernel makes itself from host memory.
"""

import contextlib
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler, harness_text
from regraph_kg.evaluation.compile.toolchain import INSTALL_TOOLKIT, Cuda, libraries
from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.text import plain

_PROFILE = "profile.cpp"
_Seconds = Annotated[float, Field(ge=0), AfterValidator(lambda nanoseconds: nanoseconds * 1e-9)]


class Kernel(NamedTuple):
    """All launches of one kernel in one call; their durations added up."""

    name: Annotated[str, AfterValidator(lambda name: " ".join(plain(name).split()))]
    launches: int
    seconds: _Seconds


class KernelTimes(BaseModel):
    """The record of profile.cpp: the device's work in one call; bytes are summed."""

    model_config = ConfigDict(frozen=True)

    launches: NonNegativeInt = Field(alias="kernels")
    kernel_seconds: _Seconds = Field(alias="kernel_ns")
    copies: NonNegativeInt
    copy_seconds: _Seconds = Field(alias="copy_ns")
    busy_seconds: _Seconds = Field(alias="busy_ns")  # some kernel or copy was running
    dropped: Literal[0]  # lost records: of a record without them nothing is known
    in_bytes: NonNegativeInt  # copied from host to device
    out_bytes: NonNegativeInt
    names: tuple[Kernel, ...]  # the longest first; as many as the worker had room for

    def facts(self) -> dict[str, str]:
        return {
            "kernel_launches": str(self.launches),
            "kernel_seconds": f"{self.kernel_seconds:.4g}",
            "copy_seconds": f"{self.copy_seconds:.4g}",
            "copied_in_bytes": str(self.in_bytes),
            "copied_out_bytes": str(self.out_bytes),
            "kernels": "; ".join(kernel.name for kernel in self.names),
        }


def find_cupti(cuda: Cuda) -> tuple[Path, Path]:
    """CUPTI's headers and library: a toolkit's, its extras/CUPTI's, or the wheel's; `ToolError`."""
    roots = {cuda.include.parent: None, cuda.nvcc.resolve().parents[1]: None}
    roots |= {root / "extras" / "CUPTI": None for root in tuple(roots)}
    headers = (root / "include" for root in roots)
    include = next((folder for folder in headers if (folder / "cupti.h").exists()), None)
    library = next((file for root in roots for file in libraries(root, "cupti")), None)
    if include and library:
        return include, library
    text = f"CUPTI: not found beside the CUDA toolkit; install its CUPTI part, or {INSTALL_TOOLKIT}"
    raise ToolError(text)


def profiler(compiler: Compiler, cuda: Cuda) -> Path:
    """The library that a worker loads to be profiled. Raises `ToolError`."""
    include, library = find_cupti(cuda)
    folder = library.parent
    flags = (
        *("-std=c++17", "-O2", f"-I{include}", f"-I{cuda.include}"),
        *("-Wl,--no-as-needed", f"-L{folder}", f"-l:{library.name}", f"-Wl,-rpath,{folder}"),
    )
    result = compiler.host(harness_text(_PROFILE), flags, keep=True)
    if isinstance(result, Failure):
        raise ToolError(f"{_PROFILE}: does not compile: {result.diagnosis[:300]}")
    return result


def parsed(text: str) -> KernelTimes | None:
    """The record of profile.cpp; None where it is malformed, or where records were dropped."""
    with contextlib.suppress(ValidationError):
        times = KernelTimes.model_validate_json(text)
        if max(times.kernel_seconds, times.copy_seconds) <= times.busy_seconds:
            return times
    return None
