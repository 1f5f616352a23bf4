"""What is to be mended in a corpus: transitions that say little, doubles, claims, short times.

Not here: what was measured (report.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from regraph_kg import report
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.fit.applied import deed
from regraph_kg.search.fit.fit import applicable
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
from regraph_kg.survey.markdown import cell, step_name

_TIERS = (("none verified", 0, 0), ("easy", 1, 2), ("medium", 3, 5), ("hard", 6, 99))
"""By the steps of the longest verified path (docs/dev/method.md)."""
GAINED = 1.05
"""An effect below this is no gain."""
_CODES = 100
"""Codes of a target, against which entries are tried."""
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


def alike_in_words(trajectories: Sequence[Trajectory]) -> str:
    """Problems of nearly the same serial code."""
    pairs = alike_problems(trajectories)
    return (
        ", ".join(f"{cell(one)} and {cell(other)} ({share:.0%})" for one, other, share in pairs)
        or "none"
    )


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


def preconditions(
    steps: Sequence[SeenStep], techniques: Iterable[Technique]
) -> Iterator[Sequence[str]]:
    """Entries of `needs` and `pointless` that rule out recorded steps, the most of them first.

    Beside them: how many of these gained somewhere, and the share of all codes that is ruled out.
    """
    shown = [step for step in steps if step.trajectory.disclosed == "code"]
    codes = {target: _spread(shown, target) for target in TARGETS}
    rows = []
    for technique in techniques:
        own = [step for step in shown if step.step.technique == technique.id]
        for entry, alone in _entries(technique) if own else ():
            against = [step for step in own if _rules_out(alone, _code_before(step))]
            if against:
                every = codes[technique.target]
                share = sum(_rules_out(alone, code) for code in every) / len(every)
                gained = sum(not in_vain(step) for step in against if step.counted)
                of = f"{len(against)} of {len(own)}"
                rows.append((len(against), (technique.id, entry, of, str(gained), f"{share:.0%}")))
    yield from (row for _, row in sorted(rows, key=lambda row: (-row[0], row[1])))


def _entries(technique: Technique) -> Iterator[tuple[str, Technique]]:
    """Each entry, and the technique with it alone."""
    bare: dict[str, tuple[str, ...]] = {"needs": (), "pointless": ()}
    for kind in bare:
        for entry in getattr(technique, kind):
            alone = technique.model_copy(update=bare | {kind: (entry,)})
            yield f"{kind} {entry.replace('|', ' or ')}", alone


def _spread(steps: Sequence[SeenStep], target: Target) -> list[str]:
    """Codes before steps of a target, at most so many from all over them."""
    codes = [_code_before(step) for step in steps if step.trajectory.target == target]
    return codes[:: max(1, -(-len(codes) // _CODES))]


def _rules_out(technique: Technique, code: str) -> bool:
    return applicable(technique, _facts(code)).fits is False


def _code_before(step: SeenStep) -> str:
    return before(step.trajectory, step.number)


_facts = lru_cache(4096)(facts_of)


def in_vain(step: SeenStep) -> bool:
    """Whether a step gained nowhere."""
    passed = [one for one in step.counted.values() if one.outcome is Outcome.PASSED]
    effects = [one.effect for one in passed if one.effect is not None]
    if passed and not effects:
        return False  # by how much is not known
    return bool(step.counted) and all(effect < GAINED for effect in effects)


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
