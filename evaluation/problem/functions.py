"""A function in a C++ or Python text: its head, and the text with another body in it.

Not covered: functions that macros make, or that only another file defines.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """Place of a function in a text (offsets of bytes), and whether it returns nothing."""

    start: int
    body: int
    end: int
    is_void: bool = False
    reached_by: str = ""
    """A Python function's name behind those of its classes; "" where it is within a function."""


def head_of(text: str, name: str, *, python: bool) -> str:
    """The text before the function's body, on one line; "" where the text defines none."""
    function = find(text, name, python=python)
    if function is None:
        return ""
    head = text.encode()[function.start : function.body].decode()
    return " ".join(head.split())


def with_body(text: str, function: FoundFunction, body: str) -> str:
    """The text with another body in a function's braces, or behind a Python function's colon."""
    content = text.encode()
    return (content[: function.body] + body.encode() + content[function.end :]).decode()


def find(text: str, name: str, *, python: bool) -> FoundFunction | None:
    """The first function of that name with a body; None where there is none."""
    return _in_python(text, name) if python else _in_cpp(text, name)


def _in_cpp(text: str, name: str) -> FoundFunction | None:
    from regraph_kg.evaluation.cpp import syntax  # noqa: PLC0415 (only where a project is looked at)

    for function in syntax.functions(syntax.parsed(Path(), text.encode())):
        if function.name == name:
            node, body = function.node, function.body
            kind = node.child_by_field_name("type")
            is_plain = node.child_by_field_name("declarator") == function.declarator
            is_void = is_plain and kind is not None and kind.text == b"void"
            return FoundFunction(node.start_byte, body.start_byte, body.end_byte, is_void)
    return None


def parsed(text: str) -> ast.Module | None:
    """A Python text's syntax tree; None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _in_python(text: str, name: str) -> FoundFunction | None:
    # As the parser counts lines: bytes are not split at form feeds or U+2028, as str is.
    lines = text.encode().splitlines(keepends=True)

    def place(line: int | None, column: int | None) -> int:
        return sum(map(len, lines[: (line or 1) - 1])) + (column or 0)

    for node, reached_by in _functions(parsed(text)):
        if node.name == name:
            first, last = node.body[0], node.body[-1]
            body = place(first.lineno, first.col_offset)
            if decorators := getattr(first, "decorator_list", ()):
                decorated = place(decorators[0].lineno, decorators[0].col_offset)
                body = text.encode().rindex(b"@", 0, decorated)
            start, end = (
                place(node.lineno, node.col_offset),
                place(last.end_lineno, last.end_col_offset),
            )
            return FoundFunction(start, body, end, reached_by=reached_by)
    return None


def _functions(
    tree: ast.Module | None,
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """All functions, outer ones first, and by what each is reached."""
    waiting: list[tuple[ast.AST, str | None]] = [(tree, "")] if tree else []
    while waiting:
        node, within = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, "" if within is None else within + node.name
            within = None
        elif isinstance(node, ast.ClassDef) and within is not None:
            within += f"{node.name}."
        waiting += [(child, within) for child in ast.iter_child_nodes(node)]
