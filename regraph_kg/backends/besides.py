"""What steps did besides their technique (`also`), as it is called today.

Stored ids stay as they were merged: a technique that was merged into another one since is told as
that one, so that a curation and its undoing rewrite none of them.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from regraph_kg.backends.bolt import Query
from regraph_kg.backends.merge import read_context
from regraph_kg.models.graph import Example


def today(ask: Query, found: Iterable[Example]) -> tuple[Example, ...]:
    """Examples with these ids brought up to date; the graph is asked only where one has some."""
    examples = tuple(found)
    if not any(one.also for one in examples):
        return examples
    current = renaming(ask)
    return tuple(replace(one, also=current(one.also, one.target)) for one in examples)


def renaming(ask: Query) -> Callable[[Iterable[str], str], tuple[str, ...]]:
    """What makes ids those of today, each once, without a step's own technique."""
    replaced = read_context(ask).replaced

    def current(ids: Iterable[str], own: str) -> tuple[str, ...]:
        named = dict.fromkeys(replaced.get(one, one) for one in ids)
        return tuple(one for one in named if one != own)

    return current
