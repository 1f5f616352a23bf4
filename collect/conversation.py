"""A source of steps: a large model that is asked for one step after the other.

A failed step is sent back with its diagnosis, a few times. The trajectory ends after some tries in
a row without gain, after enough steps, or where the model sees no further step.
Not here: the model, and the judging of the steps (build.py).
"""

import hashlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from typing import ClassVar

from regraph_kg.collect.answer import AnsweredStep, NoFurtherStep, read_answer
from regraph_kg.collect.steps import Proposals, ProposedStep, StepJudgement, ref_of
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.trajectory import Source
from regraph_kg.search.prompts.examples import failure_text, fill
from regraph_kg.search.prompts.render import FailedAnswer, prompts_id, system_text
from regraph_kg.search.read_answer import ParseFailure

FOLDER = Path(__file__).parent / "prompts"
VERSION = 1
"""Version of the prompts and their composition. History: 1 (2026-11) first version."""
FASTER = 1.03
"""Least factor that counts as faster; less may be chance."""


@dataclass(frozen=True, slots=True)
class AskingLimits:
    """Limits of the calls for one trajectory."""

    steps: int = 8
    repairs: int = 2
    """Further calls for one step after a failed one."""
    patience: int = 2
    """Tries in a row that make nothing faster, after which it ends."""

    @property
    def calls(self) -> int:
        """Calls at most, for one trajectory."""
        return (self.steps + 1) * self.patience * (self.repairs + 1)


@dataclass(slots=True)
class Conversation:
    """One trajectory's worth of asking; the prompts of its `number` differ in their seed.

    `ask` has a prompt answered, or raises `AnswersPending`; `names` are offered as techniques.
    """

    task: Task
    number: int
    ask: Callable[[Prompt], Reply]
    limits: AskingLimits
    names: Sequence[str]
    origin: Source
    """Origin of the trajectory; an empty model becomes the one that answered."""
    notes: tuple[str, ...] = ()
    undoes: ClassVar[bool] = False
    """Whether a proposed step's code is that before it."""
    texts: ClassVar[tuple[str, str, str]] = "step", "done", "answer"
    """What is asked for, what was done so far, and the form of an answer: files of prompts/."""
    _code: str = ""
    _speedup: float = 1.0
    _done: list[str] = field(default_factory=list)
    _tried: list[str] = field(default_factory=list)
    """Labels that failed on the current code."""
    _tries: int = 0
    _model: str = ""

    @property
    def ref(self) -> str:
        """Problem, target, number, and the run that it is of."""
        return ref_of(f"{self.origin.run}/{self.task.problem}-{self.task.target}-{self.number}")

    def source(self) -> Source:
        """The origin with the model that answered."""
        return self.origin.model_copy(update={"model": self.origin.model or self._model})

    def first_prompt(self) -> Prompt:
        """The prompt of the first call."""
        self._code = self.task.serial
        return self._prompt(None, 0)

    def proposals(self) -> Proposals:
        """Steps, until one of the limits."""
        self._code = self.task.serial
        fruitless = 0
        while fruitless < self.limits.patience:
            if len(self._done) >= self.limits.steps:
                return f"{self.limits.steps} steps, as many as are asked for"
            faster = yield from self._try()
            if isinstance(faster, NoFurtherStep):
                return f"the model sees no further step: {faster.why or 'it gave no reason'}"
            fruitless = 0 if faster else fruitless + 1
        return f"{fruitless} tries in a row made nothing faster"

    def _try(self) -> Generator[ProposedStep, StepJudgement, bool | NoFurtherStep]:
        """One step, mended while it fails; whether it made the code faster."""
        self._tries += 1
        failed: FailedAnswer | None = None
        label = "an answer without code"
        for repair in range(self.limits.repairs + 1):
            reply = self.ask(self._prompt(failed, repair))
            self._model = reply.model
            answer = read_answer(reply, self.task.entry)
            if isinstance(answer, NoFurtherStep):
                return answer
            if isinstance(answer, ParseFailure):
                failed = FailedAnswer(Outcome.PARSE_FAILED, answer.reason, None)
                continue
            label = answer.label
            fields = (answer.label, answer.code, answer.reasoning, answer.detail)
            judged = yield ProposedStep(*fields, repairs=repair, undoes=self.undoes)
            if judged.right:
                return self._take(answer, judged)
            if judged.outcome is None:
                label = f"{label} (the code was the same as before)"
                break
            failed = FailedAnswer(judged.outcome, judged.diagnosis, answer.code)
        self._tried.append(label)
        return False

    def _take(self, answer: AnsweredStep, judged: StepJudgement) -> bool:
        """Go on from a right answer."""
        before, self._code = self._speedup, answer.code
        self._tried.clear()
        figure = "not timed well"
        if judged.speedup is not None:
            self._speedup, figure = judged.speedup, f"{judged.speedup:.3g}x"
        self._done.append(f"{len(self._done) + 1}. {answer.label}: {figure}")
        return self._speedup >= FASTER * before

    def _given(self) -> list[str]:
        """Texts on the code to be changed, with the code itself as the last."""
        return [fill("code", code=self._code.strip())]

    def _prompt(self, failed: FailedAnswer | None, repair: int) -> Prompt:
        asked, done, form = self.texts
        parts = [filled(asked)]
        if self.names:
            parts.append(filled("names", names="; ".join(self.names)))
        if self._done:
            parts.append(filled(done, steps="\n".join(self._done)))
        if self._tried:
            parts.append(filled("tried", labels="; ".join(self._tried)))
        parts += self._given()
        parts.append(fill("signature", signature=self.task.signature))
        if failed is not None:
            parts.append(failure_text("failure", failed.outcome, failed.diagnosis))
            if failed.code is not None:
                parts.append(fill("failed_code", code=failed.code.strip()))
        place = f"{asked} {self.number}" if self.undoes else str(self.number)
        subject = f"{self.task.problem}.{self.task.target} {place}.{self._tries}.{repair}"
        return Prompt(
            key=DecisionKey(kind="collect", subject=subject, attempt=self.number),
            system=system_text(self.task),
            user="\n\n".join([*parts, filled(form)]),
            seed=self.number,
        )


def prompt_hash() -> str:
    """Version and digest of all texts that a prompt is made of."""
    digest = hashlib.sha256(prompts_id().encode())
    for path in sorted(FOLDER.glob("*.txt")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return f"collect-{VERSION}:{digest.hexdigest()[:12]}"


def filled(name: str, **values: str) -> str:
    """A text of prompts/ with its blanks filled."""
    return _template(name).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
