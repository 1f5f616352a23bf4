"""A search run: its task, the header of its trace, its records, its summary."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, SerializeAsAny

from regraph_kg.models.base import Frozen, Metric
from regraph_kg.models.evaluation import Interval, Outcome, Roof, possible_speedup
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.port import Port
from regraph_kg.models.target import Target


@dataclass(frozen=True, slots=True)
class Task:
    """The code that a search makes faster."""

    problem: str
    target: Target
    serial: str
    entry: str
    signature: str  # the entry point's in C, without body
    metric: Metric = "call"  # whose arrays it gets: the host's, or the device's
    begun: str = ""  # the serial code with what its loops were seen to share
    ports: tuple[Port, ...] = ()
    """Programs made of the serial code, of which one may be the start; the fastest first."""
    port: Port | None = None  # the port that is the start; None: the serial code is

    @property
    def start(self) -> str:
        """The code that a search begins with."""
        return (
            (self.begun or self.serial) if self.port is None else self.port.whole(self.port.start)
        )

    def shown(self, code: str) -> str:
        """The part of a file that a model sees: of a port the model's part."""
        return code if self.port is None else self.port.part(code)

    def whole(self, answer: str) -> str:
        """The file that a model's code makes."""
        return answer if self.port is None else self.port.whole(answer)

    @property
    def entries(self) -> tuple[str, ...]:
        """Functions of which an answer must define one."""
        return (self.entry,) if self.port is None else (self.port.function, self.entry)


GraphShown = Literal["whole", "shuffled-statistics", "shuffled-transforms", "none"]
"""The graph that a search sees; all but "whole" are controls (benchmarks/bench/null_graphs.py)."""
FinalGrade = Literal["full", "screening"]
"""The final measurement: in fresh workers, or as in the search (quick, less certain)."""


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """The user's choice of a search."""

    problem: str  # a name in the corpus, or a folder
    target: Target
    settings: MethodSettings
    prompting: Prompting
    limits: SearchLimits
    parallel: int
    final: FinalGrade
    seed: int
    model: ModelSpec
    include_own: bool  # whether the search may read the problem's own examples
    graph: GraphShown = "whole"


class RunHeader(Frozen, extra="ignore"):  # older ones have a field more
    """First line of a trace: all that a run depends on.

    History of `schema_version`: 1 to 8 (2026-11) earlier ones, which are not read any more; 9
    (2026-11) budgets count verdicts, calls of the model apart.
    """

    schema_version: Literal[9] = 9
    version: str  # this program's
    created: str  # UTC, ISO 8601
    problem: str
    serial: str  # hash of the serial code
    target: Target
    settings: SerializeAsAny[MethodSettings]
    """The search knows the settings' class: its `read_header` reads a header from a file."""
    prompting: Prompting
    limits: SearchLimits
    parallel: int  # calls of the model under way at once, at most
    final: FinalGrade
    seed: int
    model: str  # name and digest
    device: str
    toolchain: str
    prompts: str  # version and digest of the prompt templates
    excluded: str | None  # the problem whose examples the search did not read; None: it read all
    machine: str = ""  #: the machine in a line, of runs before 2026-12
    graph: GraphShown = "whole"

    @property
    def method(self) -> str:
        return self.settings.method


class Cost(Frozen, extra="ignore"):  # older traces have a field more
    """Spent resources. A verdict is one budget unit; a token, a second are not."""

    calls: int = 0  #: of the model, each with a verdict on its answer
    by_rule: int = 0  #: verdicts on what a rule made, without a call
    evaluations: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = 0.0
    judge_seconds: float = 0.0

    @property
    def verdicts(self) -> int:
        return self.calls + self.by_rule

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(**{name: spent + getattr(other, name) for name, spent in self})


Applied = Literal["asked", "nothing", "other"]
"""A step's change of the code: the technique it was asked for, nothing, or something else."""


@dataclass(frozen=True, slots=True)
class Deed:
    """A step's change; `technique` is the id of the one that "other" applied, None: unknown."""

    applied: Applied
    technique: str | None = None


class StepRecord(Frozen):
    """One new sample: technique `technique` applied as sample `sample` of its step."""

    path: tuple[str, ...]  #: path elements up to and including this step (see `PromptKey.path`)
    technique: str | None  #: None where the method walks no graph
    sample: int
    outcome: Outcome | None
    """None where the recorded model had no answer; UNCHANGED where it gave the code that it was to
    change."""
    speedup: Annotated[float | None, AfterValidator(possible_speedup)]
    """Over the serial code, screened: `EvalReport.sure_speedup`; None unless it is known."""
    gain: float | None = None  #: log gain of the step itself, where the method learns such
    cost: Cost
    code: str | None
    """The file that the answer's last code makes, mended; None where it held no new one."""
    diagnosis: str = ""  #: the failure's diagnosis
    applied: Applied = "asked"
    did: str | None = None
    """Id of the technique that a step of "other" applied instead, where known: the step counts for
    that technique, and later steps build upon it."""
    transform: str = ""  #: id of the transform that made the code; "" where the model wrote it
    fell: bool = False
    """Whether no step was tried: `code` is what it was to change, which had only been glanced at,
    and the rest of the record is its screening's."""

    @property
    def tried(self) -> bool:
        """Whether the asked technique was tried; else nothing is learned."""
        if self.fell:
            return False
        # Unchanged code is no try of a technique; as a free choice it is a failure.
        if self.outcome is Outcome.UNCHANGED:
            return self.technique is None
        return self.outcome is not None


class SimulationRecord(Frozen):
    """One iteration of a search: its selection, steps and reward."""

    iteration: int
    path: tuple[str, ...]  #: path elements of the selected path, the first new sample included
    steps: tuple[StepRecord, ...]
    reward: float | None
    """The gain of the first step bought (3.2), the backed-up reward (3.1), the speedup (standard).
    None where the iteration tried nothing (no recorded answer): then it is not counted, and the
    next record has the same `iteration`."""
    spent: int  #: verdicts so far, this iteration included
    best_speedup: float  #: screened speedup of the best code so far; 1.0 is the serial code


Stopped = Literal["verdicts", "calls", "tokens", "seconds", "unreadable", "exhausted"]
"""The limit that ended a search; "exhausted": nothing was left to try."""


class TakenBack(Frozen):
    """The fastest code of a search, where the final measurement did not confirm it."""

    searched: float  #: its speedup in the search
    outcome: Outcome  #: its outcome, measured again
    speedup: float | None  #: measured again; None where it is not right
    interval: Interval | None


class CommonFailure(Frozen):
    """The commonest failure of a search; of equally common ones the latest."""

    outcome: Outcome
    diagnosis: str  #: its first line; empty where nothing is known
    count: int


class RunSummary(Frozen, extra="ignore"):  # as a header
    """A finished run's report. Only the re-measured speedup counts (`speedup`)."""

    problem: str
    target: Target
    method: str
    model: str
    seed: int
    limits: SearchLimits
    parallel: int
    active_seconds: float
    final: FinalGrade
    iterations: int
    cost: Cost  #: cost of the search, without the finalists' evaluations
    unrecorded: int  #: actions closed because the recorded model had no answer for them
    outcomes: dict[str, int]  #: samples by outcome
    failure: CommonFailure | None  #: None where nothing failed
    best_path: tuple[str, ...]
    """Path elements that led to the answer; empty for the serial code, and without a graph."""
    best_code: str
    speedup: float  #: re-measured in a fresh worker; 1.0 when the serial code is the answer
    speedup_interval: Interval | None
    improved: bool  #: the re-measured interval lies above 1
    taken_back: TakenBack | None = None
    """The fastest of the search, where no code was confirmed; None: nothing seemed faster."""
    device: str
    toolchain: str
    excluded: str | None
    stopped: Stopped
    roof: Roof | None  #: the answer's; None without one, or where the peaks are unknown
