"""Small questions about the declarations and expressions of a function."""

from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.functions import CodeFile, Function
from regraph_kg.cpp.syntax import around, walk
from regraph_kg.port.names import is_number

PLACE = Path("serial.cpp")
"""What messages call the file."""


def flat(source: CodeFile, node: Node) -> str:
    """A node's text in one line, without comments."""
    parts, at = list[bytes](), node.start_byte
    for inner in walk(node):
        if inner.type == "comment":
            parts.append(source.content[at : inner.start_byte])
            at = inner.end_byte
    return " ".join(b" ".join((*parts, source.content[at : node.end_byte])).decode().split())


def declared(node: Node) -> Iterator[str]:
    """Names that a declaration declares."""
    yield from filter(None, map(syntax.declared_name, node.children_by_field_name("declarator")))


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


def words_of(node: Node) -> set[str]:
    """Names in an expression."""
    return {syntax.text(inner) for inner in walk(node) if inner.type == "identifier"}


def is_return(node: Node, function: Function) -> bool:
    """Whether a node returns from the function, not from a lambda in it."""
    inner = takewhile(lambda it: it.type != "lambda_expression", around(node))
    return node.type == "return_statement" and any(it.id == function.body.id for it in inner)
