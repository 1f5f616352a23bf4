"""A corpus told in tables: gains, gaps, doubles and dead ends, as Markdown.

Long tables keep what is seen most, and say how much is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from regraph_kg import report
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Measurement, RooflinePosition, Trajectory
from regraph_kg.survey.facts import (
    Coverage,
    GainEstimate,
    SeenStep,
    TimingKey,
    agreement,
    coverage,
    effect_of,
    gain,
    gains,
    nearly_equal,
    seen_steps,
    unchanged,
)
from regraph_kg.survey.markdown import cell, reference, short, step_name, step_names, table
from regraph_kg.survey.prediction import FIRST, gain_correlation, predictions
from regraph_kg.survey.quality import (
    GAINED,
    alike_in_words,
    claims,
    in_vain,
    preconditions,
    short_times,
    tiers,
    weak,
)

_MOST_TRANSITIONS, _MOST_ROWS = 100, 40
"""Rows of a table."""
_GOOD = 0.5
"""Share of a roof: twice the time that it allows."""
_SLOWER = 0.95
"""Effects between this and 1 are as good as none."""
_LEAST_PERCENT, _WHOLE_PERCENT = 0.001, 10.0
_TOO_WIDE = 1000.0
"""An interval over such a factor says nothing."""
_MOST_NAMES = 40
"""Trajectories in a cell."""
_HEAD = """# Corpus report

Made by `regraph corpus report` from trajectories, vocabulary and fields. An effect is the time
before a step over the time after it, a speedup the serial code's time over it; both on one machine
in one session. Of each step the newest judge's latest measurement counts, on each device and by
each metric ("call": host pointers, transfers inside the clock; "device": device pointers). Where
that judge has not measured a step, an older one's figure stands, and the tables below say whose.
Effects of several steps are their geometric mean with Student's 95 % interval ("anything" where it
spans a factor of over 1,000); n is their number.
"""


def corpus_report(
    trajectories: Sequence[Trajectory],
    techniques: Sequence[Technique],
    fields: Mapping[str, str] | None = None,
) -> str:
    """The report on a corpus, with the vocabulary's techniques that nothing shows.

    `fields`: the field of each problem.
    """
    steps = seen_steps(trajectories)
    parts = [
        _HEAD,
        _counts(trajectories, steps),
        *_figures(steps, fields or {}),
        *_doubts(trajectories, steps, techniques),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _figures(steps: Sequence[SeenStep], fields: Mapping[str, str]) -> list[str]:
    return [
        "## Devices\n",
        table("device|target|metric|judge|steps|passed|median effect|toolchain", _devices(steps)),
        *_judges(steps),
        "## Problems\n\nThe fastest step of each, and how near it comes to the roof of its device's"
        " memory and arithmetic (-: the judge did not know the roofs).\n",
        table("problem|target|metric|device|judge|speedup|memory|compute|step", _problems(steps)),
        "## Good ends\n\nProblems whose fastest step needs at most twice the time of a roof.\n",
        table("target|metric|device|problems|of|which", _good_ends(steps)),
        "## Tiers\n\nProblems by their longest verified path: 1 or 2 steps, 3 to 5, more.\n",
        table("target|tier|problems|which", tiers(steps)),
        *_transitions(steps),
        "## Weak transitions\n\nSeen once, in one problem alone, or with an interval around 1.\n",
        table(
            "target|metric|device|transitions|once|one problem|around 1",
            weak(steps, _clocks(steps)),
        ),
        "## Do gains carry over?\n\nCorrelation of the mean log effects of one transition (or one"
        " technique, whatever was before it) in two problems, over all pairs of problems that have"
        " both. Of a dozen pairs it tells little.\n",
        table("target|metric|device|of|pairs of problems|correlation", _carried(steps)),
        *_predicted(steps, fields),
    ]


def _doubts(
    trajectories: Sequence[Trajectory], steps: Sequence[SeenStep], techniques: Sequence[Technique]
) -> list[str]:
    return [
        "## Techniques without an example\n",
        *_unseen(steps, techniques),
        "## Nearly equal\n\nTrajectories of one problem with steps of nearly the same code: 9 of 10"
        " of their runs of five tokens.\n",
        table(
            "problem|target|one|other|steps of one = of other", _doubles(trajectories), _MOST_ROWS
        ),
        f"Problems of nearly the same serial code but for names: {alike_in_words(trajectories)}.\n",
        "Steps that change no code: " + (step_names(unchanged(steps)) or "none") + ".\n",
        "## Claims\n\nSteps whose code has no mark of the technique that they say"
        " (`leaves` of the vocabulary).\n",
        table("problem|step|says|shows", claims(steps, techniques), _MOST_ROWS),
        "## Preconditions\n\nEntries of the vocabulary that rule out recorded steps, how many of"
        " these gained 5 % somewhere, and how much of all codes they rule out.\n",
        table(
            "technique|entry|steps|gained|of all codes",
            preconditions(steps, techniques),
            _MOST_ROWS,
        ),
        "## Too short to tell\n\nWhat takes less than 10 us on a device is mostly its launch.\n",
        table("problem|device|fastest", short_times(steps)),
        "## Dead ends\n\nTechniques that were tried and failed, and how.\n",
        table("technique|failed|outcomes", _failures(trajectories, steps), _MOST_ROWS),
        f"Steps that made code slower (effect below {_SLOWER}), the worst first.\n",
        table("problem|step|metric|device|effect", _slower(steps), _MOST_ROWS),
    ]


def _counts(trajectories: Sequence[Trajectory], steps: Sequence[SeenStep]) -> str:
    problems = {trajectory.problem for trajectory in trajectories}
    pairs = {(step.trajectory.target, step.pair) for step in steps}
    failures = sum(len(trajectory.failures) for trajectory in trajectories)
    vain = failures + sum(in_vain(step) for step in steps)
    share = vain / max(1, len(steps) + failures)
    lengths = sorted(len(step.step.reasoning) for step in steps) or [0]
    return (
        f"{len(trajectories)} trajectories of {len(problems)} problems: {len(steps)} steps of"
        f" {len(pairs)} transitions, {failures} attempts that failed. Of steps and attempts"
        f" {share:.0%} failed, or gained less than {GAINED - 1:.0%} wherever they were measured."
        f" Reasons have {lengths[0]} to {lengths[-1]} characters,"
        f" {lengths[len(lengths) // 2]} at the median.\n"
    )


def _clocks(steps: Iterable[SeenStep]) -> list[TimingKey]:
    return sorted({clock for step in steps for clock in step.counted})


def _devices(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    for clock in _clocks(steps):
        by_judge: dict[tuple[str, str], list[Measurement]] = defaultdict(list)
        for step in steps:
            if one := step.counted.get(clock):
                by_judge[one.evaluator, one.toolchain].append(one)
        for (judge, toolchain), found in sorted(by_judge.items()):
            passed = sum(one.outcome is Outcome.PASSED for one in found)
            effects = [one.effect for one in found if one.effect is not None]
            middle = report.times(median(effects)) if effects else "-"
            numbers = (judge, str(len(found)), str(passed), middle)
            yield clock.device, clock.target, clock.metric, *numbers, toolchain


def _best(steps: Sequence[SeenStep]) -> list[tuple[tuple[str, TimingKey], tuple[float, SeenStep]]]:
    """The fastest step of each problem on each device, and its speedup."""
    best: dict[tuple[str, TimingKey], tuple[float, SeenStep]] = {}
    for step in steps:
        for clock, one in step.counted.items():
            key = (step.trajectory.problem, clock)
            if one.speedup is not None and (key not in best or one.speedup > best[key][0]):
                best[key] = (one.speedup, step)
    return sorted(best.items(), key=lambda entry: entry[0])


def _good_ends(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    near: dict[TimingKey, list[str]] = defaultdict(list)
    known = Counter[TimingKey]()
    for (problem, clock), (_, step) in _best(steps):
        if roof := step.counted[clock].roofline:
            known[clock] += 1
            if max(roof.memory, roof.compute) >= _GOOD:
                near[clock].append(problem)
    for clock, count in sorted(known.items()):
        names = near[clock]
        of = (str(len(names)), str(count), ", ".join(names) or "-")
        yield clock.target, clock.metric, clock.device, *of


def _problems(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    for (problem, clock), (speedup, step) in _best(steps):
        roof = step.counted[clock].roofline
        where = (problem, clock.target, clock.metric, clock.device, step.counted[clock].evaluator)
        yield *where, report.times(speedup), *_shares(roof), step_name(step)


def _shares(roof: RooflinePosition | None) -> tuple[str, str]:
    return ("-", "-") if roof is None else (_percent(roof.memory), _percent(roof.compute))


def _percent(share: float) -> str:
    """Two digits: "61 %", "0.027 %"; what is less than any roof tells is 0."""
    percent = 100 * share
    if percent < _LEAST_PERCENT:
        return "0 %"
    return f"{percent:.0f} %" if percent >= _WHOLE_PERCENT else f"{percent:.2g} %"


def _judges(steps: Sequence[SeenStep]) -> Iterator[str]:
    """Which steps an older judge's figures stand for, and which have none."""
    found = coverage(steps)
    newest = max((one.judge or 0 for every in found.values() for one in every), default=0)
    yield f"The newest judge here is {newest}. It has measured, of all steps:\n"
    yield table(
        "target|metric|steps|by it|by an older judge|too noisily|not at all", _covered(found)
    )
    yield "Of these it has not measured all steps:\n"
    yield table("target|metric|older figures stand|no figures", _left(found))


def _covered(found: Mapping[tuple[Target, Metric], Sequence[Coverage]]) -> Iterator[Sequence[str]]:
    for (target, metric), every in found.items():
        newest = sum(one.newest for one in every)
        older = sum(one.judge is not None for one in every) - newest
        noisy = sum(one.judge is None and one.noisy for one in every)
        counts = (len(every), newest, older, noisy, len(every) - newest - older - noisy)
        yield target, metric, *map(str, counts)


def _left(found: Mapping[tuple[Target, Metric], Sequence[Coverage]]) -> Iterator[Sequence[str]]:
    for (target, metric), every in found.items():
        older = [one.step for one in every if one.judge is not None and not one.newest]
        none = [one.step for one in every if one.judge is None]
        if older or none:
            yield target, metric, _whose(older), _whose(none)


def _whose(steps: Sequence[SeenStep]) -> str:
    """Trajectories of steps, each with how many of its own these are."""
    counts = Counter(reference(step.trajectory) for step in steps)
    every = {reference(step.trajectory): len(step.trajectory.steps) for step in steps}
    named = [
        ref if count == every[ref] else f"{ref} ({count} of {every[ref]} steps)"
        for ref, count in list(counts.items())[:_MOST_NAMES]
    ]
    more = len(counts) - len(named)
    return ", ".join(named + ([f"{more} more"] if more else [])) or "-"


def _transitions(steps: Sequence[SeenStep]) -> Iterator[str]:
    """A table a target, a column for each device and metric."""
    for target in TARGETS:
        clocks = [clock for clock in _clocks(steps) if clock.target == target]
        found = gains(step for step in steps if step.trajectory.target == target)
        if not found:
            continue
        ranked = sorted(
            found.items(), key=lambda entry: (-max(map(len, entry[1].values())), entry[0])
        )
        yield f"## Transitions: {target}\n"
        columns = "|".join(f"{clock.metric}, {cell(clock.device)}" for clock in clocks)
        rows = [
            (
                f"{short(source, target)} → {short(after, target)}",
                str(len({one.trajectory.problem for seen in by.values() for one in seen})),
                *(_gain_cell(by.get(clock, ()), clock) for clock in clocks),
            )
            for (source, after), by in ranked
        ]
        yield table(f"transition|problems|{columns}", rows, _MOST_TRANSITIONS)


def _gain_cell(seen: Sequence[SeenStep], clock: TimingKey) -> str:
    if not seen:
        return "-"
    return _gain_text(gain([effect_of(step, clock) for step in seen]))


def _gain_text(found: GainEstimate) -> str:
    if found.low is None or found.high is None:
        return f"{report.times(found.mean)}, n 1"
    reach = f"{report.times(found.low)} to {report.times(found.high)}"
    if found.high > _TOO_WIDE * found.low:
        reach = "anything"
    return f"{report.times(found.mean)} ({reach}), n {found.count}"


def _carried(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    for what, pairs in (("transition", True), ("technique", False)):
        for clock, (count, value) in agreement(steps, pairs=pairs).items():
            said = "-" if value is None else f"{value:.2f}"
            yield clock.target, clock.metric, clock.device, what, str(count), said


def _predicted(steps: Sequence[SeenStep], fields: Mapping[str, str]) -> Iterator[str]:
    """Each field, foretold by all others."""
    rows = [
        (target, one.how, str(one.steps), f"{one.rank:.3g} of {one.choices}", f"{one.first:.0%}")
        for target, every in predictions(steps, fields)
        for one in every
    ]
    if not rows:
        return
    yield (
        "## Does one field foretell another?\n\nEach field is left out, and its steps are foretold"
        " from the others: the rank of the technique that was taken, among all of its target.\n"
    )
    yield table(f"target|by|steps|rank, median|among the first {FIRST}", rows)
    gained = []
    for clock in _clocks(steps):
        count, transition, technique = gain_correlation(steps, fields, clock)
        both = ["-" if one is None else f"{one:.2f}" for one in (transition, technique)]
        gained.append((clock.target, clock.metric, clock.device, str(count), *both))
    yield (
        "Correlation of a step's log effect with the mean of the same transition, and of the same"
        " technique, in other fields.\n"
    )
    yield table("target|metric|device|steps|transition|technique", gained)


def _unseen(steps: Sequence[SeenStep], techniques: Sequence[Technique]) -> Iterator[str]:
    seen = {name for step in steps for name in step.pair}
    for target in TARGETS:
        names = sorted(
            cell(technique.name)
            for technique in techniques
            if technique.target == target
            and technique.id not in seen
            and technique.id != start_id(target)
        )
        yield f"{target}: {', '.join(names) or 'none'}.\n"


def _doubles(trajectories: Sequence[Trajectory]) -> Iterator[Sequence[str]]:
    for pair in nearly_equal(trajectories):
        where = (
            pair.first.problem,
            pair.first.target,
            reference(pair.first),
            reference(pair.second),
        )
        yield *where, ", ".join(f"{i} = {j}" for i, j in pair.steps)


def _failures(
    trajectories: Sequence[Trajectory], steps: Sequence[SeenStep]
) -> Iterator[Sequence[str]]:
    """Attempts that failed, and steps that failed wherever they were measured."""
    failed: dict[str, Counter[str]] = defaultdict(Counter)
    for trajectory in trajectories:
        for failure in trajectory.failures:
            failed[failure.technique or failure.label][failure.outcome.value] += 1
    for step in steps:
        outcomes = {one.outcome for one in step.counted.values()}
        if outcomes and Outcome.PASSED not in outcomes:
            failed[step.pair[1]].update(sorted(outcome.value for outcome in outcomes))
    ranked = sorted(failed.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    for name, outcomes_of in ranked:
        said = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes_of.items()))
        yield name, str(outcomes_of.total()), said


def _slower(steps: Sequence[SeenStep]) -> Iterator[Sequence[str]]:
    found = [
        (one.effect, step, clock)
        for step in steps
        for clock, one in step.counted.items()
        if one.effect is not None and one.effect < _SLOWER
    ]
    for effect, step, clock in sorted(found, key=lambda entry: (entry[0], entry[2])):
        where = (step.trajectory.problem, step_name(step), clock.metric, clock.device)
        yield *where, report.times(effect)
