"""Proposed steps, judged one by one, become a trajectory; which trajectories are kept.

Right steps become its steps, wrong ones its failures. A model that is asked (conversation.py) or an
agent (regraph_kg/agents/recording.py) proposes one after the other, and hears the verdict on each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.target import Target
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import FailedStep, Source, Step, Trajectory

LABEL_CHARACTERS = 200  # length limit of a step's label
MIN_SPEEDUP = 1.1  # usual least speedup of a trajectory's fastest step; less may be chance


@dataclass(slots=True)
class TrajectoryDraft:
    """A trajectory whose steps are being judged."""

    target: Target
    problem: str
    serial: str
    source: Source
    ref: str | None = None
    steps: list[Step] = field(default_factory=list)
    failures: list[FailedStep] = field(default_factory=list)

    @property
    def codes(self) -> list[str]:
        """The codes that were right so far, of which the next step changes the last."""
        return [self.serial, *(step.code for step in self.steps)]

    def take(self, step: Step, report: EvalReport) -> None:
        """Put a judged step where it belongs."""
        if report.outcome.is_right:
            self.steps.append(step)
        else:
            said = (report.outcome, report.diagnosis, report.device)
            self.failures.append(_failure(len(self.steps), step, *said))

    def trajectory(self) -> Trajectory | None:
        """The trajectory so far; None where no proposed step was right."""
        if not self.steps:
            return None
        names = ("ref", "target", "problem", "serial", "source", "steps", "failures")
        return Trajectory.model_validate({"schema": 1} | {n: getattr(self, n) for n in names})


def settled(trajectory: Trajectory) -> Trajectory | None:
    """Up to the first step found wrong at the full grade, then a failure; None without a step."""
    steps: list[Step] = []
    failures = list(trajectory.failures)
    for step in trajectory.steps:
        # The newest one is this collection's; a trajectory from elsewhere may have more.
        newest = step.measurements[-1]
        if not newest.outcome.is_right:
            # What failed later built on this step, and means nothing without it.
            failures = [failure for failure in failures if failure.after_step <= len(steps)]
            said = (Outcome(newest.outcome), "found when it was measured", newest.device)
            failures.append(_failure(len(steps), step, *said))
            break
        steps.append(step)
    if not steps:
        return None
    return trajectory.model_copy(update={"steps": tuple(steps), "failures": tuple(failures)})


def choose_kept(
    trajectories: Sequence[Trajectory], min_speedup: float
) -> tuple[list[Trajectory], dict[str, str]]:
    """The trajectories kept, in the order given, and the reasons against the others, by ref."""
    kept: dict[tuple[str, ...], Trajectory] = {}
    left_out: dict[str, str] = {}
    for one in trajectories:
        # Comments and blanks aside: two answers that differ by these teach one thing.
        way = (one.problem, one.target, *(normalized(step.code) for step in one.steps))
        best, ref = fastest(one), str(one.ref)
        if best is None and min_speedup:
            left_out[ref] = "no step was timed well: run it again where nothing else runs"
        elif best is not None and best < min_speedup:
            left_out[ref] = f"at most {best:.3g}x, below {min_speedup:g}x (--min-speedup)"
        elif way in kept:
            left_out[ref] = f"the same steps as {kept[way].ref}"
        else:
            kept[way] = one
    return list(kept.values()), left_out


def counted_once(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Every try counts once: those of shared first steps are in the first trajectory alone."""
    counted: set[tuple[str, ...]] = set()
    once = []
    for trajectory in trajectories:
        way: tuple[str, ...] = (trajectory.problem, trajectory.target, trajectory.serial)
        ways, steps = [way], []
        for step in trajectory.steps:
            # A step is the same try only after the same steps: its effect depends on them.
            way = (*way, step.label, step.code)
            ways.append(way)
            steps.append(step.model_copy(update={"measurements": ()}) if way in counted else step)
        tries = {(*ways[one.after_step], one.label, one.code): one for one in trajectory.failures}
        failures = tuple(failure for key, failure in tries.items() if key not in counted)
        counted |= {*tries, *ways[1:]}
        once.append(trajectory.model_copy(update={"steps": tuple(steps), "failures": failures}))
    return once


def fastest(trajectory: Trajectory) -> float | None:
    """The largest speedup of a step by its newest measurement; None where none was timed."""
    newest = [step.measurements[-1].speedup for step in trajectory.steps if step.measurements]
    return max((speedup for speedup in newest if speedup is not None), default=None)


def _failure(after: int, step: Step, outcome: Outcome, diagnosis: str, device: str) -> FailedStep:
    return FailedStep(
        after_step=after,
        label=step.label,
        outcome=outcome,
        diagnosis=diagnosis,
        code_hash=code_hash(step.code),
        code=step.code,
        device=device or None,
    )


def label_of(text: str) -> str:
    """`text` as a step's label: one plain line, cut."""
    return " ".join(plain(text).split())[:LABEL_CHARACTERS].strip()
