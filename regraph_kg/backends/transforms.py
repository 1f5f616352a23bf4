"""Transforms in the graph: (:Transform)-[:CARRIES_OUT]->(:Technique), and what they reproduced."""

import warnings
from collections.abc import Iterable, Sequence

from pydantic import TypeAdapter, ValidationError

from regraph_kg.backends.bolt import Query
from regraph_kg.errors import first_mistake
from regraph_kg.models.trajectory import Source
from regraph_kg.models.transform import Replay, StoredTransform

_SOURCE = set(Source.model_fields) - {"learned"}
_REPLAYS = TypeAdapter(tuple[Replay, ...])


def write_transforms(ask: Query, transforms: Iterable[StoredTransform]) -> None:
    """Make transforms, or write known ones anew; each TRANSITION then names those that made it."""
    rows = [
        {
            "id": one.id,
            "technique": one.technique,
            "properties": {
                **one.model_dump(mode="json", exclude={"replays", "source"}),
                **one.source.model_dump(include=_SOURCE),
                "replays": _REPLAYS.dump_json(one.replays).decode(),
                "reproduces": sorted({r.example for r in one.replays if r.reproduces}),
            },
        }
        for one in sorted(transforms, key=lambda one: one.id)
    ]
    if rows:
        ask("write_transforms", rows=rows)
        ask("mark_applied")


def bring_transforms(ask: Query, drafts: Sequence[StoredTransform]) -> dict[str, str]:
    """Make those of a file that are new, nothing else; why the others are refused, by id."""
    techniques = {row["technique"]["id"] for row in ask("techniques")}
    known = {one.id: one.text for one in read_transforms(ask)}
    new, refused, had = dict[str, StoredTransform](), dict[str, str](), {*known}
    for one in drafts:
        if one.technique not in techniques:
            refused[one.id] = f"transform {one.id}: the graph has no such technique"
        elif known.setdefault(one.id, one.text) != one.text:
            refused[one.id] = f"transform {one.id}: the graph has it with another text"
        elif one.id not in had:
            new[one.id] = one
    write_transforms(ask, new.values())
    return refused


def read_replays(ask: Query) -> dict[str, tuple[Replay, ...]]:
    """The replays of accepted transforms, by technique."""
    found: dict[str, tuple[Replay, ...]] = {}
    for row in ask("replays"):
        read = _REPLAYS.validate_json(row["replays"])
        found[row["technique"]] = found.get(row["technique"], ()) + read
    return found


def read_transforms(ask: Query) -> tuple[StoredTransform, ...]:
    """Every transform, by id; one that cannot be read is left out with a warning."""
    read = []
    for node in (row["transform"] for row in ask("transforms")):
        properties = {k: v for k, v in node.items() if k in StoredTransform.model_fields}
        properties["source"] = {k: node.get(k) or "" for k in _SOURCE}
        try:
            properties["replays"] = _REPLAYS.validate_json(node.get("replays") or "[]")
            read.append(StoredTransform.model_validate(properties))
        except ValidationError as error:
            why = first_mistake(error, "replays")
            warnings.warn(f"transform {node['id']} is left out: {why}", stacklevel=2)
    return tuple(read)
