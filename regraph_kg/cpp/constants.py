"""Values of constant expressions: literals, macros, enumerators, constants, limits of types.

Not covered: blocks and shadowing; constants of headers but for the limits of types.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.syntax import bare, operator, text, walk

Number = int | float
_MOST_SHIFT, _DEPTH = 64, 8
_UNARY: Mapping[str, Callable[[int], int]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
}
_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<<": lambda a, b: a << min(max(b, 0), _MOST_SHIFT),
    "|": lambda a, b: a | b,
}
_MOST = 2**128  # no number that is worked out grows on
_FLOATS = {"float": 3.4028234663852886e38, "flt": 3.4028234663852886e38}
_FLOATS |= {"double": sys.float_info.max, "dbl": sys.float_info.max}
_WIDTHS = {"char": 8, "short": 16, "shrt": 16, "long": 64, "llong": 64, "longlong": 64, "size": 64}
_WIDTHS |= {"int": 32, "": 32}
_INTEGER = re.compile(rf"(?:unsigned|signed|u|s)?({'|'.join(_WIDTHS)})(\d*)(?:_t)?")
_ESCAPES = {"\\n": 10, "\\t": 9, "\\r": 13, "\\0": 0, "\\\\": 92, "\\'": 39}
_WHOLE = re.compile(r"(-?)(0[xX][\da-fA-F]{1,16}|0[bB][01]{1,64}|\d{1,20})[uUlLzZ]*")
_BROKEN = re.compile(r"-?(?:\d{1,20}\.?\d{0,20}|\.\d{1,20})(?:[eE][-+]?\d{1,3})?[fFlL]?")
_LIMIT = re.compile(r"(?:std::)?numeric_limits<(?:std::)?(\w+)>::(\w+)\(\)")


class Constants(dict[str, Number]):
    """Names that stand for numbers in a text."""

    def learn(self, nodes: Iterable[Node], *, changing: bool = False) -> None:
        """Take in macros, enumerators and constants; with `changing`, all that is set at first."""
        for node in nodes:
            value, name = node.child_by_field_name("value"), node.child_by_field_name("name")
            if node.type == "preproc_def" and value is not None:
                inner = walk(syntax.tree_of(f"auto made = ({text(value)});").root)
                made = next((each for each in inner if each.type == "init_declarator"), None)
                value = made.child_by_field_name("value") if made else None
            elif node.type == "init_declarator":
                name = node.child_by_field_name("declarator")
                if not changing and "const" not in text(node.parent).partition("=")[0]:
                    continue
            elif node.type != "enumerator":
                continue
            number = self.number(value)
            if number is not None:
                self.setdefault(syntax.declared_name(name) or text(name), number)

    def number(
        self,
        node: Node | None,
        known: Callable[[str], Number | None] = lambda _: None,
        depth: int = _DEPTH,
    ) -> Number | None:
        """The value of a constant expression; None of any other. `known`: further names."""
        node = bare(node)
        if node is None or not depth:
            return None
        said = text(node)
        if node.type in ("identifier", "qualified_identifier"):
            name = said.rpartition("::")[2]
            found = known(name)
            found = self.get(name) if found is None else found
            return _named(name) if found is None else found
        sides = [node.child_by_field_name(side) for side in ("argument", "left", "right")]
        values = [self.number(side, known, depth - 1) for side in sides if side is not None]
        sign = operator(node)
        if node.type == "unary_expression" and sign in _UNARY:
            return _applied(_UNARY[sign], *values)
        if node.type == "binary_expression" and sign in _BINARY:
            return _applied(_BINARY[sign], *values)
        if node.type == "call_expression":
            limit = _LIMIT.fullmatch("".join(said.split()))
            return _end(limit[1], limit[2]) if limit else None
        return _literal(node.type, said)


def _applied(apply: Callable[..., Number], *values: Number | None) -> Number | None:
    """What an operator makes of numbers; None where it does not take them."""
    try:
        number = None if None in values else apply(*values)
    except TypeError:  # bits of a float
        return None
    return number if number is not None and abs(number) <= _MOST else None


def _literal(kind: str, said: str) -> Number | None:
    plain = said.replace("'", "")
    if kind in ("true", "false"):
        return int(kind == "true")
    if kind == "char_literal":
        return _ESCAPES.get(plain, ord(plain) if len(plain) == 1 else None)
    if kind != "number_literal":
        return None
    if match := _WHOLE.fullmatch(plain):
        octal = re.fullmatch("0[0-7]+", match[2])
        value = int(match[2], 8 if octal else 0 if match[2][1:2].lower() in "xb" else 10)
        return -value if match[1] else value
    return float(plain.rstrip("fFlL")) if _BROKEN.fullmatch(plain) else None


def _named(name: str) -> Number | None:
    if name in ("INFINITY", "HUGE_VAL", "HUGE_VALF"):
        return math.inf
    kind, _, end = name.lower().rpartition("_")
    return _end(kind, end) if kind and end in ("max", "min") and name.isupper() else None


def _end(kind: str, which: str) -> Number | None:
    """The least or largest number of a type."""
    if kind in _FLOATS:
        ends = {"max": _FLOATS[kind], "lowest": -_FLOATS[kind], "infinity": math.inf}
        return ends.get(which)
    match = _INTEGER.fullmatch(kind)
    if match is None or which not in ("max", "min", "lowest"):
        return None
    bits = int(match[2]) if match[2] else _WIDTHS[match[1]]
    signed = not kind.startswith(("u", "size"))
    return (1 << bits - signed) - 1 if which == "max" else -(1 << bits - 1) * signed
