"""An ingest's techniques: unknown ones are made, known ones get the names that they lack.

A technique that lacks nothing is neither written nor locked. Merged-away ones stay away.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from regraph_kg.backends.bolt import Query
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, start_id

_TAUGHT = ("hurts", "family", "needs", "pointless", "leaves", "recipe", "steps", "source")
"""Properties that known techniques get where they lack them, besides aliases."""


def every(ask: Query) -> list[Technique]:
    """Every technique by id, the initial states too."""
    return [Technique.model_validate(row["technique"]) for row in ask("techniques")]


def known(ask: Query, target: Target | None = None) -> tuple[Technique, ...]:
    """The techniques by id, of all targets or one, without the initial states."""
    return tuple(
        technique
        for technique in every(ask)
        if target in (None, technique.target) and technique.id != start_id(technique.target)
    )


def add(ask: Query, techniques: Collection[Technique]) -> int:
    """Make unknown techniques, extend the others; return the number of new ones."""
    added = create(ask, techniques)
    extend(ask, techniques, ())
    return added


def create(ask: Query, techniques: Iterable[Technique]) -> int:
    """Make unknown techniques; return their number."""
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
    """Extend techniques that lack something; one statement locks them and the ids of `also`."""
    ordered = _in_order(techniques)
    lacking = _missing_properties(ask, ordered).keys()
    if ids := lacking | set(also):
        ask("lock_techniques", ids=sorted(ids))
    if lacking:
        taught = _missing_properties(
            ask, [t for t in ordered if t.id in lacking]
        )  # as they are now
        rows = [{"id": key, "properties": missing} for key, missing in taught.items()]
        ask("write_techniques", rows=rows)
        ask("label_techniques", ids=sorted(taught))


def _missing_properties(
    ask: Query, techniques: Sequence[Technique]
) -> dict[str, dict[str, object]]:
    """Properties that known techniques lack, by id, without aliases that a curator removed."""
    rows = ask("read_techniques", ids=sorted({t.id for t in techniques})) if techniques else []
    current = {row["id"]: _read(row["id"], row["technique"]) for row in rows}
    taught: dict[str, dict[str, object]] = {}
    for technique in techniques:
        if (now := current.get(technique.id)) is None:
            continue
        missing = {name: getattr(technique, name) for name in _TAUGHT if not getattr(now, name)}
        missing["aliases"] = tuple(
            dict.fromkeys((*now.aliases, *(a for a in technique.aliases if a not in now.disowned)))
        )
        current[technique.id] = after = now.model_copy(update=missing)
        if after != now:
            taught.setdefault(technique.id, {}).update(missing)
    return taught


def _read(key: str, node: Mapping[str, Any]) -> Technique:
    """A technique; one in creation is seen in part, lacks much, and is read again under a lock."""
    parts = {"id": key, "name": key, "target": key.partition("/")[0]}
    return Technique.model_validate(parts | dict(node))


def _in_order(techniques: Iterable[Technique]) -> list[Technique]:
    return sorted(set(techniques), key=lambda technique: technique.id)
