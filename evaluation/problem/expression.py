"""Integer expressions over size names, as problem.toml writes shapes and counts, and relations.

Not covered: anything but + - * // % and parentheses; in relations < <= == >= > besides.
"""

import ast
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

Sizes = Mapping[str, int]  #: value of each size name: one shape of a problem

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
}


def size_of(expression: str, sizes: Sizes) -> int:
    """Value of an integer expression over size names: + - * // % and parentheses, nothing else.

    Raises `ValueError` with the offending part.
    """
    try:
        return _value(_tree(expression), sizes)
    except (ZeroDivisionError, RecursionError) as error:
        raise ValueError(f"{expression!r}: {error}") from None


def holds(relation: str, sizes: Sizes) -> bool:
    """Whether a relation between integer expressions, "k <= n" or "1 <= k < n", is true.

    Raises `ValueError` with the offending part.
    """
    body = _tree(relation)
    if not isinstance(body, ast.Compare) or {type(op) for op in body.ops} - set(_COMPARISONS):
        raise ValueError(f'{relation!r} is no relation: write one like "k <= n"')
    values = [size_of(ast.unparse(side), sizes) for side in (body.left, *body.comparators)]
    pairs = zip(body.ops, values, values[1:], strict=False)
    return all(_COMPARISONS[type(op)](left, right) for op, left, right in pairs)


@functools.lru_cache(maxsize=1024)
def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError):
        raise ValueError(f"{text!r} is not an integer expression") from None


def _value(node: ast.expr, sizes: Sizes) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.Name(id=name):
            raise ValueError(f"unknown size {name!r} (known: {', '.join(sizes)})")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
    raise ValueError(f"{ast.unparse(node)!r} is not allowed: use integers, size names, + - * // %")


def _readable(read: Callable[[str, Sizes], object], text: str) -> str:
    """A text that can be read where its names are sizes."""
    names = {node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)}
    read(text, dict.fromkeys(names, 1))
    return text


_Text = Annotated[str, StringConstraints(max_length=200)]
Expression = Annotated[_Text, AfterValidator(functools.partial(_readable, size_of))]
Relation = Annotated[_Text, AfterValidator(functools.partial(_readable, holds))]
"""What must hold between sizes."""
