"""Which ways a function's conditions went: each condition of its text tells it, when it runs.

A branch that no input takes is a branch that a candidate may drop and be called right.

Not covered: a `switch`, parts of a condition, conditions in macros and in `constexpr` functions.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, parsed
from regraph_kg.cpp.syntax import LOOPS, inside_of, walk

_HEADER = Path(__file__).with_name("ways.h").read_text("utf-8")
_WAY = re.compile(r"^way (\d+) ([01])$", re.MULTILINE)
_LENGTH = re.compile(r"\b\w+\s*\.\s*(?:size\s*\(\s*\)|empty\s*\(\s*\))")
_ASKING = {"if_statement", "conditional_expression", *LOOPS}


class Untaken(NamedTuple):
    """A condition that went one way only."""

    line: int  # line of serial.cpp
    condition: str
    way: bool  # the way that it never went


class Ways:
    """The conditions of a text, and the text that tells how they go."""

    def __init__(self, code: str, sizes: Sequence[str]) -> None:
        """`sizes`: names of which a condition may speak alone: they vary as far as they can."""
        source = parsed(Path("serial.cpp"), code.encode())
        self._source, self._sizes = source, {*sizes, "std", "size_t"}
        self._asked = list(_conditions(source))
        self.header = f"#define REGRAPH_CONDITIONS {max(len(self._asked), 1)}\n{_HEADER}"
        edits = Edits()
        for number, (_, node) in enumerate(self._asked):
            edits.insert(node.start_byte, f"regraph_way({number}, bool(")
            edits.insert(node.end_byte, "))")
        self.code = edits.applied(source.content)

    def untaken(self, said: str) -> list[Untaken]:
        """What never went one way, in order, by what the running code said."""
        seen = {(int(number), way == "1") for number, way in _WAY.findall(said)}
        found = []
        for number, (whole, node) in enumerate(self._asked):
            ways = {way for way in (True, False) if (number, way) in seen}
            text = " ".join(self._source.text(node).split())
            # more than sizes must lead there, and code must stand on the way that is missing
            names = {*re.findall(r"[A-Za-z_]\w*", _LENGTH.sub("", text))} - self._sizes
            stands = ways == {False} or whole.child_by_field_name("alternative") is not None
            if len(ways) == 1 and names and stands:
                found.append(Untaken(self._source.line(node), text, not ways.pop()))
        return found


def _conditions(source: CodeFile) -> Iterator[tuple[Node, Node]]:
    """What asks, and the condition that it asks; none that the compiler must know."""
    for whole in walk(source.tree.root_node):
        if whole.type not in _ASKING or _is_constant(source, whole):
            continue
        node = whole.child_by_field_name("condition")
        if node is not None and node.type in ("condition_clause", "parenthesized_expression"):
            inner = node.named_children
            node = inner[0] if len(inner) == 1 else None
        if node is not None and not node.type.endswith(("declaration", "literal")):
            yield whole, node


def _is_constant(source: CodeFile, whole: Node) -> bool:
    """Whether it stands outside of functions, in a constexpr one, or is `if constexpr`."""
    if any(child.type == "constexpr" for child in whole.children):
        return True
    node = inside_of(whole, {"function_definition"})
    return node is None or "constexpr" in source.text(node).split("{")[0]
