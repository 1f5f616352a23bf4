"""Faults of a problem.toml in words; for an unknown field, the one probably meant.

Not covered: text that is no TOML at all (problem.py says so).
"""

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.declaration import (
    AbsoluteRule,
    Argument,
    CheapCheck,
    ConditionedRule,
    DeclaredWork,
    Returned,
    SizesTable,
    SumRule,
)
from regraph_kg.evaluation.problem.project import Commands

_TABLES: Mapping[str, Sequence[type[BaseModel]]] = {
    "sizes": (SizesTable,),
    "args": (Argument,),
    "returns": (Returned,),
    "work": (DeclaredWork,),
    "cheap_check": (CheapCheck,),
    "tolerance": (SumRule, ConditionedRule, AbsoluteRule),
    "commands": (Commands,),
}
_OWN = {"schema_version": "schema"}


def mistaken(path: Path, error: ValidationError, fields: Sequence[str]) -> BadInput:
    """The error to raise, with the first mistake; `fields` are those of this problem.toml's top."""
    return BadInput(f"{path}: {_first(error, fields)}; see regraph docs problems")


def _first(error: ValidationError, fields: Sequence[str]) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    text = _message(first, fields)
    return f"{place}: {text}" if place else text


def _message(first: ErrorDetails, top: Sequence[str]) -> str:
    if first["type"] == "string_pattern_mismatch" and first["loc"] == ("name",):
        return f"{first['input']!r} is no name: lower-case letters, digits, single - and _"
    if first["type"] != "extra_forbidden":
        return first["msg"].removeprefix("Value error, ")
    names = _fields(first["loc"], top)
    near = difflib.get_close_matches(str(first["loc"][-1]), names, 2)
    meant = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
    return f"no such field; {meant}"


def _fields(place: Sequence[int | str], top: Sequence[str]) -> list[str]:
    """Names of the fields of the table in which `place` lies."""
    inside = _TABLES.get(str(place[0]), ()) if len(place) > 1 else ()
    names = [name for table in inside for name in table.model_fields] or top
    return list(dict.fromkeys(_OWN.get(name, name) for name in names))
