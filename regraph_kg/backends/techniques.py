"""Techniques that an ingest brings: made where they are unknown, else taught the names they lack.

Neither touches, or locks, a technique that lacks nothing. Those that were merged away stay away.
"""

from collections.abc import Collection, Iterable

from regraph_kg.backends.bolt import Query
from regraph_kg.models.technique import Technique

_TAUGHT = {"id", "aliases", "hurts", "family", "needs", "pointless", "leaves", "recipe", "steps"}
"""What known techniques are taught where they lack it."""


def add(ask: Query, techniques: Collection[Technique]) -> int:
    """Make the unknown ones, extend the others; count the new ones."""
    added = create(ask, techniques)
    extend(ask, techniques, ())
    return added


def create(ask: Query, techniques: Iterable[Technique]) -> int:
    """Make the unknown ones; their number."""
    rows = [
        {
            "id": technique.id,
            "properties": technique.model_dump(exclude={"id"}) | {"aliases": technique.aliases},
        }
        for technique in _in_order(techniques)
    ]
    if not rows:
        return 0
    added: list[str] = ask("add_techniques", techniques=rows)[0]["added"]
    if added:
        ask("label_techniques", ids=sorted(added))
    return len(added)


def extend(ask: Query, techniques: Iterable[Technique], also: Iterable[str]) -> None:
    """Extend those that lack something; lock them, and the ids of `also`, in one go."""
    rows = [technique.model_dump(include=_TAUGHT) for technique in _in_order(techniques)]
    lacking = {row["id"] for row in ask("lacking_techniques", techniques=rows)} if rows else set()
    if ids := lacking.union(also):
        ask("lock_techniques", ids=sorted(ids))
    if lacking:
        ask("extend_techniques", techniques=[row for row in rows if row["id"] in lacking])
        ask("label_techniques", ids=sorted(lacking))


def _in_order(techniques: Iterable[Technique]) -> list[Technique]:
    return sorted(set(techniques), key=lambda technique: technique.id)
