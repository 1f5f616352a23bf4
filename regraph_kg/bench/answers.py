"""What each answer of the model came to, from a finished run's trace."""

from regraph_kg.models.bench import BenchAnswer
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.run import started_from
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.sample import speedup_of


def read_answers(record: RunRecord) -> tuple[BenchAnswer, ...]:
    """Every answer of the model to a request for code, in order; repaired ones count once.

    Steps that a rule carried out are no answers, nor are requests without a recorded one.
    """
    steps = (step for iteration in record.records for step in iteration.steps)
    return tuple(_answer(step, record) for step in steps if _asked(step))


def _asked(step: StepRecord) -> bool:
    # The program that a search began with is a step, too, and cost no call.
    return step.outcome is not None and step.cost.calls > 0 and BY_RULE not in step.mended


def _answer(step: StepRecord, record: RunRecord) -> BenchAnswer:
    assert step.outcome is not None
    # A walk believes the product of what its steps gained; the report has the code's own speedup.
    report = record.reports.get(code_hash(step.code)) if step.code else None
    speedup = step.speedup if report is None else speedup_of(report)
    faster = step.outcome is Outcome.PASSED and (speedup or 0.0) > 1
    return BenchAnswer(
        kind="faster" if faster else step.outcome.kind,
        # code that changed nothing was not judged again: it may be the start, which is fast
        speedup=None if step.outcome is Outcome.UNCHANGED else speedup,
        technique=step.technique or "",
    )


def start_report(record: RunRecord, task: Task) -> EvalReport | None:
    """The report on the program that a search began with; None: it was the serial code."""
    begun = started_from(task, lambda code: record.reports.get(code_hash(code)))
    return record.reports.get(code_hash(begun.start)) if begun.port else None
