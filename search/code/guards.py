"""Updates that are not written with `+=`: `x = x + e`, `x = max(x, e)`, `if (e > x) x = e`."""

from tree_sitter import Node

from regraph_kg.search.code.syntax import arguments, bare, called, operator, statements, text

_COMBINES = frozenset({"+", "-", "*", "|", "&", "^", "||", "&&"})
_CHOOSES = frozenset({"min", "max", "fmin", "fmax", "fminf", "fmaxf"})
_COMPARES = frozenset({"<", ">", "<=", ">="})
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
