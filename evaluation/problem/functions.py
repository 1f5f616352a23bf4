"""A function in a C, C++ or Python text: its head, and the text with a function that does nothing.

`suffix` is that of the text's file. Not covered: functions that macros make, or that only another
file defines.
"""

import ast
from pathlib import Path


def head_of(text: str, name: str, suffix: str) -> str:
    """A function up to its body, on one line; "" where the text defines none."""
    if suffix == ".py":
        function = _python_function(text, name)
        return f"def {name}({ast.unparse(function.args)})" if function else ""
    span = _cpp_function(text, name)
    return " ".join(text.encode()[span[0] : span[1]].decode().split()) if span else ""


def doing_nothing(text: str, name: str, suffix: str) -> str | None:
    """The text with that function's body left out; None where the text defines none."""
    if suffix == ".py":
        function = _python_function(text, name)
        if function is None:
            return None
        lines = text.split("\n")  # as the parser counts them: a form feed ends none
        first = function.body[0]
        start = lines[first.lineno - 1][: first.col_offset]
        lines[first.lineno - 1 : function.end_lineno] = [f"{start}return None"]
        return "\n".join(lines)
    span = _cpp_function(text, name)
    if span is None:
        return None
    content = text.encode()
    before, after = content[: span[1]], content[span[2] :]
    head = before[span[0] :].partition(b"(")[0].split()
    # The type of a function "void a::b(" is all that stands before its name.
    if b"void" in head[:-1]:
        body = b"{}"
    else:
        body = b"{ return 0; }" if suffix == ".c" else b"{ return {}; }"  # C has no `{}` before C23
    return (before + body + after).decode()


def _cpp_function(text: str, name: str) -> tuple[int, int, int] | None:
    """Offsets of bytes: where the function begins, its body begins and ends."""
    from regraph_kg.evaluation.cpp import syntax  # noqa: PLC0415 (only where a project is looked at)

    for function in syntax.functions(syntax.parsed(Path(), text.encode())):
        if function.name == name:
            return function.node.start_byte, function.body.start_byte, function.body.end_byte
    return None


def _python_function(text: str, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    return None
