"""A source of steps: a large model that is asked for one technique after the other.

A failed step is sent back with its diagnosis, a few times. It ends after some tries in a row
without gain, after enough steps, or where the model sees no further step.
Not here: model and judge; what becomes of the steps (judged_steps.py).
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regraph_kg.collect.judged_steps import TrajectoryDraft, label_of
from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import EvalReport, Outcome
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain, without_thought
from regraph_kg.models.trajectory import Step
from regraph_kg.search.prompts.fences import quoted, without_blocks
from regraph_kg.search.prompts.render import prompts_id, system_text
from regraph_kg.search.prompts.texts import fill
from regraph_kg.search.read_answer import ParseFailure, parse

FOLDER = Path(__file__).parent / "prompts"
VERSION = 2  # version of the prompts and their composition: 2 (2026-11) the search's system text
SAID = 20_000  # stored characters of a model's remarks on a step
FASTER = 1.03  # least factor that counts as faster; less may be chance
STEPS, REPAIRS, PATIENCE = 8, 2, 2  # usual steps; calls after a failed one; tries without gain
_FIELD = re.compile(
    r"^[ \t#>*_-]*(?P<name>TECHNIQUE|REASONING|DETAIL)[*_]*[ \t]*:[*_]*(?P<text>.*?)"
    r"(?=^[ \t#>*_-]*(?:TECHNIQUE|REASONING|DETAIL)[*_]*[ \t]*:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FINISHED = re.compile(r"^[ \t*_]*NO FURTHER STEP[*_]*[ \t]*[:.]?[*_]*(?P<why>.*)$", re.MULTILINE)


Failed = tuple[Outcome, str, str | None]  # an answer's outcome, diagnosis, and code if it had any


@dataclass(slots=True)
class Conversation:
    """One trajectory's worth of asking; the prompts of its `number` differ in their seed."""

    task: Task
    number: int
    ask: Callable[[Prompt], Reply]  # has a prompt answered, or raises `AnswersPending`
    judge: Callable[[str], EvalReport]
    steps: int  # steps at most
    names: Sequence[str]  # techniques that are offered
    draft: TrajectoryDraft  # an empty model of its source becomes the one that answered
    _speedup: float = 1.0
    _done: list[str] = field(default_factory=list)
    _tried: list[str] = field(default_factory=list)  # labels that failed on the current code
    _tries: int = 0

    def propose(self) -> str:
        """Fill the draft until one of the limits; say which. Raises `AnswersPending`."""
        fruitless = 0
        while fruitless < PATIENCE and len(self._done) < self.steps:
            gained = self._try()
            if isinstance(gained, str):
                return f"the model sees no further step: {gained or 'it gave no reason'}"
            fruitless = 0 if gained else fruitless + 1
        return f"{len(self._done)} steps; {fruitless} tries in a row without gain"

    def _try(self) -> bool | str:
        """One step, mended while it fails: whether it is a gain, or why there is none."""
        self._tries += 1
        failed: Failed | None = None
        label = "an answer without code"
        for repair in range(REPAIRS + 1):
            reply = self.ask(self._prompt(failed, repair))
            # The model that answered made the trajectory, unless the user names another.
            source = self.draft.source
            self.draft.source = source.model_copy(update={"model": source.model or reply.model})
            answer = read_answer(reply, self.task.entry)
            if isinstance(answer, str):
                return answer
            if isinstance(answer, ParseFailure):
                failed = Outcome.PARSE_FAILED, answer.reason, None
                continue
            label = answer.label
            if normalized(answer.code) in map(normalized, self.draft.codes):
                # The same code once more: another try of it would say the same.
                label = f"{label} (the code was the same as before)"
                break
            # A wrong code is judged as often as it is proposed: the journal makes that free.
            report = self.judge(answer.code)
            self.draft.take(answer, report)
            if report.outcome.is_right:
                return self._go_on(answer, report.speedup)
            failed = report.outcome, report.diagnosis, answer.code
        self._tried.append(label)
        return False

    def _go_on(self, step: Step, speedup: float | None) -> bool:
        """Go on from a right step; it is a gain where it is faster."""
        before = self._speedup
        self._speedup = speedup or before
        # What failed on the old code may work on the new one.
        self._tried.clear()
        gain = f"{speedup:.3g}x" if speedup else "not timed well"
        self._done.append(f"{len(self._done) + 1}. {step.label}: {gain}")
        return self._speedup >= FASTER * before

    def _prompt(self, failed: Failed | None, repair: int) -> Prompt:
        parts = [filled("step")]
        if self.names:
            parts.append(filled("names", names="; ".join(self.names)))
        if self._done:
            parts.append(filled("done", steps="\n".join(self._done)))
        if self._tried:
            parts.append(filled("tried", labels="; ".join(self._tried)))
        parts.append(fill("code", code=self.draft.codes[-1].strip()))
        parts.append(fill("signature", signature=self.task.signature))
        if failed is not None:
            outcome, diagnosis, code = failed
            said = quoted(diagnosis)
            said = f":\n{said}" if said else "."
            parts.append(filled("failure", outcome=outcome.value, said=said))
            if code is not None:
                parts.append(filled("failed_code", code=code.strip()))
        parts.append(filled("answer"))
        place = f"{self.number}.{self._tries}.{repair}"
        subject = f"{self.task.problem}.{self.task.target} {place}"
        return Prompt(
            key=DecisionKey(kind="collect", subject=subject, attempt=self.number),
            system=system_text(self.task),
            user="\n\n".join(parts),
            # Else all trajectories of a problem would be one.
            seed=self.number,
        )


def read_answer(reply: Reply, entry: str) -> Step | ParseFailure | str:
    """The step of an answer, or its reason why there is none, without marked thoughts before it."""
    reply = reply.model_copy(update={"text": without_thought(reply.text)})
    prose = without_blocks(reply.text)
    code = parse(reply, entry)
    if isinstance(code, ParseFailure):
        # A cut answer may only quote the words that end it.
        finished = _FINISHED.search(prose) if reply.finish == "stop" else None
        return label_of(finished["why"]) if finished else code
    if "\0" in code:
        return ParseFailure("the code holds a null character; answer in plain text")
    # Reversed, so that of a field that stands twice the first counts.
    fields = {match["name"]: match["text"] for match in reversed(list(_FIELD.finditer(prose)))}
    label = label_of(fields.get("TECHNIQUE", "").strip().partition("\n")[0].strip(" *_`\"'."))
    if not label:
        return ParseFailure("the answer names no technique; begin it with TECHNIQUE: and its name")
    why, what = (fields.get(name, "").strip(" \n\t*_") for name in ("REASONING", "DETAIL"))
    why, what = (plain(said[:SAID]).strip() for said in (why, what))
    return Step(label=label, reasoning=why, detail=what, code=code)


def prompt_hash() -> str:
    """Version and digest of all texts that a prompt is made of."""
    digest = hashlib.sha256(prompts_id().encode())
    for path in sorted(FOLDER.glob("*.txt")):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return f"collect-{VERSION}:{digest.hexdigest()[:12]}"


def filled(name: str, **values: str) -> str:
    """A text of prompts/ with its blanks filled."""
    return fill(name, FOLDER, **values)
