"""What trajectory files say of problems, transitions and each other: figures, no graph needed.

Of each step the newest judge's latest sound measurement counts, on each device and by each metric,
whose times are never mixed. Not covered: names that no one has resolved are techniques of their
own; code is compared by its tokens, so that renamed variables make it another.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import correlation, fmean, stdev
from typing import NamedTuple

from regraph_kg.evaluation.timing.estimate import student
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import start_id
from regraph_kg.models.trajectory import Measurement, Step, Trajectory

_ALIKE = 0.9
"""From this share of common token runs on, two codes are nearly equal."""
_ALIKE_PROBLEMS = 0.8
_WORDS = {
    *("for", "while", "do", "if", "else", "switch", "case", "break", "continue", "return"),
    *("const", "static", "struct", "void", "char", "short", "int", "long", "unsigned", "signed"),
    *("float", "double", "bool", "auto", "sizeof", "template", "typename", "using", "namespace"),
}
"""Of C++, which tell the shape of a code."""
_RUN = 5
"""Tokens in a row that are compared as one."""
_TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9][\w.]*|\S")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class TimingKey(NamedTuple):
    """What a time was taken with; times of two are never mixed."""

    target: Target
    device: str
    metric: str


class Coverage(NamedTuple):
    """The newest judge whose measurement of a step by a metric counts, on whatever device."""

    step: "SeenStep"
    judge: int | None
    newest: bool
    """Of all judges that measured anything in the corpus."""
    noisy: bool
    """It was measured, if only too noisily to count."""


class SeenStep(NamedTuple):
    """One step of a trajectory, its pair of techniques, and what counts of its measurements."""

    trajectory: Trajectory
    number: int
    pair: tuple[str, str]
    step: Step
    counted: Mapping[TimingKey, Measurement]


@dataclass(frozen=True, slots=True)
class GainEstimate:
    """Geometric mean of effects, with Student's 95 % interval where there are several."""

    count: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class LikePair:
    """Two trajectories of one problem with steps whose codes are nearly equal."""

    first: Trajectory
    second: Trajectory
    steps: tuple[tuple[int, int], ...]
    """Numbers of such steps, from 1."""


def seen_steps(trajectories: Iterable[Trajectory]) -> list[SeenStep]:
    """Every step, in order."""
    found = []
    for trajectory in trajectories:
        before = start_id(trajectory.target)
        for number, step in enumerate(trajectory.steps, start=1):
            name = step.technique or step.label
            found.append(
                SeenStep(trajectory, number, (before, name), step, _counted(trajectory, step))
            )
            before = name
    return found


def _counted(trajectory: Trajectory, step: Step) -> dict[TimingKey, Measurement]:
    newest: dict[TimingKey, Measurement] = {}
    for measurement in step.measurements:
        clock = TimingKey(trajectory.target, measurement.device, measurement.metric)
        sound = measurement.outcome is not Outcome.UNSTABLE_TIMING
        known = newest.get(clock)
        if sound and (known is None or _age(measurement) >= _age(known)):
            newest[clock] = measurement
    return newest


def _age(one: Measurement) -> tuple[int, float]:
    return judge_number(one), one.time


def judge_number(one: Measurement) -> int:
    """The judge's version; 0 where it is no number."""
    return int(one.evaluator) if one.evaluator.isdecimal() else 0


def coverage(steps: Sequence[SeenStep]) -> dict[tuple[Target, Metric], list[Coverage]]:
    """By whom each step was measured, for each target and metric that it can be timed by."""
    newest = max((judge_number(one) for step in steps for one in step.counted.values()), default=0)
    found: dict[tuple[Target, Metric], list[Coverage]] = defaultdict(list)
    for step in steps:
        target = step.trajectory.target
        for metric in sorted(TARGETS[target].metrics):
            judges = [judge_number(m) for key, m in step.counted.items() if key.metric == metric]
            tried = any(m.metric == metric for m in step.step.measurements)
            judge = max(judges, default=None)
            found[target, metric].append(Coverage(step, judge, judge == newest, noisy=tried))
    return found


def gains(steps: Iterable[SeenStep]) -> dict[tuple[str, str], dict[TimingKey, list[SeenStep]]]:
    """Steps with an effect, by transition and clock."""
    found: dict[tuple[str, str], dict[TimingKey, list[SeenStep]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for step in steps:
        for clock, one in step.counted.items():
            if one.effect is not None:
                found[step.pair][clock].append(step)
    return found


def effect_of(step: SeenStep, clock: TimingKey) -> float:
    """The effect of a step that has one there."""
    effect = step.counted[clock].effect
    assert effect is not None
    return effect


def gain(effects: Sequence[float]) -> GainEstimate:
    """What effects come to."""
    logs = [math.log(effect) for effect in effects]
    mean = fmean(logs)
    if len(logs) == 1:
        return GainEstimate(1, math.exp(mean), None, None)
    reach = student(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return GainEstimate(len(logs), math.exp(mean), math.exp(mean - reach), math.exp(mean + reach))


def agreement(
    steps: Iterable[SeenStep], *, pairs: bool
) -> dict[TimingKey, tuple[int, float | None]]:
    """How a transition's gain (or a technique's) in one problem tells of that in another.

    For each clock the number of compared pairs of problems and the correlation of their mean
    log effects, each pair taken both ways; None where it is not defined.
    """
    logs: dict[TimingKey, dict[object, dict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for step in steps:
        for clock, one in step.counted.items():
            if one.effect is not None:
                name = step.pair if pairs else step.pair[1]
                logs[clock][name][step.trajectory.problem].append(math.log(one.effect))
    return {clock: _correlated(of.values()) for clock, of in sorted(logs.items())}


def _correlated(
    seen: Iterable[Mapping[str, Sequence[float]]],
) -> tuple[int, float | None]:
    left, right = [], []
    for problems in seen:
        for one, other in combinations([fmean(logs) for logs in problems.values()], 2):
            left += [one, other]
            right += [other, one]
    defined = len(set(left)) > 1
    return len(left) // 2, correlation(left, right) if defined else None


def longest_paths(steps: Iterable[SeenStep]) -> dict[tuple[str, Target], int]:
    """Of each problem and target, the steps of its longest path that passed wherever measured."""
    longest: dict[tuple[str, Target], int] = defaultdict(int)
    ended = set[str]()
    for step in steps:
        failed = any(one.outcome is not Outcome.PASSED for one in step.counted.values())
        if failed or not step.counted:
            ended.add(step.trajectory.id)
        key = (step.trajectory.problem, step.trajectory.target)
        passed = 0 if step.trajectory.id in ended else step.number
        longest[key] = max(longest[key], passed)
    return dict(longest)


def alike_problems(trajectories: Iterable[Trajectory]) -> list[tuple[str, str, float]]:
    """Pairs of problems whose serial codes are nearly equal but for names and numbers."""
    serial = {one.problem: one.serial for one in trajectories if one.disclosed == "code"}
    runs = {name: _runs(_shape(code)) for name, code in sorted(serial.items())}
    pairs = ((one, other, alike(runs[one], runs[other])) for one, other in combinations(runs, 2))
    return sorted((pair for pair in pairs if pair[2] >= _ALIKE_PROBLEMS), key=lambda p: -p[2])


def _shape(code: str) -> list[str]:
    """Its tokens; every name that is none of `_WORDS`, and every number, is the same one."""
    named = re.compile(r"\w")
    return [
        "name" if named.match(token) and token not in _WORDS else token for token in _tokens(code)
    ]


def nearly_equal(trajectories: Sequence[Trajectory]) -> Iterator[LikePair]:
    """Trajectories of one problem and target that have steps in common, most of them first."""
    groups: dict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for trajectory in trajectories:
        if trajectory.disclosed == "code":
            groups[trajectory.problem, trajectory.target].append(trajectory)
    found = []
    for _, group in sorted(groups.items()):
        runs = {one.id: [token_runs(step.code) for step in one.steps] for one in group}
        for first, second in combinations(group, 2):
            if same := _common(runs[first.id], runs[second.id]):
                found.append(LikePair(first, second, same))
    yield from sorted(found, key=lambda pair: -len(pair.steps))


def _common(
    first: Sequence[frozenset[int]], second: Sequence[frozenset[int]]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (i, j)
        for i, one in enumerate(first, start=1)
        for j, other in enumerate(second, start=1)
        if alike(one, other) >= _ALIKE
    )


def unchanged(steps: Iterable[SeenStep]) -> list[SeenStep]:
    """Steps whose code is that before them, but for comments and spaces."""
    return [
        step
        for step in steps
        if step.trajectory.disclosed == "code"
        and _tokens(step.step.code) == _tokens(before(step.trajectory, step.number))
    ]


def before(trajectory: Trajectory, number: int) -> str:
    """The code before a step, which is numbered from 1."""
    return trajectory.steps[number - 2].code if number > 1 else trajectory.serial


def token_runs(code: str) -> frozenset[int]:
    """Runs of tokens of a code without its comments."""
    return _runs(_tokens(code))


def _runs(tokens: Sequence[str]) -> frozenset[int]:
    last = max(1, len(tokens) - _RUN + 1)
    return frozenset(hash(tuple(tokens[at : at + _RUN])) for at in range(last))


def _tokens(code: str) -> list[str]:
    return _TOKEN.findall(_COMMENT.sub(" ", code))


def alike(one: frozenset[int], other: frozenset[int]) -> float:
    """Share of the runs of either that both have."""
    return len(one & other) / len(one | other)
