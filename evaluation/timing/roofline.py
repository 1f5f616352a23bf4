"""FLOP and byte accounts: a call's necessary work against the measured peaks of its device.

Roofline: S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009: attainable flop/s =
min(peak flop/s, intensity * bandwidth). A call with host pointers on a GPU has a third bound, the
copies. Peaks are measured on this machine (harness/peaks_host.cpp, harness/peaks.cu), never a data
sheet's, and kept in <cache>/peaks/<device>.json. Too low ones would accuse honest code of being
faster than physics: so each figure is the best of several repetitions, and measuring again only
raises it. The judge reads the file and never measures (`regraph doctor` does).

The physics floor is the time below which the compulsory bytes cannot have moved, times `SAFETY`:
the smaller of the declared and the derived ones (each array in once, each array out once), so a
generous declaration accuses nobody. Operations have no floor: a better algorithm does fewer.

Not covered: lower precision and tensor cores have no peak of their own here; the arithmetic peak is
that of fp32 fused multiply-add (fp64 where every floating-point array is fp64), integers have none.
A GPU candidate that computes on the host what it has not copied stays below the floor of metric
"call". Rates of several transfers at once are not measured. Several GPUs of one model are taken to
be alike, and so is their link to the host; a machine may have become slower for good.
"""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from regraph_kg import atomic
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler, harness_text
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.gpu.device import (
    Gpu,
    find_gpu,
    machine_facts,
    openmp_device,
    silent,
    threads,
    turn,
)
from regraph_kg.evaluation.problem.declaration import size_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import is_inexact
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.worker.spawn import passed_on
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import Bound, Outcome, Roof, WorkAccount
from regraph_kg.models.target import TARGETS, Target

SAFETY = 0.8  # share of the floor that is enforced: measured peaks may be a little low
_FASTEST_MEMORY, _CACHE_OVER_MEMORY, _LARGEST_CACHE = 3e13, 8.0, 2**28
"""A GPU's memory, its cache as a multiple of that, and the bytes of that: more than any has."""
_CORE_BYTES, _LINK_BYTES, _ANY_FLOPS = 1e12, 1e12, 1e18
"""Bytes a second that one CPU thread moves at most, and a link to a GPU; operations a second."""


class MemoryLevel(Frozen):
    """Largest rate at which data of this size can be read or written, over all threads."""

    working_set: int = Field(gt=0)  # bytes. A cache's level is given with the bytes that it holds.
    rate: float = Field(gt=0, allow_inf_nan=False)  # bytes read and written a second


class Peaks(Frozen, extra="ignore"):  # older files have more
    """Measured peaks of one device. History: 1 (2026-11) first version."""

    schema_version: Literal[1] = 1
    device: str
    target: Target
    date: str  # when it was measured last: ISO 8601, UTC
    levels: tuple[MemoryLevel, ...] = Field(min_length=1)
    """From the smallest working set to the largest, which is memory."""
    fp32: float = Field(gt=0, allow_inf_nan=False)
    """Fused multiply-adds, two operations each: flop/s."""
    fp64: float = Field(gt=0, allow_inf_nan=False)
    host_to_device: float | None = None
    """Pinned copies in one direction: byte/s. None without a GPU."""
    device_to_host: float | None = None

    def __str__(self) -> str:
        """One line: "memory 32.7 GB/s, cache 851 GB/s, fp32 471 Gflop/s (2026-11-21)"."""
        parts = [
            f"memory {self.memory / 1e9:.3g} GB/s",
            f"cache {self.fastest.rate / 1e9:.3g} GB/s",
            f"fp32 {self.fp32 / 1e9:.3g} Gflop/s",
        ]
        if self.host_to_device and self.device_to_host:
            parts.append(f"copies in {self.host_to_device / 1e9:.3g} GB/s")
            parts.append(f"out {self.device_to_host / 1e9:.3g} GB/s")
        return f"{', '.join(parts)} ({self.date[:10]})"

    @property
    def on_gpu(self) -> bool:
        return TARGETS[self.target].on_gpu

    @property
    def memory(self) -> float:
        """Rate of the largest working set, byte/s."""
        return max(self.levels, key=lambda level: level.working_set).rate

    @property
    def fastest(self) -> MemoryLevel:
        return max(self.levels, key=lambda level: level.rate)

    def bandwidth(self, working_set: int) -> float:
        """The largest rate that data of so many bytes can reach, byte/s."""
        rates = [level.rate for level in self.levels if level.working_set >= working_set]
        return max(rates, default=self.memory)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Compulsory bytes of one call, by direction as seen from the device."""

    inward: float
    outward: float
    held: int  # bytes of all arrays, each counted once

    @property
    def total(self) -> float:
        return self.inward + self.outward


def traffic(problem: Problem) -> Traffic:
    """Compulsory bytes at the timing sizes: the smaller of the declared and the derived."""
    timed = problem.sizes.time
    inward = sum(arg.nbytes(timed) for arg in problem.inputs)
    outward = sum(arg.nbytes(timed) for arg in problem.outputs if not arg.count)
    declared = _declared(problem, problem.work.bytes)
    share = 1.0 if declared is None else min(1.0, declared / max(1, inward + outward))
    return Traffic(inward * share, outward * share, problem.nbytes(timed))


def floor_seconds(problem: Problem, peaks: Peaks) -> float | None:
    """Below this a call cannot have moved its bytes; None where no floor applies."""
    if problem.work.early_exit:
        return None
    moved = traffic(problem)
    if not peaks.on_gpu:
        return SAFETY * moved.total / peaks.fastest.rate
    if problem.metric == "device":
        cache = peaks.fastest
        spilled = max(0.0, moved.total - cache.working_set)
        return SAFETY * max(moved.total / cache.rate, spilled / peaks.memory)
    if not peaks.host_to_device or not peaks.device_to_host:
        return None
    return SAFETY * max(moved.inward / peaks.host_to_device, moved.outward / peaks.device_to_host)


def account(problem: Problem, seconds: float, peaks: Peaks | None) -> WorkAccount:
    """Account of a call that took `seconds` (median); without `peaks` it has no roof."""
    flop = _declared(problem, problem.work.flop)
    moved = traffic(problem)
    bytes_ = _declared(problem, problem.work.bytes)
    if bytes_ is None:
        bytes_ = round(moved.total)
    return WorkAccount(
        seconds=seconds,
        flop=flop,
        bytes=bytes_,
        intensity=None if flop is None or not bytes_ else flop / bytes_,
        roof=_roof(problem, seconds, peaks, bytes_) if peaks else None,
    )


def nominal(target: Target, machine: str, threads: int, gpu_memory: float | None) -> Peaks:
    """Peaks that no device of this kind reaches; `gpu_memory`: byte/s by a GPU's clock and bus."""
    rates = {1: threads * _CORE_BYTES}
    if TARGETS[target].on_gpu:
        memory = gpu_memory or _FASTEST_MEMORY
        rates = {_LARGEST_CACHE: _CACHE_OVER_MEMORY * memory, 2 * _LARGEST_CACHE: memory}
    levels = tuple(MemoryLevel(working_set=size, rate=rate) for size, rate in rates.items())
    return Peaks(
        device=machine,
        target=target,
        date="",
        levels=levels,
        fp32=_ANY_FLOPS,
        fp64=_ANY_FLOPS,
        host_to_device=_LINK_BYTES,
        device_to_host=_LINK_BYTES,
    )


def below_floor(work: WorkAccount, floor: float | None) -> Failure | None:
    """A call shorter than its physics floor: suspicious."""
    if floor is None or work.seconds >= floor:
        return None
    return Failure(
        Outcome.SUSPICIOUS,
        f"{work.seconds:.3g} s a call, but to move its {work.bytes} bytes takes this device at"
        f" least {floor:.3g} s: part of the work was not done in the timed call",
    )


def _roof(problem: Problem, seconds: float, peaks: Peaks, bytes_: int) -> Roof:
    """The slowest bound of a call of so much work, and what share of its time each takes."""
    moved, flop = traffic(problem), _declared(problem, problem.work.flop) or 0
    # A GPU's memory is the last level: its cache is swept, or filled anew by copies.
    memory = peaks.memory if peaks.on_gpu else peaks.bandwidth(moved.held)
    bounds: list[tuple[Bound, float, float]] = [
        ("memory", bytes_, memory),
        ("compute", flop, _arithmetic(problem, peaks)),
    ]
    if peaks.on_gpu and problem.metric == "call":
        both = (moved.inward, peaks.host_to_device), (moved.outward, peaks.device_to_host)
        bounds += [("transfer", amount, rate) for amount, rate in both if rate]
    bounds.sort(key=lambda item: item[1] / item[2])
    bound, amount, peak = bounds[-1]
    return Roof(
        bound=bound,
        seconds=amount / peak,
        share=amount / peak / seconds,
        reached=amount / seconds,
        peak=peak,
        shares={name: amount / peak / seconds for name, amount, peak in bounds if amount},
    )


def _arithmetic(problem: Problem, peaks: Peaks) -> float:
    each = (kind for arg in problem.arrays for kind in (arg.fields or {"": arg.type}).values())
    types = set(filter(is_inexact, each))
    return peaks.fp64 if types and types <= {"float64", "complex128"} else peaks.fp32


def _declared(problem: Problem, expression: str | None) -> int | None:
    if expression is None:
        return None
    return max(0, size_of(expression, problem.sizes.time))


_SECONDS = 60.0  # patience with one measurement, which takes two to five seconds
_CALL = (
    "import ctypes, json, os, sys; os.sched_setaffinity(0, json.loads(sys.argv[2]));"
    " ctypes.CDLL(sys.argv[1]).regraph_peaks()"
)
_NODES = Path("/sys/devices/system/node")


def device_key(target: Target, gpu: Gpu | None = None) -> str:
    """Key of the peaks: the CPU and its threads, or the GPU and its machine. Raises `ToolError`."""
    if TARGETS[target].on_gpu:
        return f"{(gpu or find_gpu()).name} in {machine_facts()['cpu']}"
    return openmp_device()


def known_peaks(cache: Path, target: Target, gpu: Gpu | None = None) -> Peaks | None:
    """The peaks on file for this machine's device, None without. `ToolError`: it has no GPU."""
    device = device_key(target, gpu)
    try:
        stored = Peaks.model_validate_json(_file(cache, device).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None
    return stored if (stored.device, stored.target) == (device, target) else None


def measure_peaks(cache: Path, target: Target, gpu: Gpu | None = None) -> Peaks:
    """Measure this machine's device, which takes seconds: the figures on file. Or `ToolError`."""
    if TARGETS[target].on_gpu:
        gpu = gpu or find_gpu()
    device = device_key(target, gpu)
    library = _library(cache, gpu)
    with turn(gpu.visible if gpu else "cpu", silent):
        outputs = [_run(library, cpus, gpu) for cpus in _nodes(gpu)]
    measured = [_parsed(text, device, target) for text in outputs]
    before = known_peaks(cache, target, gpu)
    merged = functools.reduce(better, [before, *measured] if before else measured)
    path = _file(cache, device)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, merged.model_dump_json(indent=1) + "\n")
    except OSError as error:
        message = f"{path}: {error.strerror}; make room, remove it or set REGRAPH_CACHE_DIR"
        raise ToolError(message) from None
    return merged


def better(old: Peaks, new: Peaks) -> Peaks:
    """The better of `old` and `new`, figure by figure."""
    levels = tuple(
        each.model_copy(update={"rate": max(each.rate, old.bandwidth(each.working_set))})
        for each in new.levels
    )
    figures = {}
    for name in ("fp32", "fp64", "host_to_device", "device_to_host"):
        known = [each for each in (getattr(old, name), getattr(new, name)) if each is not None]
        figures[name] = max(known, default=None)
    return new.model_copy(update={"levels": levels, **figures})


def _library(cache: Path, gpu: Gpu | None) -> Path:
    """The measuring code, compiled; it exports `regraph_peaks`."""
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    if gpu:
        result = compiler.cuda(harness_text("peaks.cu"), find_cuda(), gpu.arch)
    else:
        flags = (*HOST_FLAGS, "-ffp-contract=fast", "-fopenmp")
        result = compiler.host(harness_text("peaks_host.cpp"), flags)
    if isinstance(result, Failure):
        raise ToolError(f"peaks: the measuring code does not compile: {_last(result.diagnosis)}")
    return result


def _nodes(gpu: Gpu | None) -> list[list[int]]:
    """The usable CPUs; for a GPU by memory node, as copies are faster from the one near it."""
    usable = sorted(os.sched_getaffinity(0))
    folders = sorted(_NODES.glob("node*")) if gpu else []
    nodes = [[cpu for cpu in usable if (node / f"cpu{cpu}").exists()] for node in folders]
    return [node for node in nodes if node] or [usable]


def _run(library: Path, cpus: Sequence[int], gpu: Gpu | None) -> str:
    environment = passed_on() | {"PATH": "/usr/bin:/bin", "LANG": "C"}
    environment["OMP_NUM_THREADS"] = str(threads())
    if gpu:
        environment["CUDA_VISIBLE_DEVICES"] = gpu.visible
    try:
        child = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _CALL, str(library), json.dumps(list(cpus))],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"peaks: the measurement does not end: {str(error)[:200]}") from None
    if child.returncode:
        raise ToolError(
            f"peaks: the measurement failed with code {child.returncode}: {_last(child.stderr)};"
            " is another program using the device's memory?"
        )
    return child.stdout


def _parsed(output: str, device: str, target: Target) -> Peaks:
    try:
        figures = json.loads(output)
        levels = [{"working_set": size, "rate": rate} for size, rate in figures.pop("levels")]
        date = datetime.now(UTC).isoformat(timespec="seconds")
        own = {"device": device, "target": target, "date": date, "levels": levels}
        return Peaks.model_validate(figures | own)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ToolError(f"peaks: the measurement said no figures: {output[:200]!r}") from None


def _file(cache: Path, device: str) -> Path:
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    return cache / "peaks" / f"{name[:120]}.json"


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
