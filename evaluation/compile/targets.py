"""How a candidate of each target is compiled (other differences: models/target.py).

Not covered: which compilers this machine has (toolchain.py), their limits and cache (compile.py).
"""

from pathlib import Path

from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import Cuda, Gcc
from regraph_kg.evaluation.rules import Failure
from regraph_kg.models.target import TargetTraits

Toolkit = tuple[Cuda, str]  # what compiles for a GPU, and the GPU's architecture ("90")


def build(
    compiler: Compiler, target: TargetTraits, code: str, toolkit: Toolkit | None, *, trusted: bool
) -> Path | Failure:
    """A candidate's shared object; `trusted` code may use names of the CUDA runtime and ours."""
    if toolkit is None:
        return compiler.host(code, (*HOST_FLAGS, *target.flags), own_symbols=trusted)
    return compiler.cuda(code, *toolkit, flags=target.flags, own_symbols=trusted)


def compiled_with(target: TargetTraits, gcc: Gcc, toolkit: Toolkit | None) -> str:
    """Compilers and flags, as reports carry them."""
    if toolkit is None:
        return " ".join((target.compiler, gcc.version, *HOST_FLAGS[1:], *target.flags))
    cuda, arch = toolkit
    flags = " ".join(("-O3", *target.flags, f"sm_{arch}"))
    return f"{target.compiler} {cuda.version} {flags}, g++ {gcc.version}"
