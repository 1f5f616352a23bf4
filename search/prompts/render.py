"""Prompts: text files under prompts/, filled in and put together.

The constant part comes first (`Prompt.system`, the same for all prompts of a run), so that a
server's prompt cache holds. The other parts follow, those that change least first: technique,
examples, known failures, the current code and its signature, the last failure,
and the answer's format (docs/methods.md, "Prompts"). Text of code: examples.py;
a technique and its known failures: adviser.py. Not here: the reading of answers (read_answer.py),
and the source of examples (reader.py).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example
from regraph_kg.models.method import Prompting, Words
from regraph_kg.models.port import LAUNCH
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.search.prompts.beginning import STOP, beginning, remainder
from regraph_kg.search.prompts.by_rule import carried_out
from regraph_kg.search.prompts.examples import (
    FOLDER,
    estimated_tokens,
    examples_shown,
    failure_text,
    fill,
    short,
)
from regraph_kg.search.prompts.launching import new_launch
from regraph_kg.search.prompts.parts import Advice, Paragraph, Priority, fitted, parts_of, together
from regraph_kg.search.prompts.standing import Standing, standing_text

VERSION = 9
"""Version of the templates and of their order.

Recent history: 6 (2026-11) the part of a port; lean texts, an answer that is begun; 7 (2026-11)
begun up to the place that the recipe names, techniques in part; 8 (2026-11) steps by rule; 9
(2026-11) neither variants nor what was tried before, no verdict of the model.
"""
MACHINE_CHARACTERS = 300
_ERROR = ": error: "  # a mark in each compiler line that begins an error


@dataclass(frozen=True, slots=True)
class FailedAnswer:
    """A failed answer as it is fed back."""

    outcome: Outcome
    diagnosis: str
    code: str | None  # the failed answer's code; None where it held none


def render(  # noqa: PLR0913 (a prompt's parts, most with a default)
    task: Task,
    key: PromptKey,
    *,
    code: str,
    advice: Advice,
    failure: FailedAnswer | None = None,
    standing: Standing | None = None,
    may_decline: bool = False,
    tokens: int = 4000,
    seed: int = 0,
    words: Words = "full",
    prefill: bool = False,
    recipe: str = "",
) -> Prompt:
    """The prompt that asks for a new version of `code`, along `advice`, after `failure`.

    `standing` is that of `code`. `may_decline`: the answer may be that the technique of
    `advice` does not apply. `prefill`: the answer is begun, up to the loop that `recipe` names, or
    it is ready where that leaves nothing to write. It holds to `tokens` as far as parts.py can.
    """
    # what changes least comes first: a server caches a prompt up to its first difference
    parts = parts_of(advice)
    parts.append(Paragraph(fill("code", code=task.shown(code).strip())))
    if standing is not None:
        parts.append(Paragraph(standing_text(standing), Priority.STANDING))
    parts.append(Paragraph(_signature(task)))
    if failure is not None:
        # the errors behind the first one mislead a small model
        said = first_error(failure.diagnosis) if words == "lean" else failure.diagnosis
        parts.append(Paragraph(failure_text("failure", failure.outcome, said)))
        if failure.code is not None:
            shown = fill("failed_code", code=task.shown(failure.code).strip())
            parts.append(Paragraph(shown, Priority.FAILED_CODE))
    if may_decline:
        parts.append(Paragraph(fill("decline")))
    parts.append(Paragraph(fill(_answer(task, words))))
    system = system_text(task, words)
    user = together(fitted(parts, tokens - estimated_tokens(system)))
    prompt = Prompt(key=key, system=system, user=user, seed=seed)
    # a large model explains itself first, which a begun answer keeps it from
    if not prefill:
        return prompt
    shown = task.shown(code).strip()
    # a repair is the model's: the rule would write again what failed
    if failure is None and (ready := carried_out(shown, recipe)):
        return prompt.model_copy(update={"ready": ready})
    more = {
        "begun": beginning(shown, task.entries, recipe),
        "rest": remainder(shown, recipe),
        "launch": new_launch(shown, recipe),
        "stop": STOP,
    }
    return prompt.model_copy(update=more)


def _form(task: Task) -> str:
    """The form of an answer: a file, the part of a CUDA program, or one function."""
    if task.port is None:
        return "file"
    return "part" if task.port.function == LAUNCH else "function"


def _signature(task: Task) -> str:
    if task.port is not None:
        return fill(f"{_form(task)}_signature", signature=task.port.signature)
    template = "in_project" if task.guarantee else "signature"
    return fill(template, signature=task.signature or task.entry)


def _answer(task: Task, words: Words) -> str:
    """The template that describes the answer's form."""
    if words == "lean":
        return "lean_answer"
    return "answer" if task.port is None else f"{_form(task)}_answer"


def free_advice() -> str:
    """The part of a prompt that leaves the choice to the model."""
    return fill("free")


def cot_advice() -> str:
    """The part of a prompt that has the model think step by step before it writes."""
    return fill("cot")


def rag_advice(
    examples: Sequence[Example], prompting: Prompting, code: str, device: str = ""
) -> Advice:
    """The part of a prompt that shows steps of other code, each named by its technique.

    Those that may help with `code` (`examples_shown`), at most `prompting.examples`, as seen from
    `device`. Without any: the free choice.
    """
    shown = examples_shown(examples, prompting, code, named=True, device=device)
    if not shown:
        return free_advice()
    return (Paragraph(fill("rag")), *(Paragraph(example, Priority.EXAMPLES) for example in shown))


def prompts_id() -> str:
    """Version and digest of the templates: runs with different prompts are not compared."""
    digest = hashlib.sha256()
    # names count, too: two templates may change places
    for path in sorted(FOLDER.glob("*.txt"), key=lambda path: path.name):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return f"{VERSION}:{digest.hexdigest()[:12]}"


def system_text(task: Task, words: Words = "full") -> str:
    """The constant part of a run's prompts."""
    form = fill(f"form_{_form(task)}")
    target = fill(task.target)
    if task.machine:
        target += "\n" + fill("machine", machine=short(task.machine, MACHINE_CHARACTERS))
    if words == "lean":
        return fill("lean_system", form=form, target=target)
    # a part of a port is called with pointers of the device, whatever is timed
    aligned = "device" if _form(task) == "part" else task.metric
    return fill("system", form=form, alignment=fill(f"aligned_{aligned}"), target=target)


def first_error(diagnosis: str) -> str:
    """A diagnosis up to its second compiler error, which often follows from the first."""
    lines = diagnosis.splitlines()
    places = [number for number, line in enumerate(lines) if _ERROR in line]
    return "\n".join(lines[: places[1]]) if len(places) > 1 else diagnosis
