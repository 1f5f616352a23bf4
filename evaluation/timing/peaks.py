"""Peaks of a device, measured once and kept: <cache>/peaks/<device>.json.

harness/peaks_host.cpp and harness/peaks.cu measure, each in a process of its own: memory and cache
bandwidth, fused multiply-adds and, for a GPU, pinned copies in each direction and an empty launch.
Never from a table. A busy machine gives too low peaks, and too low peaks would accuse honest code
of being faster than physics: so each figure is the best of several repetitions, and measuring
again only raises figures on file. To start anew, delete the file. A GPU is measured from the
CPUs of each memory node in turn, since copies from the far one are slower.

The judge reads the file and never measures (`regraph doctor` does): no peaks, no floor.

Not covered: tensor cores; several GPUs of one model are taken to be alike, and so is their link to
the host; a machine that has become slower for good.
"""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

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
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.roofline import MemoryLevel, Peaks
from regraph_kg.evaluation.worker.spawn import passed_on
from regraph_kg.models.target import TARGETS, Target

_SECONDS = 60.0  # patience with one measurement, which takes two to five seconds
_CALL = (
    "import ctypes, json, os, sys; os.sched_setaffinity(0, json.loads(sys.argv[2]));"
    " ctypes.CDLL(sys.argv[1]).regraph_peaks()"
)
_BETTER: Mapping[str, Callable[..., float | None]] = {
    **dict.fromkeys(("fp32", "fp64", "host_to_device", "device_to_host"), max),
    "launch_seconds": min,
}
_NODES = Path("/sys/devices/system/node")


def device_key(target: Target, gpu: Gpu | None = None) -> str:
    """Key of the peaks: the CPU and its threads, or the GPU and the machine it is in.

    Raises `ToolError` for cuda on a machine with no GPU.
    """
    if TARGETS[target].on_gpu:
        return f"{(gpu or find_gpu()).name} in {machine_facts()['cpu']}"
    return openmp_device()


def peaks(cache: Path, target: Target, gpu: Gpu | None = None) -> Peaks | None:
    """The peaks on file for this machine's device; None where there are none that can be read.

    `cache` is the judge's folder; `gpu` saves looking for the first one. Raises `ToolError` for
    cuda on a machine with no GPU.
    """
    device = device_key(target, gpu)
    try:
        stored = Peaks.model_validate_json(_file(cache, device).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None
    return stored if (stored.device, stored.target) == (device, target) else None


def measure_peaks(cache: Path, target: Target, gpu: Gpu | None = None) -> Peaks:
    """Measure this machine's device and file the result: at most some seconds, nothing beside it.

    Returns the figures then on file: the larger of old and new (for the launch the smaller).
    Raises `ToolError` where compiler, GPU or disk fail.
    """
    if TARGETS[target].on_gpu:
        gpu = gpu or find_gpu()
    device = device_key(target, gpu)
    library = _library(cache, gpu)
    with turn(gpu.visible if gpu else "cpu", silent):
        outputs = [_run(library, cpus, gpu) for cpus in (_nodes() if gpu else [_usable()])]
    measured = [_parsed(text, device, target, gpu) for text in outputs]
    before = peaks(cache, target, gpu)
    merged = functools.reduce(better, [before, *measured] if before else measured)
    path = _file(cache, device)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, merged.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise ToolError(
            f"{path}: {error.strerror}; make room, remove it or set REGRAPH_CACHE_DIR"
        ) from None
    return merged


def better(old: Peaks, new: Peaks) -> Peaks:
    """The better of `old` and `new`, figure by figure."""
    levels = tuple(
        MemoryLevel(
            working_set=level.working_set, rate=max(level.rate, old.bandwidth(level.working_set))
        )
        for level in new.levels
    )
    figures = {}
    for name, pick in _BETTER.items():
        known = [each for each in (getattr(old, name), getattr(new, name)) if each is not None]
        figures[name] = pick(known, default=None)
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


def _usable() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _nodes() -> list[list[int]]:
    """The usable CPUs of each memory node: copies are faster from the one that is near the GPU."""
    usable = _usable()
    folders = sorted(_NODES.glob("node*"))
    nodes = [[cpu for cpu in usable if (node / f"cpu{cpu}").exists()] for node in folders]
    return [node for node in nodes if node] or [usable]


def _run(library: Path, cpus: Sequence[int], gpu: Gpu | None) -> str:
    environment = passed_on() | {
        "PATH": "/usr/bin:/bin",
        "LANG": "C",
        "OMP_NUM_THREADS": str(threads()),
    }
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


def _parsed(output: str, device: str, target: Target, gpu: Gpu | None) -> Peaks:
    try:
        figures = json.loads(output)
        levels = [{"working_set": size, "rate": rate} for size, rate in figures.pop("levels")]
        machine = machine_facts()
        facts = figures.pop("facts") | {"kernel": machine["kernel"], "load": machine["load"]}
        if gpu:
            facts["driver"] = gpu.driver
        return Peaks.model_validate(
            {
                **figures,
                "device": device,
                "target": target,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "facts": facts,
                "levels": levels,
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ToolError(f"peaks: the measurement said no figures: {output[:200]!r}") from None


def _file(cache: Path, device: str) -> Path:
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    return cache / "peaks" / f"{name[:120]}.json"


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:200]
