"""Updates: those that are not written with `+=`, and by which operator an update combines.

`x = x + e`, `x = max(x, e)` and `if (e > x) x = e` are updates of `x`, too.
"""

from tree_sitter import Node

from regraph_kg.search.code.syntax import arguments, bare, called, operator, statements, text, walk

_COMBINES = frozenset({"+", "-", "*", "|", "&", "^", "||", "&&"})
_CHOOSES = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
_COMPARES = frozenset({"<", ">", "<=", ">="})
_CLAUSES = {"-": "+"} | {sign: sign for sign in _COMBINES - {"-"}}
"""The operator of a reduction clause by that of an update: differences add up, too."""
_MOST = 64


def self_update(left: Node, right: Node) -> list[int]:
    """Ids of the nodes in `right` that are `left` itself, where `right` combines it with others.

    Empty where `right` is no such combination by one operator, or uses `left` elsewhere too.
    """
    return _combination(left, right)[1]


def _combination(left: Node, right: Node) -> tuple[str, list[int]]:
    """By which operator `right` combines `left` with the rest, and the nodes that are `left`."""
    sign, found = _combined(left, right, "", 0)
    whole = bool(sign) and set(found) == {node.id for node in walk(right) if _is(node, left)}
    return (sign, found) if whole else ("", [])


def _combined(left: Node, right: Node | None, by: str, depth: int) -> tuple[str, list[int]]:
    """The same, where what is around `right` combines by `by`."""
    node = bare(right)
    if node is None or depth > _MOST:
        return "", []
    if _is(node, left):
        return by, [node.id]
    if node.type == "conditional_expression":
        return _selected(left, node, by, depth)
    sign, parts = _parts(node)
    if not sign or by not in ("", sign):
        return "", []
    held = [(part, _combined(left, part, sign, depth + 1)) for part in parts]
    held = [(part, found) for part, found in held if found[0]]
    return held[0][1] if len(held) == 1 else ("", [])


def _parts(node: Node) -> tuple[str, list[Node]]:
    """An associative operator, and those of its operands that it may combine with others."""
    if node.type == "call_expression" and called(node) in _CHOOSES:
        listed = arguments(node)
        if listed and listed[0].type == "initializer_list":
            listed = listed[0].named_children
        return "max" if "max" in called(node) else "min", listed
    if node.type != "binary_expression" or operator(node) not in _COMBINES:
        return "", []
    first, second = sides(node)
    pair = (first, None) if operator(node) == "-" else (first, second)
    return _CLAUSES[operator(node)], [one for one in pair if one is not None]


def _selected(left: Node, node: Node, by: str, depth: int) -> tuple[str, list[int]]:
    """The same of a conditional expression: `x > s ? x : s`, or `c ? s + 1 : s`."""
    condition = bare(node.child_by_field_name("condition"))
    branches = [bare(node.child_by_field_name(k)) for k in ("consequence", "alternative")]
    kept = [k for k, one in enumerate(branches) if one is not None and _is(one, left)]
    if len(kept) != 1 or condition is None:
        return "", []
    own, other = branches[kept[0]], branches[1 - kept[0]]
    chosen = _chosen(condition, text(left), text(other))
    if chosen:
        pair = [one for one in map(bare, sides(condition)) if one is not None]
        sign = chosen if kept[0] else {"max": "min", "min": "max"}[chosen]
        found = [one.id for one in (*pair, own) if one is not None and _is(one, left)]
    else:
        sign, found = _combined(left, other, by, depth + 1)
        found = [*found, own.id] if own is not None else found
    return (sign, found) if by in ("", sign) else ("", [])


def _is(node: Node, left: Node) -> bool:
    return node.type == left.type and text(node) == text(left)


def guarded(node: Node, condition: Node) -> list[int]:
    """Ids of the nodes of a condition that name what its branch sets, and of what is set there.

    So `if (x[i] > best) { best = x[i]; where = i; }` is an update of `best`.
    """
    if node.type != "if_statement":
        return []
    targets = _targets(node.child_by_field_name("consequence"))
    found, waiting, steps = [], [condition], 0
    while waiting and steps < _MOST:
        steps += 1
        one = waiting.pop()
        if one.type in ("condition_clause", "parenthesized_expression"):
            waiting += one.named_children
        pair = [side for side in sides(one) if side is not None]
        if operator(one) in ("&&", "||"):
            waiting += pair
        elif operator(one) in _COMPARES:
            for side in pair:
                if text(side) in targets:
                    found += [side.id, targets[text(side)].id]
    return found


def combined_by(target: Node) -> str | None:
    """The operator of OpenMP's reduction clause for what is updated; "" where it has none.

    None: `target` is not what an assignment sets, but stands in its right side or condition.
    """
    change = target.parent
    if change is None or change.type == "update_expression":
        return "+"
    if change.type == "field_expression":
        return ""
    if change.type != "assignment_expression" or change.child_by_field_name("left") != target:
        return None
    if (sign := operator(change)) != "=":
        return _CLAUSES.get(sign[:-1], "")
    right = bare(change.child_by_field_name("right"))
    if right is not None and self_update(target, right):
        return _combination(target, right)[0]
    compared = [
        _chosen(conjunct, text(target), text(right))
        for conjunct in _conjuncts(_condition(change))
        if any(_is(part, target) for part in walk(conjunct))
    ]
    return compared[0] if len(compared) == 1 else ""


def _chosen(condition: Node, name: str, value: str) -> str:
    """What remains where a larger or a smaller `value` takes the place of `name`."""
    left, right = (text(bare(side)) for side in sides(condition))
    if operator(condition) not in _COMPARES or {left, right} != {name, value}:
        return ""
    return "max" if (operator(condition)[0] == ">") is (right == name) else "min"


def _conjuncts(condition: Node | None) -> list[Node]:
    """The parts of `a && b`, or a condition alone."""
    condition = bare(condition)
    if condition is None or operator(condition) != "&&":
        return [condition] if condition is not None else []
    return [conjunct for side in sides(condition) for conjunct in _conjuncts(side)]


def _condition(change: Node) -> Node | None:
    """The condition of the `if` whose only statement is an assignment."""
    branch = change.parent.parent if change.parent is not None else None
    if branch is not None and branch.type == "compound_statement":
        branch = branch.parent if branch.named_child_count == 1 else None
    if branch is None or branch.type != "if_statement":
        return None
    condition = branch.child_by_field_name("condition")
    while condition is not None and condition.type == "condition_clause":
        condition = condition.named_children[0] if condition.named_child_count else None
    return bare(condition)


def _targets(branch: Node | None) -> dict[str, Node]:
    """What the statements of a branch set by `=`, as text."""
    found: dict[str, Node] = {}
    for statement in statements(branch):
        inner = statement.named_children[0] if statement.named_child_count else None
        if inner is not None and inner.type == "assignment_expression" and operator(inner) == "=":
            left = inner.child_by_field_name("left")
            if left is not None:
                found[text(left)] = left
    return found


def sides(node: Node) -> tuple[Node | None, Node | None]:
    """The left and the right side of an assignment or of a binary expression."""
    return node.child_by_field_name("left"), node.child_by_field_name("right")
