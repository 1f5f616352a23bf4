"""Results of `python -m benchmarks.bench`: one file, whatever its suite, model and arms.

A run is one search: a problem, a target, an arm, a seed. Not here: figures over runs
(benchmarks/bench/figures.py).
"""

from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from regraph_kg.models.base import Frozen, Metric
from regraph_kg.models.evaluation import AnswerKind, Interval, possible_speedup
from regraph_kg.models.run import Cost, FinalGrade, Stopped
from regraph_kg.models.target import Target
from regraph_kg.models.text import PlainText

Speedup = Annotated[float | None, AfterValidator(possible_speedup)]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)
RIGHT: frozenset[AnswerKind] = frozenset({"faster", "not faster", "untimed"})
BUILT = RIGHT | {"wrong", "crashed", "too slow", "suspicious", "CPU code"}


# Fields that earlier versions wrote are ignored: results of a day stay readable.
class BenchAnswer(Frozen, extra="ignore"):
    """One answer of the model to a request for code, in the order in which they came."""

    kind: AnswerKind
    speedup: Speedup = None  #: over the serial code, as screened; None unless right and timed
    technique: str = ""  #: asked for; "" for a free choice

    @property
    def built(self) -> bool:
        """Whether its code was compiled."""
        return self.kind in BUILT

    @property
    def right(self) -> bool:
        """Whether its code was right."""
        return self.kind in RIGHT


class BenchRun(Frozen, extra="ignore"):
    """One search, finished."""

    problem: str
    target: Target
    arm: str  #: a method; after a slash the shown graph, where that is not the whole one
    seed: int
    answers: tuple[BenchAnswer, ...]
    speedup: float = Field(gt=0)  #: measured again in fresh processes; 1: nothing is surely faster
    speedup_interval: Interval | None
    improved: bool  #: whether something is surely faster: the problem is solved
    start: Speedup = None
    """Speedup, as screened, of the program that the search began with; None: the serial code."""
    start_interval: Interval | None = None
    cost: Cost
    stopped: Stopped
    by_rule: int = 0  #: verdicts on what a rule made: not among the answers
    unrecorded: int = 0  #: prompts without a recorded answer
    metric: Metric
    device: PlainText
    toolchain: PlainText
    judge: str  #: version of the judge's rules; several, where it went on under others
    prompts: str  #: version and digest of the prompt templates
    model: PlainText  #: name and digest
    trace: str  #: below the bench's folder

    @property
    def place(self) -> tuple[str, str, str, int]:
        """The run's key within its bench."""
        return self.problem, self.target, self.arm, self.seed


class BenchProblem(Frozen, extra="ignore"):
    """A problem of a suite, with a digest of all that its verdicts depend on."""

    name: str
    target: Target
    address: PlainText  #: a name, or a folder: relative where it lies in the bench's folder
    digest: str


class LeftOut(Frozen):
    """A problem of a suite that was not searched, and why."""

    name: str
    target: Target
    why: PlainText


class BenchResults(Frozen, extra="ignore"):
    """The results of one bench, finished or not.

    History of `schema_version`: 1 (2026-11) first version.
    """

    schema_version: Literal[1] = 1
    created: str  #: UTC, ISO 8601
    version: str  #: version of this program
    command: PlainText
    suite: PlainText
    model: PlainText  #: the model as it was asked for; each run has name and digest
    calls: int  #: budget of each search, in verdicts
    final: FinalGrade
    prompting: dict[str, str] = Field(default_factory=dict)
    """The settings of the prompts; in older files those that were not usual."""
    machine: dict[Target, PlainText] = Field(default_factory=dict)
    """The machine that programs ran on, in a line, of benches before 2026-12."""
    arms: tuple[str, ...]  #: in the order of asking; others are compared with the first
    seeds: int  #: searches of each arm on each problem
    searches: dict[Target, int] = Field(default_factory=dict)  #: how many were asked for so far
    graph: dict[str, str] = Field(default_factory=dict)
    """The graph's size, a digest of its statistics; empty where no arm reads
    it."""
    problems: tuple[BenchProblem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    # Runs come last: what a reader looks for stands at the head of a long file.
    runs: tuple[BenchRun, ...] = ()

    @model_validator(mode="after")
    def _of_known_problems(self) -> Self:
        # Files are put together by hand (benchmarks/keep.py): a lost problem must not pass.
        known = {(problem.name, problem.target) for problem in self.problems}
        lost = next((run for run in self.runs if (run.problem, run.target) not in known), None)
        if lost is not None:
            raise ValueError(f"a run of {lost.problem} ({lost.target}), which is no problem of it")
        return self
