"""One sample: ask the model, have the code in its answer judged, mend it, pay for it.

Asking: ask.py; reading and judging an answer: verdicts.py; the technique of a right one:
step_check.py. Not here: a search's use of the sample.
"""

from regraph_kg.models.graph import KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import element
from regraph_kg.models.run import Cost, Deed, StepRecord, Task
from regraph_kg.search.ask import Asker, Measured, Request
from regraph_kg.search.attempts import Attempts
from regraph_kg.search.effects import Effects
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.step_check import StepCheck
from regraph_kg.search.verdicts import SampleVerdict, Verdicts


class Proposer:
    """Buys samples for one run."""

    def __init__(
        self, task: Task, run: int, prompting: Prompting, ledger: Ledger, failures: KnownFailures
    ) -> None:
        """`run` goes into every prompt's seed; `failures` learns what fails."""
        self._task, self._ledger, self._failures = task, ledger, failures
        self._offers_decline, self._repairs = prompting.decline, prompting.repair
        self.asker = Asker(task, run, prompting, ledger)
        """Also asks for thoughts."""
        self._verdicts = Verdicts(task, ledger, mend=prompting.mend)
        self._attempts = Attempts(prompting.tried)
        self._check = StepCheck(task, self.asker, prompting.verdict, ledger)

    def sample(self, request: Request, *, repairs: int = 0) -> Effects[StepRecord]:
        """One answer, repaired while it fails and calls are left; the last answer is the sample.

        A first answer that the recorded model does not have costs nothing and has no outcome; a
        repair that it does not have only ends the repairing. A first answer may decline a
        technique. Needs one call that is left.
        """
        cost = Cost()
        verdict: SampleVerdict | None = None
        for repair in range(repairs + 1 if self._repairs else 1):
            if self._ledger.left <= 0:
                break
            failed = verdict.failure if verdict else None
            may_decline = self._may_decline(request, repair)
            measured = self._measured(request)
            reply = yield from self.asker.code(request, repair, failed, measured, may_decline)
            if reply is None:
                break
            cost += self._ledger.pay(reply, Cost(calls=1))
            declinable = request.technique if may_decline else None
            verdict, judging = yield from self._verdicts.judge(reply, request.code, declinable)
            cost += judging
            self._warn(request, verdict)
            if not verdict.failed:
                break
        did = yield from self._check.deed(request, verdict, cost.calls - 1)
        step = _step(request, verdict, cost, did)
        self._attempts.add(request, step, self._verdicts.speedup(request.code))
        return step

    def _may_decline(self, request: Request, repair: int) -> bool:
        believed = self._offers_decline and self._verdicts.believes_declines
        return believed and request.may_decline(repair)

    def _measured(self, request: Request) -> Measured:
        """The measurements at the request's code."""
        return Measured(
            self._verdicts.measured,
            self._verdicts.standing(request.code),
            self._attempts.text(request),
        )

    def _warn(self, request: Request, verdict: SampleVerdict) -> None:
        """Note a failure, for later prompts of the same transition."""
        if request.technique is None or verdict.code is None or not verdict.failed:
            return
        failure = KnownFailure(
            outcome=verdict.outcome,
            diagnosis=verdict.diagnosis,
            before=request.code,
            code=verdict.code,
            problem=self._task.problem,
            model="",
        )
        self._failures.add(request.source, request.technique.id, failure)


def _step(request: Request, verdict: SampleVerdict | None, cost: Cost, did: Deed) -> StepRecord:
    here = (element(request.step, request.attempt),) if request.step else ()
    return StepRecord(
        path=(*request.path, *here),
        technique=None if request.technique is None else request.technique.id,
        sample=request.attempt,
        outcome=None if verdict is None else verdict.outcome,
        speedup=None if verdict is None else verdict.speedup,
        gain=None,
        cost=cost,
        code=None if verdict is None else verdict.code,
        diagnosis="" if verdict is None else verdict.diagnosis,
        applied=did.applied,
        did=did.technique,
        mended=() if verdict is None else verdict.mended,
    )
