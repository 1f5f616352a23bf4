"""Transforms in the graph: (:Transform)-[:CARRIES_OUT]->(:Technique), and what they reproduced."""

from collections.abc import Sequence

from pydantic import TypeAdapter

from regraph_kg.backends.bolt import Query
from regraph_kg.models.transform import Replay, StoredTransform

_REPLAYS = TypeAdapter(tuple[Replay, ...])


def write_transforms(ask: Query, transforms: Sequence[StoredTransform]) -> None:
    """Make transforms, or write known ones anew; each TRANSITION then names those that made it."""
    rows = [
        {
            "id": one.id,
            "technique": one.technique,
            "properties": {
                **one.model_dump(mode="json", exclude={"replays"}),
                "replays": _REPLAYS.dump_json(one.replays).decode(),
                "reproduces": sorted({r.example for r in one.replays if r.reproduces}),
            },
        }
        for one in sorted(transforms, key=lambda one: one.id)
    ]
    if rows:
        ask("write_transforms", rows=rows)
        ask("mark_applied")


def read_replays(ask: Query) -> dict[str, tuple[Replay, ...]]:
    """The replays of accepted transforms, by technique."""
    found: dict[str, tuple[Replay, ...]] = {}
    for row in ask("replays"):
        read = _REPLAYS.validate_json(row["replays"])
        found[row["technique"]] = found.get(row["technique"], ()) + read
    return found


def read_transforms(ask: Query) -> tuple[StoredTransform, ...]:
    """Every transform, by id."""
    read = []
    for row in ask("transforms"):
        properties = {
            k: v for k, v in row["transform"].items() if k in StoredTransform.model_fields
        }
        properties["replays"] = _REPLAYS.validate_json(properties.get("replays") or "[]")
        read.append(StoredTransform.model_validate(properties))
    return tuple(read)
