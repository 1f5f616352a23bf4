"""What a function's locals are computed of, and so what ends up as an array's index.

Not covered: ways through an array's elements, through calls, and through pointers that are moved.
"""

from collections.abc import Iterable, Mapping

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import CodeFile, Function, walk

_ELEMENTS = {"subscript_expression", "pointer_expression"}
_LOOPS = {"for_statement", "while_statement", "do_statement"}
_BELOW = {"<", "<=", "!="}
_BISECT = {"lower_bound", "upper_bound", "binary_search", "equal_range"}
_HALVING = {("/", "2"), (">>", "1")}


def flows(function: Function) -> dict[str, set[str]]:
    """Of each local and parameter, the names that its values are computed of; no elements'."""
    found: dict[str, set[str]] = {}
    for name, value in _given(function):
        if not _is_loaded(value):
            found.setdefault(name, set()).update(identifiers(function.source, value))
    return found


def reached(names: Iterable[str], by: Mapping[str, set[str]]) -> set[str]:
    """The names, and all that their values are computed of."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(by.get(name, ()))
    return found


def identifiers(source: CodeFile, node: Node) -> set[str]:
    """Every name in an expression."""
    return {source.text(one) for one in walk(node) if one.type == "identifier"}


def indexing(function: Function, array: str) -> dict[str, bool]:
    """Names that an array's indices are computed of, or kept below by a loop's condition.

    True for what can only be an end: it is no part of an index, and no element leads to one.
    """
    source, by = function.source, flows(function)
    loaded = {name for name, value in _given(function) if _is_loaded(value)}
    for condition in _conditions(function.body):
        for node in walk(condition):
            left, sign, right = _sides(source, node)
            if left is not None and right is not None and sign in _BELOW and not _is_loaded(right):
                by.setdefault(source.text(left), set()).update(identifiers(source, right))
    found: dict[str, bool] = {}
    for node in walk(function.body):
        index = _index(source, node, array)
        if index is None or _is_loaded(index):
            continue
        own = identifiers(source, index)
        behind = reached(own, by)
        is_end = node.type == "binary_expression" or not behind & loaded
        for name in behind:
            is_part = name in own and node.type == "subscript_expression"
            found[name] = found.get(name, True) and is_end and not is_part
    return found


def bisected(function: Function, array: str) -> bool:
    """Whether a search goes on in a half of the array, which must ascend for that."""
    source, by = function.source, flows(function)
    for node in walk(function.body):
        called, given = (node.child_by_field_name(f) for f in ("function", "arguments"))
        if called is not None and given is not None and given.named_children:
            name = source.text(called).rpartition("::")[2].partition("<")[0]
            if name in _BISECT and array in identifiers(source, given.named_children[0]):
                return True
    halved = {
        name
        for name, value in _given(function)
        for node in walk(value)
        if (sides := _sides(source, node))[2] and (sides[1], source.text(sides[2])) in _HALVING
    }
    for condition in _conditions(function.body):
        ends = identifiers(source, condition)
        for node in walk(condition.parent or condition):
            index = _index(source, node, array)
            middle = source.text(index) if index is not None else ""
            if middle in halved and len(ends & by.get(middle, set())) > 1:
                return True
    return False


def _given(function: Function) -> Iterable[tuple[str, Node]]:
    """Each name that is given a value, and that value."""
    for node in walk(function.body):
        sides = {
            "init_declarator": ("declarator", "value"),
            "assignment_expression": ("left", "right"),
        }.get(node.type, ("", ""))
        target, value = (node.child_by_field_name(side) for side in sides)
        if target is not None and value is not None and target.type == "identifier":
            yield function.source.text(target), value


def _conditions(body: Node) -> list[Node]:
    """Those of its loops."""
    found = (node.child_by_field_name("condition") for node in walk(body) if node.type in _LOOPS)
    return [one for one in found if one is not None]


def _index(source: CodeFile, node: Node, array: str) -> Node | None:
    """What follows the array in `x[i]` or `x + i`."""
    if node.type == "subscript_expression":
        holder, given = (node.child_by_field_name(f) for f in ("argument", "indices"))
        if holder is not None and given is not None and source.text(holder) == array:
            return given.named_children[0] if given.named_children else None
    left, sign, right = _sides(source, node)
    return right if left is not None and sign == "+" and source.text(left) == array else None


def _sides(source: CodeFile, node: Node) -> tuple[Node | None, str, Node | None]:
    left, sign, right = (
        node.child_by_field_name(field) if node.type == "binary_expression" else None
        for field in ("left", "operator", "right")
    )
    return left, source.text(sign) if sign is not None else "", right


def _is_loaded(node: Node) -> bool:
    """Whether it is computed of an array's element."""
    return any(one.type in _ELEMENTS for one in walk(node))
