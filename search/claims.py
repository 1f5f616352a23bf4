"""A trace's claims, measured again: its codes are judged here, and its verdicts ignored.

For traces of another installation or an older judge. The steps, their order and their texts stay.
Not covered: whether a stranger's step did what its name says; answers without code, which cannot be
judged: a stranger's are left out.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.run import StepRecord
from regraph_kg.search.reward import speedup
from regraph_kg.search.run_record import RunRecord


def claimed_codes(run: RunRecord) -> tuple[str, ...]:
    """The codes on which a run's verdicts hang, each once."""
    steps = (step for record in run.records for step in record.steps)
    return tuple(dict.fromkeys(step.code for step in steps if step.outcome and step.code))


def stale(run: RunRecord, evaluator: str) -> str | None:
    """The version of a judge other than `evaluator` that the run's figures are of, if any is."""
    return next(
        (report.evaluator for report in run.reports.values() if report.evaluator != evaluator), None
    )


def measured_again(
    run: RunRecord, device: str, judge: Callable[[Candidate], EvalReport]
) -> RunRecord:
    """The run with `judge`'s verdicts, whose reports are of `device`.

    Its name stays, so that it teaches once however often it is measured.
    """
    codes = claimed_codes(run)
    reports = {code_hash(code): judge(Candidate(run.header.target, code)) for code in codes}
    records = tuple(
        record.model_copy(
            update={"steps": tuple(_rejudged(step, reports, run) for step in record.steps)}
        )
        for record in run.records
    )
    header = run.header.model_copy(update={"device": device})
    return replace(run, header=header, records=records, reports=reports, finals={}, ours=True)


def _rejudged(step: StepRecord, reports: Mapping[str, EvalReport], run: RunRecord) -> StepRecord:
    if step.outcome is None or not step.code:
        return step if run.ours else step.model_copy(update={"outcome": None})
    report = reports[code_hash(step.code)]
    update = {
        "outcome": report.outcome,
        "speedup": speedup(report),
        "diagnosis": report.diagnosis,
    }
    return step.model_copy(update=update)
