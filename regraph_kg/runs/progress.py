"""How a story that takes long is told: it yields how far it is, and returns what came of it."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkDone:
    """How far a story is: `done` of `total` in a stage, `text` in words."""

    stage: str
    done: int = 0
    total: int = 1
    text: str = ""
    line: str = ""
    """What is worth a line of its own, as it explains what came or comes."""


Story = Generator[WorkDone, None, T]


def outcome(story: Story[T]) -> T:
    """What comes of a story, whoever it is told to."""
    while True:
        try:
            next(story)
        except StopIteration as ended:
            result: T = ended.value
            return result
