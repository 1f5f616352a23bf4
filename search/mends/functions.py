"""Mends of how functions stand in a file: twice, inside another one, behind their first use.

Each gives the code mended once and says what it did, or None where nothing is to be done. What is
in doubt is left to the compiler.
"""

from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.search.code.syntax import called, declared_name, text, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.source import (
    DefinedFunction,
    ParsedCode,
    declarator_of,
    signature_of,
    words_of,
)

Mended = tuple[str, str]
"""The code, and what was done to it."""
NAMES = 100
"""Characters of names that are told."""
_DEVICE = frozenset({"__global__", "__device__"})


def defined_once(source: ParsedCode) -> Mended | None:
    """A function that is defined twice in the same words is defined once."""
    known: set[tuple[int, str]] = set()
    again: list[DefinedFunction] = []
    for one in source.functions:
        around = one.outer.parent
        said = 0 if around is None else around.id, normalized(text(one.outer))
        again += [one] if said in known else []
        known.add(said)
    if not again:
        return None
    names = ", ".join(dict.fromkeys(one.name for one in again))
    code = source.edited([(one.outer.start_byte, one.outer.end_byte, "") for one in again])
    return code, f"left out what defines {names[:NAMES]} again in the same words"


def outside(source: ParsedCode) -> Mended | None:
    """A kernel that is defined inside a function stands before that function."""
    for around in source.functions:
        inner = next(_inside(around), None)
        if inner is None:
            continue
        name = declared_name(declarator_of(inner))
        if source.defining(name):
            return None
        begin = around.top.start_byte
        code = source.edited(
            [(begin, begin, f"{text(inner)}\n\n"), (inner.start_byte, inner.end_byte, "")]
        )
        return code, f"{name} moved out of {around.name}"
    return None


def _inside(function: DefinedFunction) -> Iterator[Node]:
    """Sound definitions of device code in a function's body, the outermost only."""
    for node in walk(function.node):
        if node.type != "function_definition" or node == function.node or node.has_error:
            continue
        if words_of(node) & _DEVICE and signature_of(node) is not None:
            yield node


def declared_first(source: ParsedCode) -> Mended | None:
    """A function that is called before it is defined is declared before that."""
    for one in source.functions:
        user = _first_user(source, one)
        if user is None:
            continue
        body = one.node.child_by_field_name("body")
        head = source.between(one.outer.start_byte, body.start_byte if body is not None else 0)
        doubtful = "=" in head or "auto" in one.words or "\n#" in head
        if doubtful or one.outer != one.top or user.top == one.top:
            continue
        begin = user.top.start_byte
        code = source.edited([(begin, begin, f"{head.strip()};\n\n")])
        return code, f"{one.name} declared before its first call"
    return None


def _first_user(source: ParsedCode, function: DefinedFunction) -> DefinedFunction | None:
    """The first function before this one that calls it, where nothing else has its name."""
    name = function.name
    if len(source.defining(name)) > 1:
        return None
    places = source.named(name)
    before = [one for one in places if one.start_byte < function.node.start_byte]
    if not before or not all(_is_called(one, name) for one in before):
        return None
    at = before[0].start_byte
    around = (one for one in source.functions if one.node.start_byte < at < one.node.end_byte)
    return next(around, None)


def _is_called(name_node: Node, name: str) -> bool:
    """Whether an identifier is what a call calls, and not in a namespace or class."""
    node = name_node.parent
    if node is not None and node.type == "template_function":
        node = node.parent
    if node is None or node.type != "call_expression":
        return False
    function = node.child_by_field_name("function")
    inside = function is not None and function.start_byte <= name_node.start_byte
    return inside and name_node.start_byte == node.start_byte and called(node) == name
