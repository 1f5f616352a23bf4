"""Functions with vectors of their own, whose bodies stand in place of the one call of each."""

import re

from tree_sitter import Node

from regraph_kg.cpp import inline
from regraph_kg.cpp.functions import Function
from regraph_kg.cpp.syntax import LOOPS, declared_name, inside_of, text


def with_bodies(code: str, entry: str) -> str:
    """The text with such functions in place of their calls."""

    def wanted(function: Function, call: Node) -> bool:
        caller = declared_name(inside_of(call, ("function_definition",)))
        work = caller == entry and inside_of(call, LOOPS) is None  # what the entry calls at once
        named = re.findall(rf"\b{function.name}\b *\(", function.source.content.decode())
        return len(named) == 2 and not work and "vector<" in text(function.body)  # noqa: PLR2004

    return inline.with_bodies(code, wanted)
