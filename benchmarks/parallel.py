"""Several calls at once: what they save in time, and what they cost in search quality.

`python benchmarks/run.py parallel [--quick]`; prints one JSON object.
`wall`: MCGS over the graph and the model of the tests (tests/search/toy.py: scripted answers, each
a second late; a judge that reads the verdict off the code at once), the same number of calls with
one and with eight at once.
`quality`: the same without pauses on random graphs, and on the corpus' recorded answers with their
verdicts (every answer judged here once): the best speedup found, as a geometric mean over the runs,
against one call at a time. Results come in in the order in which calls began, as with a model that
always takes equally long. Simulated models: directions, not magnitudes. Not measured: live models.
"""

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.graph import Neighbourhood
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import Task
from regraph_kg.search.executor import Alone, Threads
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.run import search
from regraph_kg.search.world import World
from regraph_kg.wiring.problems import task_of
from tests.corpus.corpus import CORPUS, graph, vocabulary
from tests.search.test_golden import GRAPH
from tests.search.test_properties import random_graph
from tests.search.toy import TASK, Toy, header, noisy_script, successor

AT_ONCE = (1, 2, 4, 8, 16)
BUDGETS = (50, 200)
SETTINGS = McgsSettings(free=False)
"""The model of the tests is asked for techniques alone."""
PROBLEMS = ("histogram", "matmul", "reduction", "stencil")
CACHE = Path.home() / ".cache" / "regraph"


def best(task: Task, world: World, calls: int, parallel: int, seed: int) -> float:
    """The best screened speedup of one search."""
    head = header(calls, seed, problem=task.problem, settings=SETTINGS, parallel=parallel)
    found = 1.0
    for record in search(task, head, world, Alone(world)):
        found = record.best_speedup
    return found


def wall(seconds: float, calls: int) -> Iterator[dict[str, Any]]:
    """Time of one search with a model that takes `seconds` a call."""
    one = 0.0
    for parallel in (1, 8):
        toy = Toy(GRAPH, noisy_script(4))

        def late(prompt: Prompt, toy: Toy = toy) -> Reply:
            time.sleep(seconds)
            return toy.complete(prompt)

        world = replace(toy.world, complete=late)
        head = header(calls, settings=McgsSettings(samples=9, free=False), parallel=parallel)
        executor, ledger = Threads(world, parallel, 1), Ledger(head.limits)
        start = time.perf_counter()
        list(search(TASK, head, world, executor, ledger))
        taken = time.perf_counter() - start
        executor.close()
        one = one or taken
        yield {
            "parallel": parallel,
            "calls": ledger.spent.calls,
            "seconds": round(taken, 2),
            "times_faster": round(one / taken, 2),
        }


def quality(
    name: str, runs: int, calls: int, one: Callable[[int, int, int], float]
) -> Iterator[dict[str, Any]]:
    """Geometric mean of the best speedups; `one` takes calls, how many at once, and a run."""
    alone: list[float] = []
    for parallel in AT_ONCE:
        logs = [math.log(one(calls, parallel, run)) for run in range(runs)]
        alone = alone or logs
        lost = [a - b for a, b in zip(alone, logs, strict=True)]
        yield {
            "answers": name,
            "runs": runs,
            "calls": calls,
            "parallel": parallel,
            "speedup": round(math.exp(sum(logs) / runs), 3),
            "of_one_at_a_time": round(math.exp(-sum(lost) / runs), 3),
        }
        print(f"parallel: {name}, {calls} calls, {parallel} at once", file=sys.stderr)


def random_run(calls: int, parallel: int, run: int) -> float:
    rng = random.Random(run)
    names = random_graph(rng)
    toy = Toy(names, noisy_script(run, failures=0.4))
    return best(TASK, toy.world, calls, parallel, run)


class Recorded:
    """The corpus' recorded answers to one problem, each judged once."""

    def __init__(self, name: str, judge: Judge) -> None:
        self._problem = load_problem(CORPUS / "problems" / name)
        self._model = ScriptedModel.read(CORPUS / "recorded", name, "openmp")
        self._judge, self._verdicts = judge, dict[str, EvalReport]()
        self.task = task_of(self._problem, "openmp")
        self._known, self._after = vocabulary().known, graph("openmp", without=name)

    @property
    def world(self) -> World:
        """Verdicts come from the memory; the graph is the corpus' own, this problem left out."""
        return World(
            neighbours=self._neighbours,
            examples=lambda *_: (),
            nearest=lambda _: (),
            failures=lambda *_: (),
            complete=self._model.complete,
            evaluate=self._verdict,
            evaluate_final=self._verdict,
        )

    def _verdict(self, candidate: Candidate, _: float | None = None) -> EvalReport:
        if candidate.code not in self._verdicts:
            self._verdicts[candidate.code] = self._judge.evaluate(candidate, self._problem)
        return self._verdicts[candidate.code]

    def _neighbours(self, name: str) -> Neighbourhood:
        following = sorted(self._after.get(name, ()))
        return Neighbourhood(
            name,
            tuple(replace(successor("x"), technique=self._known[one]) for one in following),
        )


def corpus_runs(runs: int) -> Iterator[dict[str, Any]]:
    with Judge(CACHE) as judge:
        for name in PROBLEMS:
            recorded = Recorded(name, judge)
            yield from quality(
                f"{name}.openmp",
                runs,
                BUDGETS[0],
                lambda calls, parallel, run, r=recorded: best(
                    r.task, r.world, calls, parallel, run
                ),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="What several calls at once save and cost.")
    parser.add_argument("--quick", action="store_true", help="little of everything")
    quick = parser.parse_args().quick
    figures = {
        "wall": list(wall(0.05 if quick else 1.0, 16 if quick else 48)),
        "quality": [
            row
            for calls in BUDGETS
            for row in quality("random graphs", 5 if quick else 60, calls, random_run)
        ],
        "not_measured": ["recorded answers: --quick"] if quick else [],
    }
    if not quick:
        figures["quality"] += list(corpus_runs(5))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
