"""A request to the model: for code, or for a thought, as a prompt with its key and seed.

Not here: the text of a prompt (prompts/), the worth of an answer (sample.py).
"""

import hashlib
from dataclasses import dataclass

from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import AskKind, Prompt, PromptKey, Reply
from regraph_kg.models.run import Cost, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.parts import Advice
from regraph_kg.search.prompts.render import FailedAnswer, render
from regraph_kg.search.prompts.standing import Standing
from regraph_kg.search.world import Effects, asked


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a new version of `code` along `advice`.

    `path` are the elements entered so far, without the requested step; `technique` is that step,
    None for a method that walks no graph; `others` are the alternatives to it. `source` is the
    technique (an id) that led to `code`, as far as is known. `free` is the name of a step whose
    technique the model chooses on a walk.
    """

    path: tuple[str, ...]
    technique: Technique | None
    attempt: int
    code: str
    advice: Advice
    others: tuple[Technique, ...] = ()
    source: str = ""
    free: str = ""
    part: bool = False
    """Whether `technique` is asked for in part: the first of its smaller steps."""

    @property
    def step(self) -> str:
        """The step's name on a path; "" for a method that walks no graph."""
        return self.free if self.technique is None else self.technique.id

    @property
    def way(self) -> tuple[str, ...]:
        """The path of a prompt's key: `path`, and the step asked for.

        A free step from the serial code asks what `standard` asks, and so by the same key.
        """
        # recorded answers of `standard` serve a first free choice, too
        here = bool(self.step) and (self.technique is not None or bool(self.path))
        return (*self.path, self.step) if here else self.path


class Asker:
    """Asks for one run."""

    def __init__(self, task: Task, run: int, prompting: Prompting, ledger: Ledger) -> None:
        """`run` goes into every prompt's seed."""
        self._task, self._run, self._prompting, self._ledger = task, run, prompting, ledger

    def code(
        self,
        request: Request,
        repair: int,
        failed: FailedAnswer | None,
        standing: Standing | None,
        may_decline: bool,
    ) -> Effects[Reply | None]:
        """The answer to a request for code; None: the recorded model has none.

        `failed` is the answer that it is to mend, `standing` that of the request's code;
        `may_decline`: it may decline the technique.
        """
        prompting = self._prompting
        # the key alone decides the seed: a resumed run asks the same, in any order
        key = self.key("code", path=request.way, attempt=request.attempt, repair=repair)
        prompt = render(
            self._task,
            key,
            code=request.code,
            advice=request.advice,
            failure=failed,
            standing=standing if prompting.words == "full" else None,
            may_decline=may_decline,
            tokens=prompting.prompt_tokens,
            words=prompting.words,
            prefill=prompting.prefill,
            recipe=request.technique.recipe if request.technique is not None else "",
            seed=self.seed(key),
        )
        # counted while it is under way: others must not spend the same call
        self._ledger.begin_call()
        try:
            reply = yield from asked(prompt)
        finally:
            self._ledger.end_call()
        return None if reply.finish == "unrecorded" else reply

    def think(self, prompt: Prompt) -> Effects[Reply | None]:
        """A call that is to yield no code: in the ledger, but no unit of the budget.

        None: the recorded model has no answer. `key` makes the prompt's key.
        """
        reply = yield from asked(prompt)
        if reply.finish == "unrecorded":
            return None
        self._ledger.pay(reply, Cost(thoughts=1))
        return reply

    def key(
        self, ask: AskKind, *, path: tuple[str, ...] = (), attempt: int = 0, repair: int = 0
    ) -> PromptKey:
        """The key of a prompt of this run."""
        return PromptKey(
            problem=self._task.problem,
            target=self._task.target,
            path=path,
            attempt=attempt,
            repair=repair,
            ask=ask,
        )

    def seed(self, key: PromptKey) -> int:
        """hash(run, p, a, k) of method.md 3.2, and the rest of the key; 31 bits, as servers do."""
        text = f"{self._run}\n{key.model_dump_json()}"
        # servers take seeds of 31 bits
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
