"""What a search on one problem is worth to the next: evaluations to 90 % of the best.

`python benchmarks/run.py learning [--quick] [--jobs N]`; prints one JSON object. Problem A is
searched, harvested and learned; problem B is searched on the graph as it was (before) and on the
graph that learned (after), its own share left out of both. Pairs of searches have the same problem,
answers and order of successors, so their ratio is paired: geometric mean, and in brackets a 95 %
bootstrap interval over pairs. Above 1 learning helped. The best is the best that any of B's
searches found; a search that did not reach 90 % of it counts as having spent its budget.

Answers "recorded": the corpus' four problems for OpenMP with their recorded answers, all ordered
pairs, with verdicts from benchmarks/verdicts.py; A's search sees neither problem's own
trajectories. The pairs share four problems, so the intervals are too narrow. The graph begins
measured as the corpus was, or as if nobody had measured it. Searched until nothing is recorded any
more.
Answers "made up": problems that have 80 % in common (benchmarks/made_up.py), a graph that was never
measured, 300 calls.

After what: "taught" by A, "examples" of A's runs alone, without measurements and failures (nothing
was learned but which ways there are), "unrelated": taught by a problem that has nothing in common
with B, "taught by 8" similar ones, "known of A": told each transition's true gain and chance to
fail on A, "known": on B itself, more than any learning can tell a prior.
`alike`: how much two problems have in common in what searches on them measured: correlation, over
the transitions on which both had verified code, of mean log gains and of shares that passed, and
the spread (standard deviation) of those gains.
"""

import argparse
import json
import math
import os
import random
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import Any

from benchmarks import made_up, recorded
from benchmarks.taught import Graph, Problem, best, head, learned, reached, search
from regraph_kg.backends.evidence import Pair
from regraph_kg.models.graph import EFFECT_SCALE
from regraph_kg.models.run import SimulationRecord
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.run_record import RunRecord

SETTINGS = McgsSettings(free=False)
"""What a model does where it is free to choose is of no transition: it would teach nothing."""
MANY = 8
"""Similar problems that taught a graph."""
SIMILAR = 0.8
SEEDS = range(1, 801, 2)
"""Odd ones: what was tried while the search was tuned were even ones (docs/dev/LOG.md)."""
ORDERS = range(3)
"""Orders of successors with equally many examples."""
CALLS, ALL_CALLS = 300, 2_000
"""Of a search on made-up and on recorded answers; the latter end before."""
NEAR_BEST = 0.9
EARLY = 25
"""Evaluations after which the searches are compared, too."""
RESAMPLED = 4_000

Records = Sequence[SimulationRecord]
Arms = Mapping[str, Records]
"""Searches of one problem by what the graph knew; "before" is one of them."""


def examples_alone(trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """What was done, and nothing of how it came out."""
    return map(recorded.unmeasured, trajectories)


@dataclass(frozen=True)
class Bench:
    """How many calls a search has."""

    calls: int

    def search(self, problem: Problem, graph: Graph, seed: int) -> RunRecord:
        """A whole search."""
        return search(problem, graph, head(problem, SETTINGS, self.calls, seed))

    def taught_by(self, problem: Problem, graph: Graph, seed: int) -> Sequence[Trajectory]:
        """What a search of `problem` teaches."""
        return learned(problem, self.search(problem, graph, seed))

    def arms(self, problem: Problem, seed: int, graphs: Mapping[str, Callable[[], Graph]]) -> Arms:
        """The same search on each graph."""
        return {name: self.search(problem, graph(), seed).records for name, graph in graphs.items()}


def on_recorded(bench: Bench, measured: bool, run: tuple[tuple[str, str], int]) -> Arms:
    """Searches of the second problem of a pair, after the first, in one order of successors."""
    pair, order = run
    first, second = map(recorded.problem, pair)
    graph = recorded.graph(pair[1], measured=measured)
    told = bench.taught_by(first, graph.without(pair[0]), order)
    graphs = {
        "before": lambda: graph,
        "taught": lambda: graph.told(told),
        "examples": lambda: graph.told(examples_alone(told)),
    }
    return bench.arms(second, order, graphs)


def on_made_up(bench: Bench, seed: int) -> Arms:
    """Searches of a made-up problem after similar ones, after another one, and after nothing."""
    made, first = (made_up.Made(name, seed, SIMILAR) for name in "ba")
    graph = made_up.graph(seed)

    def teach(others: Iterable[made_up.Made]) -> list[Trajectory]:
        return [one for other in others for one in bench.taught_by(other.problem, graph, seed)]

    told = teach([first])
    similar = (made_up.Made(f"a{number}", seed, SIMILAR) for number in range(1, MANY))
    return bench.arms(
        made.problem,
        seed,
        {
            "before": lambda: graph,
            "taught": lambda: graph.told(told),
            "examples": lambda: graph.told(examples_alone(told)),
            "unrelated": lambda: graph.told(teach([made_up.Made("c", seed, 0.0)])),
            "taught by 8": lambda: graph.told([*told, *teach(similar)]),
            "known of A": lambda: made_up.known(graph, first),
            "known": lambda: made_up.known(graph, made),
        },
    )


@dataclass(frozen=True)
class Ratio:
    """A geometric mean of paired ratios and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, logs: Sequence[float]) -> "Ratio":
        """Of ratios' logarithms."""
        rng = random.Random(0)
        means = sorted(statistics.fmean(rng.choices(logs, k=len(logs))) for _ in range(RESAMPLED))
        low, high = means[round(0.025 * RESAMPLED)], means[round(0.975 * RESAMPLED) - 1]
        return cls(*(round(math.exp(one), 3) for one in (statistics.fmean(logs), low, high)))


def evaluations(arms: Arms) -> dict[str, tuple[int, bool]]:
    """Evaluations to 90 % of the best that any arm found, and whether it was reached."""
    goal = NEAR_BEST * max(map(best, arms.values()))
    found = {name: (records, reached(records, goal)) for name, records in arms.items()}
    return {
        name: (spent(records) if needed is None else needed, needed is not None)
        for name, (records, needed) in found.items()
    }


def spent(records: Records) -> int:
    """Evaluations of a whole search."""
    return max(1, sum(step.cost.evaluations for record in records for step in record.steps))


def summary(runs: Sequence[Arms]) -> Iterator[dict[str, Any]]:
    """A row for each arm but "before"."""
    needed = [evaluations(arms) for arms in runs]
    for arm in runs[0]:
        if arm == "before":
            continue
        early, ends = (
            [math.log(best(arms[arm], until) / best(arms["before"], until)) for arms in runs]
            for until in (EARLY, math.inf)
        )
        yield {
            "after": arm,
            "pairs": len(runs),
            "median_before": statistics.median(one["before"][0] for one in needed),
            "median_after": statistics.median(one[arm][0] for one in needed),
            "not_reached_before": sum(not one["before"][1] for one in needed),
            "not_reached_after": sum(not one[arm][1] for one in needed),
            "fewer_by": vars(
                Ratio.of([math.log(one["before"][0] / one[arm][0]) for one in needed])
            ),
            "better_early_by": vars(Ratio.of(early)),
            "better_by": vars(Ratio.of(ends)),
        }


Rates = Mapping[Pair, tuple[float, float]]
"""Mean log gain and share that passed, by transition."""


def rates(graph: Graph) -> Rates:
    """Of the transitions on which something passed."""
    found = {}
    for pair, rows in graph.rows.items():
        counts = sum((tally.counts for tally in rows.values()), Counter[str]())
        if counts["verified"]:
            gain = counts["sum_log2_effect"] / EFFECT_SCALE * math.log(2) / counts["verified"]
            found[pair] = (gain, counts["verified"] / counts["tried"])
    return found


def measured_on(problem: Problem, graph: Graph, calls: int) -> Rates:
    """What a search of `problem` measures."""
    told = Bench(calls).taught_by(problem, graph, 0)
    return rates(Graph(graph.techniques).told(told))


def alike(world: str, pairs: Iterable[tuple[Rates, Rates]]) -> dict[str, Any]:
    """How much the problems of each pair have in common, all transitions together."""
    both = [(a[edge], b[edge]) for a, b in pairs for edge in a.keys() & b.keys()]
    gains, passes = ([(a[place], b[place]) for a, b in both] for place in (0, 1))
    return {
        "problems": world,
        "transitions": len(both),
        "gains": round(statistics.correlation(*zip(*gains, strict=True)), 2),
        "passes": round(statistics.correlation(*zip(*passes, strict=True)), 2),
        "spread": round(statistics.stdev(one for pair in gains for one in pair), 2),
    }


def likenesses() -> Iterator[dict[str, Any]]:
    """Of the recorded problems, and of made-up ones."""
    measured = {
        name: measured_on(recorded.problem(name), recorded.graph(name, measured=False), ALL_CALLS)
        for name in recorded.names()
    }
    yield alike("recorded", ((measured[a], measured[b]) for a, b in combinations(measured, 2)))
    for similar in (SIMILAR, 0.0):
        seeds = list(SEEDS)[:8]
        one, other = (
            [
                measured_on(made_up.Made(name, seed, similar).problem, made_up.graph(seed), CALLS)
                for seed in seeds
            ]
            for name in "ab"
        )
        pairs = zip(one, other, strict=True)
        yield alike(f"made up, {similar:.0%} in common", pairs)


Task = tuple[dict[str, Any], Callable[[Any], Arms], Sequence[Any]]
"""What the rows of a kind are called, how one of its runs goes, and of what."""


def tasks(quick: bool) -> Iterator[Task]:
    """All kinds of runs."""
    orders, seeds = (ORDERS[:1], SEEDS[:2]) if quick else (ORDERS, SEEDS)
    pairs = [(pair, order) for pair in permutations(recorded.names(), 2) for order in orders]
    method = SETTINGS.method
    about = {"answers": "made up", "graph": "never measured", "method": method}
    yield about, partial(on_made_up, Bench(CALLS)), seeds
    for measured in (False, True):
        about = {"answers": "recorded", "graph": "measured" if measured else "never measured"}
        yield about | {"method": method}, partial(on_recorded, Bench(ALL_CALLS), measured), pairs


def main() -> None:
    parser = argparse.ArgumentParser(description="What a search is worth to the next.")
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    asked = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for about, run, of in tasks(asked.quick):
            rows += [about | row for row in summary(list(pool.map(run, of)))]
            print(f"learning: {about}", file=sys.stderr)
    print(json.dumps({"rows": rows, "alike": list(likenesses())}))


if __name__ == "__main__":
    main()
