"""What nvcc, ptxas and the text tell of CUDA code that no GPU runs: findings, never a verdict."""

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path

from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.base import Frozen
from regraph_kg.models.text import PlainText

_ARCH, _MOST_THREADS = "90", 1024
# a source could have its compiler print such lines, too
_KERNEL = re.compile(r"Compiling entry function '(.*)' for 'sm_\w+'$", re.MULTILINE)
_NAME = re.compile(r"(\w*)(?:<.*>)?(?:\(|$)")
_TOLD = re.compile(r"(\d+) (registers|bytes (?:stack frame|spill stores|spill loads|smem))")
Findings = dict[str, int | float | str]  # of one kernel, by their names


class Unrun(Frozen):
    """What is known of a candidate that was compiled and not run."""

    outcome: str = "not run: no GPU"
    toolchain: str
    diagnosis: PlainText = ""  #: why it does not compile
    kernels: dict[PlainText, Findings]

    def __str__(self) -> str:
        lines = [f"{self.outcome}; findings of {self.toolchain}, no verdict", self.diagnosis]
        for name, found in self.kernels.items():
            lines.append(f"kernel {name}: " + ", ".join(f"{key} {found[key]}" for key in found))
        return "\n".join(filter(None, lines))


def unrun(cache: Path, code: str) -> Unrun:
    """Findings on one code; `cache` as for `Judge`. Raises `ToolError` where nvcc is missing."""
    gcc, cuda = find_gcc(), find_cuda()
    compiler = Compiler(cache / "compiled", gcc, JudgeLimits())
    said = rejected(code) or compiler.usage(code, cuda, _ARCH)
    refused = said.diagnosis if isinstance(said, Failure) else ""
    found = {} if isinstance(said, Failure) else dict(findings(said, facts_of(code)))
    return Unrun(toolchain=f"nvcc {cuda.version} -O3 sm_{_ARCH}", diagnosis=refused, kernels=found)


def findings(said: str, facts: Facts) -> Iterator[tuple[str, Findings]]:
    """Kernels with findings: in ptxas's words, and what follows from them and from the text."""
    conflicts = {kernel.name: kernel.sure_conflicts for kernel in facts.kernels}
    _, *parts = _KERNEL.split(said)
    for head, text in zip(parts[::2], parts[1::2], strict=True):
        name = _NAME.findall(head.replace("(anonymous namespace)::", ""))[0]
        told = {words: int(number) for number, words in _TOLD.findall(text)}
        block = _block(name, facts)
        wide = not block or block >= (8,)  # fewer lanes in a row may find banks of their own
        sizes = [prod(block)] if block else range(32, _MOST_THREADS + 1, 32)
        needs = told.get("registers", 0), told.get("bytes smem", 0)
        share, limit = max((occupancy(size, *needs) for size in sizes), key=lambda one: one[0])
        found: Findings = {
            **told,
            "threads a block": "x".join(map(str, block)) or "unknown",
            "occupancy at most": share,
            "limited by": limit,
            "bank conflicts": ", ".join(conflicts.get(name, ()) if wide else ()) or "none seen",
        }
        yield head, found


def occupancy(threads: int, registers: int, shared: int) -> tuple[float, str]:
    """The share of a multiprocessor's warps that fit at once (sm_90), and what limits it.

    Of a block `threads` and `shared` bytes. Sources: CUDA C++ Programming Guide, "Technical
    Specifications per Compute Capability" (64 warps, 32 blocks, 65536 registers, 228 KB shared, 1
    KB of it for each block); the toolkit's cuda_occupancy.h (units: 256 registers, 128 bytes).
    """
    warps, of_warp = -(-threads // 32), -(-max(registers, 1) * 32 // 256) * 256
    blocks, limit = min(
        (min(64 // warps, 32), "block size"),
        (65536 // 4 // of_warp * 4 // warps, "registers"),
        (228 * 1024 // (-(-(shared + 1024) // 128) * 128), "shared memory"),
    )
    return blocks * warps / 64, limit


def _block(kernel: str, facts: Facts) -> tuple[int, ...]:
    """Threads of a block by axis, where all launches of a kernel give the same numbers."""
    known = dict(line.split(" = ", 1) for line in facts.constants)
    listed = {launch.block for launch in facts.launches if launch.kernel == kernel}
    text = listed.pop() if len(listed) == 1 else ""
    words = re.split(r"\s*,\s*", text.removeprefix("dim3").strip("(){} "))
    block = tuple(int(part) for part in (known.get(w, w) for w in words) if part.isdigit())
    return block if len(block) == len(words) and 0 < prod(block) <= _MOST_THREADS else ()
