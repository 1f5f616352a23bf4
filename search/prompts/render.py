"""Prompts: text files under prompts/, filled in and put together.

The constant part comes first (`Prompt.system`, the same for all prompts of a run), so that a
server's prompt cache holds. The technique follows, then the current code and its signature, and the
answer's format (docs/methods.md, "Prompts"). Not here: the reading of answers (read_answer.py).
"""

import hashlib

from regraph_kg.models.port import LAUNCH
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts.beginning import STOP, beginning
from regraph_kg.search.prompts.texts import FOLDER, fill, short

VERSION = 11
"""Version of the templates and of their order.

Recent history: 9 (2026-11) neither variants nor what was tried before, no verdict of the model;
10 (2026-11) no examples, failures, standing or repairs; 11 (2026-11) recipes name no places.
"""
NAME_CHARACTERS, RECIPE_CHARACTERS = 100, 400
"""Limits for the texts of a technique, which may be longer in a graph."""


def render(
    task: Task,
    key: PromptKey,
    *,
    code: str,
    technique: Technique | None = None,
    seed: int = 0,
    prefill: bool = False,
) -> Prompt:
    """The prompt that asks to apply `technique` to `code`; without one the model is free to choose.

    `prefill`: the answer is begun, up to the body of the function that does the work.
    """
    shown = task.shown(code).strip()
    # what changes least comes first: a server caches a prompt up to its first difference
    parts = (
        _advice(technique),
        fill("code", code=shown),
        _signature(task),
        fill("answer"),
    )
    prompt = Prompt(key=key, system=system_text(task), user="\n\n".join(parts), seed=seed)
    # a large model explains itself first, which a begun answer keeps it from
    if not prefill:
        return prompt
    begun = beginning(shown, task.entries)
    return prompt.model_copy(update={"begun": begun, "stop": STOP})


def _advice(technique: Technique | None) -> str:
    """The technique by its recipe."""
    if technique is None:
        return fill("free")
    # a vocabulary of a user may have no recipes
    recipe = technique.recipe or technique.definition
    return fill(
        "technique",
        name=short(technique.name, NAME_CHARACTERS),
        recipe=short(recipe, RECIPE_CHARACTERS),
    )


def _form(task: Task) -> str:
    """The form of an answer: a file, the part of a CUDA program, or one function."""
    if task.port is None:
        return "file"
    return "part" if task.port.function == LAUNCH else "function"


def _signature(task: Task) -> str:
    if task.port is not None:
        return fill(f"{_form(task)}_signature", signature=task.port.signature)
    return fill("signature", signature=task.signature or task.entry)


def prompts_id() -> str:
    """Version and digest of the templates: runs with different prompts are not compared."""
    digest = hashlib.sha256()
    # names count, too: two templates may change places
    for path in sorted(FOLDER.glob("*.txt"), key=lambda path: path.name):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return f"{VERSION}:{digest.hexdigest()[:12]}"


def system_text(task: Task) -> str:
    """The constant part of a run's prompts."""
    return fill("system", form=fill(f"form_{_form(task)}"), target=fill(task.target))
