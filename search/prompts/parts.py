"""What a prompt is made of, and what is left out first where it grows beyond its tokens.

A part stays whole or is left out whole; tokens are estimated (examples.py). Not here: the order in
which parts stand (render.py). Not covered: a current code that fills the budget alone, which is
shown nevertheless, since the whole of it has to be written anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from regraph_kg.search.prompts.examples import estimated_tokens


class Priority(IntEnum):
    """How long a part stays; the least is left out first, of equals the last one."""

    VARIANTS = 1
    KNOWN_FAILURES = 2
    EXAMPLES = 3
    TRIED = 4
    GUIDANCE = 5
    STANDING = 6
    FAILED_CODE = 7
    NEEDED = 8
    """The task, the current code, its signature, what went wrong, the form of the answer."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a prompt; with `joined` it goes on right below the one before."""

    text: str
    priority: Priority = Priority.NEEDED
    joined: bool = False


Advice = str | Sequence[Paragraph]
"""What a prompt begins with: what to do, and what helps to do it."""


def parts_of(advice: Advice) -> list[Paragraph]:
    """Advice as parts; a text is needed whole."""
    return [Paragraph(advice)] if isinstance(advice, str) else [*advice]


def together(parts: Iterable[Paragraph]) -> str:
    """The parts as text."""
    text = ""
    for part in parts:
        if part.text:
            text += ("\n" if part.joined else "\n\n") * bool(text) + part.text
    return text


def fitted(parts: Sequence[Paragraph], tokens: int) -> list[Paragraph]:
    """As many of `parts` as `tokens` hold, in their order; what is needed stays in any case."""
    remaining = dict(enumerate(parts))
    over = sum(map(_tokens, parts)) - tokens
    for number in sorted(remaining, key=lambda index: (remaining[index].priority, -index)):
        if over <= 0 or remaining[number].priority is Priority.NEEDED:
            break
        over -= _tokens(remaining.pop(number))
    return [*remaining.values()]


def _tokens(part: Paragraph) -> int:
    return estimated_tokens(part.text + "\n\n")
