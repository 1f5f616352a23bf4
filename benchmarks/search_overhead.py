"""MCGS's own time per rollout: model and judge are free, their time is taken out.

`python benchmarks/search_overhead.py` prints one JSON object. The graph is as large as the corpus:
36 techniques, 6 successors each; prompts carry two examples of 60 lines; the trace is written.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from regraph_kg.models.evaluation import Candidate, EvalReport, Interval, Outcome, code_hash
from regraph_kg.models.graph import Example, Neighbourhood, Successor
from regraph_kg.models.method import Prompting, SearchLimits
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import RunHeader, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.executor import Alone
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.run import search
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import World

P = ParamSpec("P")
T = TypeVar("T")

TECHNIQUES, SUCCESSORS, BUDGET, SEEDS = 36, 6, 200, 5
BODY = "\n".join(f"  for (int i = {n}; i < n; ++i) x[i] += {n};" for n in range(60))
CODE = f'extern "C" void work(float* x, int n) {{\n{BODY}\n}}\n'
TASK = Task("free", "openmp", CODE, "work", 'extern "C" void work(float* x, int n)')


class Outside:
    """A free world that measures the seconds spent in it."""

    def __init__(self, seed: int) -> None:
        self.seconds = 0.0
        self._rng = random.Random(seed)

    def timed(self, call: Callable[P, T]) -> Callable[P, T]:
        def measured(*args: P.args, **kwargs: P.kwargs) -> T:
            start = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        return measured

    def world(self) -> World:
        return World(
            neighbours=self.timed(self.neighbours),
            examples=self.timed(self.examples),
            nearest=lambda _: (),
            failures=lambda *_: (),
            complete=self.timed(self.complete),
            evaluate=self.timed(self.evaluate),
            evaluate_final=self.timed(self.evaluate),
        )

    def neighbours(self, technique: str) -> Neighbourhood:
        found = self._rng.sample(range(TECHNIQUES), SUCCESSORS)
        return Neighbourhood(technique, tuple(successor(number) for number in found))

    def examples(self, source: str, target: str) -> tuple[Example, ...]:
        return (example(source, target), example(source, target))

    def complete(self, prompt: Prompt) -> Reply:
        code = CODE.replace("+= 1;", f"+= {self._rng.random()};")
        return Reply(text=f"```cpp\n{code}```", finish="stop")

    def evaluate(self, candidate: Candidate, _: float | None = None) -> EvalReport:
        passed = self._rng.random() < 0.7
        speedup = self._rng.uniform(0.5, 20)
        return EvalReport(
            problem="free",
            target="openmp",
            metric="call",
            code_hash=code_hash(candidate.code),
            outcome=Outcome.PASSED if passed else Outcome.WRONG_ANSWER,
            device="none",
            toolchain="none",
            evaluator="none",
            grade="screening",
            speedup=speedup if passed else None,
            speedup_interval=Interval(low=speedup, high=speedup) if passed else None,
        )


def successor(number: int) -> Successor:
    technique = Technique(
        id=f"openmp/t{number}", name=f"t{number}", target="openmp", definition="Do it."
    )
    return Successor(technique, 3, 3, 2, 2**20, 2.0, "device")


def example(source: str, target: str) -> Example:
    text = {name: "" for name in Example.__slots__}
    numbers = {"step": 1, "verified": True, "speedup": 2.0, "effect": 2.0, "similarity": 1.0}
    return Example(
        **text | numbers | {"source": source, "target": target, "before": CODE, "after": CODE * 2}
    )


def header(seed: int) -> RunHeader:
    text = {name: "" for name in ("version", "serial", "model", "device", "toolchain", "prompts")}
    return RunHeader(
        **text,
        created=f"seed {seed}",
        problem="free",
        target="openmp",
        settings=McgsSettings(),
        prompting=Prompting(),
        limits=SearchLimits(calls=BUDGET),
        parallel=1,
        final="full",
        seed=seed,
        judge="live",
        excluded=None,
    )


def rollouts(seed: int, folder: Path) -> list[float]:
    """Own milliseconds of each iteration of one search, tracing included."""
    outside, own = Outside(seed), []
    with Trace.create(folder, header(seed), bytes(32)) as trace:
        world = trace.world(outside.world())
        records = search(TASK, header(seed), world, trace.executor(Alone(world)))
        while True:
            start, before = time.perf_counter(), outside.seconds
            record = next(records, None)
            if record is None:
                return own
            trace.record(record)
            own.append(1e3 * (time.perf_counter() - start - outside.seconds + before))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        own = [rollout for seed in range(SEEDS) for rollout in rollouts(seed, Path(folder))]
    cuts = statistics.quantiles(own, n=100)
    figures = {
        "benchmark": "search_overhead",
        "unit": "ms of MCGS's own time per rollout (model, judge and graph taken out)",
        "rollouts": len(own),
        "mean": round(statistics.mean(own), 4),
        "p50": round(cuts[49], 4),
        "p99": round(cuts[98], 4),
        "limit": 1.0,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
