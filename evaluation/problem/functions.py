"""A function in a C++ or Python text: its head, and the text with another body in it.

Not covered: functions that macros make, or that only another file defines.
"""

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """Where a function stands in a text (offsets of bytes), and whether it returns nothing."""

    start: int
    body: int
    end: int
    is_void: bool


def head_of(text: str, name: str, *, python: bool) -> str:
    """What stands before the function's body, on one line; "" where the text defines none."""
    found = find(text, name, python=python)
    if found is None:
        return ""
    head = text.encode()[found.start : found.body].decode()
    return " ".join(head.split())


def with_body(text: str, found: FoundFunction, body: str) -> str:
    """The text with another body in a function's braces, or behind a Python function's colon."""
    content = text.encode()
    return (content[: found.body] + body.encode() + content[found.end :]).decode()


def find(text: str, name: str, *, python: bool) -> FoundFunction | None:
    """The first function of that name with a body; None where there is none."""
    return _in_python(text, name) if python else _in_cpp(text, name)


def qualified(text: str, name: str) -> str | None:
    """By what a Python text's function or method is reached; None for one within a function."""
    waiting: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    while waiting:
        inside, node = waiting.pop(0)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if child.name == name:
                    return inside + name
            else:
                within = f"{inside}{child.name}." if isinstance(child, ast.ClassDef) else inside
                waiting.append((within, child))
    return None


def _in_cpp(text: str, name: str) -> FoundFunction | None:
    import tree_sitter_cpp  # noqa: PLC0415 (only where a project is looked at)
    from tree_sitter import Language, Parser  # noqa: PLC0415

    content = text.encode()
    waiting = [Parser(Language(tree_sitter_cpp.language())).parse(content).root_node]
    while waiting:
        node = waiting.pop()
        waiting.extend(reversed(node.children))
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        declarator = node.child_by_field_name("declarator")
        if body is None or declarator is None:
            continue
        plain = declarator.type == "function_declarator"
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator") or next(
                iter(declarator.named_children), None
            )
        called = declarator.child_by_field_name("declarator") if declarator else None
        if called is None or not called.text or called.text.decode().split("::")[-1] != name:
            continue
        returns = node.child_by_field_name("type")
        is_void = plain and returns is not None and returns.text == b"void"
        return FoundFunction(node.start_byte, body.start_byte, body.end_byte, is_void)
    return None


def _in_python(text: str, name: str) -> FoundFunction | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = [line.encode() for line in text.splitlines(keepends=True)]

    def place(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first, last = node.body[0], node.body[-1]
            assert last.end_lineno is not None
            assert last.end_col_offset is not None
            start, end = (
                place(node.lineno, node.col_offset),
                place(last.end_lineno, last.end_col_offset),
            )
            return FoundFunction(start, place(first.lineno, first.col_offset), end, is_void=False)
    return None
