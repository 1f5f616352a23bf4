"""Stories (runs/progress.py) that nobody watches."""

from typing import TypeVar

from regraph_kg.runs.progress import Story

T = TypeVar("T")


def outcome(story: Story[T]) -> T:
    """Run a story without showing it; return its result."""
    while True:
        try:
            next(story)
        except StopIteration as ended:
            result: T = ended.value
            return result
