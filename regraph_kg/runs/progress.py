"""Stories: slow work as a generator that yields its progress and returns its result."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkDone:
    """Progress of a story: `done` of `total` in a stage, `text` in words."""

    stage: str
    done: int = 0
    total: int = 1
    text: str = ""
    line: str = ""  # a line of output that explains the work before or after


Story = Generator[WorkDone, None, T]
