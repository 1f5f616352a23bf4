"""Updates: those that are not written with `+=`, and by which operator an update combines.

`x = x + e`, `x = max(x, e)` and `if (e > x) x = e` are updates of `x`, too.
"""

from tree_sitter import Node

from regraph_kg.search.code.syntax import arguments, bare, called, operator, statements, text

_COMBINES = frozenset({"+", "-", "*", "|", "&", "^", "||", "&&"})
_CHOOSES = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
_COMPARES = frozenset({"<", ">", "<=", ">="})
_CLAUSES = {"-": "+"} | {sign: sign for sign in _COMBINES - {"-"}}
"""The operator of a reduction clause by that of an update: differences add up, too."""
_MOST = 64


def self_update(left: Node, right: Node) -> list[int]:
    """Ids of the nodes in `right` that are `left` itself, where `right` combines it with others.

    Empty where `right` is no such combination, or uses `left` elsewhere too.
    """
    wanted, found, waiting, steps = text(left), [], [right], 0
    while waiting and steps < _MOST:
        steps += 1
        node = bare(waiting.pop())
        if node is None:
            continue
        if node.type == left.type and text(node) == wanted:
            found.append(node.id)
        elif node.type == "binary_expression" and operator(node) in _COMBINES:
            waiting += [one for one in _sides(node) if one is not None]
        elif node.type == "call_expression" and called(node) in _CHOOSES:
            waiting += arguments(node)
        elif node.type == "conditional_expression":
            waiting += node.named_children
        elif node.type == "binary_expression" and operator(node) in _COMPARES:
            waiting += [one for one in _sides(node) if one is not None]
    return found


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
        sides = [side for side in _sides(one) if side is not None]
        if operator(one) in ("&&", "||"):
            waiting += sides
        elif operator(one) in _COMPARES:
            for side in sides:
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
    if change.type != "assignment_expression" or change.child_by_field_name("left") != target:
        return None
    if (sign := operator(change)) != "=":
        return _CLAUSES.get(sign[:-1], "")
    right = bare(change.child_by_field_name("right"))
    if right is None or not self_update(target, right):
        return _chosen(_condition(change), text(target))
    return _assigned(text(target), right)


def _assigned(name: str, right: Node) -> str:
    """By which operator `right` combines `name` with the rest."""
    if right.type == "call_expression":
        return "max" if "max" in called(right) else "min"
    if right.type == "conditional_expression":
        chosen = _chosen(bare(right.child_by_field_name("condition")), name)
        stays = text(bare(right.child_by_field_name("consequence"))) == name
        return {"max": "min", "min": "max"}.get(chosen, "") if stays else chosen
    taken_away = operator(right) == "-" and text(bare(_sides(right)[1])) == name
    return "" if taken_away else _CLAUSES.get(operator(right), "")


def _chosen(condition: Node | None, name: str) -> str:
    """What remains where a larger or a smaller value takes the place of `name`."""
    if condition is None or operator(condition) not in _COMPARES:
        return ""
    left, right = (text(bare(side)) for side in _sides(condition))
    if name not in (left, right):
        return ""
    return "max" if (operator(condition)[0] == ">") is (right == name) else "min"


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
    for one in statements(branch):
        inner = one.named_children[0] if one.named_child_count else None
        if inner is not None and inner.type == "assignment_expression" and operator(inner) == "=":
            left = inner.child_by_field_name("left")
            if left is not None:
                found[text(left)] = left
    return found


def _sides(node: Node) -> tuple[Node | None, Node | None]:
    return node.child_by_field_name("left"), node.child_by_field_name("right")
