"""The technique that a right step applied: by its code (applied.py), or by the model's verdict.

The code's "other" or "nothing" is certain; the model may name the other technique. The code's
"asked" is no proof: there the model has the last word. Not here: a search's use of the result.
"""

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import Told
from regraph_kg.models.run import Deed, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.ask import Asker, Request
from regraph_kg.search.effects import Effects
from regraph_kg.search.fit.applied import deed
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.render import read_verdict, render_verdict
from regraph_kg.search.verdicts import SampleVerdict


class StepCheck:
    """The check of one run; `teller` is the code's markers or the model."""

    def __init__(self, task: Task, asker: Asker, teller: Told, ledger: Ledger) -> None:
        self._task, self._asker, self._teller, self._ledger = task, asker, teller, ledger

    def deed(self, request: Request, verdict: SampleVerdict | None, repair: int) -> Effects[Deed]:
        """The change that a right answer made; a wrong one is not examined.

        An answer that changed nothing counts as "nothing" for any request.
        """
        if verdict is not None and verdict.outcome is Outcome.UNCHANGED:
            return Deed("nothing")
        if request.technique is None or verdict is None or verdict.speedup is None:
            return Deed("asked")
        code, alternatives = verdict.code or "", request.others
        change = deed(request.technique, request.code, code, alternatives)
        if request.part and change == Deed("asked") and not request.technique.leaves:
            change = Deed("other")  # nothing tells the whole from its first part
        if request.part or self._teller == "markers" or not self._ledger.may_think:
            return change
        unnamed = change == Deed("other") and bool(alternatives)
        if change.applied != "asked" and not unnamed:
            return change
        answer = yield from self._ask(request, request.technique, code, repair)
        if answer is None:
            return change
        return Deed("other", answer.technique) if unnamed else answer

    def _ask(
        self, request: Request, technique: Technique, code: str, repair: int
    ) -> Effects[Deed | None]:
        """The model's verdict on the step to `code`; None where it cannot be read."""
        ids = {other.name: other.id for other in request.others}
        key = self._asker.key("verdict", path=request.way, attempt=request.attempt, repair=repair)
        prompt = render_verdict(
            self._task,
            key,
            technique=technique.name,
            before=request.code,
            after=code,
            names=[*ids],
            seed=self._asker.seed(key),
        )
        reply = yield from self._asker.think(prompt)
        verdict = None if reply is None else read_verdict(reply, [*ids])
        return None if verdict is None else Deed(verdict.applied, ids.get(verdict.technique))
