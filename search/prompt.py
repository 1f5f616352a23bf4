"""Prompts: text files under prompts/, filled in and put together.

The constant part comes first (`Prompt.system`), so that a server's prompt cache holds; then one
technique with its definition and examples as diffs, the current code, the signature, the last
failure, and the answer's format at the very end (models.md section 4).
"""

import difflib
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Retrieval, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.world import AskExamples

VERSION = 1
"""Of the templates and of how they are put together. History: 1 (2026-11) first version."""

DIFF_LINES = 80
"""An example's diff is cut here: small models lose the thread in long ones."""
REASONING_CHARACTERS = 300

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Failure:
    """What is fed back after a failed answer."""

    outcome: Outcome
    diagnosis: str
    code: str | None
    """The failed answer's code; None where it held none."""


def render(
    task: Task,
    key: PromptKey,
    *,
    code: str,
    advice: str,
    failure: Failure | None = None,
    seed: int = 0,
) -> Prompt:
    """The prompt that asks for a new version of `code`, along `advice`, after `failure`."""
    parts = [advice, _fill("code", code=code.strip(), signature=task.signature)]
    if failure is not None:
        parts.append(
            _fill("failure", outcome=failure.outcome.value, diagnosis=failure.diagnosis.strip())
        )
        if failure.code is not None:
            parts.append(_fill("failed_code", code=failure.code.strip()))
    parts.append(_fill("answer"))
    system = _fill("system", target=_fill(task.target))
    return Prompt(key=key, system=system, user="\n\n".join(parts), seed=seed)


class Adviser:
    """Writes the part of a prompt that names one technique and shows how it was applied before."""

    def __init__(self, examples: AskExamples, limit: int, retrieval: Retrieval = "best") -> None:
        """The first `limit` examples are shown, of those that come first by `retrieval`."""
        self._examples = examples
        self._limit = limit
        self._near = retrieval == "near"
        self._written: dict[tuple[str, ...], str] = {}

    def __call__(self, source: str, technique: Technique, code: str = "") -> str:
        """Advice to apply `technique` to `code`, which `source` led to.

        It is written once a transition, or where it hangs on the code, once a code.
        """
        about = (source, technique.id, code) if self._near else (source, technique.id)
        if about not in self._written:
            self._written[about] = self._write(technique, about)
        return self._written[about]

    def _write(self, technique: Technique, about: tuple[str, ...]) -> str:
        examples = self._examples(*about)[: self._limit] if self._limit else ()
        return "\n\n".join(
            [
                _fill("technique", name=technique.name, definition=technique.definition),
                *(
                    _fill("example", reasoning=_short(one.reasoning), diff=_diff(one))
                    for one in examples
                ),
            ]
        )


def free_advice() -> str:
    """The part of a prompt that leaves the choice to the model."""
    return _fill("free")


def prompts_id() -> str:
    """Version and digest of the templates: runs with different prompts are not compared."""
    digest = hashlib.sha256()
    for path in sorted(_FOLDER.iterdir(), key=lambda path: path.name):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return f"{VERSION}:{digest.hexdigest()[:12]}"


def _diff(example: Example) -> str:
    before, after = example.before.splitlines(), example.after.splitlines()
    lines = list(difflib.unified_diff(before, after, "before", "after", lineterm=""))
    if len(lines) > DIFF_LINES:
        lines = [*lines[:DIFF_LINES], "..."]
    return "\n".join(lines)


def _short(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= REASONING_CHARACTERS:
        return text
    return text[:REASONING_CHARACTERS].rsplit(" ", 1)[0] + " ..."


def _fill(template: str, **values: str) -> str:
    return _template(template).substitute(values).strip()


@cache
def _template(name: str) -> Template:
    return Template((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
