"""The parts of a prompt, and the order in which they are dropped beyond its tokens.

A part stays whole or is dropped whole; tokens are estimated (examples.py). Not here: the order of
parts in the prompt (render.py). Not covered: a current code that exceeds the budget alone, which is
shown anyway, since the model must rewrite all of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from regraph_kg.search.prompts.examples import estimated_tokens


class Priority(IntEnum):
    """Priority of a part; the least is dropped first, of equals the last one."""

    KNOWN_FAILURES = 1
    EXAMPLES = 2
    GUIDANCE = 3
    STANDING = 4
    FAILED_CODE = 5
    NEEDED = 6  # the task, the current code, its signature, what went wrong, the form of the answer


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a prompt; with `joined` no empty line stands before it."""

    text: str
    priority: Priority = Priority.NEEDED
    joined: bool = False


Advice = str | Sequence[Paragraph]  # a prompt's beginning: the technique, and help for it


def parts_of(advice: Advice) -> list[Paragraph]:
    """Advice as parts; a plain text is one needed part."""
    return [Paragraph(advice)] if isinstance(advice, str) else [*advice]


def together(parts: Iterable[Paragraph]) -> str:
    """The parts as text."""
    text = ""
    for part in parts:
        if part.text:
            text += ("\n" if part.joined else "\n\n") * bool(text) + part.text
    return text


def fitted(parts: Sequence[Paragraph], tokens: int) -> list[Paragraph]:
    """The `parts` that fit into `tokens`, in their order; needed parts always stay."""
    remaining = dict(enumerate(parts))
    over = sum(map(_tokens, parts)) - tokens
    for number in sorted(remaining, key=lambda index: (remaining[index].priority, -index)):
        if over <= 0 or remaining[number].priority is Priority.NEEDED:
            break
        over -= _tokens(remaining.pop(number))
    return [*remaining.values()]


def _tokens(part: Paragraph) -> int:
    return estimated_tokens(part.text + "\n\n")
