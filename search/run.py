"""A run of a method from its beginning: what it starts with, and its parts put together.

A search starts with the serial code, or with a working program made of it (port/).
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import RIGHT_BUT_SLOW, Candidate, EvalReport, Outcome
from regraph_kg.models.run import Cost, RunHeader, SimulationRecord, StepRecord, Task
from regraph_kg.models.technique import start_id
from regraph_kg.search.context import Context, Iteration, Method
from regraph_kg.search.driver import Driver, Executor
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.sample import Proposer
from regraph_kg.search.successors import Successors
from regraph_kg.search.world import Evaluate, World


def begin(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Method:
    """The method that `header` names, at its beginning."""
    return kind_of(header.method).begin(context(task, header, world, ledger), header.settings)


def context(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Context:
    """The context of a run's method."""
    # the one source of chance: the same seed and answers make the same search
    rng = random.Random(header.seed)
    return Context(
        task=task,
        rng=rng,
        ledger=ledger,
        proposer=Proposer(task, rng.getrandbits(32), header.prompting, ledger),
        graph=Successors(
            cache(world.neighbours),
            cache(world.pooled),
            start_id(header.target),
            small=header.prompting.prefill,
            transforms=world.transforms() if getattr(header.settings, "transforms", False) else {},
        ),
    )


def search(
    task: Task, header: RunHeader, world: World, executor: Executor, ledger: Ledger | None = None
) -> Iterator[SimulationRecord]:
    """The search that `header` names, from its beginning; its records as iterations end."""
    ledger = Ledger(header.limits) if ledger is None else ledger
    # a method begins where the start is known: nothing else may run before
    task, first = started(task, executor, ledger)
    method = begin(task, header, world, ledger)
    return Driver(method, executor, ledger, header.parallel, first).run()


def started(task: Task, executor: Executor, ledger: Ledger) -> tuple[Task, Iteration | None]:
    """The task with the first of its ports that works, and what it cost to know; or as it was."""
    steps: list[StepRecord] = []

    def judged(code: str) -> EvalReport:
        executor.start(Evaluate(Candidate(task.target, code)))
        finished = executor.finish()
        report, ledger.seconds = finished.result, finished.at
        assert isinstance(report, EvalReport)
        seconds = report.stages.get("total", 0.0)
        cost = ledger.charge(Cost(evaluations=1, judge_seconds=seconds))
        steps.append(
            StepRecord(
                path=(),
                technique=None,
                sample=0,
                outcome=report.outcome,
                speedup=report.sure_speedup,
                cost=cost,
                code=code,
                diagnosis=report.diagnosis,
            )
        )
        return report

    task = started_from(task, judged)
    return task, Iteration((), tuple(steps), None) if steps else None


def started_from(task: Task, verdict: Callable[[str], EvalReport | None]) -> Task:
    """The task with the first port that works by the `verdict`, or is only too slow to be timed."""
    for port in task.ports:
        code = port.whole(port.start)
        # it is the serial code itself, which needs no verdict
        if normalized(code) == normalized(task.serial):
            return replace(task, port=port)
        report = verdict(code)
        if report is None:
            continue
        slow = report.outcome is Outcome.TIMED_OUT and RIGHT_BUT_SLOW in report.diagnosis
        if slow or report.outcome.is_right:
            return replace(task, port=port)
    return task
