"""Functions, lambdas and macros whose text is one expression, as `idx(i, j)` of an index.

Not covered: those of more than a return; macros of several lines of code.
"""

import re
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import CodeFile, declared_name, functions, parsed, walk

_ALONE = re.compile(r"(^|[^\w\s])\s*\(\s*([A-Za-z_]\w*)\s*\)")


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of its parameters; an open one knows the names around its call, too."""

    source: CodeFile
    parameters: tuple[str, ...]
    expression: Node
    is_open: bool


def formulas(source: CodeFile) -> dict[str, Formula]:
    """By name; of two with one name none."""
    found = [
        (function.name, _returned(source, function.parameters, function.body))
        for function in functions(source)
    ]
    for node in walk(source.tree.root_node):
        name, value = (node.child_by_field_name(part) for part in ("declarator", "value"))
        if node.type == "preproc_function_def":
            found.append(_macro(source, node))
        elif node.type == "init_declarator" and value is not None and name is not None:
            body, head = (value.child_by_field_name(part) for part in ("body", "declarator"))
            listed = head.child_by_field_name("parameters") if head is not None else None
            if value.type == "lambda_expression" and body is not None:
                given = listed.named_children if listed is not None else []
                found.append((source.text(name), _returned(source, given, body, is_open=True)))
    names = [name for name, _ in found]
    return {name: one for name, one in found if one is not None and names.count(name) == 1}


def _returned(
    source: CodeFile, parameters: list[Node], body: Node, *, is_open: bool = False
) -> Formula | None:
    held = body.named_children
    if len(held) != 1 or held[0].type != "return_statement" or not held[0].named_children:
        return None
    names = tuple(declared_name(source, parameter) for parameter in parameters)
    return Formula(source, names, held[0].named_children[0], is_open)


def _macro(source: CodeFile, node: Node) -> tuple[str, Formula | None]:
    name, listed, value = (
        node.child_by_field_name(part) for part in ("name", "parameters", "value")
    )
    if name is None or listed is None or value is None:
        return "", None
    text = source.text(value).replace("\\\n", " ")
    text = _ALONE.sub(r"\1 \2 ", text)  # `(i) + w` may be a cast of +w: the parser knows no types
    alone = parsed(source.path, f"int value = ({text});".encode())
    made = [n for n in walk(alone.tree.root_node) if n.type == "init_declarator"]
    held = made[0].child_by_field_name("value") if made else None
    if held is None or alone.tree.root_node.has_error:
        return source.text(name), None
    parameters = tuple(source.text(child) for child in listed.named_children)
    return source.text(name), Formula(alone, parameters, held, is_open=True)
