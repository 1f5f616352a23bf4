"""What is to be mended in a corpus: transitions that say little, doubles, claims, short times.

Not here: what was measured (report.py).
"""

from collections.abc import Iterable, Iterator, Sequence

from regraph_kg import report
from regraph_kg.models.target import TARGETS
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.fit.applied import deed
from regraph_kg.survey.facts import (
    SeenStep,
    TimingKey,
    alike_problems,
    before,
    effect_of,
    gain,
    gains,
    longest_paths,
)
from regraph_kg.survey.markdown import step_name

_TIERS = (("easy", 0, 2), ("medium", 3, 5), ("hard", 6, 99))
"""By the steps of the longest verified path (docs/dev/method.md)."""
_SHORT_SECONDS = 10e-6
"""Below this a launch is much of a call, and says little of the code."""


def tiers(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    """Problems by their longest verified path."""
    longest = longest_paths(steps)
    for target in TARGETS:
        found = {problem: length for (problem, of), length in longest.items() if of == target}
        for tier, low, high in _TIERS:
            named = sorted(one for one, length in found.items() if low <= length <= high)
            if named:
                yield target, tier, str(len(named)), ", ".join(named)


def weak(steps: Sequence[SeenStep], clocks: Iterable[TimingKey]) -> Iterator[Sequence[str]]:
    """Of each target and clock: how many transitions say little, and why."""
    for clock in clocks:
        found = [by[clock] for by in gains(steps).values() if clock in by]
        once = sum(len(seen) == 1 for seen in found)
        alone = sum(len({one.trajectory.problem for one in seen}) == 1 for seen in found)
        known = [gain([effect_of(one, clock) for one in seen]) for seen in found if len(seen) > 1]
        unsure = sum(bool(one.low and one.high and one.low < 1 < one.high) for one in known)
        counts = map(str, (len(found), once, alone, unsure))
        yield clock.target, clock.metric, clock.device, *counts


def alike(trajectories: Sequence[Trajectory]) -> str:
    pairs = alike_problems(trajectories)
    return ", ".join(f"{one} and {other} ({share:.0%})" for one, other, share in pairs) or "none"


def claims(steps: Iterable[SeenStep], techniques: Iterable[Technique]) -> Iterator[Sequence[str]]:
    """Steps whose diff shows another technique than they say, or none."""
    known = {technique.id: technique for technique in techniques}
    for step in steps:
        said = known.get(step.step.technique or "")
        if said is None or step.trajectory.disclosed != "code":
            continue
        rivals = [one for one in known.values() if one.target == said.target]
        done = deed(said, before(step.trajectory, step.number), step.step.code, rivals)
        if done.applied != "asked":
            yield step.trajectory.problem, step_name(step), said.id, done.technique or done.applied


def short_times(steps: Iterable[SeenStep]) -> Iterator[Sequence[str]]:
    """Problems of a device whose fastest code takes hardly longer than a launch."""
    fastest: dict[tuple[str, str], float] = {}
    for step in steps:
        for clock, one in step.counted.items():
            if clock.metric == "device" and one.seconds is not None:
                key = step.trajectory.problem, clock.device
                fastest[key] = min(one.seconds, fastest.get(key, one.seconds))
    for (problem, device), seconds in sorted(fastest.items()):
        if seconds < _SHORT_SECONDS:
            yield problem, device, report.seconds(seconds)
