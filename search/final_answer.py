"""The end of a run: the best three re-measured, one answer, one summary.

Only a re-measured speedup is reported, and only code that was then timed stably, with an interval
above 1, is an answer: else the serial code is.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regraph_kg.models import run
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.search.ledger import Ledger

FINALISTS, CANDIDATES = 3, 6  # right ones measured again, of so many at most
_OF_HEADER = (
    *("problem", "target", "method", "model", "seed", "limits", "parallel", "final"),
    *("device", "toolchain", "excluded"),
)
Final = tuple[run.StepRecord, EvalReport]  # one of the best, and what was measured of it at the end


@dataclass(frozen=True, slots=True)
class Answer:
    """The run's answer; `report` is None where that is the serial code."""

    path: tuple[str, ...]
    code: str
    report: EvalReport | None
    finals: tuple[Final, ...] = ()  # finalists and what was measured of them, best first


def finalists(records: Sequence[run.SimulationRecord]) -> list[run.StepRecord]:
    """The fastest verified codes, each once, best first; by their lower bounds where unstable."""
    fastest: dict[str, run.StepRecord] = {}
    for step in _steps(records):
        if step.code is not None and (step.speedup or 0) > 1:
            # equal code has one verdict; the path that found it first is the answer's
            fastest.setdefault(step.code, step)
    return sorted(fastest.values(), key=lambda step: -(step.speedup or 0))[:CANDIDATES]


def final_answer(
    task: run.Task,
    records: Sequence[run.SimulationRecord],
    evaluate_final: Callable[[Candidate], EvalReport],
) -> Answer:
    """Re-measure the finalists; the fastest of those that are surely faster, else serial.

    Each is timed in turn with the best before it: the serial code's scatter does not decide. One
    that is wrong, as what was only glanced at may be, gives its place to the next.
    """
    best: Final | None = None
    finals = list[Final]()
    for step in finalists(records):
        if sum(report.outcome.is_right for _, report in finals) == FINALISTS:
            break
        # timed in turn with the best so far: two serial times would add their scatter
        candidate = Candidate(task.target, step.code or "", best and best[0].code)
        report = evaluate_final(candidate)
        if report.outcome.is_right and not (report.passed and report.is_known):
            # our machine's fault: timed once more
            report = evaluate_final(candidate)
        finals.append((step, report))
        best = better(best, finals[-1])
    if best is None:
        return Answer((), task.serial, None, tuple(finals))
    return Answer(best[0].path, best[0].code or "", best[1], tuple(finals))


def better(best: Final | None, other: Final) -> Final | None:
    """The best finalist so far, or the one after it if that beats it; None while none is sure."""
    interval = other[1].speedup_interval
    # right, timed stably, its interval above 1
    if not (other[1].passed and other[1].is_known and interval and interval.low > 1):
        return best
    if best is None:
        return other
    rivalry = other[1].rivalry
    if rivalry and rivalry.interval.is_narrow:
        return other if rivalry.ratio > 1 else best
    # without a rivalry the two were timed apart, each over its own serial time
    return other if (other[1].sure_speedup or 0) > (best[1].sure_speedup or 0) else best


def summarise(
    header: run.RunHeader,
    records: Sequence[run.SimulationRecord],
    answer: Answer,
    ledger: Ledger,
    stopped: run.Stopped | None = None,
) -> run.RunSummary:
    """The summary of a run; it `stopped` by a limit of the `ledger`, if nothing else is said."""
    # a screening of code that an earlier step made is no sample of its own
    steps = [step for step in _steps(records) if not step.fell]
    account = answer.report.account if answer.report else None
    return run.RunSummary(
        **{name: getattr(header, name) for name in _OF_HEADER},
        active_seconds=ledger.seconds,
        iterations=sum(record.reward is not None for record in records),
        cost=ledger.spent,
        unrecorded=sum(step.outcome is None for step in steps),
        outcomes=dict(Counter(step.outcome.value for step in steps if step.outcome is not None)),
        failure=commonest_failure(records),
        best_path=answer.path,
        best_code=answer.code,
        speedup=(answer.report and answer.report.speedup) or 1.0,
        speedup_interval=answer.report and answer.report.speedup_interval,
        improved=answer.report is not None,
        taken_back=_taken_back(answer),
        stopped=stopped or ledger.ended,
        roof=account.roof if account else None,
    )


def _taken_back(answer: Answer) -> run.TakenBack | None:
    """The fastest of the search, where no finalist was confirmed."""
    # a speedup that the user saw go by must not vanish without a reason
    if answer.report is not None or not answer.finals:
        return None
    step, report = answer.finals[0]
    return run.TakenBack(
        searched=step.speedup or 1.0,
        outcome=report.outcome,
        speedup=report.sure_speedup,
        interval=report.speedup_interval if report.outcome.is_right else None,
    )


def commonest_failure(records: Sequence[run.SimulationRecord]) -> run.CommonFailure | None:
    """The most frequent failure, by outcome and first diagnosis line; the latest of equals."""
    failed = Counter(
        (step.outcome, step.diagnosis.partition("\n")[0])
        for step in reversed(list(_steps(records)))
        if step.outcome is not None and not step.outcome.is_right
    )
    for (outcome, diagnosis), count in failed.most_common(1):
        return run.CommonFailure(outcome=outcome, diagnosis=diagnosis, count=count)
    return None


def _steps(records: Sequence[run.SimulationRecord]) -> Iterator[run.StepRecord]:
    return (step for record in records for step in record.steps)
