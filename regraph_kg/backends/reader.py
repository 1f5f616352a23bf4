"""A person's own query, which changes nothing.

Neo4j refuses a write in a read transaction. ArcadeDB does not, so that there a user without write
access asks the query. Every transaction is rolled back. Words that write, load or terminate, and
procedures but for a few that only read, are refused before anything is sent.
"""

import base64
import math
import re
from collections.abc import Mapping
from queue import Empty, Queue
from threading import Thread
from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from pydantic import JsonValue

from regraph_kg.backends.bolt import Bolt
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.graph import GraphTable

GRACE_SECONDS = 2.0  # the store's time to end a query that takes too long; ArcadeDB does not
_QUOTED = re.compile(
    r"'(?:\\.|[^'\\])*'" r'|"(?:\\.|[^"\\])*"' r"|`[^`]*`|//[^\n\r]*|/\*.*?\*/", re.DOTALL
)
_WRITING = re.compile(
    r"(?<![.:$\w])(ALTER|CREATE|DELETE|DROP|FOREACH|INSERT|LOAD\s+CSV|MERGE|REMOVE|SET|TERMINATE)\b",
    re.IGNORECASE,
)
_CALL = re.compile(r"(?<![.:$\w])CALL\b\s*(?![{(\s])([\w.]*)", re.IGNORECASE)
"""A procedure; subqueries begin with a bracket."""
_READING = re.compile(
    r"(db\.(labels|relationshipTypes|propertyKeys|schema\.\w+|index\.\w+\.query\w+)"
    r"|dbms\.components)",
    re.IGNORECASE,
)
"""Procedures that only read: some of the others act on the server, its files or its network."""


def query(
    bolt: Bolt, statement: str, parameters: Mapping[str, JsonValue], *, limit: int, seconds: float
) -> GraphTable:
    """The first `limit` rows of a statement in the store's own Cypher; the graph is not changed.

    Raises `BadInput` for a statement that writes, or with the store's message for one that it
    does not understand, and `StoreError` where no answer comes in `seconds`.
    """
    _require_reading(statement)
    answers: Queue[GraphTable | BaseException] = Queue()

    def ask() -> None:
        try:
            columns, rows = bolt.ask(statement, parameters, limit=limit + 1, seconds=seconds)
            shown = [[_plain(value) for value in row] for row in rows[:limit]]
            answers.put(GraphTable(columns, shown, len(rows) > limit))
        except BaseException as error:  # noqa: BLE001 (raised again below)
            answers.put(error)

    Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds + GRACE_SECONDS)
        if isinstance(answer, BaseException):
            raise answer
    except (Empty, TimeoutError):
        text = f"query: no answer within {seconds:g} s; ask for less, or give --timeout"
        raise StoreError(text) from None
    return answer


def _require_reading(statement: str) -> None:
    if "\\u" in statement:
        raise BadInput("query: \\u is not taken; write the character, or give it by --param")
    bare = _QUOTED.sub(lambda quoted: "`" if quoted[0][0] == "`" else " ", statement)
    calls = (call for call in _CALL.finditer(bare) if not _READING.fullmatch(call[1]))
    word = _WRITING.search(bare) or next(calls, None)
    if word:
        raise BadInput(
            f"query: {' '.join(word[0].upper().split())} is refused, as only reading is allowed;"
            " a name that reads so stands in backticks"
        )


def _plain(value: Any) -> JsonValue:
    """A value of Bolt as JSON."""
    match value:
        case Node():
            plain: Any = {"labels": sorted(value.labels), "properties": _plain(dict(value))}
        case Relationship():
            plain = {"type": value.type, "properties": _plain(dict(value))}
        case Path():
            plain = {"nodes": [*map(_plain, value.nodes)]}
            plain["relationships"] = [*map(_plain, value.relationships)]
        case dict():
            plain = {name: _plain(item) for name, item in value.items()}
        case Point():
            plain = {"srid": value.srid, "coordinates": [*map(_plain, value)]}
        case list():
            plain = [*map(_plain, value)]
        case bytes() | bytearray():
            plain = base64.b64encode(value).decode("ascii")
        case float() if not math.isfinite(value):
            plain = str(value)
        case None | bool() | int() | float() | str():
            plain = value
        case _:  # a time, which knows its ISO form
            plain = str(value.iso_format() if hasattr(value, "iso_format") else value)
    return plain  # type: ignore[no-any-return]
