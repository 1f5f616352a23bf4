"""Whether steps of like codes tell more of a step than steps of all codes: measured, not searched.

`python benchmarks/run.py likeness`; prints one JSON object. Each step of the corpus (trajectories
and collected), with its code before and its measured log effect (mean over devices), is predicted
from other problems' steps of the same technique and target: by their mean; by their mean after the
same technique ("edge"), drawn to the former as by `DRAWN` steps; and by means in which a step
weighs likeness^k, drawn so, too. Likeness of two codes: the share of predicates over facts
(search/fit/predicates.py) that hold for both, of those that hold for either ("facts"); the same,
a predicate weighing the more the fewer codes it holds for ("rare facts"); runs of three tokens
(search/code/likeness.py, "text"). "rank": at each code from which several techniques were measured,
the place of the best of them among all that fit, ordered by what is predicted. "over edge":
Spearman's correlation less that of the edges' means, with its 95 % bootstrap interval over problems
and targets. `fit`: the same rank by the edges' means, what does not fit left out or not.
Not covered: pass rates (the corpus has 15 failures), regimes, which it does not know.
"""

import json
import math
import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Step, Trajectory, standing
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.likeness import likeness
from regraph_kg.search.fit.fit import applicable
from regraph_kg.search.fit.predicates import PREDICATES
from regraph_kg.settings import read_settings
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.shipped import corpus_folder

UNKNOWN = 0.15
"""Log gain of a technique that nobody tried, as in method.md 3.2."""
DRAWN = 0.5
POWERS = (1, 2, 4)
RESAMPLES, SEED = 1_000, 1

Kernel = Callable[[str, str], float]
COLUMNS = {
    "predicted by": "{how}",
    "steps": "{steps}",
    "Spearman": "{spearman:.3f}",
    "over edge": "{over:+.3f} ({low:+.3f} to {high:+.3f})",
    "mean error, ln": "{error:.3f}",
    "codes": "{codes}",
    "rank": "{rank:.2f}",
}
FIT = {"ranked": "{ranked}", "rank of the best": "{rank:.2f}", "by chance": "{chance:.2f}"}
SECTIONS = {"rows": COLUMNS, "fit": FIT}


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """A step and its mean log effect."""

    problem: str
    target: Target
    before: str
    source: str
    technique: str
    effect: float


Predict = Callable[[MeasuredStep, Sequence[MeasuredStep]], float]
"""A step, and other problems' steps of its target -> its log effect."""


def measured_steps(corpus: Path) -> list[MeasuredStep]:
    """Those of the corpus; what several trajectories begin with comes once."""
    found = dict[tuple[str, str, str, str], MeasuredStep]()
    files = (one for kind in ("trajectories", "collected") for one in (corpus / kind).glob("*"))
    for path in sorted(files):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = Trajectory.model_validate_json(line)
            before, source = one.serial, start_id(one.target)
            for step in one.steps:
                technique, effect = step.technique or "", _effect(step)
                if technique and effect is not None:
                    found[one.problem, technique, before, step.code] = MeasuredStep(
                        one.problem, one.target, before, source, technique, effect
                    )
                before, source = step.code, technique
    return list(found.values())


def _effect(step: Step) -> float | None:
    by_device = defaultdict[str, list[float]](list)
    for one in standing(step.measurements):
        if one.effect is not None:
            by_device[one.device].append(math.log(one.effect))
    return statistics.mean(map(statistics.mean, by_device.values())) if by_device else None


@cache
def holding(code: str) -> frozenset[str]:
    """Predicates that hold for a code."""
    facts = facts_of(code)
    return frozenset(name for name, one in PREDICATES.items() if one.holds(facts))


def by_facts(weights: Callable[[str], float], one: str, other: str) -> float:
    """Jaccard's index of the predicates that hold, weighted."""
    either = sum(map(weights, sorted(holding(one) | holding(other))))
    return sum(map(weights, sorted(holding(one) & holding(other)))) / either if either else 1.0


def rarity(codes: set[str]) -> Callable[[str], float]:
    """What a predicate weighs: the log of how few codes it holds for."""
    held = Counter(name for code in codes for name in holding(code))
    return lambda name: math.log((len(codes) + 1) / (held[name] + 0.5))


def mean(step: MeasuredStep, others: Sequence[MeasuredStep]) -> float:
    """Of the technique's effects, and one unknown one."""
    known = [other.effect for other in others if other.technique == step.technique]
    return (sum(known) + UNKNOWN) / (len(known) + 1)


def weighted(
    step: MeasuredStep, others: Sequence[MeasuredStep], *, kernel: Kernel, power: int, edge: bool
) -> float:
    """The technique's effects, on like codes above all; `edge`: after its source alone."""
    alike = [
        (kernel(step.before, other.before) ** power, other.effect)
        for other in others
        if other.technique == step.technique and (other.source == step.source or not edge)
    ]
    total = sum(weight * effect for weight, effect in alike) + DRAWN * mean(step, others)
    return total / (sum(weight for weight, _ in alike) + DRAWN)


def ways(steps: Sequence[MeasuredStep]) -> Iterator[tuple[str, Predict]]:
    """All that is compared, the edges' means first."""
    yield "edge: mean", partial(weighted, kernel=lambda one, other: 1.0, power=1, edge=True)
    yield "technique: mean", mean
    weights = rarity({step.before for step in steps})
    kernels: dict[str, Kernel] = {
        "facts": partial(by_facts, lambda name: 1.0),
        "rare facts": partial(by_facts, weights),
        "text": likeness,
    }
    for edge in (True, False):
        for name, kernel in kernels.items():
            for power in POWERS:
                scope = "edge" if edge else "technique"
                how = partial(weighted, kernel=kernel, power=power, edge=edge)
                yield f"{scope}: {name}^{power}", how


def others_of(step: MeasuredStep, steps: Sequence[MeasuredStep]) -> list[MeasuredStep]:
    """Other problems' steps of its target."""
    return [one for one in steps if one.problem != step.problem and one.target == step.target]


def ranks(
    steps: Sequence[MeasuredStep], known: Sequence[Technique], predict: Predict, *, fit: bool
) -> list[tuple[float, int]]:
    """At each code: the best technique's place, and among how many."""
    tried = defaultdict[tuple[str, Target, str], list[MeasuredStep]](list)
    for step in steps:
        tried[step.problem, step.target, step.before].append(step)
    found = []
    for (problem, target, before), several in tried.items():
        best = max(several, key=lambda one: one.effect)
        if len({one.technique for one in several}) == 1:
            continue
        names = {
            one.id
            for one in known
            if one.target == target and one.id != start_id(target)
            and not (fit and applicable(one, facts_of(before)).fits is False)
        } | {best.technique}  # fmt: skip
        asked = {
            name: MeasuredStep(problem, target, before, best.source, name, 0.0) for name in names
        }
        told = {name: predict(one, others_of(one, steps)) for name, one in asked.items()}
        mine = told[best.technique]
        above = sum(one > mine for one in told.values())
        equal = sum(one == mine for one in told.values()) - 1
        found.append((1 + above + equal / 2, len(names)))
    return found


def spearman(pairs: Sequence[tuple[float, float]]) -> float:
    """Correlation of ranks; 0 where one of the two never varies."""
    predicted, measured = zip(*pairs, strict=True)
    if len(set(predicted)) == 1 or len(set(measured)) == 1:
        return 0.0
    return statistics.correlation(_places(predicted), _places(measured))


def _places(values: Sequence[float]) -> list[float]:
    """Of equals the middle one."""
    return [
        sum(one < value for one in values) + sum(one == value for one in values) / 2
        for value in values
    ]


Pairs = dict[tuple[str, Target], list[tuple[float, float]]]
"""Predicted and measured, by problem and target."""


def predictions(steps: Sequence[MeasuredStep], predict: Predict) -> Pairs:
    """Of the steps whose technique another problem has, too."""
    found: Pairs = defaultdict(list)
    for step in steps:
        others = others_of(step, steps)
        if any(other.technique == step.technique for other in others):
            found[step.problem, step.target].append((predict(step, others), step.effect))
    return found


def beyond(one: Pairs, other: Pairs) -> tuple[float, float]:
    """95 % bootstrap interval of the difference of two correlations."""
    rng, groups, drawn = random.Random(SEED), sorted(one), list[float]()
    for _ in range(RESAMPLES):
        chosen = rng.choices(groups, k=len(groups))
        mine, its = ([pair for key in chosen for pair in told[key]] for told in (one, other))
        drawn.append(spearman(mine) - spearman(its))
    drawn.sort()
    return drawn[round(0.025 * RESAMPLES)], drawn[round(0.975 * RESAMPLES) - 1]


def rows(steps: Sequence[MeasuredStep], known: Sequence[Technique]) -> Iterator[dict[str, object]]:
    """The table's."""
    base: Pairs = {}
    for how, predict in ways(steps):
        told = predictions(steps, predict)
        base = base or told
        pairs = [pair for several in told.values() for pair in several]
        low, high = beyond(told, base)
        figures = {
            "steps": len(pairs),
            "spearman": spearman(pairs),
            "over": spearman(pairs) - spearman([pair for one in base.values() for pair in one]),
            "low": low,
            "high": high,
            "error": statistics.mean(abs(one - other) for one, other in pairs),
        }
        places = ranks(steps, known, predict, fit=True)
        figures["codes"] = len(places)
        yield {"how": how, **figures, "rank": statistics.mean(one for one, _ in places)}


def unfiltered(
    steps: Sequence[MeasuredStep], known: Sequence[Technique]
) -> Iterator[dict[str, object]]:
    """What it is worth to leave out what does not fit."""
    _, predict = next(ways(steps))
    for fit, ranked in ((True, "all that fit"), (False, "all of the target")):
        places = ranks(steps, known, predict, fit=fit)
        yield {
            "ranked": ranked,
            "rank": statistics.mean(place for place, _ in places),
            "chance": statistics.mean((many + 1) / 2 for _, many in places),
        }


def main() -> None:
    settings = read_settings()
    steps = measured_steps(corpus_folder(settings))
    known = read_vocabulary(settings)
    print(json.dumps({"rows": [*rows(steps, known)], "fit": [*unfiltered(steps, known)]}))


if __name__ == "__main__":
    main()
