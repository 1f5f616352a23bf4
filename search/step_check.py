"""What a right step did: by what its code shows (applied.py), or by the model's verdict.

Code that says "other" or "nothing" is taken for certain; the model may name the other. Of
"asked", which is no proof, the model has the last word. Not here: what a search learns from it.
"""

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import Told
from regraph_kg.models.run import Deed, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.ask import Asker, Request
from regraph_kg.search.code.applied import deed
from regraph_kg.search.effects import Effects
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.render import read_verdict, render_verdict
from regraph_kg.search.verdicts import SampleVerdict


class StepCheck:
    """Tells for one run; `told` says who does."""

    def __init__(self, task: Task, asker: Asker, told: Told, ledger: Ledger) -> None:
        self._task, self._asker, self._told, self._ledger = task, asker, told, ledger

    def deed(self, request: Request, verdict: SampleVerdict | None, repair: int) -> Effects[Deed]:
        """What a right answer did; what a wrong one was about to do is nobody's business.

        An answer that changed nothing is told as such, whatever it was asked for.
        """
        if verdict is not None and verdict.outcome is Outcome.UNCHANGED:
            return Deed("nothing")
        if request.technique is None or verdict is None or verdict.speedup is None:
            return Deed("asked")
        code, others = verdict.code or "", request.others
        found = deed(request.technique, request.code, code, others)
        if request.part and found == Deed("asked") and not request.technique.leaves:
            found = Deed("other")  # nothing tells the whole from its first part
        if request.part or self._told == "markers" or not self._ledger.may_think:
            return found
        unnamed = found == Deed("other") and bool(others)
        if found.applied != "asked" and not unnamed:
            return found
        said = yield from self._said(request, request.technique, code, repair)
        if said is None:
            return found
        return Deed("other", said.technique) if unnamed else said

    def _said(
        self, request: Request, technique: Technique, code: str, repair: int
    ) -> Effects[Deed | None]:
        """What the model says that the step to `code` did; None where that cannot be read."""
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
        said = None if reply is None else read_verdict(reply, [*ids])
        return None if said is None else Deed(said.applied, ids.get(said.technique))
