"""A source of steps: from an expert's version back to the serial code, one technique at a time.

A large model is asked to take one technique out; the code without it must still be right. Turned
round, each is a step from the code without to the code with it: small, and good by construction.
Not here: the model, the judging, and the turning round (build.py).
"""

from dataclasses import dataclass
from typing import ClassVar

from regraph_kg.collect.answer import AnsweredStep, NoFurtherStep
from regraph_kg.collect.conversation import Conversation, filled
from regraph_kg.collect.steps import Proposals, ProposedStep, StepJudgement, ref_of
from regraph_kg.models.prompt import Prompt
from regraph_kg.search.code.tokens import normalized


@dataclass(slots=True)
class Backwards(Conversation):
    """One way back from `best`, the text of a fast version."""

    best: str = ""
    undoes: ClassVar[bool] = True
    texts: ClassVar[tuple[str, str, str]] = "back", "taken", "back_answer"

    @property
    def ref(self) -> str:
        """As that of a conversation, marked."""
        return ref_of(
            f"{self.origin.run}/{self.task.problem}-{self.task.target}-back-{self.number}"
        )

    def first_prompt(self) -> Prompt:
        """The prompt of the first call."""
        self._code = self.best
        return self._prompt(None, 0)

    def proposals(self) -> Proposals:
        """The fast version itself, then the code before each step, the last step first."""
        judged = yield ProposedStep("the fast version", self.best, undoes=True)
        if judged.outcome is None:
            return "the fast version is the original code"
        if not judged.right:
            return f"the fast version: {judged.outcome.words}"
        self._code, serial, fruitless = self.best, normalized(self.task.serial), 0
        while fruitless < self.limits.patience:
            if len(self._done) >= self.limits.steps:
                return f"{self.limits.steps} steps back did not reach the original code"
            taken = yield from self._try()
            if isinstance(taken, NoFurtherStep):
                return f"the model ended before the original code: {taken.why or 'no reason'}"
            if normalized(self._code) == serial:
                return "the original code is reached"
            fruitless = 0 if taken else fruitless + 1
        return f"{fruitless} tries in a row took nothing out"

    def _take(self, answer: AnsweredStep, judged: StepJudgement) -> bool:
        """Go on from code that is still right."""
        self._code = answer.code
        self._tried.clear()
        self._done.append(f"{len(self._done) + 1}. {answer.label}")
        return True

    def _given(self) -> list[str]:
        return [filled("original", code=self.task.serial.strip()), *Conversation._given(self)]
