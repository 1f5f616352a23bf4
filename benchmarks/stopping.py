"""What it saves to end a search early, and what that costs in speedup: `limit.patience`, swept.

`python benchmarks/run.py stopping [--problems N] [--jobs N] [--methods A,B]`; prints one JSON
object. Searches go to their ends; each rule then reads their courses and says after which call it
would have ended them: what it decides changes nothing before. "saved": calls not asked for, of
those that the search spent. "kept": speedup then over that at the end, geometric mean over the
searches; "least": the same of the worst problem (recorded) or world. In worlds a figure is the true
level of the code that measured best.

Answers "recorded": the corpus' four problems for OpenMP, verdicts from benchmarks/verdicts.py, with
and without the corpus' statistics, in five orders of successors. Answers "worlds": benchmarks/
worlds, on problems that search_worlds.py reports. "hindsight" ends each search at the first code
within 2 % of its last: what there would be to save. Rules:
`patience` is a share of the budget; `promise` the expected log gain of a sample beyond which a
method that knows it goes on (0: it is not asked). Not covered: the roof, real models.
"""

import argparse
import json
import math
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pool
from typing import Any

from benchmarks import recorded
from benchmarks.rivals import kind_of
from benchmarks.search_worlds import DOMAIN, FIRST_SEED, OWN, WORLDS, Job, played
from benchmarks.taught import head, world_of
from benchmarks.worlds.play import Moment, Noted
from regraph_kg.models.method import SearchLimits
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import context
from regraph_kg.search.stopping import PROMISE, Patience

METHODS = (OWN, "ucb")
"""The first knows what a sample promises."""
BUDGETS = (25, 50, 100, 200)
ORDERS = range(5)
SHARES = (0.1, 0.2, 0.3, 0.5)
PROMISES = (0.0, 0.03, PROMISE)
"""0: calls in vain alone."""
NEAR = 0.98
Course = Sequence[Moment]
Rule = Callable[[Course, int], int]
"""A course and its budget -> how many of its moments are had."""


def world_course(job: Job) -> Course:
    """A search in a world."""
    return played(job).course


def recorded_course(told: tuple[str, bool, str, int, int]) -> Course:
    """A search on recorded answers: problem, graph measured, method, calls, order."""
    name, measured, method, calls, order = told
    problem = recorded.problem(name)
    kind = kind_of(method)
    header = head(problem, kind.settings(), calls, order)
    graph = recorded.graph(name, measured=measured)
    world = world_of(problem, graph, order, lambda candidate, _: problem.judge(candidate))
    ledger = Ledger(header.limits)
    noted = Noted(kind.begin(context(problem.task, header, world, ledger), header.settings))
    return [
        Moment(noted.ended(), record, math.log(record.best_speedup))
        for record in Driver(noted, Alone(world), ledger).run()
    ]


def patience(share: float, promise: float) -> Rule:
    """The product's rule."""

    def had(course: Course, calls: int) -> int:
        ledger = Ledger(SearchLimits(calls=calls, patience=share))
        rule = Patience(ledger, promise or math.inf)
        for number, moment in enumerate(course, 1):
            rule.see(moment.ended, moment.record)
            if ledger.stopped:
                return number
        return len(course)

    return had


def hindsight(course: Course, _: int) -> int:
    """The least that comes near the end."""
    near = course[-1].level + math.log(NEAR)
    return next(number for number, moment in enumerate(course, 1) if moment.level >= near)


def rules(method: str) -> Iterator[tuple[Mapping[str, Any], Rule]]:
    """Those that differ for a method, with what a table says of each."""
    yield {"promise": "hindsight", "patience": "-"}, hindsight
    for promise in PROMISES if method == OWN else PROMISES[:1]:
        for share in SHARES:
            yield {"promise": promise, "patience": share}, patience(share, promise)


def judged(courses: Mapping[str, Sequence[Course]], calls: int, rule: Rule) -> dict[str, float]:
    """What a rule saves and keeps on searches grouped by problem or world."""
    saved: list[float] = []
    lost: defaultdict[str, list[float]] = defaultdict(list)
    for name, group in courses.items():
        for course in filter(len, group):
            had = course[rule(course, calls) - 1]
            saved.append(1 - had.record.spent / max(1, course[-1].record.spent))
            lost[name].append(had.level - course[-1].level)
    every = [one for group in lost.values() for one in group]
    return {
        "saved": statistics.fmean(saved),
        "kept": math.exp(statistics.fmean(every)),
        "least": math.exp(min(map(statistics.fmean, lost.values()))),
    }


def rows(problems: int, jobs: int, methods: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Of each kind of answers and method, rule by rule; a cell for each budget."""
    numbers = range(FIRST_SEED, FIRST_SEED + problems)
    with Pool(jobs) as pool:
        for answers in ("recorded", "worlds"):
            for method in methods:
                found: dict[int, dict[str, Sequence[Course]]] = {}
                for calls in BUDGETS:
                    found[calls] = {
                        name: pool.map(course, told, chunksize=DOMAIN)
                        for name, course, told in _searches(answers, method, calls, numbers)
                    }
                    print(answers, method, calls, file=sys.stderr, flush=True)
                for said, rule in rules(method):
                    cells = {f"at_{calls}": judged(found[calls], calls, rule) for calls in BUDGETS}
                    yield {"answers": answers, "method": method} | dict(said) | cells


def _searches(
    answers: str, method: str, calls: int, numbers: Sequence[int]
) -> Iterator[tuple[str, Callable[[Any], Course], Sequence[Any]]]:
    graphs = (True, False)
    if answers == "recorded":
        for name in recorded.names():
            told = [(name, measured, method, calls, one) for measured in graphs for one in ORDERS]
            yield name, recorded_course, told
        return
    for world in WORLDS:
        for measured in graphs:
            jobs = [Job(world, measured, number, method, calls) for number in numbers]
            yield f"{world} {measured}", world_course, jobs


_CELL = "{AT[saved]:.0%}, {AT[kept]:.3f} ({AT[least]:.2f})"
SECTIONS = {
    "rows": {
        "answers": "{answers}",
        "method": "{method}",
        "promise": "{promise}",
        "patience": "{patience}",
        **{
            f"{calls} calls: saved, kept (least)": _CELL.replace("AT", f"at_{calls}")
            for calls in BUDGETS
        },
    },
}
"""The table of docs/results.md."""


def main() -> None:
    parser = argparse.ArgumentParser(description="What ending a search early saves and costs.")
    parser.add_argument("--problems", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--methods", default=",".join(METHODS))
    told = parser.parse_args()
    methods = told.methods.split(",")
    print(json.dumps({"rows": list(rows(told.problems, told.jobs, methods))}))


if __name__ == "__main__":
    main()
