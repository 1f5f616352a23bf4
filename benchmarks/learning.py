"""What a search on one problem is worth to the next: evaluations to 90 % of the best.

`python benchmarks/learning.py` prints one JSON object. The model's answers and the verdicts are
made up (nothing is compiled or timed): a step along an edge has a log gain and a chance to fail
that are partly the edge's own and partly the problem's; a technique gains nothing the second time.
The rest is real: search, trace, harvest, merge, embedded store. "similar" is the share that two
problems have in common: of the variance of the gains, and of the edges whose chance to fail is one.
At 0 nothing of an edge carries over; what is gained there is gained because edges in general work
better than the prior of what was never measured says, so it is the control.

For each seed B is searched on a graph whose edges were never measured ("before"), A is searched,
harvested and learned, and B is searched again ("after"), its own share excluded. The best is the
best of B that two further searches find with a large budget, one on each graph.
"""

import hashlib
import itertools
import json
import math
import random
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.servers import embedded
from regraph_kg import wiring
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.models.evaluation import Candidate, EvalReport, Interval, Outcome, Timing, code_hash
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.method import SETTINGS, Limits, Method, Prompting
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import RunHeader, SimulationRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Step, Trajectory
from regraph_kg.search import methods
from regraph_kg.search.crew import Alone
from regraph_kg.search.harvest import harvest, read_run
from regraph_kg.search.reader import GraphReader
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import World
from regraph_kg.settings import Settings

TECHNIQUES, SUCCESSORS, SEEDS = 12, 5, 12
SIMILAR = (0.8, 0.0)
METHODS: tuple[Method, ...] = ("mcgs", "greedy-graph", "thompson")
BUDGET, LARGE = 300, 900
"""Calls of a search, and of the one that tells the best."""
EARLY = 50
"""Calls after which the searches are compared, too."""
NEAR_BEST = 0.9
DEVICE = "simulated"
SERIAL = 'extern "C" void work(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }'
SIGNATURE = 'extern "C" void work(float* x, int n)'
PROMPTING = Prompting(examples=0, known_failures=0)


def drawn(*about: object) -> random.Random:
    """Randomness that depends on `about` alone."""
    return random.Random(hashlib.sha256(repr(about).encode()).hexdigest())


@dataclass(frozen=True)
class Problem:
    """A made-up problem: what each edge gains, and how often a step along it fails."""

    name: str
    seed: int
    similar: float

    @property
    def task(self) -> Task:
        """As a search is told."""
        return Task(self.name, "openmp", SERIAL, "work", SIGNATURE)

    def gain(self, edge: tuple[str, str]) -> float:
        """Log gain; its variance is the same however similar problems are."""
        common = drawn(self.seed, "gain", edge).gauss(0, 1)
        own = drawn(self.seed, "gain", edge, self.name).gauss(0, 1)
        return 0.1 + 0.35 * (math.sqrt(self.similar) * common + math.sqrt(1 - self.similar) * own)

    def failing(self, edge: tuple[str, str]) -> float:
        """Chance that an answer is wrong."""
        shared = drawn(self.seed, "shared", edge).random() < self.similar
        about = () if shared else (self.name,)
        return drawn(self.seed, "fails", edge, *about).uniform(0.1, 0.8)

    def answer(self, prompt: Prompt) -> Reply:
        """What the model says: code that holds its own verdict."""
        key = prompt.key
        assert isinstance(key, PromptKey)
        lot = drawn(self.seed, self.name, key)
        way = ["openmp/start", *(element.partition("#")[0] for element in key.path)]
        edges = list(itertools.pairwise(way))
        gains = {target: self.gain((source, target)) for source, target in reversed(edges)}
        said = "wrong"
        if lot.random() >= self.failing(edges[-1]):
            wobble = drawn(self.seed, self.name, key.path, key.attempt).gauss(0, 0.05)
            said = f"{sum(gains.values()) + wobble:.6f}"
        held = f"{said} {' '.join(key.path)} {key.attempt} {key.repair}"
        text = f'```cpp\n{SIGNATURE} {{ const char* held = "{held}"; }}\n```'
        return Reply(text=text, finish="stop", model="recorded")

    def judge(self, candidate: Candidate, _: float | None = None) -> EvalReport:
        """The verdict that the code holds."""
        said = candidate.code.partition('held = "')[2].split()[0]
        report = EvalReport(
            problem=self.name,
            target="openmp",
            metric="call",
            code_hash=code_hash(candidate.code),
            outcome=Outcome.WRONG_ANSWER,
            diagnosis="x[0] is wrong",
            device=DEVICE,
            toolchain="none",
            evaluator="simulated",
            grade="screening",
        )
        if said == "wrong":
            return report
        speedup = math.exp(float(said))
        timed = {
            "outcome": Outcome.PASSED,
            "diagnosis": "",
            "speedup": speedup,
            "timing": _timing(1 / speedup),
            "baseline": _timing(1.0),
        }
        return report.model_copy(update=timed)


def _timing(seconds: float) -> Timing:
    return Timing(samples=(seconds,), median=seconds, interval=Interval(low=seconds, high=seconds))


def edges(seed: int) -> list[tuple[str, str]]:
    """The graph's transitions."""
    names = [f"openmp/technique-{number}" for number in range(TECHNIQUES)]
    return [
        (source, target)
        for source in ("openmp/start", *names)
        for target in drawn(seed, "graph", source).sample(names, SUCCESSORS)
    ]


def begin(store: GraphStore, seed: int) -> None:
    """A graph of examples that were never measured: a shortest way along each edge."""
    known = edges(seed)
    ways: dict[str, list[str]] = {"openmp/start": []}
    for source, target in known * TECHNIQUES:  # until nothing new can be reached
        if source in ways:
            ways.setdefault(target, [*ways[source], target])
    plans = []
    for source, target in known:
        if source not in ways:
            continue
        way = [*ways[source], target]
        steps = [Step(label=name, code=f"// {source} {target} {name}") for name in way]
        trajectory = Trajectory(
            schema=1, target="openmp", problem="given", serial=SERIAL, steps=tuple(steps)
        )
        labels = tuple(Relabelled(name, name, "given") for name in way)
        new = tuple(Technique(id=name, name=name, target="openmp") for name in sorted({*way}))
        plans.append(MergePlan(trajectory, labels, new=new))
    store.merge(plans)


def head(problem: Problem, method: Method, calls: int, seed: int) -> RunHeader:
    """What a trace says of a run: its model and judge are recorded ones."""
    return RunHeader(
        version="0",
        created="2026-11-21T00:00:00Z",
        problem=problem.name,
        serial=code_hash(SERIAL),
        target="openmp",
        settings=SETTINGS[method](),
        prompting=PROMPTING,
        limits=Limits(calls=calls),
        parallel=1,
        final="screening",
        seed=seed,
        model="recorded",
        judge="recorded:simulated",
        device=DEVICE,
        toolchain="none",
        prompts="0",
        excluded=problem.name,
    )


def search(
    settings: Settings, problem: Problem, header: RunHeader, trace: Trace
) -> Sequence[SimulationRecord]:
    """A whole search on the settings' graph."""
    reader = GraphReader(partial(wiring.open_store, settings), DEVICE, problem.name)
    live = World(
        neighbours=reader.neighbours,
        examples=reader.examples,
        nearest=lambda code: (),
        failures=reader.failures,
        complete=problem.answer,
        evaluate=problem.judge,
        evaluate_final=problem.judge,
    )
    world = trace.world(live)
    crew = trace.crew(Alone(world))
    records = []
    for record in methods.search(problem.task, header, world, crew):
        trace.record(record)
        records.append(record)
    reader.close()
    return records


def learn(store: GraphStore, path: Path) -> int:
    """Harvest a run although it is recorded, and merge it; how many verified steps it held."""
    found = harvest(read_run(path), SERIAL, recorded=True)
    plans = [
        MergePlan(
            one,
            tuple(Relabelled(step.label, step.technique or "", "given") for step in one.steps),
            tuple(Relabelled(fail.label, fail.technique or "", "given") for fail in one.failures),
        )
        for one in found.trajectories
    ]
    for first in range(0, len(plans), pipeline.BATCH_LINES):
        store.merge(plans[first : first + pipeline.BATCH_LINES])
    return found.steps


def reached(records: Sequence[SimulationRecord], speedup: float) -> int | None:
    """Evaluations until some code was that fast; None: never."""
    evaluations = 0
    for record in records:
        for step in record.steps:
            evaluations += step.cost.evaluations
            if (step.speedup or 0.0) >= speedup:
                return evaluations
    return None


def best(records: Sequence[SimulationRecord], calls: int = LARGE) -> float:
    """The fastest code's speedup after so many calls."""
    return max((one.best_speedup for one in records if one.spent <= calls), default=1.0)


def one_seed(seed: int, similar: float, method: Method) -> dict[str, Any]:
    """Both searches of B on one graph, and what lay between them."""
    first, second = Problem("a", seed, similar), Problem("b", seed, similar)
    with embedded() as server, tempfile.TemporaryDirectory() as folder:
        store = wiring.open_store(server.settings)
        begin(store, seed)

        def run(problem: Problem, calls: int) -> tuple[Sequence[SimulationRecord], Path]:
            header = head(problem, method, calls, seed)
            with Trace.create(Path(folder), header) as trace:
                return search(server.settings, problem, header, trace), trace.path

        before, most_before = (run(second, calls)[0] for calls in (BUDGET, LARGE))
        steps = learn(store, run(first, BUDGET)[1])
        after, most_after = (run(second, calls)[0] for calls in (BUDGET, LARGE))
        store.close()
    goal = NEAR_BEST * max(map(best, (before, most_before, after, most_after)))
    return {
        "goal": goal,
        "learned_steps": steps,
        "before": reached(before, goal),
        "after": reached(after, goal),
        "best_before": best(before),
        "best_after": best(after),
        "early_before": best(before, EARLY),
        "early_after": best(after, EARLY),
    }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Over seeds; what was not reached counts as the whole budget. Means of ratios: geometric."""
    spent = {
        arm: [BUDGET if r[arm] is None else r[arm] for r in rows] for arm in ("before", "after")
    }
    ratios = [math.log(b / a) for b, a in zip(spent["before"], spent["after"], strict=True)]
    gains = [math.log(row["best_after"] / row["best_before"]) for row in rows]
    early = [math.log(row["early_after"] / row["early_before"]) for row in rows]
    return {
        "seeds": len(rows),
        "median_before": statistics.median(spent["before"]),
        "median_after": statistics.median(spent["after"]),
        "not_reached_before": sum(row["before"] is None for row in rows),
        "not_reached_after": sum(row["after"] is None for row in rows),
        "fewer_by": math.exp(statistics.fmean(ratios)),
        "better_by": math.exp(statistics.fmean(gains)),
        "better_early_by": math.exp(statistics.fmean(early)),
        "after_won": sum(a < b for b, a in zip(spent["before"], spent["after"], strict=True)),
        "learned_steps": statistics.fmean(row["learned_steps"] for row in rows),
    }


def rows() -> Iterator[dict[str, Any]]:
    """One row for each similarity and method that there is."""
    for similar, method in itertools.product(SIMILAR, METHODS):
        if method in methods.METHODS:
            found = [one_seed(seed, similar, method) for seed in range(SEEDS)]
            yield {"similar": similar, "method": method, **summary(found)}


if __name__ == "__main__":
    about = {"simulated": True, "budget": BUDGET, "early": EARLY, "budget_for_the_best": LARGE}
    print(json.dumps(about | {"rows": list(rows())}))
