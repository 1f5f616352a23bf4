"""New trajectories from a model's answers.

Proposed steps are judged one by one at the screening grade. Right steps are then measured at the
full grade in one session, so that a step's effect compares times of one session. The journal
beside the result holds all answers, verdicts and measurements.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from regraph_kg.collect import judged_steps
from regraph_kg.collect.conversation import STEPS, Conversation, prompt_hash
from regraph_kg.collect.journal import Journal, key_of
from regraph_kg.errors import AnswersPending, BadInput
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.measure import is_measured, measurements
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.models.trajectory import Source, Trajectory
from regraph_kg.runs.learn import write_lines
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import know_peaks, open_judge
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.open_model import any_model
from regraph_kg.wiring.problems import find_problem, task_of


@dataclass(frozen=True, slots=True)
class CollectChoice:
    """A collection: problems, the source of steps, output and rules."""

    problems: tuple[str, ...]
    target: Target
    output: Path
    model: ModelSpec  # the model that is asked
    trajectories: int = 1  # trajectories that the model is asked for, for each problem
    steps: int = STEPS  # most steps of a trajectory of the model
    min_speedup: float = judged_steps.MIN_SPEEDUP
    credit: Source = field(default_factory=Source)  # model and licence as the user states them


class Gathered(BaseModel):
    collected: int = 0  # trajectories, whether or not they were kept
    kept: list[str] = []  # names of those in the output
    left_out: dict[str, str] = {}  # reasons by name
    calls: int = 0  # new calls of the model, without answers from the journal
    tokens: int = 0
    waiting: str = ""  # the answers that are still to come by file, in words

    def __str__(self) -> str:
        """A line for what was kept, and one for each that was not."""
        lines = [f"kept: {len(self.kept)} of {self.collected} trajectories"]
        lines += [f"left out: {ref}: {why}" for ref, why in self.left_out.items()]
        return "\n".join([*lines, f"asked now: {self.calls} calls, {self.tokens} tokens"])


def collect(
    settings: Settings, choice: CollectChoice, model: LanguageModel | None = None
) -> Story[Gathered]:
    """Collect, and write what meets the rules to `choice.output`; may go on. Raises `BadInput`."""
    # With a journal beside it the file is ours, and is made anew from it.
    journal_file = choice.output.with_name(f"{choice.output.name}.journal")
    if choice.output.exists() and not journal_file.exists():
        raise BadInput(f"{choice.output}: there already; give another --output, or remove it")
    problems = [find_problem(settings, name) for name in choice.problems]
    about = {
        "source": f"model {choice.model}",
        "problems": [problem.name for problem in problems],
        "target": choice.target,
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",  # several begin in one second
    }
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(journal_file, about))
        model = model or any_model(settings, choice.model)
        stack.callback(model.close)
        # Measurements keep a place under the roofline, which needs the machine's peaks.
        know_peaks(settings, choice.target)
        with open_judge(settings, "full") as judge:
            work = _Collecting(settings, choice, journal, judge, model)
            return (yield from work.gather(problems))


@dataclass(slots=True)
class _Collecting:
    settings: Settings
    choice: CollectChoice
    journal: Journal
    judge: Evaluator
    model: LanguageModel
    built: list[Trajectory] = field(default_factory=list)
    gathered: Gathered = field(default_factory=Gathered)

    def gather(self, problems: Sequence[Problem]) -> Story[Gathered]:
        """Build the trajectories of all sources, and write those that are kept."""
        for problem in problems:
            task = task_of(problem, self.choice.target)
            sources = list(self._sources(task, partial(self._judged, problem)))
            for number, source in enumerate(sources):
                message = f"{problem.name}, {number + 1} of {len(sources)}"
                yield WorkDone("collecting", number, len(sources), message)
                line = self._add(source, problem)
                yield WorkDone("collecting", number + 1, len(sources), message, line)
        kept, left_out = judged_steps.choose_kept(self.built, self.choice.min_speedup)
        # All at once, at the end: until then the journal has everything, and a kill loses nothing.
        if kept or self.choice.output.exists():
            write_lines(self.choice.output, judged_steps.counted_once(kept))
        self.gathered.kept = [str(one.ref) for one in kept]
        self.gathered.left_out |= left_out
        try:
            self.model.finish()
        except AnswersPending as error:
            self.gathered.waiting = str(error)
        return self.gathered

    def ask(self, prompt: Prompt) -> Reply:
        """The journal's answer, or a new one of the model."""
        key = key_of("reply", self.model.name, prompt.model_dump(mode="json"))
        if (recorded := self.journal.find(key)) is not None:
            return Reply.model_validate(recorded)
        reply = self.model.complete(prompt)
        if reply.finish == "pending":
            raise AnswersPending("the answer is to come by file")
        # A recorded model would be taken for one that gives up.
        if reply.finish == "unrecorded":
            raise BadInput(f"model {self.model.name}: it has no answer to {prompt.key}")
        self.gathered.calls += 1
        self.gathered.tokens += reply.prompt_tokens + reply.output_tokens
        self.journal.write(key, reply.model_dump(mode="json"))
        return reply

    def _add(self, source: Conversation, problem: Problem) -> str:
        """Build and measure one trajectory; return its result as a line."""
        ref = str(source.draft.ref)
        try:
            ended = source.propose()
        except AnswersPending:
            return f"{ref}: waits for an answer"
        self.gathered.collected += 1
        trajectory = source.draft.trajectory()
        if trajectory is not None:
            trajectory = judged_steps.settled(self._measured(trajectory, problem))
        if trajectory is None:
            self.gathered.left_out[ref] = "no step was right"
            return f"{ref}: no step was right; {ended}"
        self.built.append(trajectory)
        figures = f"{len(trajectory.steps)} steps, {len(trajectory.failures)} failed"
        best = judged_steps.fastest(trajectory)
        speed = f"{best:.3g}x" if best is not None else "not timed well"
        return f"{ref}: {figures}, {speed}; {ended}"

    def _judged(self, problem: Problem, code: str) -> EvalReport:
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
            # The same steps may be another source's: name, credit and failures are its own.
            own = {name: getattr(trajectory, name) for name in ("ref", "source", "failures")}
            return Trajectory.model_validate(recorded).model_copy(update=own)
        run = str(self.journal.about["created"])
        new = measurements(trajectory, problem, self.judge, run)
        steps = (
            step.model_copy(update={"measurements": (one,)})
            for step, one in zip(trajectory.steps, new, strict=True)
        )
        measured = trajectory.model_copy(update={"steps": tuple(steps)})
        # Noisy times are told, but not kept: the same command measures them again.
        if is_measured(measured, self.judge):
            self.journal.write(key, measured.model_dump(mode="json", by_alias=True))
        return measured

    def _key(self, kind: str, problem: Problem, content: str) -> str:
        target = self.choice.target
        # Another machine, compiler or judge gives other verdicts: each has its own entries.
        judging = (self.judge.device(target), self.judge.toolchain(target), EVALUATOR)
        return key_of(kind, problem.model_dump_json(), target, judging, content)

    def _sources(self, task: Task, judge: Callable[[str], EvalReport]) -> Iterator[Conversation]:
        """The conversations on one problem, one at least."""
        created = str(self.journal.about["created"])
        made = {"run": f"collect {created}", "created": created, "prompt_hash": prompt_hash()}
        source = self.choice.credit.model_copy(update=made)
        techniques = (one for one in read_vocabulary(self.settings) if one.target == task.target)
        names = sorted(one.name for one in techniques if one.id != start_id(task.target))
        for number in range(self.choice.trajectories):
            ref = f"{source.run}/{task.problem}-{task.target}-{number}"
            draft = judged_steps.TrajectoryDraft(
                task.target, task.problem, task.serial, source, ref
            )
            yield Conversation(task, number, self.ask, judge, self.choice.steps, names, draft)
