"""Which collected trajectories are kept: every one that is right, new, and fast enough."""

from collections.abc import Sequence

from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.code.tokens import normalized

MIN_SPEEDUP = 1.1
"""Usual least speedup of a trajectory's fastest step; less may be chance."""


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
    """Trajectories that share their first steps: measurements and failures in the first one alone.

    So every try counts once in the statistics.
    """
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
