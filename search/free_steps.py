"""A finished run's free choices of its model: their tries, passes and gains.

Free are all samples of a method without advice (`MethodKind.free`), and on a walk those whose
prompts name no technique. Tries are counted as in harvest.py: a sample timed badly, or while the
machine did other work, is none, and one that the final measurement disproved has failed. Not
covered: methods that show examples, thoughts or earlier rounds, whose samples name none either.
"""

import math

from regraph_kg.models.evaluation import Outcome, code_hash
from regraph_kg.models.graph import EFFECT_SCALE, FreeChoice, FreeRun, FreeSteps
from regraph_kg.models.run import StepRecord
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run_record import RunRecord


def free_run(run: RunRecord) -> FreeRun | None:
    """The sums of a run that may teach (`harvest.refuse`); None where it chose nothing freely."""
    kind, header = kind_of(run.header.method), run.header
    steps = [step for record in run.records for step in record.steps]
    if not (kind.free or kind.walks):
        return None
    speedups = {step.path: step.speedup for step in steps} | {(): 1.0}
    choice = FreeChoice()
    for step in steps:
        before = speedups.get(step.path[:-1])
        is_free = step.technique is None or step.withheld
        if is_free and before is not None and step.tried and timed_well(run, step):
            sums = _sums(run, step, before)
            choice += FreeChoice(later=sums) if len(step.path) > 1 else FreeChoice(first=sums)
    if not choice.first.tried + choice.later.tried:
        return None
    return FreeRun(
        run=run.id,
        model=header.model,
        target=header.target,
        device=header.device,
        problem=header.problem,
        choice=choice,
    )


def timed_well(run: RunRecord, step: StepRecord) -> bool:
    """Whether a step's end depends on the step, not on our machine."""
    report = run.reports.get(code_hash(step.code or ""))
    loaded = report is not None and bool(report.load)
    timed = step.outcome in (Outcome.PASSED, Outcome.TIMED_OUT)
    return step.outcome is not Outcome.UNSTABLE_TIMING and not (timed and loaded)


def disproved(run: RunRecord, step: StepRecord) -> bool:
    """Whether the final measurement found a step's code wrong."""
    final = run.finals.get(code_hash(step.code or ""))
    return final is not None and not final.outcome.is_right


def _sums(run: RunRecord, step: StepRecord, before: float) -> FreeSteps:
    """The sums of one try on code of the speedup `before`."""
    if step.speedup is None or disproved(run, step):
        return FreeSteps(tried=1)
    log2 = math.log2(step.speedup / before)
    return FreeSteps(tried=1, verified=1, sum_log2_effect=round(EFFECT_SCALE * log2))
