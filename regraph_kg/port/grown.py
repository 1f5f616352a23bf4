"""Vectors to which each step of a loop adds one element, as vectors of a length.

    std::vector<T> v; for (int i = 0; i < n; ++i) { ..; v.push_back(e); }

becomes `std::vector<T> v((n) > (0) ? (n) - (0) : 0); for (..) { ..; v[i - (0)] = e; }`. A vector of
vectors of one length becomes one of all rows. Not covered: steps that add none, or several.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import split
from regraph_kg.cpp.syntax import LOOPS, inside_of, parse, short, statements, text, walk
from regraph_kg.port.scratch import is_known

_LONGEST = 400
_EMPTY = re.compile(r"(?:std::)?vector<[\w: ]+> (\w+);")
_HEAD = re.compile(
    r"for \([\w: ]+ (\w+) = ([^;]+); \1(?: \+ (\d+))? (<=?) ([^;]+); (?:\+\+\1|\1\+\+)\)"
)
_ADDED = re.compile(r"(\w+)\.(?:push|emplace)_back\((.+)\);", re.DOTALL)
_LEAVES = ("return_statement", "goto_statement", "break_statement", "continue_statement")
_ROWS = re.compile(
    r"(?:const )?(?:std::)?vector<(?:std::)?vector<([\w: ]+)> ?> (\w+)\(([^;]+), "
    r"(?:std::)?vector<\1>\(([^;]+)\)\);"
)


def with_lengths(code: str) -> str:
    """The text with the lengths of such vectors."""
    for step in (_one_by_one, _of_rows):
        edits = Edits()
        for function in walk(parse(code.encode()).root_node):
            inside = [*walk(function)] if function.type == "function_definition" else []
            for node in [node for node in inside if node.type == "declaration"]:
                step(node, inside, edits)
        code = edits.applied(code.encode())
    return code


def _one_by_one(node: Node, inside: list[Node], edits: Edits) -> None:
    empty, loop = _EMPTY.fullmatch(short(node, _LONGEST)), node.next_named_sibling
    name = empty[1] if empty else ""
    while empty and loop is not None and not re.search(rf"\b{name}\.\w+_back\(", text(loop)):
        loop = loop.next_named_sibling
    head = _HEAD.match(short(loop, _LONGEST)) if empty and loop is not None else None
    if loop is None or head is None or _ends_early(loop):
        return
    body, (at, first, more, sign, end) = loop.child_by_field_name("body"), head.groups()
    added = [(it, add[2]) for it in statements(body) if (add := _ADDED.fullmatch(text(it)))]
    added = [pair for pair in added if text(pair[0]).startswith(f"{name}.")]
    before = text(node.parent).encode()[
        node.end_byte - _begin(node) : loop.start_byte - _begin(node)
    ]
    between = re.sub(rf"\b{name}\.reserve\([^;]*\);", "", before.decode())
    if len(added) != 1 or not is_known(f"{at} {end} {first}", [*walk(body or loop)]):
        return
    (push, value), place = added[0], f"{name}[{at} - ({first})]"
    parts = text(loop).replace(text(push), f"{place} = {value};", 1).partition(place)
    behind = parts[2].replace(f"{name}.back()", place)
    others = f"{between} {parts[0]} {behind.replace(place, '')} {value}"
    if re.search(rf"\b{name}\b", f"{others} {head[0]}"):
        return
    begin = f"({first}) + {int(more or 0) - (sign == '<=')}"
    length = f"({end}) > ({begin}) ? ({end}) - ({begin}) : 0"
    made = f"{between}{text(node).rstrip('; ')}({length}); {parts[0]}{place}{behind}"
    edits.replacements.append((node.start_byte, loop.end_byte, made))


def _begin(node: Node) -> int:
    return node.parent.start_byte if node.parent is not None else 0


def _ends_early(loop: Node) -> bool:
    """Whether a step of a loop may end before its end, or the loop before its last step."""
    for node in [it for it in walk(loop) if it.type in _LEAVES]:
        stops = {*LOOPS, "lambda_expression"}
        stops |= {"switch_statement"} if node.type == "break_statement" else set()
        if node.type in _LEAVES[:2] or inside_of(node, stops) == loop:
            return True
    return False


def _of_rows(node: Node, inside: list[Node], edits: Edits) -> None:
    rows, own = _ROWS.fullmatch(short(node, _LONGEST)), Edits()
    if rows is None or not is_known(f"{rows[3]} {rows[4]}", inside):
        return
    kind, name, count, (width, *filled) = rows[1], rows[2], rows[3], split(rows[4])
    uses = [it for it in inside if it.type == "identifier" and text(it) == name]
    for use in [it for it in uses if not node.start_byte <= it.start_byte < node.end_byte]:
        row = use.parent
        element = row.parent if row is not None else None
        above = element.parent if element is not None else None
        if row is None or element is None or len(re.findall(rf"\b{name}\b", text(element))) > 1:
            return
        if text(element) == f"{name}.size()":
            own.put(element, f"std::size_t({count})")
        elif row.type == element.type == "subscript_expression" and element.children[0] == row:
            across, along = (text(it.child_by_field_name("indices"))[1:-1] for it in (row, element))
            own.put(element, f"{name}[({across}) * ({width}) + ({along})]")
        elif above is not None and text(above) == f"{text(row)}.size()":
            own.put(above, f"std::size_t({width})")
        else:
            return
    more = "".join(f", {it}" for it in filled)
    edits.put(node, f"std::vector<{kind}> {name}(({count}) * ({width}){more});")
    edits.replacements += own.replacements
