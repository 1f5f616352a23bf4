"""The plan of a bench: its checked suite, its searches in order, its first results.

All arms of a problem begin before those of the next one, so that a stopped bench has
whole problems to compare, but for the searches that were under way.
"""

import hashlib
import shlex
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from regraph_kg.bench import kept, results
from regraph_kg.bench.arms import Arm
from regraph_kg.bench.run import BenchOrder, BenchSearch
from regraph_kg.bench.suites import Suite, Tell, digest, gather
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.models.bench import BenchProblem, BenchResults
from regraph_kg.models.target import Target
from regraph_kg.runs.choice import usual_settings
from regraph_kg.runs.search import require_graph
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.stores import open_store


@dataclass(frozen=True, slots=True)
class BenchChoice:
    """The choice of a bench besides that of its searches."""

    problems: tuple[str, ...]
    """Names or folders; none: all that are shipped."""
    arms: tuple[Arm, ...]
    targets: tuple[Target, ...]
    seeds: int


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """The searches by target, and the results so far."""

    searches: tuple[tuple[Target, tuple[BenchSearch, ...]], ...]
    begun: BenchResults

    @property
    def remaining(self) -> tuple[BenchSearch, ...]:
        """Searches without a result."""
        finished = {run.place for run in self.begun.runs}
        return tuple(
            search
            for _, searches in self.searches
            for search in searches
            if search.place not in finished
        )


def plan(order: BenchOrder, choice: BenchChoice, tell: Tell) -> BenchPlan:
    """The bench of `choice`, with the results in its folder.

    Raises `BadInput` where a suite holds no good problem, or the graph no first step.
    """
    settings, folder = order.settings, order.folder
    suites = [(name, gather(settings, choice.problems, name, tell)) for name in choice.targets]
    searches = [(target, _searches(suite, target, choice)) for target, suite in suites]
    for target, target_searches in searches:
        if not target_searches:
            out = next(suite.left_out for other, suite in suites if other == target)
            why = f": {out[0].name}: {out[0].why}" if out else ""
            raise BadInput(f"bench: no problem for {target} is left{why}")
        # said before the first call of the model, not after an hour of other arms
        _require_graph(order, target_searches)
    # A bench that reads no graph may go on whatever becomes of it.
    reads = any(arm.reads for arm in choice.arms)
    begun = BenchResults(
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        version=version("regraph-kg"),
        command=shlex.join(order.command),
        suite="chosen" if choice.problems else "shipped",
        model=str(order.choice.model),
        answers="kept" if order.rejudged else "live",
        calls=order.choice.limits.calls,
        final=order.choice.final,
        prompting=order.choice.prompting.changed,
        parallel=order.choice.parallel,
        arms=tuple(map(str, choice.arms)),
        seeds=choice.seeds,
        machine=_machine(settings, choice.targets),
        graph=_graph(settings) if reads else {},
        problems=tuple(problem for _, suite in suites for problem in suite.problems),
        left_out=tuple(problem for _, suite in suites for problem in suite.left_out),
    )
    return _planned(searches, results.go_on(folder, begun))


def planned_again(order: BenchOrder, earlier: BenchResults, earlier_folder: Path) -> BenchPlan:
    """The searches of an earlier bench, to be judged again in the order's folder.

    `BadInput` where no answer was kept, or the order's folder holds verdicts of another judge.
    """
    if not any(earlier_folder.glob(f"runs/*/{kept.FILE}")):
        raise BadInput(
            f"{earlier_folder}: no answers in it, runs/*/{kept.FILE}; give the folder of a bench"
        )
    problems = {
        (problem.name, problem.target): _with_present_digest(order.settings, problem)
        for problem in earlier.problems
    }
    by_target: dict[Target, list[BenchSearch]] = {}
    for run in earlier.runs:
        address = problems[run.problem, run.target].address
        search = BenchSearch(run.problem, address, run.target, Arm.parse(run.arm), run.seed)
        by_target.setdefault(run.target, []).append(search)
    # What was measured is taken anew; what was asked for (arms, seeds, prompts) stays.
    begun = earlier.model_copy(
        update={
            "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "version": version("regraph-kg"),
            "command": shlex.join(order.command),
            "answers": "kept",
            "calls": order.choice.limits.calls,
            "final": order.choice.final,
            "parallel": order.choice.parallel,
            "machine": _machine(order.settings, tuple(by_target)),
            "graph": _graph(order.settings) if earlier.graph else {},
            "problems": tuple(problems.values()),
            "runs": (),
        }
    )
    begun = results.go_on(order.folder, begun)
    # Verdicts of two judges in one table would compare judges, not arms.
    other = next((run.judge for run in begun.runs if run.judge != EVALUATOR), None)
    if other is not None:
        raise BadInput(
            f"{order.folder}: judged by rules {other}, these are {EVALUATOR}; give another --into"
        )
    return _planned([(target, tuple(searches)) for target, searches in by_target.items()], begun)


def _with_present_digest(settings: Settings, problem: BenchProblem) -> BenchProblem:
    """The problem with its present digest; unchanged where it is gone: its searches say why."""
    # A problem that is gone leaves out its own searches alone.
    with suppress(BadInput):
        current = digest(find_problem(settings, problem.address))
        return problem.model_copy(update={"digest": current})
    return problem


def _planned(
    searches: Sequence[tuple[Target, tuple[BenchSearch, ...]]], begun: BenchResults
) -> BenchPlan:
    """The plan with all searches counted, including ended ones of earlier commands."""
    # Searches of earlier commands with other arms count among those that were planned.
    ended = {run.place for run in begun.runs}
    counts = {
        target: len(
            {search.place for search in group} | {place for place in ended if place[1] == target}
        )
        for target, group in searches
    }
    counted = begun.model_copy(update={"searches": begun.searches | counts})
    return BenchPlan(tuple(searches), counted)


def _searches(suite: Suite, target: Target, choice: BenchChoice) -> tuple[BenchSearch, ...]:
    return tuple(
        BenchSearch(problem.name, problem.address, target, arm, seed)
        for problem in suite.problems
        for seed in range(choice.seeds)
        for arm in choice.arms
    )


def _require_graph(order: BenchOrder, searches: Sequence[BenchSearch]) -> None:
    """Raise `BadInput` where a method that walks has no first step in the graph."""
    walking = next((search for search in searches if search.arm.walks), None)
    if walking is None or order.rejudged is not None:
        return
    choice = replace(
        order.choice,
        problem=walking.address,
        target=walking.target,
        settings=usual_settings(walking.arm.method),
    )
    require_graph(order.settings, choice)


def _machine(settings: Settings, targets: Sequence[Target]) -> dict[Target, str]:
    with open_judge(settings) as judge:
        return {target: judge.hardware(target) for target in targets}


def _graph(settings: Settings) -> dict[str, str]:
    with closing(open_store(settings)) as store:
        stats, space = store.stats(), store.embedding_space()
        statistics = hashlib.sha256(repr(store.transitions()).encode()).hexdigest()[:12]
    return {
        "techniques": str(stats.techniques),
        "examples": str(stats.transitions),
        "trajectories": str(stats.trajectories),
        "statistics": statistics,
        "embeddings": space.model if space else "none",
    }
