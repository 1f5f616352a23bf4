"""Proposed steps, judged one by one, as a trajectory: right ones are steps, wrong ones failures.

Not here: the times that are stored (evaluation/measure.py takes them, all in one go), and which
trajectories are kept (curate.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from regraph_kg.collect.steps import ProposedStep, StepJudgement, StepSource, label_of
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory
from regraph_kg.search.code.tokens import normalized

MOST_STEPS = 100
"""Steps that a trajectory may have."""
SAID = 20_000
"""Stored characters of a source's remarks on a step."""


@dataclass(frozen=True, slots=True)
class BuiltTrajectory:
    """The outcome of one source; `trajectory` is None where no proposed step was right."""

    ref: str
    trajectory: Trajectory | None
    ended: str
    """Why there were no more steps."""
    failed: int = 0
    unchanged: int = 0
    """Proposed steps whose code was there before."""
    notes: tuple[str, ...] = ()
    repairs: tuple[int, ...] = ()
    """Failed tries before each step."""

    @property
    def empty(self) -> bool:
        """Whether no step was right."""
        return self.trajectory is None


@dataclass(slots=True)
class _Draft:
    task: Task
    judge: Callable[[str], EvalReport]
    codes: set[str]
    steps: list[Step] = field(default_factory=list)
    failures: list[FailedStep] = field(default_factory=list)
    repairs: list[int] = field(default_factory=list)
    unchanged: int = 0
    wrong: int = 0
    """Codes before a step that gave other results: of them nothing is kept."""
    unnamed: bool = False
    """Whether nobody has said yet what the first step is: more is to be taken out."""

    def take(self, proposed: ProposedStep) -> StepJudgement:
        """Judge a step, and put it where it belongs."""
        text = normalized(proposed.code)
        if proposed.undoes:
            return self._take_back(proposed, text)
        if text in self.codes:
            self.unchanged += 1
            return StepJudgement(None)
        report = self.judge(proposed.code)
        if report.outcome.is_right:
            self.codes.add(text)
            self.steps.append(_step(proposed))
            self.repairs.append(proposed.repairs)
        else:
            self.failures.append(_failure(len(self.steps), proposed, report))
        return StepJudgement(report.outcome, report.diagnosis, report.speedup)

    def _take_back(self, proposed: ProposedStep, text: str) -> StepJudgement:
        """The code before the first step so far: now it is known what that step was."""
        start = bool(self.steps) and text == normalized(self.task.serial)
        if text in self.codes and not start:
            self.unchanged += 1
            return StepJudgement(None)
        report = None if start else self.judge(proposed.code)
        if report is not None and not report.outcome.is_right:
            self.wrong += 1
            return StepJudgement(report.outcome, report.diagnosis)
        if self.steps:
            self.steps[0] = _step(replace(proposed, code=self.steps[0].code))
            self.repairs[0] = proposed.repairs
        self.unnamed = report is not None
        if report is not None:
            self.codes.add(text)
            self.steps.insert(0, _step(proposed))
            self.repairs.insert(0, 0)
        return StepJudgement(Outcome.PASSED, speedup=report.speedup if report else 1.0)


def build(source: StepSource, task: Task, judge: Callable[[str], EvalReport]) -> BuiltTrajectory:
    """Judge the steps of `source` in their order.

    A step whose code is that of the serial code or of an earlier step, but for comments and blanks,
    did nothing, and is left out. Of steps back nothing is kept unless they reach the serial code.
    """
    draft = _Draft(task, judge, {normalized(task.serial)})
    ended = _judge_all(source, draft)
    trajectory = None
    if draft.steps and not draft.unnamed:
        trajectory = Trajectory(
            schema=1,
            ref=source.ref,
            target=task.target,
            problem=task.problem,
            serial=task.serial,
            source=source.source(),
            steps=tuple(draft.steps),
            failures=tuple(draft.failures),
        )
    return BuiltTrajectory(
        source.ref,
        trajectory,
        ended,
        failed=len(draft.failures) + draft.wrong,
        unchanged=draft.unchanged,
        notes=source.notes,
        repairs=tuple(draft.repairs),
    )


def _judge_all(source: StepSource, draft: _Draft) -> str:
    """Judge the source's steps until it ends or the trajectory is full; the reason of the end."""
    proposals = source.proposals()
    try:
        proposed = next(proposals)
        while len(draft.steps) < MOST_STEPS:
            proposed = proposals.send(draft.take(proposed))
    except StopIteration as end:
        return str(end.value)
    return f"{MOST_STEPS} steps: a trajectory holds no more"


def settled(trajectory: Trajectory, repairs: Sequence[int]) -> Trajectory | None:
    """A measured trajectory up to the first step that the full grade found wrong.

    That step is then a failure. None where no step is left.
    """
    steps: list[Step] = []
    failures = list(trajectory.failures)
    for step, tries in zip(trajectory.steps, repairs, strict=True):
        newest = step.measurements[-1]
        if not newest.outcome.is_right:
            failures = [failure for failure in failures if failure.after_step <= len(steps)]
            failures.append(_found_wrong(len(steps), step))
            break
        timing = newest.model_copy(update={"repairs": tries})
        steps.append(step.model_copy(update={"measurements": (*step.measurements[:-1], timing)}))
    if not steps:
        return None
    return trajectory.model_copy(update={"steps": tuple(steps), "failures": tuple(failures)})


def _step(proposed: ProposedStep) -> Step:
    return Step(
        label=_label(proposed),
        reasoning=plain(proposed.reasoning[:SAID]).strip(),
        detail=plain(proposed.detail[:SAID]).strip(),
        code=proposed.code,
    )


def _label(proposed: ProposedStep) -> str:
    """A source's name for a step as one plain line."""
    return label_of(proposed.label) or "a step"


def _failure(after: int, proposed: ProposedStep, report: EvalReport) -> FailedStep:
    return FailedStep(
        after_step=after,
        label=_label(proposed),
        outcome=report.outcome,
        diagnosis=report.diagnosis,
        code_hash=code_hash(proposed.code),
        code=proposed.code,
        device=report.device or None,
    )


def _found_wrong(after: int, step: Step) -> FailedStep:
    newest = step.measurements[-1]
    return FailedStep(
        after_step=after,
        label=step.label,
        outcome=Outcome(newest.outcome),
        diagnosis="found when it was measured",
        code_hash=code_hash(step.code),
        code=step.code,
        device=newest.device,
    )
