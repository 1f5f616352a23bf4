"""Updates that are not written with `+=`, and the operators of updates.

`x = x + e`, `x = max(x, e)` and `if (e > x) x = e` are updates of `x`.
"""

from tree_sitter import Node

from regraph_kg.cpp.syntax import arguments, bare, called, operator, statements, text, walk

_COMBINES = frozenset({"+", "-", "*", "|", "&", "^", "||", "&&"})
_CHOOSES = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf", "std_min", "std_max"})
_COMPARES = frozenset({"<", ">", "<=", ">="})
_CLAUSES = {"-": "+"} | {sign: sign for sign in _COMBINES - {"-"}}
"""Operator of an update -> operator of a reduction clause: differences add up, too."""
_MOST = 64


def self_update(left: Node, right: Node) -> tuple[str, list[int]]:
    """The operator by which `right` combines `left` with others, and the ids of `left` in it.

    Empty where `right` is no such combination by one operator, or uses `left` elsewhere too.
    """
    sign, nodes = _combined(left, right, "", 0)
    complete = bool(sign) and set(nodes) == {node.id for node in walk(right) if _is(node, left)}
    return (sign, nodes) if complete else ("", [])


def _combined(left: Node, right: Node | None, outer: str, depth: int) -> tuple[str, list[int]]:
    """The same, within an expression that combines by `outer`."""
    node = bare(right)
    if node is None or depth > _MOST:
        return "", []
    if _is(node, left):
        return outer, [node.id]
    if node.type == "conditional_expression":
        return _selected(left, node, outer, depth)
    sign, parts = _parts(node)
    if not sign or outer not in ("", sign):
        return "", []
    combined = [(part, _combined(left, part, sign, depth + 1)) for part in parts]
    combined = [(part, combination) for part, combination in combined if combination[0]]
    return combined[0][1] if len(combined) == 1 else ("", [])


def _parts(node: Node) -> tuple[str, list[Node]]:
    """An associative operator, and the operands that it may combine."""
    if node.type == "call_expression" and called(node) in _CHOOSES:
        listed = arguments(node)
        if listed and listed[0].type == "initializer_list":
            listed = listed[0].named_children
        return "max" if "max" in called(node) else "min", listed
    if node.type != "binary_expression" or operator(node) not in _COMBINES:
        return "", []
    first, second = sides(node)
    pair = (first, None) if operator(node) == "-" else (first, second)
    return _CLAUSES[operator(node)], [side for side in pair if side is not None]


def _selected(left: Node, node: Node, outer: str, depth: int) -> tuple[str, list[int]]:
    """The combination of a conditional expression: `x > s ? x : s`, or `c ? s + 1 : s`."""
    condition = bare(node.child_by_field_name("condition"))
    branches = [bare(node.child_by_field_name(k)) for k in ("consequence", "alternative")]
    unchanged = [k for k, branch in enumerate(branches) if branch is not None and _is(branch, left)]
    if len(unchanged) != 1 or condition is None:
        return "", []
    same, changed = branches[unchanged[0]], branches[1 - unchanged[0]]
    chosen = _chosen(condition, text(left), text(changed))
    if chosen:
        pair = [side for side in map(bare, sides(condition)) if side is not None]
        sign = chosen if unchanged[0] else {"max": "min", "min": "max"}[chosen]
        nodes = [side.id for side in (*pair, same) if side is not None and _is(side, left)]
    else:
        sign, nodes = _combined(left, changed, outer, depth + 1)
        nodes = [*nodes, same.id] if same is not None else nodes
    return (sign, nodes) if outer in ("", sign) else ("", [])


def _is(node: Node, left: Node) -> bool:
    return node.type == left.type and text(node) == text(left)


def guarded(node: Node, condition: Node) -> list[int]:
    """Ids of nodes in a condition that its branch sets, and of the targets in the branch.

    So `if (x[i] > best) { best = x[i]; where = i; }` is an update of `best`.
    """
    if node.type != "if_statement":
        return []
    targets = _targets(node.child_by_field_name("consequence"))
    ids, waiting, steps = [], [condition], 0
    while waiting and steps < _MOST:
        steps += 1
        current = waiting.pop()
        if current.type in ("condition_clause", "parenthesized_expression"):
            waiting += current.named_children
        pair = [side for side in sides(current) if side is not None]
        if operator(current) in ("&&", "||"):
            waiting += pair
        elif operator(current) in _COMPARES:
            for side in pair:
                if text(side) in targets:
                    ids += [side.id, targets[text(side)].id]
    return ids


def combined_by(target: Node) -> str | None:
    """The operator of OpenMP's reduction clause for an updated `target`; "" where it has none.

    None: `target` is not set, but stands in the right side or condition of an assignment.
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
    sign, _ = self_update(target, right) if right is not None else ("", [])
    if sign:
        return sign
    compared = [
        _chosen(conjunct, text(target), text(right))
        for conjunct in _conjuncts(_condition(change))
        if any(_is(part, target) for part in walk(conjunct))
    ]
    return compared[0] if len(compared) == 1 else ""


def _chosen(condition: Node, name: str, value: str) -> str:
    """The choice, "max" or "min", of `value` in place of `name` by a condition; else ""."""
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
    """Text -> node of each target that a branch sets by `=`."""
    targets: dict[str, Node] = {}
    for statement in statements(branch):
        inner = statement.named_children[0] if statement.named_child_count else None
        if inner is not None and inner.type == "assignment_expression" and operator(inner) == "=":
            left = inner.child_by_field_name("left")
            if left is not None:
                targets[text(left)] = left
    return targets


def sides(node: Node) -> tuple[Node | None, Node | None]:
    """The left and the right side of an assignment or of a binary expression."""
    return node.child_by_field_name("left"), node.child_by_field_name("right")
