"""What of a function's numbers the host can compute, too, before it starts the kernel.

Not covered: calls, and what stands in arrays.
"""

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import CodeFile, walk
from regraph_kg.evaluation.port.names import is_number

_UNTOLD = {
    *("subscript_expression", "pointer_expression", "field_expression", "call_expression"),
    *("lambda_expression", "assignment_expression", "update_expression"),
}


def flat(source: CodeFile, node: Node) -> str:
    """What a node says in one line, without comments."""
    parts, at = list[bytes](), node.start_byte
    for one in walk(node):
        if one.type == "comment":
            parts.append(source.content[at : one.start_byte])
            at = one.end_byte
    return " ".join(b" ".join((*parts, source.content[at : node.end_byte])).decode().split())


def declared(source: CodeFile, node: Node) -> Iterator[str]:
    """Names that a declaration declares."""
    for declarator in node.children_by_field_name("declarator"):
        inner: Node | None = declarator
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator")
        if inner is not None:
            yield source.text(inner)


def is_plain(source: CodeFile, node: Node) -> bool:
    """Whether a node declares numbers, each with its value."""
    kind = node.child_by_field_name("type")
    if node.type != "declaration" or kind is None or not is_number(source.text(kind)):
        return False
    return all(
        one.type == "init_declarator"
        and (name := one.child_by_field_name("declarator")) is not None
        and name.type == "identifier"
        for one in node.children_by_field_name("declarator")
    )


def words_of(source: CodeFile, node: Node) -> set[str]:
    """Names in an expression."""
    return {source.text(one) for one in walk(node) if one.type == "identifier"}


def needed(
    source: CodeFile, before: list[Node], words: set[str], containers: Collection[str] = ()
) -> list[Node] | None:
    """Declarations that an expression with some words needs, whose own words are added to these.

    None where the host cannot compute one.
    """
    kept = list[Node]()
    for node in reversed(before):
        if words & set(declared(source, node)):
            if not is_told(source, node, containers):
                return None
            words |= words_of(source, node)
            kept.insert(0, node)
    return kept


def is_told(source: CodeFile, node: Node, containers: Collection[str] = ()) -> bool:
    """Whether the host can compute an expression: of numbers, and lengths of containers."""
    for one in walk(node):
        if one.type not in _UNTOLD:
            continue
        called = one.child_by_field_name("function")
        cast = source.text(called) if called else "(none)"
        length = re.fullmatch(r"(\w+)\.size(?:\(\))?", source.text(one))
        is_cast = is_number(cast) or cast.startswith("static_cast<")
        if not is_cast and not (length and length[1] in containers):
            return False
    return True
