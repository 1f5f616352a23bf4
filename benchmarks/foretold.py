"""How well the graph foretells a step that it has not seen, one problem left out at a time.

`python -m benchmarks.foretold [--files FILE ..]`; prints a JSON object. For each problem the
statistics of all other problems' trajectories are what `regraph next` and a search would read.
Measured, by target: the rank correlation (Spearman) of foretold and measured gains of the steps
that passed; the place of each technique that was taken and gained, among those that may be applied
to its code, by what a try promises (the mean place of equals); and the places on serial code alone.
Not measured: the judge's noise. Nothing is run: it takes a minute.
"""

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.backends.evidence import Evidence
from regraph_kg.backends.statistics import Counts, NextRows, RowKey, add, contribution, successor
from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.kinds import kind_of
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import MergePlan, Relabelled, Successor
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import Technique, start_id
from regraph_kg.models.trajectory import Trajectory, standing
from regraph_kg.search.beliefs import Foretelling, Foretold
from regraph_kg.search.fit.fit import applicable

CORPUS = Path(__file__).parents[1] / "corpus"
LEAST_GAIN = 1.05  # a step that gains less says little about what should have been taken


@dataclass(frozen=True)
class Taken:
    """A measured step."""

    source: str
    technique: str
    code: str
    kind: str
    device: str
    effect: float


def main(arguments: list[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="foretold")
    usual = sorted((CORPUS / "trajectories").glob("*.jsonl"))
    parser.add_argument("--files", type=Path, nargs="+", default=usual)
    files = parser.parse_args(arguments).files
    lines = (line for file in files for line in file.read_text().splitlines())
    trajectories = [Trajectory.model_validate_json(line) for line in lines]
    listed = json.loads((CORPUS / "techniques.json").read_text())
    techniques = [Technique.model_validate(one) for one in listed]
    print(json.dumps({target: _figures(target, trajectories, techniques) for target in TARGETS}))
    return 0


def _figures(
    target: Target, trajectories: Sequence[Trajectory], techniques: Sequence[Technique]
) -> dict[str, float]:
    mine = [one for one in trajectories if one.target == target]
    known = {one.id: one for one in techniques if one.target == target}
    whole, parts = NextRows(), defaultdict[str, NextRows](dict)
    for one in mine:
        labels = tuple(Relabelled(step.label, step.technique or "", "given") for step in one.steps)
        rows = contribution(Evidence.of(MergePlan(one, labels)))
        add(whole, rows)
        add(parts[one.problem], rows)
    told, gained, places, first, offered = [], [], [], [], []
    for problem, part in parts.items():
        rest = {key: Counts(counts) for key, counts in whole.items()}
        add(rest, part, -1)
        graph = Graph(rest, known)
        seen = set[tuple[str, str]]()
        for step in _steps(one for one in mine if one.problem == problem):
            following = graph.after(step)
            told.append(following(step.technique).gain)
            gained.append(step.effect)
            if step.effect < LEAST_GAIN or (step.code, step.technique) in seen:
                continue
            seen.add((step.code, step.technique))
            facts = facts_of(step.code)
            may = [one for one in known if applicable(known[one], facts).fits is not False]
            promises = [following(one).promise for one in {*may, step.technique}]
            place = _place(following(step.technique).promise, promises)
            places.append(place)
            offered.append(len(promises))
            if step.source == start_id(target):
                first.append(place)
    return {
        "steps": len(told),
        "correlation": round(_spearman(told, gained), 3),
        "taken": len(places),
        "median_place": statistics.median(places),
        "mean_place": round(statistics.mean(places), 1),
        "median_first": statistics.median(first),
        "mean_first": round(statistics.mean(first), 1),
        "of": round(statistics.mean(offered), 1),
    }


class Graph:
    """Statistics in memory, read as a store reads them."""

    def __init__(self, rows: NextRows, known: dict[str, Technique]) -> None:
        self._known = known
        self._edges = defaultdict[str, dict[str, dict[RowKey, Counts]]](dict)
        self._sums = defaultdict[str, dict[RowKey, Counts]](dict)
        self._read = dict[tuple[str, str, str], tuple[Successor, ...]]()
        for (pair, key), counts in rows.items():
            if any(counts.values()):
                self._edges[pair.source].setdefault(pair.target, {})[key] = counts
                self._sums[pair.target].setdefault(key, Counts()).update(counts)

    def after(self, step: Taken) -> Callable[[str], Foretold]:
        """What is foretold after a step's source."""
        pooled = self._successors(self._sums, "", step)
        edges = self._edges[step.source]
        followers = [
            one
            for one in self._successors(edges, step.source, step)
            if any(counts["examples"] for counts in edges[one.technique.id].values())
        ]
        return Foretelling(pooled, followers).of

    def _successors(
        self, rows: dict[str, dict[RowKey, Counts]], source: str, step: Taken
    ) -> tuple[Successor, ...]:
        key = (source, step.device, step.kind)
        if key not in self._read:
            self._read[key] = tuple(
                successor(self._known[name], by_key, step.device, step.kind)
                for name, by_key in rows.items()
                if name in self._known
            )
        return self._read[key]


def _steps(trajectories: Iterator[Trajectory]) -> Iterator[Taken]:
    for one in trajectories:
        source, before, kind = start_id(one.target), one.serial, kind_of(one.serial)
        for step in one.steps:
            name = step.technique or ""
            ruled_out = any(measured.ruled_out for measured in step.measurements)
            for measured in () if ruled_out else standing(step.measurements):
                if measured.outcome is Outcome.PASSED and measured.effect:
                    yield Taken(source, name, before, kind, measured.device, measured.effect)
            source, before = name, step.code


def _place(promise: float, promises: Sequence[float]) -> float:
    above = sum(other > promise for other in promises)
    return above + (1 + sum(other == promise for other in promises)) / 2


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    places = defaultdict[float, list[int]](list)
    for place, index in enumerate(order):
        places[values[index]].append(place)
    means = {value: statistics.mean(those) for value, those in places.items()}
    return [means[value] for value in values]


def _spearman(one: Sequence[float], two: Sequence[float]) -> float:
    return statistics.correlation(_ranks(one), _ranks(two))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
