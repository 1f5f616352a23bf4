"""The start of a search: the serial code, or a working program made of it.

Not here: how such a program is made (evaluation/port/).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from regraph_kg.models.evaluation import (
    RIGHT_BUT_SLOW,
    Candidate,
    EvalReport,
    Outcome,
    code_hash,
)
from regraph_kg.models.run import Cost, StepRecord, Task
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.context import Iteration
from regraph_kg.search.driver import Executor
from regraph_kg.search.effects import Effects, judged
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.reward import speedup

T = TypeVar("T")


def started(task: Task, ledger: Ledger) -> Effects[tuple[Task, Iteration | None]]:
    """The task with the first of its ports that works, and what it cost to know; or as it was.

    A right program that is too slow to be timed is a start, too.
    """
    steps: list[StepRecord] = []
    for port in task.ports:
        code = port.whole(port.start)
        if normalized(code) == normalized(task.serial):
            return replace(task, port=port), None
        report = yield from judged(Candidate(task.target, code))
        ledger.judged(report)
        seconds = report.stages.get("total", 0.0)
        cost = ledger.charge(Cost(evaluations=1, judge_seconds=seconds))
        steps.append(_step(code, report, cost))
        if works(report):
            return replace(task, port=port), Iteration((), tuple(steps), None)
    return task, Iteration((), tuple(steps), None) if steps else None


def works(report: EvalReport) -> bool:
    """Whether its code computes what it should, however slowly."""
    slow = report.outcome is Outcome.TIMED_OUT and RIGHT_BUT_SLOW in report.diagnosis
    return slow or report.outcome.is_right


def started_from(task: Task, reports: Mapping[str, EvalReport]) -> Task:
    """The task as a search that got `reports` (by a code's hash) went on with it."""
    for port in task.ports:
        code = port.whole(port.start)
        if normalized(code) == normalized(task.serial):
            return replace(task, port=port)
        report = reports.get(code_hash(code))
        if report is not None and works(report):
            return replace(task, port=port)
    return task


def alone(work: Effects[T], executor: Executor) -> T:
    """The result of effects done one after the other."""
    result = None
    while True:
        try:
            effect = next(work) if result is None else work.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        executor.start(effect)
        result = executor.finish().result


def _step(code: str, report: EvalReport, cost: Cost) -> StepRecord:
    return StepRecord(
        path=(),
        technique=None,
        sample=0,
        outcome=report.outcome,
        speedup=speedup(report),
        gain=None,
        cost=cost,
        code=code,
        diagnosis=report.diagnosis,
    )
