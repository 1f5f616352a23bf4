"""Numbers of a function that the host can compute before it starts the kernel.

Not covered: calls, and elements of arrays.
"""

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.functions import CodeFile, Function, declared_name
from regraph_kg.cpp.syntax import walk
from regraph_kg.port.names import is_number

_NOT_COMPUTABLE = {
    *("subscript_expression", "pointer_expression", "field_expression", "call_expression"),
    *("lambda_expression", "assignment_expression", "update_expression"),
}


def flat(source: CodeFile, node: Node) -> str:
    """A node's text in one line, without comments."""
    parts, at = list[bytes](), node.start_byte
    for inner in walk(node):
        if inner.type == "comment":
            parts.append(source.content[at : inner.start_byte])
            at = inner.end_byte
    return " ".join(b" ".join((*parts, source.content[at : node.end_byte])).decode().split())


def declared(source: CodeFile, node: Node) -> Iterator[str]:
    """Names that a declaration declares."""
    yield from filter(None, map(syntax.declared_name, node.children_by_field_name("declarator")))


def element_type(function: Function, array: str) -> str:
    """The type of the elements of an array that a function takes; "" for no such array."""
    for parameter in function.parameters:
        kind = parameter.child_by_field_name("type")
        if declared_name(function.source, parameter) == array and kind is not None:
            return function.source.text(kind)
    return ""


def is_plain(source: CodeFile, node: Node) -> bool:
    """Whether a node declares numbers, each with its value."""
    kind = node.child_by_field_name("type")
    if node.type != "declaration" or kind is None or not is_number(source.text(kind)):
        return False
    return all(
        declarator.type == "init_declarator"
        and (name := declarator.child_by_field_name("declarator")) is not None
        and name.type == "identifier"
        for declarator in node.children_by_field_name("declarator")
    )


def words_of(source: CodeFile, node: Node) -> set[str]:
    """Names in an expression."""
    return {source.text(inner) for inner in walk(node) if inner.type == "identifier"}


def needed(
    source: CodeFile, before: list[Node], words: set[str], containers: Collection[str] = ()
) -> list[Node] | None:
    """Declarations that an expression with `words` needs; their own words are added to `words`.

    None where the host cannot compute one.
    """
    declarations = list[Node]()
    for node in reversed(before):
        if words & set(declared(source, node)):
            if not is_computable(source, node, containers):
                return None
            words |= words_of(source, node)
            declarations.insert(0, node)
    return declarations


def is_computable(source: CodeFile, node: Node, containers: Collection[str] = ()) -> bool:
    """Whether the host can compute an expression: it holds only numbers and containers' lengths."""
    for inner in walk(node):
        if inner.type not in _NOT_COMPUTABLE:
            continue
        called = inner.child_by_field_name("function")
        cast = source.text(called) if called else "(none)"
        length = re.fullmatch(r"(\w+)\.size(?:\(\))?", source.text(inner))
        is_cast = is_number(cast) or cast.startswith("static_cast<")
        if not is_cast and not (length and length[1] in containers):
            return False
    return True
