"""Searches compared in simulated worlds, at equal calls: `mcgs` against every rival.

`python benchmarks/run.py search_worlds [--problems N] [--jobs N] [--methods A,B] [--worlds A,B]`
or `make bench-search`; prints one JSON object. A search of its own for each world, problem, method
and budget; a world's outcomes depend on what is asked alone, so methods are compared problem by
problem (benchmarks/worlds). A figure is the true level of the code that measured best, as a ratio
of speedups: geometric mean over the problems, in brackets a 95 % bootstrap interval over the
domains of four problems each. "graph": whether it has statistics, or only says what follows what.
`strangers`, `undoing` and `weak` were made by a reader who wanted the search to lose, before any
search was seen in them; `lock-in` is a toy: the graph knows nothing there, or misleads. Directions
are to be trusted, magnitudes not; nothing here says that a graph helps a small model. Not
simulated: prompts, what an example does to an answer, methods that need no graph.
"""

import argparse
import json
import math
import os
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing import Pool
from typing import Any

from benchmarks.rivals import kind_of
from benchmarks.worlds.play import Played, play
from benchmarks.worlds.world import World
from regraph_kg.runs.choice import FAST_LIMITS

OURS = ("pairs", "prerequisites", "slots", "bottlenecks")
SCEPTICS = ("strangers", "undoing", "weak")
TOY = "lock_in"
WORLDS = (*OURS, *SCEPTICS, TOY)
OWN = "mcgs"
"""The method that is compared with all others."""
RIVALS = ("ucb", "greedy-graph", "thompson", "regrapht", "mcgs-paper")
BUDGETS = (10, 25, 50, 100, 200)
DOMAIN = 4
"""Problems of a domain."""
AT_ONCE = 8
FIRST_SEED = 1000
"""Of the problems reported; those below were looked at when it was made."""
RESAMPLES = 2_000


@dataclass(frozen=True)
class Job:
    """One search."""

    world: str
    measured: bool
    problem: int
    method: str
    calls: int
    parallel: int = 1


@cache
def domain(world: str, number: int, *, measured: bool) -> World:
    """A domain of a world."""
    made: World = import_module(f"benchmarks.worlds.{world}").world(number, measured=measured)
    return made


def played(job: Job) -> Played:
    """The search of a job."""
    world = domain(job.world, job.problem // DOMAIN, measured=job.measured)
    settings = kind_of(job.method).settings()
    problem = world.problem(job.problem)
    return play(world, problem, settings, job.calls, parallel=job.parallel, seed=job.problem)


def level(job: Job) -> float:
    """What it reached."""
    return played(job).level


@dataclass(frozen=True)
class Ratio:
    """exp of a mean of paired differences, and a 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: Sequence[float]) -> "Ratio":
        """Bootstrap over domains: their problems share a graph."""
        groups = [differences[at : at + DOMAIN] for at in range(0, len(differences), DOMAIN)]
        lot = random.Random(1)
        means = sorted(
            statistics.fmean(x for group in lot.choices(groups, k=len(groups)) for x in group)
            for _ in range(RESAMPLES)
        )
        cut = RESAMPLES // 40
        found = (statistics.fmean(differences), means[cut], means[-cut - 1])
        return cls(*(round(math.exp(x), 3) for x in found))


class Bench:
    """Searches, several at once."""

    def __init__(self, problems: int, jobs: int) -> None:
        self._problems = range(FIRST_SEED, FIRST_SEED + problems)
        self._pool = Pool(jobs)

    def levels(self, **job: Any) -> list[float]:
        """What was reached on each problem."""
        jobs = [Job(problem=problem, **job) for problem in self._problems]
        return self._pool.map(level, jobs, chunksize=DOMAIN)

    def asked(self, **job: Any) -> list[Played]:
        """The whole of each search."""
        jobs = [Job(problem=problem, **job) for problem in self._problems]
        return self._pool.map(played, jobs, chunksize=DOMAIN)


def rows(bench: Bench, methods: Sequence[str], worlds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """World by world, budget by budget: ours against each rival."""
    for world in worlds:
        for measured in (True, False):
            for calls in BUDGETS:
                told = {"world": world, "measured": measured, "calls": calls}
                found = {method: bench.levels(method=method, **told) for method in methods}
                own = found.pop(OWN)
                row: dict[str, Any] = {
                    "world": world,
                    "graph": "statistics" if measured else "structure",
                    "calls": calls,
                    "speedup": round(math.exp(statistics.fmean(own)), 2),
                }
                for rival, theirs in found.items():
                    row[rival] = vars(Ratio.of([a - b for a, b in zip(own, theirs, strict=True)]))
                row["of_best_rival"] = min(row[rival]["mean"] for rival in found)
                print(row, file=sys.stderr, flush=True)
                yield row


def overall(found: Sequence[dict[str, Any]], rivals: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Geometric mean over worlds and budgets, against each rival."""
    for rival in rivals:
        mean = statistics.fmean(math.log(row[rival]["mean"]) for row in found)
        yield {"rival": rival, "ratio": round(math.exp(mean), 3)}


def lock_in(bench: Bench) -> Iterator[dict[str, Any]]:
    """Whether a first success keeps the search from other first techniques."""
    for measured in (False, True):
        for calls in BUDGETS:
            told = {"world": TOY, "measured": measured, "method": OWN}
            runs = bench.asked(calls=calls, **told)
            waits = [_first_asked(run.asked, "openmp/large") for run in runs]
            yield {
                "graph": "misleads" if measured else "structure",
                "calls": calls,
                "speedup": round(math.exp(statistics.fmean(run.level for run in runs)), 1),
                "asked": sum(wait is not None for wait in waits) / len(runs),
                "waited": max((w for w in waits if w is not None), default=None),
            }


def _first_asked(paths: Sequence[str], first: str) -> int | None:
    return next((at for at, path in enumerate(paths) if path == first), None)


def variants(bench: Bench, worlds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What calls at once and --fast keep of the speedup (of 50 calls, one at a time)."""
    for world in worlds:
        told = {"world": world, "measured": True, "method": OWN}
        alone = bench.levels(calls=50, **told)
        at_once = bench.levels(calls=50, parallel=AT_ONCE, **told)
        fast = bench.levels(calls=int(FAST_LIMITS["calls"]), **told)
        yield {
            "world": world,
            "at_once": vars(Ratio.of([a - b for a, b in zip(at_once, alone, strict=True)])),
            "fast": vars(Ratio.of([a - b for a, b in zip(fast, alone, strict=True)])),
        }


def sections(ratio: str) -> dict[str, dict[str, str]]:
    """The tables of docs/results.md; `ratio` is how a mean stands there with its interval."""
    return {
        "overall": {"rival": "{rival}", "ours over it, all worlds and budgets": "{ratio:.2f}"},
        "rows": {
            "world": "{world}",
            "graph": "{graph}",
            "calls": "{calls}",
            "speedup": "{speedup:.2f}",
            "over the best rival": "{of_best_rival:.2f}",
        },
        "lock_in": {
            "graph": "{graph}",
            "calls": "{calls}",
            "speedup": "{speedup:.0f}",
            "searches that asked for the larger": "{asked:.0%}",
            "samples before, at most": "{waited}",
        },
        "variants": {
            "world": "{world}",
            "eight at once keep": ratio.format(name="at_once"),
            "--fast keeps": ratio.format(name="fast"),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Searches compared in simulated worlds.")
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--methods", default=",".join((OWN, *RIVALS)))
    parser.add_argument("--worlds", default=",".join(WORLDS[:-1]))
    told = parser.parse_args()
    worlds = [one for one in told.worlds.split(",") if one]
    methods = [one for one in told.methods.split(",") if one]
    bench = Bench(told.problems, told.jobs)
    found = list(rows(bench, methods, worlds))
    rivals = [method for method in methods if method != OWN]
    figures = {
        "rows": found,
        "overall": list(overall(found, rivals)),
        "lock_in": list(lock_in(bench)),
        "variants": list(variants(bench, worlds)),
        "problems": told.problems,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
