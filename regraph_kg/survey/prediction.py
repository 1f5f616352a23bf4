"""What a graph of the other fields would have said of each step: its technique, and its gain.

Each field's steps are predicted from the trajectories of all other fields: the techniques of a
target are ranked by how many problems took them after the step's source, then by how many took them
at all. Beside it stand the same without the source (frequency), and no knowledge (chance). Not
covered: the code's own facts, which a search also goes by.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import correlation, fmean, median

from regraph_kg.models.target import TARGETS, Target
from regraph_kg.survey.facts import SeenStep, TimingKey

FIRST = 5
"""Techniques that a search would ask for first."""
_LEAST_PAIRS = 3
"""Fewer steps have no correlation."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """How a way of ranking did on the steps of fields that it had not seen."""

    how: str
    steps: int
    rank: float
    """Of the technique taken, from 1, at the median; equals share the mean of their places."""
    choices: int
    """Techniques to choose from, at the median."""
    first: float
    """The share of steps whose technique is among the first `FIRST`."""


def predictions(
    steps: Sequence[SeenStep], fields: Mapping[str, str]
) -> Iterator[tuple[Target, Sequence[Prediction]]]:
    """By target: the graph, frequency and chance.

    `fields` says which field a problem is of; one without is a field of its own.
    """
    for target in TARGETS:
        of_target = [step for step in steps if step.trajectory.target == target]
        graph, frequency, choices = list[float](), list[float](), list[int]()
        for field in sorted({_field(one, fields) for one in of_target}):
            seen = [one for one in of_target if _field(one, fields) != field]
            after, taken = _problems(seen)
            for one in of_target:
                source, technique = one.pair
                if _field(one, fields) != field or technique not in taken:
                    continue  # what no other field has nobody could foretell
                scores = {name: (after[source, name], taken[name]) for name in taken}
                graph.append(_rank(technique, scores))
                frequency.append(_rank(technique, {name: (0, taken[name]) for name in taken}))
                choices.append(len(taken))
        if choices:
            yield target, _compared(graph, frequency, choices)


def _compared(
    graph: Sequence[float], frequency: Sequence[float], choices: Sequence[int]
) -> list[Prediction]:
    known, steps = round(median(choices)), len(choices)
    chance = median((count + 1) / 2 for count in choices)
    return [
        Prediction("the graph", steps, median(graph), known, _first(graph)),
        Prediction("frequency", steps, median(frequency), known, _first(frequency)),
        Prediction("chance", steps, chance, known, fmean(min(1, FIRST / n) for n in choices)),
    ]


def _first(ranks: Sequence[float]) -> float:
    return fmean(rank <= FIRST for rank in ranks)


def gain_correlation(
    steps: Sequence[SeenStep], fields: Mapping[str, str], clock: TimingKey
) -> tuple[int, float | None, float | None]:
    """Of log effects with those of the same transition, and of the same technique, elsewhere.

    The steps that have both; the two correlations, None where there are too few.
    """
    effects = [
        (one, log2(effect))
        for one in steps
        if (measured := one.counted.get(clock)) and (effect := measured.effect) is not None
    ]
    rows = list[tuple[float, float, float]]()
    for one, log_effect in effects:
        others = [pair for pair in effects if _field(pair[0], fields) != _field(one, fields)]
        same = [gain for other, gain in others if other.pair == one.pair]
        alike = [gain for other, gain in others if other.pair[1] == one.pair[1]]
        if same:
            rows.append((log_effect, fmean(same), fmean(alike)))
    if len(rows) < _LEAST_PAIRS:
        return len(rows), None, None
    gained = [row[0] for row in rows]
    of_transition, of_technique = ([row[column] for row in rows] for column in (1, 2))
    return len(rows), _correlation(gained, of_transition), _correlation(gained, of_technique)


def _field(step: SeenStep, fields: Mapping[str, str]) -> str:
    return fields.get(step.trajectory.problem, step.trajectory.problem)


def _problems(steps: Iterable[SeenStep]) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """How many problems took a technique after another, and how many took it at all."""
    pairs = {(one.trajectory.problem, one.pair) for one in steps}
    taken = {(problem, technique) for problem, (_, technique) in pairs}
    return Counter(pair for _, pair in pairs), Counter(technique for _, technique in taken)


def _rank(technique: str, score: Mapping[str, tuple[int, int]]) -> float:
    better = sum(other > score[technique] for other in score.values())
    equal = sum(other == score[technique] for other in score.values())
    return better + (equal + 1) / 2


def _correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    return correlation(one, other) if len(set(one)) > 1 and len(set(other)) > 1 else None
