"""A search run: its task and settings, the header of its trace, its records, its summary."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from regraph_kg.models.base import Frozen, Target
from regraph_kg.models.evaluation import Interval, Outcome

Method = Literal["mcgs", "standard"]
Preset = Literal["default", "paper"]


@dataclass(frozen=True, slots=True)
class Task:
    """What a search is asked to make faster: serial code that exports `entry`.

    `signature` is the C signature of the entry point, without body.
    """

    problem: str
    target: Target
    serial: str
    entry: str
    signature: str


Retrieval = Literal["best", "near"]
"""Which examples of a transition a prompt shows: the best (method.md 3), or those whose reasoning
is most similar to the present code."""


class McgsSettings(Frozen):
    """MCGS, method.md 3.2; the symbols there are named here. Defaults are provisional."""

    preset: Literal["default"] = "default"
    failure_gain: float = -0.3
    """f: the gain of a failed step."""
    prior_weight: float = Field(default=2.0, gt=0)
    """k0: what the graph's prior weighs against this run's counts of an edge."""
    edge_weight: float = Field(default=2.0, gt=0)
    """k1: what the edge's value weighs against this path's own counts."""
    best_weight: float = Field(default=0.5, ge=0, le=1)
    """w: the share of the best gain in an action's value."""
    exploration: float = Field(default=0.5, ge=0)
    """c"""
    samples: int = Field(default=3, ge=1)
    """m: samples of one action at most."""
    repairs: int = Field(default=1, ge=0)
    """r: repair calls after a failed answer at most."""
    rollout: int = Field(default=0, ge=0)
    """Lr: further new samples below a new one at most."""
    visit_penalty: float = Field(default=0.01, ge=0)
    """lambda, in rollouts."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """Share of uniformly drawn rollout steps."""
    depth: int = Field(default=8, ge=1)
    """D_max"""
    gain_low: float = -1.0
    gain_high: float = 3.0
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What one try on another device of the target counts in the prior (ours: 3.2 has none)."""
    examples: int = Field(default=2, ge=0)
    """Examples of the transition in a prompt at most."""
    retrieval: Retrieval = "best"


class PaperSettings(Frozen):
    """The paper's MCGS, method.md 3.1."""

    preset: Literal["paper"] = "paper"
    exploration: float = Field(default=1.0, ge=0)
    """c"""
    visit_penalty: float = Field(default=0.1, ge=0)
    """lambda"""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    steps: int = Field(default=8, ge=1)
    """L: steps of selection and rollout together."""
    examples: int = Field(default=2, ge=0)
    retrieval: Retrieval = "best"


class StandardSettings(Frozen):
    """One prompt a sample: nothing to set."""

    preset: Literal["standard"] = "standard"


SearchSettings = Annotated[
    McgsSettings | PaperSettings | StandardSettings, Field(discriminator="preset")
]


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """What the user wants to run."""

    problem: str
    """A name in the corpus, or a folder."""
    target: Target
    settings: SearchSettings
    budget: int
    seed: int
    model: str
    """ "recorded", "ollama:NAME" or "batch:FOLDER"."""
    judge: Path | None
    """A trace whose verdicts are replayed; None evaluates here and now."""
    include_own: bool
    """Whether the search may read the problem's own examples."""


class RunHeader(Frozen):
    """First line of a trace: all that a run's course depends on.

    History of `schema_version`: 1 (2026-11) first version.
    """

    schema_version: Literal[1] = 1
    version: str
    """Of this program."""
    created: str
    """UTC, ISO 8601."""
    problem: str
    serial: str
    """Hash of the serial code."""
    target: Target
    method: Method
    settings: SearchSettings
    budget: int
    seed: int
    model: str
    """Name and digest."""
    judge: str
    """"live", or "recorded:<digest>"."""
    device: str
    toolchain: str
    prompts: str
    """Version and digest of the prompt templates."""
    excluded: str | None
    """The problem whose examples the search did not read; None: it read all."""


class Cost(Frozen):
    """What was spent. A call is one budget unit; an evaluation, a token, a second are not."""

    calls: int = 0
    evaluations: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = 0.0
    judge_seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(
            calls=self.calls + other.calls,
            evaluations=self.evaluations + other.evaluations,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            model_seconds=self.model_seconds + other.model_seconds,
            judge_seconds=self.judge_seconds + other.judge_seconds,
        )


class StepRecord(Frozen):
    """One new sample: technique `technique` applied as sample `sample` of its step."""

    path: tuple[str, ...]
    """Path elements up to and including this step (see `PromptKey.path`)."""
    technique: str | None
    """None where the method walks no graph."""
    sample: int
    outcome: Outcome | None
    """None where the recorded model had no answer."""
    speedup: float | None
    """Over the serial code, screened: the lower bound where the timing was unstable; None unless
    the code is right."""
    gain: float | None
    """Log gain g_i backed up for this step (method.md 3.2); None for the other methods."""
    cost: Cost
    code: str | None
    """The answer's last code; None where it held none."""


class SimulationRecord(Frozen):
    """One iteration of a search: what it selected, bought and learned.

    `reward` is the gain of the first step bought (3.2), the backed-up reward (3.1), the speedup
    (standard). It is None where the iteration bought no call: then it is not counted, and the next
    record has the same `iteration`.
    """

    iteration: int
    path: tuple[str, ...]
    """Path elements of the selected path, the first new sample included."""
    steps: tuple[StepRecord, ...]
    reward: float | None
    spent: int
    """Budget units spent so far, this iteration included."""
    best_speedup: float
    """Of the best verified code so far, screened; 1.0 is the serial code."""
    best_path: tuple[str, ...]


class RunSummary(Frozen):
    """What a finished run reports. Only the re-measured speedup counts (`speedup`)."""

    problem: str
    target: Target
    method: Method
    preset: str
    model: str
    judge: str
    seed: int
    budget: int
    iterations: int
    cost: Cost
    """Of the search; the finalists' evaluations come on top."""
    unrecorded: int
    """Actions closed because the recorded model had no answer for them."""
    outcomes: dict[str, int]
    """Samples by outcome."""
    best_path: tuple[str, ...]
    """Path elements that led to the answer; empty for the serial code, and without a graph."""
    best_code: str
    speedup: float
    """Re-measured in a fresh worker; 1.0 when the serial code is the answer."""
    speedup_interval: Interval | None
    improved: bool
    """The re-measured interval lies above 1."""
    device: str
    toolchain: str
    excluded: str | None
    stopped: Literal["budget", "exhausted"]
