"""What `--fast` costs in speedup: the same searches with its dozen calls and with the default's 50.

`python benchmarks/run.py fast`; prints one JSON object. Every method that walks the graph searches
each problem of the corpus on recorded answers, with verdicts from benchmarks/verdicts.py, on the
graph as the corpus measured it, the problem's own share left out; in ten orders of successors with
equally many examples. "Kept" is the best speedup with the settings and calls of --fast over that
with the defaults: geometric mean, and in brackets a 95 % bootstrap interval over the searches,
which share four problems. Recorded answers end at depth 3: what deeper paths bring is not seen. Not
covered: its minute at most, its single example in a prompt, methods without a graph, real models.
"""

import json
import math
import statistics
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks import recorded
from benchmarks.learning import Ratio, spent
from benchmarks.taught import best, head, search
from regraph_kg.runs.choice import usual_choice, usual_settings
from regraph_kg.search.methods import METHODS, kind_of

ORDERS = range(10)


def found(method: str, name: str, order: int, *, fast: bool) -> tuple[float, int]:
    """Best speedup and evaluations of one search."""
    settings = usual_settings(method, fast=fast)
    calls = usual_choice(name, "recorded", fast=fast).limits.calls
    problem = recorded.problem(name)
    graph = recorded.graph(name, measured=True)
    records = search(problem, graph, head(problem, settings, calls, order)).records
    return best(records), spent(records)


def rows() -> Iterator[dict[str, Any]]:
    """Of each method."""
    for method in filter(lambda one: kind_of(one).walks, tuple(METHODS)):
        pairs = [
            (found(method, name, order, fast=True), found(method, name, order, fast=False))
            for name in recorded.names()
            for order in ORDERS
        ]
        yield {
            "method": method,
            "searches": len(pairs),
            "fast_evaluations": statistics.median(fast[1] for fast, _ in pairs),
            "evaluations": statistics.median(usual[1] for _, usual in pairs),
            "kept": vars(Ratio.of([math.log(fast[0] / usual[0]) for fast, usual in pairs])),
            "least": min(fast[0] / usual[0] for fast, usual in pairs),
        }


if __name__ == "__main__":
    json.dump({"rows": list(rows())}, sys.stdout)
