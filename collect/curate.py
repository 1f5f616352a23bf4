"""Which trajectories are kept: correct, fast and concise ones, after what ConCuR found.

ConCuR (2025) trains better kernel writers on few examples that are right, fast and briefly
reasoned than on all of them. That they are right is the judge's word and no rule; how fast
and how short they must be, a user says. Not here: what a graph does with them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.code.tokens import normalized


@dataclass(frozen=True, slots=True)
class CurationRules:
    """Requirements on a trajectory."""

    min_speedup: float = 1.1
    """Least speedup of its fastest step; 0: any, timed or not."""
    max_reasoning: int = 2000
    """Characters that any step's reasoning may have."""
    max_steps: int = 20
    keep: int | None = None
    """Trajectories of one problem and target, the fastest first; None: all."""


@dataclass(frozen=True, slots=True)
class CurationResult:
    """Trajectories kept, in the order given, and the reasons against the others, by ref."""

    kept: tuple[Trajectory, ...]
    left_out: dict[str, str]


SAME_SPEED = 1.05
"""Within this factor trajectories are as fast as each other; the briefer one goes first."""


def curate(trajectories: Sequence[Trajectory], rules: CurationRules) -> CurationResult:
    """Apply `rules` to measured trajectories, each with a ref of its own."""
    left_out: dict[str, str] = {}
    ways: dict[tuple[str, ...], str] = {}
    good: dict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories:
        goal = (trajectory.problem, trajectory.target)
        way = (*goal, *(normalized(step.code) for step in trajectory.steps))
        why = refusal(trajectory, rules)
        if why is None and way in ways:
            why = f"the same steps as {ways[way]}"
        if why is not None:
            left_out[str(trajectory.ref)] = why
            continue
        ways[way] = str(trajectory.ref)
        good[goal].append(trajectory)
    refs = set()
    for several in good.values():
        for place, trajectory in enumerate(_ranked(several)):
            if rules.keep is None or place < rules.keep:
                refs.add(trajectory.ref)
            else:
                why = f"{rules.keep} others are faster or briefer (--keep)"
                left_out[str(trajectory.ref)] = why
    return CurationResult(
        tuple(trajectory for trajectory in trajectories if trajectory.ref in refs), left_out
    )


def counted_once(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """Trajectories that share their first steps: measurements and failures in the first one alone.

    So every try counts once in the statistics.
    """
    counted: set[tuple[str, ...]] = set()
    once = []
    for trajectory in trajectories:
        way: tuple[str, ...] = (trajectory.problem, trajectory.target, trajectory.serial)
        ways, steps = [way], []
        for step in trajectory.steps:
            way = (*way, step.label, step.code)
            ways.append(way)
            steps.append(step.model_copy(update={"measurements": ()}) if way in counted else step)
        failures = [
            failure
            for failure in trajectory.failures
            if (*ways[failure.after_step], failure.label, failure.code) not in counted
        ]
        tries = ((*ways[failed.after_step], failed.label, failed.code) for failed in failures)
        counted |= {*tries, *ways[1:]}
        once.append(
            trajectory.model_copy(update={"steps": tuple(steps), "failures": tuple(failures)})
        )
    return once


def refusal(trajectory: Trajectory, rules: CurationRules) -> str | None:
    """The first rule that a measured trajectory breaks, in words; None for none."""
    best = fastest(trajectory)
    if best is None and rules.min_speedup:
        return "no step was timed well: run it again where nothing else runs"
    if best is not None and best < rules.min_speedup:
        return f"at most {best:.3g}x, below {rules.min_speedup:g}x (--min-speedup)"
    longest = max(len(step.reasoning) for step in trajectory.steps)
    if longest > rules.max_reasoning:
        return f"a reasoning of {longest} characters (--max-reasoning)"
    if len(trajectory.steps) > rules.max_steps:
        return f"{len(trajectory.steps)} steps (--max-steps)"
    return None


def fastest(trajectory: Trajectory) -> float | None:
    """The largest speedup of a step by its newest measurement; None where none was timed."""
    newest = [step.measurements[-1].speedup for step in trajectory.steps if step.measurements]
    return max((speedup for speedup in newest if speedup is not None), default=None)


def _ranked(several: Sequence[Trajectory]) -> list[Trajectory]:
    """Fastest first; among equally fast ones the briefest."""
    rest = sorted(several, key=lambda item: (-(fastest(item) or 0), str(item.ref)))
    ranked: list[Trajectory] = []
    while rest:
        top = fastest(rest[0]) or 0
        near = [item for item in rest if (fastest(item) or 0) * SAME_SPEED >= top]
        chosen = min(near, key=lambda item: (_length(item), str(item.ref)))
        ranked.append(chosen)
        rest.remove(chosen)
    return ranked


def _length(trajectory: Trajectory) -> int:
    return sum(len(step.reasoning) + len(step.detail) for step in trajectory.steps)
