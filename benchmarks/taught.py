"""A technique graph in memory that searches can be taught from: what learning.py measures with.

The arithmetic is the graph's own (backends/statistics.py: shares, caps, the device asked for), and
so are search and harvest; only the store and the trace's file are left out, because thousands of
searches are made. tests/benchmarks compares it with a real store. One rule is set aside: recorded
answers teach here, a graph that is thrown away.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import (
    RowCounts,
    RowKey,
    Share,
    precedence,
    share,
    successor,
    total,
)
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import MergePlan, Neighbourhood, Relabelled
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import RunHeader, SimulationRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search import run
from regraph_kg.search.executor import Alone
from regraph_kg.search.harvest import harvest
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.world import World

PROMPTING = Prompting(examples=0, known_failures=0, mend=False)


@dataclass(frozen=True)
class Problem:
    """A problem, who answers for it, and who judges."""

    task: Task
    device: str
    complete: Callable[[Prompt], Reply]
    judge: Callable[[Candidate], EvalReport]


@dataclass(frozen=True)
class Graph:
    """What was told of transitions: the share of each trajectory in the statistics, and whose."""

    techniques: Mapping[str, Technique]
    shares: tuple[tuple[str, Share], ...] = ()
    """By problem."""

    def told(self, trajectories: Iterable[Trajectory]) -> "Graph":
        """The same graph with these, too."""
        new = tuple(
            (trajectory.problem, share(Evidence.of(plan(trajectory))))
            for trajectory in trajectories
        )
        return replace(self, shares=self.shares + new)

    def without(self, *problems: str) -> "Graph":
        """The same graph as if nobody had tried these."""
        return replace(
            self, shares=tuple(share for share in self.shares if share[0] not in problems)
        )

    @cached_property
    def rows(self) -> Mapping[Pair, Mapping[RowKey, RowCounts]]:
        """Its NEXT rows, by pair."""
        found: defaultdict[Pair, dict[RowKey, RowCounts]] = defaultdict(dict)
        for (pair, origin), tally in total(one for _, one in self.shares).items():
            found[pair][origin] = tally
        return found

    def neighbours(self, device: str, seed: int = 0) -> Callable[[str], Neighbourhood]:
        """What answers as `GraphStore.neighbourhood` does.

        With a `seed`, successors with equally many examples come in an order of its own.
        """
        following: defaultdict[str, list[str]] = defaultdict(list)
        for pair, rows in self.rows.items():
            if any(precedence(rows)):
                following[pair.source].append(pair.target)

        @cache
        def read(source: str) -> Neighbourhood:
            targets = sorted(
                following.get(source, ()),
                key=lambda one: (precedence(self.rows[Pair(source, one)]), order(one, seed)),
            )
            return Neighbourhood(
                source,
                tuple(
                    successor(self.techniques[target], self.rows[Pair(source, target)], device)
                    for target in targets
                ),
            )

        return read


def order(technique: str, seed: int) -> str:
    """What successors with equally many examples are sorted by: their ids, or by lot."""
    return hashlib.sha256(f"{seed} {technique}".encode()).hexdigest() if seed else technique


def plan(one: Trajectory) -> MergePlan:
    """A trajectory whose steps are taken at their word."""
    return MergePlan(
        one,
        tuple(Relabelled(step.label, step.technique or "", "given") for step in one.steps),
        tuple(Relabelled(fail.label, fail.technique or "", "given") for fail in one.failures),
    )


def head(problem: Problem, settings: MethodSettings, calls: int, seed: int) -> RunHeader:
    """What a trace says of a search: its model and judge are recorded ones."""
    return RunHeader(
        version="0",
        created="2026-11-21T00:00:00Z",
        problem=problem.task.problem,
        serial=code_hash(problem.task.serial),
        target=problem.task.target,
        settings=settings,
        prompting=PROMPTING,
        limits=SearchLimits(calls=calls),
        parallel=1,
        final="screening",
        seed=seed,
        model="recorded",
        judge="recorded:simulated",
        device=problem.device,
        toolchain="none",
        prompts="0",
        excluded=problem.task.problem,
    )


def search(problem: Problem, graph: Graph, header: RunHeader) -> RunRecord:
    """A whole search, its problem's own share left out, as its trace would be read."""
    reports: dict[str, EvalReport] = {}

    def judge(candidate: Candidate, _: float | None = None) -> EvalReport:
        report = reports[code_hash(candidate.code)] = problem.judge(candidate)
        return report

    world = world_of(problem, graph, header.seed, judge)
    records = tuple(run.search(problem.task, header, world, Alone(world)))
    name = f"{header.problem} {header.method} {header.seed}"
    return RunRecord(name, header, records, reports, finals={}, ended=True)


def world_of(
    problem: Problem,
    graph: Graph,
    seed: int,
    judge: Callable[[Candidate, float | None], EvalReport],
) -> World:
    """What a search of a problem asks, its own share left out."""
    return World(
        neighbours=graph.without(problem.task.problem).neighbours(problem.device, seed),
        examples=lambda *_: (),
        nearest=lambda _: (),
        failures=lambda *_: (),
        complete=problem.complete,
        evaluate=judge,
        evaluate_final=lambda candidate: judge(candidate, None),
    )


def learned(problem: Problem, run: RunRecord) -> Sequence[Trajectory]:
    """What a search taught, although its answers were recorded ones."""
    return harvest(run, problem.task.serial, recorded=True).trajectories


def reached(records: Sequence[SimulationRecord], speedup: float) -> int | None:
    """Evaluations until some code was that fast; None: never."""
    evaluations = 0
    for record in records:
        for step in record.steps:
            evaluations += step.cost.evaluations
            if (step.speedup or 0.0) >= speedup:
                return evaluations
    return None


def best(records: Sequence[SimulationRecord], evaluations: float = float("inf")) -> float:
    """The fastest code's speedup after so many evaluations; 1 while none is faster."""
    found, spent = 1.0, 0
    for record in records:
        for step in record.steps:
            spent += step.cost.evaluations
            if spent > evaluations:
                return found
            found = max(found, step.speedup or 0.0)
    return found
