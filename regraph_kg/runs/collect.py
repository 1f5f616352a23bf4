"""New trajectories from a model's answers, a git history, or an evolution's programs.

Proposed steps are judged one by one at the screening grade. Right steps are then measured at the
full grade in one session, so that a step's effect compares times of one session, and curated. The
journal beside the result holds all answers, verdicts and measurements. Not here: sources of steps
and rules of curation (collect/).
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, PlainSerializer

from regraph_kg.collect.backwards import Backwards
from regraph_kg.collect.build import BuiltTrajectory, build, settled
from regraph_kg.collect.conversation import AskingLimits, Conversation, prompt_hash
from regraph_kg.collect.curate import CurationResult, CurationRules, counted_once, curate, fastest
from regraph_kg.collect.git_history import GitFile, read_history
from regraph_kg.collect.journal import Journal, count_entries, key_of
from regraph_kg.collect.openevolve import read_lineages
from regraph_kg.collect.steps import StepSource
from regraph_kg.errors import AnswersPending, BadInput
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.measure import is_measured, measure
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.models.trajectory import Source, Trajectory
from regraph_kg.runs.learn import write_lines
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.search.prompts.examples import estimated_tokens
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import know_peaks, open_judge
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.open_model import any_model
from regraph_kg.wiring.problems import declared_problem, task_of

NOTHING_RIGHT = "no step was right"


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """Steps of a large model: `trajectories` for each problem."""

    spec: ModelSpec
    trajectories: int = 1
    limits: AskingLimits = field(default_factory=AskingLimits)
    backwards: str = ""
    """A fast version that it goes back from; empty: it goes forwards from the serial code."""

    def __str__(self) -> str:
        """The source's name in a journal."""
        start = f", back from {code_hash(self.backwards)[:12]}" if self.backwards else ""
        return f"model {self.spec}{start}"


@dataclass(frozen=True, slots=True)
class EvolutionRead:
    """Steps of an evolution: the lineages of its `best` programs."""

    folder: Path
    best: int = 3

    def __str__(self) -> str:
        """The source's name in a journal."""
        return f"openevolve {self.folder}"


@dataclass(frozen=True, slots=True)
class CollectChoice:
    """A collection: problems, source, output and rules."""

    problems: tuple[str, ...]
    target: Target
    origin: ModelAsked | GitFile | EvolutionRead
    output: Path
    rules: CurationRules = field(default_factory=CurationRules)
    credit: Source = field(default_factory=Source)
    """Model and licence as the user states them."""

    @property
    def journal(self) -> Path:
        return self.output.with_name(f"{self.output.name}.journal")


def _refs(trajectories: Sequence[Trajectory]) -> list[str]:
    return [str(trajectory.ref) for trajectory in trajectories]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The results of all sources; the caller raises `waiting` after printing them.

    As JSON the kept trajectories are their names.
    """

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    collected: int
    kept: Annotated[tuple[Trajectory, ...], PlainSerializer(_refs, list[str])]
    left_out: Mapping[str, str]
    """Reasons by name."""
    pending: int = 0
    """Trajectories that wait for answers by file."""
    calls: int = 0
    """New calls of the model, without answers from the journal."""
    tokens: int = 0
    waiting: Annotated[Any, Field(exclude=True)] = None
    """The `AnswersPending` that ends the command."""


@dataclass(frozen=True, slots=True)
class CollectPreview:
    """The estimate for one problem: calls and tokens, or steps to judge."""

    problem: str
    calls: int = 0
    """About; `most_calls` is the bound."""
    most_calls: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    steps: int = 0
    notes: tuple[str, ...] = ()


def collect(
    settings: Settings, choice: CollectChoice, model: LanguageModel | None = None
) -> Story[Gathered]:
    """Collect, and write the trajectories that meet the rules to `choice.output`.

    The same command again goes on where it was stopped. `model` answers, by default the one
    of the choice. Raises `BadInput` where the result would replace a foreign file.
    """
    if choice.output.exists() and not choice.journal.exists():
        raise BadInput(f"{choice.output}: there already; give another --output, or remove it")
    problems = [declared_problem(settings, name) for name in choice.problems]
    about = {
        "source": str(choice.origin),
        "problems": [problem.name for problem in problems],
        "target": choice.target,
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",  # several begin in one second
    }
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(choice.journal, about))
        if isinstance(choice.origin, ModelAsked):
            model = model or any_model(settings, choice.origin.spec)
            stack.callback(model.close)
        know_peaks(settings, choice.target)
        with open_judge(settings, "full") as judge:
            work = _Collecting(settings, choice, journal, judge, model)
            yield from work.gather(problems)
        return work.result()


def preview(settings: Settings, choice: CollectChoice) -> list[CollectPreview]:
    """The first work of `collect`, with no model asked and nothing judged."""
    previews: list[CollectPreview] = []
    for name in choice.problems:
        problem = declared_problem(settings, name)
        task = task_of(problem, choice.target)
        if isinstance(choice.origin, ModelAsked):
            previews.append(
                _cost(settings, choice.origin, task, () if previews else _saved_answers(choice))
            )
            continue
        steps = 0
        notes: list[str] = []
        for source in _sources(settings, choice, task, _nobody, ""):
            notes += source.notes
            steps += sum(1 for _ in source.proposals())
        previews.append(CollectPreview(problem.name, steps=steps, notes=tuple(notes)))
    return previews


@dataclass(slots=True)
class _Collecting:
    settings: Settings
    choice: CollectChoice
    journal: Journal
    judge: Evaluator
    model: LanguageModel | None
    built: list[BuiltTrajectory] = field(default_factory=list)
    pending: int = 0
    calls: int = 0
    tokens: int = 0

    def gather(self, problems: Sequence[Problem]) -> Story[None]:
        for problem in problems:
            machine = self.judge.hardware(self.choice.target)
            task = replace(task_of(problem, self.choice.target), machine=machine)
            created = str(self.journal.about["created"])
            sources = _sources(self.settings, self.choice, task, self.ask, created)
            for number, source in enumerate(sources):
                message = f"{problem.name}, {number + 1} of {len(sources)}"
                yield WorkDone("collecting", number, len(sources), message)
                before = self.journal.written
                line = self._add(source, task, problem)
                if self.journal.written > before:  # older results are in the file already
                    self._publish()
                yield WorkDone("collecting", number + 1, len(sources), message, line)

    def result(self) -> Gathered:
        """The results of all sources; the kept trajectories are in the output."""
        curated = self._publish()
        waiting = None
        try:
            if self.model is not None:
                self.model.finish()
        except AnswersPending as error:
            waiting = error
        return Gathered(
            len(self.built),
            curated.kept,
            curated.left_out | {built.ref: NOTHING_RIGHT for built in self.built if built.empty},
            pending=self.pending,
            calls=self.calls,
            tokens=self.tokens,
            waiting=waiting,
        )

    def _publish(self) -> CurationResult:
        """Write the kept trajectories so far; without any, no new file is made."""
        built = [item.trajectory for item in self.built if item.trajectory is not None]
        curated = curate(built, self.choice.rules)
        trajectories = tuple(counted_once(curated.kept))
        if trajectories or self.choice.output.exists():
            write_lines(self.choice.output, trajectories)
        return replace(curated, kept=trajectories)

    def ask(self, prompt: Prompt) -> Reply:
        """The journal's answer, or a new one of the model."""
        assert self.model is not None
        key = key_of("reply", self.model.name, prompt.model_dump(mode="json"))
        if (recorded := self.journal.find(key)) is not None:
            return Reply.model_validate(recorded)
        reply = self.model.complete(prompt)
        if reply.finish == "pending":
            raise AnswersPending("the answer is to come by file")
        if reply.finish == "unrecorded":
            raise BadInput(f"model {self.model.name}: it has no answer to {prompt.key}")
        self.calls += 1
        self.tokens += reply.prompt_tokens + reply.output_tokens
        self.journal.write(key, reply.model_dump(mode="json"))
        return reply

    def _add(self, source: StepSource, task: Task, problem: Problem) -> str:
        """Build and measure one trajectory; return its result as a line."""
        try:
            built = build(source, task, partial(self._judged, problem))
        except AnswersPending:
            self.pending += 1
            return f"{source.ref}: waits for an answer"
        if built.trajectory is not None:
            measured = settled(self._measured(built.trajectory, problem), built.repairs)
            built = replace(built, trajectory=measured)
        self.built.append(built)
        return "\n".join([*built.notes, _summary_line(built)])

    def _judged(self, problem: Problem, code: str) -> EvalReport:
        """The verdict on one step, by the screening grade."""
        key = self._key("report", problem, code)
        if (recorded := self.journal.find(key)) is not None:
            return EvalReport.model_validate(recorded)
        candidate = Candidate(self.choice.target, code)
        report = self.judge.evaluate(candidate, problem, grade="screening")
        self.journal.write(key, report.model_dump(mode="json"))
        return report

    def _measured(self, trajectory: Trajectory, problem: Problem) -> Trajectory:
        """The trajectory with times of the full grade; noisy times are measured again next time."""
        key = self._key("measured", problem, trajectory.id)
        if (recorded := self.journal.find(key)) is not None:
            return _with_times_of(trajectory, Trajectory.model_validate(recorded))
        run = str(self.journal.about["created"])
        measured = measure(trajectory, problem, self.judge, run)
        if is_measured(measured, self.judge):
            self.journal.write(key, measured.model_dump(mode="json", by_alias=True))
        return measured

    def _key(self, kind: str, problem: Problem, content: str) -> str:
        target = self.choice.target
        judging = (self.judge.device(target), self.judge.toolchain(target), EVALUATOR)
        return key_of(kind, problem.model_dump_json(), target, judging, content)


def _with_times_of(trajectory: Trajectory, other: Trajectory) -> Trajectory:
    """A trajectory with the times of one of the same steps; its name, source and failures stay."""
    steps = [
        mine.model_copy(update={"measurements": theirs.measurements})
        for mine, theirs in zip(trajectory.steps, other.steps, strict=True)
    ]
    return trajectory.model_copy(update={"steps": tuple(steps)})


def _summary_line(built: BuiltTrajectory) -> str:
    steps = built.trajectory.steps if built.trajectory else ()
    best = fastest(built.trajectory) if built.trajectory else None
    figures = [f"{len(steps)} step{'s' * (len(steps) != 1)}", f"{built.failed} failed"]
    if built.unchanged:
        figures.append(f"{built.unchanged} changed nothing")
    if best is not None:
        figures.insert(1, f"{best:.3g}x")
    return f"{built.ref}: {', '.join(figures)}; {built.ended}"


def _sources(
    settings: Settings,
    choice: CollectChoice,
    task: Task,
    ask: Callable[[Prompt], Reply],
    created: str,
) -> Sequence[StepSource]:
    """The sources of steps for one problem."""
    origin = choice.origin
    if isinstance(origin, GitFile):
        return [read_history(origin, task, choice.credit)]
    if isinstance(origin, EvolutionRead):
        return read_lineages(origin.folder, origin.best, task, choice.credit)
    source = choice.credit.model_copy(
        update={"run": f"collect {created}", "created": created, "prompt_hash": prompt_hash()}
    )
    return [
        _asking(settings, origin, task, number, ask, source)
        for number in range(origin.trajectories)
    ]


def _asking(
    settings: Settings,
    origin: ModelAsked,
    task: Task,
    number: int,
    ask: Callable[[Prompt], Reply],
    source: Source,
) -> Conversation:
    asked = (task, number, ask, origin.limits, _names(settings, task.target), source)
    return Backwards(*asked, best=origin.backwards) if origin.backwards else Conversation(*asked)


def _names(settings: Settings, target: Target) -> list[str]:
    """The vocabulary's names, for prompts."""
    techniques = (entry for entry in read_vocabulary(settings) if entry.target == target)
    return sorted(entry.name for entry in techniques if entry.id != start_id(target))


def _saved_answers(choice: CollectChoice) -> tuple[str, ...]:
    """A note on answers that a resumed collection has already."""
    answers = count_entries(choice.journal, "reply")
    return (
        f"{choice.journal}: has {answers} answers already; they are not asked for again",
    ) * bool(answers)


def _cost(
    settings: Settings, origin: ModelAsked, task: Task, notes: tuple[str, ...]
) -> CollectPreview:
    first = _asking(settings, origin, task, 0, _nobody, Source()).first_prompt()
    calls = origin.trajectories * (origin.limits.steps + 1)
    return CollectPreview(
        task.problem,
        calls=calls,
        most_calls=origin.trajectories * origin.limits.calls,
        prompt_tokens=calls * estimated_tokens(first.system + first.user),
        output_tokens=calls * settings.model_max_tokens,
        notes=notes,
    )


def _nobody(_: Prompt) -> Reply:
    raise AssertionError("a preview asks nobody")
