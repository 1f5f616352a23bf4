"""The head of a loop: its variable, where it starts and ends, and its step."""

from dataclasses import dataclass
from itertools import islice

from tree_sitter import Node

from regraph_kg.cpp.occurrences import Events, Loop
from regraph_kg.cpp.syntax import LOOPS, bare, declared_name, inside_of, operator, text, walk

COMPARES = frozenset({"<", "<=", ">", ">=", "!="})
_MOST = 64


@dataclass(frozen=True, slots=True)
class Header:
    """A loop's head, as nodes of the tree."""

    variable: str = ""
    symbol: str = ""  # the variable's name in polynomials: unlike that of any other loop
    start: Node | None = None
    end: Node | None = None
    compare: str = ""  # how the variable is compared with `end`
    sign: str = ""  # `+` or `-`: the step is added or subtracted; "" for neither
    step: Node | None = None  # none: 1
    ranged: bool = False  # whether it is a loop over a container: `for (x : v)`
    single: bool = False  # whether it has one start, one comparison and one step
    plain: bool = False  # and the variable stands alone on one side, as OpenMP requires


def headers_of(events: Events) -> list[Header]:
    """The heads of all loops."""
    return [_header(loop) for loop in events.loops]


def declared_kind(loop: Node) -> str:
    """The type of the one plain variable that a loop's head declares; else ""."""
    node = loop.child_by_field_name("initializer")
    declarators = node.children_by_field_name("declarator") if node is not None else []
    kind = node.child_by_field_name("type") if node is not None else None
    plain = [declarator.child_by_field_name("declarator") for declarator in declarators]
    return text(kind) if [name.type for name in plain if name is not None] == ["identifier"] else ""


def continues(loop: Node) -> bool:
    """Whether a `continue` ends an iteration."""
    ends = (node for node in walk(loop) if node.type == "continue_statement")
    return any(inside_of(node, LOOPS) == loop for node in ends)


def _header(loop: Loop) -> Header:
    node = loop.node
    if node.type == "for_range_loop":
        name = declared_name(node.child_by_field_name("declarator"))
        return Header(name, f"{name}#{loop.number}", ranged=True)
    if node.type != "for_statement":
        return Header()
    variable, sign, step = _update(node.child_by_field_name("update"))
    if not variable:
        return Header()
    start = _start(node.child_by_field_name("initializer"), variable)
    compare, end = _end(node.child_by_field_name("condition"), variable)
    single = start is not None and bool(sign) and _single(node)
    condition = bare(node.child_by_field_name("condition")) or node
    alone = [_name(condition.child_by_field_name(side)) for side in ("left", "right")]
    return Header(
        *(variable, f"{variable}#{loop.number}", start, end, compare, sign, step),
        single=single,
        plain=single and alone.count(variable) == 1,
    )


def _single(node: Node) -> bool:
    """Whether a loop's head sets, compares and steps once."""
    first = bare(node.child_by_field_name("initializer"))
    condition = bare(node.child_by_field_name("condition"))
    update = bare(node.child_by_field_name("update"))
    if first is None or condition is None or update is None or update.type == "comma_expression":
        return False
    if first.type == "declaration" and len(first.children_by_field_name("declarator")) > 1:
        return False
    return first.type != "comma_expression" and operator(condition) in COMPARES


def _update(node: Node | None) -> tuple[str, str, Node | None]:
    """The variable of the update, the sign, and the step."""
    while node is not None and node.type == "comma_expression":
        node = node.child_by_field_name("left")
    node = bare(node)
    if node is None:
        return "", "", None
    if node.type == "update_expression":
        target = bare(node.child_by_field_name("argument"))
        return _name(target), operator(node)[:1], None
    left, right = node.child_by_field_name("left"), bare(node.child_by_field_name("right"))
    if node.type != "assignment_expression" or left is None:
        return "", "", None
    name, sign = _name(left), operator(node)
    return (name, sign[0], right) if sign in ("+=", "-=") else _sum(name, right)


def _sum(name: str, right: Node | None) -> tuple[str, str, Node | None]:
    """The step of `i = i + 2` or `i = 2 + i`; another right side has none."""
    sign = operator(right) if right is not None else ""
    if right is not None and sign in ("+", "-"):
        first, second = right.child_by_field_name("left"), right.child_by_field_name("right")
        if _name(first) == name:
            return name, sign, second
        if _name(second) == name and sign == "+":
            return name, sign, first
    return name, "", right


def _start(node: Node | None, variable: str) -> Node | None:
    if node is None:
        return None
    if node.type == "declaration":
        for part in node.children_by_field_name("declarator"):
            if declared_name(part) == variable:
                value = part.child_by_field_name("value")
                listed = value is not None and value.type in ("initializer_list", "argument_list")
                return None if listed else value
        return None
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in ("comma_expression", "expression_statement"):
            waiting += current.named_children
        elif _name(current.child_by_field_name("left")) == variable:
            return current.child_by_field_name("right")
    return None


def _end(node: Node | None, variable: str) -> tuple[str, Node | None]:
    """The comparison of the variable, and its other side."""
    waiting = [node]
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    while waiting:
        current = bare(waiting.pop())
        if current is None or current.type != "binary_expression":
            continue
        left, right = current.child_by_field_name("left"), current.child_by_field_name("right")
        sign = operator(current)
        if sign == "&&":
            waiting += [right, left]
        elif sign in COMPARES and _holds(left, variable):
            return sign, right if _name(left) == variable else current
        elif sign in COMPARES and _holds(right, variable):
            return turned.get(sign, sign), left if _name(right) == variable else current
    return "", None


def _holds(node: Node | None, variable: str) -> bool:
    """Whether an expression names the variable, as `i + 4` does."""
    few = islice(walk(node), _MOST) if node is not None else ()
    return any(part.type == "identifier" and text(part) == variable for part in few)


def _name(node: Node | None) -> str:
    node = bare(node)
    return text(node) if node is not None and node.type == "identifier" else ""
