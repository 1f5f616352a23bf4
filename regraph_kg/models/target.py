"""Targets: what candidate code is compiled for. A new one: name and value here, and its compiler.

Files and the graph hold a target's name; whatever else differs between targets is asked of
`TARGETS`. Not here: how code is compiled (evaluation/machine.py), what runs confined
(evaluation/confined/), the words of a prompt (search/prompts/).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from regraph_kg.models.base import Metric

if TYPE_CHECKING:
    from regraph_kg.models.evaluation import Grade

Target = Literal["cuda", "openmp"]
"""Name of what candidate code is compiled for; a technique belongs to exactly one target."""

DeviceKind = Literal["cpu", "gpu"]


@dataclass(frozen=True, slots=True)
class TimingEffort:
    """The amount of timing of a candidate at one grade."""

    seconds: float  # time of one worker's timed calls
    workers: int
    half_width: float  # a series is known well enough when its half-width is this


@dataclass(frozen=True, slots=True)
class TargetTraits:
    """All that differs between targets but for their compilers."""

    name: Target
    language: str  # its name in a sentence
    suffix: str  # suffix of a source file, with its dot
    compiler: Literal["g++", "nvcc"]
    flags: tuple[str, ...]  # compiler flags besides the common ones
    device: DeviceKind
    needs: str  # the judge's requirements, for a help text
    efforts: Mapping["Grade", TimingEffort]
    least_samples: int  # fewest samples of one worker
    acceptable: float  # a series whose half-width is above this goes on for a while
    unstable: float  # reach of a level (log) above which a time means nothing
    scatter: Mapping[
        Metric, float
    ]  #: of a worker's log median (deviation), by metric it is timed by

    @property
    def on_gpu(self) -> bool:
        """Whether candidates run on a GPU, so that judging them needs one."""
        return self.device == "gpu"


_CUDA = TargetTraits(
    name="cuda",
    language="CUDA C++",
    suffix=".cu",
    compiler="nvcc",
    flags=(),
    device="gpu",
    needs="nvcc and a GPU",
    efforts={
        "glance": TimingEffort(seconds=0.02, workers=1, half_width=0.05),
        "screening": TimingEffort(seconds=0.06, workers=1, half_width=0.01),
        "full": TimingEffort(seconds=0.1, workers=3, half_width=0.005),
    },
    least_samples=6,
    acceptable=0.05,
    unstable=0.35,
    scatter={"call": 0.07, "device": 0.01},
)
_OPENMP = TargetTraits(
    name="openmp",
    language="OpenMP C++",
    suffix=".cpp",
    compiler="g++",
    flags=("-fopenmp",),
    device="cpu",
    needs="g++ -fopenmp",
    efforts={
        "glance": TimingEffort(seconds=0.02, workers=1, half_width=0.05),
        "screening": TimingEffort(seconds=0.04, workers=3, half_width=0.02),
        "full": TimingEffort(seconds=0.1, workers=5, half_width=0.02),
    },
    least_samples=3,
    acceptable=0.12,
    unstable=0.40,
    scatter={"call": 0.05},
)

TARGETS: Mapping[Target, TargetTraits] = {traits.name: traits for traits in (_CUDA, _OPENMP)}

ON_CPU = tuple(traits.name for traits in TARGETS.values() if not traits.on_gpu)
ON_GPU = tuple(traits.name for traits in TARGETS.values() if traits.on_gpu)
USUAL: Target = "openmp"
"""The default target; serial code, which is C++ on a CPU, is timed as its candidates are."""
NAMES = "|".join(TARGETS)  # in a pattern, any of them
NEEDS = "; ".join(f"{traits.name}: {traits.needs}" for traits in TARGETS.values()) + "."
"""For a help text."""


def timed_by(metric: Metric) -> tuple[Target, ...]:
    """Targets whose candidates can be timed so."""
    return tuple(traits.name for traits in TARGETS.values() if metric in traits.scatter)


def scatter(target: Target, metric: Metric) -> float:
    """The scatter of workers' levels; the widest known for a metric without candidates."""
    by_metric = TARGETS[target].scatter
    return by_metric.get(metric, max(max(traits.scatter.values()) for traits in TARGETS.values()))
