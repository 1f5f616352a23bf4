"""The curators' log in the graph: (:Decision) nodes, each with all that an undo needs."""

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from regraph_kg.backends.bolt import Query
from regraph_kg.backends.curation.transfer import StepRef
from regraph_kg.errors import BadInput
from regraph_kg.models.curation import Change, Curation, LabelDecision

Places = frozenset[StepRef]

WORDS = ("keep", "describe")
"""Kinds that change only words about a technique, so that no curation builds upon them."""


@dataclass(frozen=True, slots=True)
class Record:
    """One curation's change.

    `change.transfers[i]` moved the places `moves[i]`; `stays[i]` were at its heir before under the
    same names, and stay there after an undo.
    """

    change: Change
    moves: tuple[Places, ...]
    stays: tuple[Places, ...]


def write(ask: Query, curation: Curation, record: Record, token: str) -> None:
    """Log a curation that the call with this token made."""
    entry = asdict(curation) | {
        "id": _id(curation.number),
        "target": curation.techniques[0].partition("/")[0],
        "change": record.change.model_dump_json(),
        "moves": pack(record.moves),
        "stays": pack(record.stays),
        "token": token,
    }
    del entry["undone_by"]
    ask("write_decisions", rows=[entry])


def read(ask: Query) -> tuple[Curation, ...]:
    """Every curation, in order, with the one that undid it."""
    curations = [Curation(**_plain(row["entry"])) for row in ask("curations")]
    undone = undoings(curations)
    return tuple(replace(curation, undone_by=undone.get(curation.number)) for curation in curations)


def find_by_token(ask: Query, token: str) -> Curation | None:
    """The curation that an earlier try of this call committed, if any."""
    numbers = [row["entry"]["number"] for row in ask("curations") if row["token"] == token]
    return next((c for c in read(ask) if c.number in numbers), None) if numbers else None


def record(ask: Query, number: int) -> Record:
    """A curation's change."""
    (row,) = ask("curation_record", id=_id(number))
    return Record(
        Change.model_validate_json(row["change"]), unpack(row["moves"]), unpack(row["stays"])
    )


def verdicts(ask: Query) -> tuple[LabelDecision, ...]:
    """The relabelling's log."""
    names = [field.name for field in fields(LabelDecision)]
    return tuple(
        LabelDecision(**{name: row["entry"].get(name) for name in names}) for row in ask("verdicts")
    )


def undoings(curations: Iterable[Curation]) -> dict[int, int]:
    """Undone curations -> the undos that hold; an undone undo does not count."""
    undone: dict[int, int] = {}
    for curation in sorted(curations, key=lambda curation: -curation.number):
        if curation.undoes is not None and curation.number not in undone:
            undone.setdefault(curation.undoes, curation.number)
    return undone


def to_undo(curations: Sequence[Curation], number: int | None) -> Curation:
    """The curation that `number` names, or the last that holds; `BadInput` where no undo can be."""
    if number is None:
        standing = [
            curation
            for curation in curations
            if curation.undone_by is None and curation.kind != "undo"
        ]
        if not standing:
            raise BadInput("no curation is left to undo (regraph techniques show --log)")
        return standing[-1]
    by_number = {curation.number: curation for curation in curations}
    if number not in by_number:
        raise BadInput(f"there is no curation {number} (regraph techniques show --log)")
    curation = by_number[number]
    if curation.undone_by is not None:
        raise BadInput(
            f"curation {number} is undone already, by {curation.undone_by};"
            f" regraph techniques mend undo {curation.undone_by} brings it back"
        )
    for later in reversed(curations):
        if later.number <= number or later.undone_by is not None or later.kind in WORDS:
            continue
        if later.undoes is not None and later.undoes > number:
            continue  # it and the curation that it undid are both later and cancel out
        if shared := {*later.techniques} & {*curation.techniques}:
            raise BadInput(
                f"curation {later.number} ({later.summary}) builds upon {number}: both are"
                f" about {min(shared)}; first undo it (regraph techniques mend undo {later.number})"
            )
    return curation


def pack(many: Sequence[Places]) -> str:
    """Places as compact text; equal places give equal text."""
    trajectories = [_by_trajectory(places) for places in many]
    return base64.b64encode(zlib.compress(json.dumps(trajectories).encode())).decode()


def unpack(text: str) -> tuple[Places, ...]:
    """The places of a text of `pack`."""
    many: Any = json.loads(zlib.decompress(base64.b64decode(text)))
    return tuple(
        frozenset(StepRef(key, at) for key, steps in places.items() for at in steps)
        for places in many
    )


def _by_trajectory(places: Places) -> dict[str, list[int | str]]:
    by_trajectory: dict[str, list[int | str]] = {}
    for place in sorted(places, key=lambda place: (place.trajectory, str(place.at))):
        by_trajectory.setdefault(place.trajectory, []).append(place.at)
    return by_trajectory


def _id(number: int) -> str:
    return f"curation {number}"


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A stored entry as the fields of a Curation."""
    lists = {name: tuple(entry.get(name) or ()) for name in ("techniques", "labels")}
    return {name: value for name, value in entry.items() if name != "id"} | lists
