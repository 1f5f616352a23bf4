"""Whether a use of a name or an element takes its value and nothing else.

What is not listed here may keep or give away a reference: a reference's first value, an address, an
argument that a function may change, a method that is not `const`.
"""

import re
from collections.abc import Callable

from tree_sitter import Node

from regraph_kg.cpp.library import ALGORITHMS, COPIES, HARMLESS, MATH
from regraph_kg.cpp.occurrences import NUMBERS, Declared, Events
from regraph_kg.cpp.syntax import arguments, called, operator, parameters, root_name, text

_MOST = 40
_THROUGH = frozenset({"min", "max", "clamp", "move", "forward", "get"})
"""Functions that return one of their arguments, by reference."""
_VALUES = (MATH | HARMLESS | ALGORITHMS | COPIES | {"printf", "fprintf", "memset"}) - _THROUGH
_OF_NUMBERS = ("_", "cuda", "omp_", ".")  # beginnings of functions in C, and of methods
_TAKES = frozenset(
    {
        *("unary_expression", "subscript_argument_list", "subscript_expression", "else_clause"),
        *("condition_clause", "for_range_loop", "array_declarator", "new_declarator"),
        *("template_argument_list", "lambda_capture_specifier", "field_initializer"),
        *("kernel_call_syntax", "optional_parameter_declaration", "enumerator"),
    }
)
_CONST = re.compile(r"\)\s*const\b")
Answer = bool | None  # None: as what is around it


def takes_value(node: Node, events: Events) -> bool:
    """Whether what is around an expression reads its value alone."""
    answer: Answer = None
    for _ in range(_MOST):
        outer = node.parent
        if outer is None or answer is not None:
            break
        answer = _answer(node, outer, outer.parent, events)
        node = outer
    return bool(answer)


def given_away(root: Node, events: Events) -> set[int]:
    """The ids of the names in a tree of which more than the value may be taken.

    Top-down: a parent costs as much as the tree is deep.
    """
    found, waiting = set[int](), list[tuple[Node, Node | None, Answer]]([(root, None, False)])
    while waiting:
        node, outer, taken = waiting.pop()
        if node.type == "identifier" and not taken:
            found.add(node.id)
        for child in (child for child in node.named_children if child.type != "comment"):
            answer = _answer(child, node, outer, events)
            waiting.append((child, node, taken if answer is None else answer))
    return found


def _answer(node: Node, outer: Node, above: Node | None, events: Events) -> Answer:
    rule = _RULES.get(outer.type)
    plain = outer.type.endswith("_statement") or outer.type in _TAKES
    return rule(node, outer, above, events) if rule is not None else plain


def is_variable(declared: Declared) -> bool:
    """Whether a name has a storage of its own, whose value may change."""
    refers = declared.pointer or declared.reference or declared.array or declared.element
    return not refers and not {"const", "constexpr"} & set(declared.kind.split())


def _sum(_: Node, outer: Node, __: Node | None, events: Events) -> Answer:
    """Whether an operator computes with numbers: that of `std::cin >> n` does not."""
    base = root_name(outer.child_by_field_name("left"))
    declared = events.find(text(base), base) if base is not None else None
    number = declared is not None and re.search(NUMBERS.pattern + "|auto", declared.kind)
    return operator(outer) != ">>" or base is None or bool(number)


def _field(_: Node, __: Node, call: Node | None, events: Events) -> Answer:
    if call is None or call.type != "call_expression":
        return None
    methods = events.overloads.get(called(call).removeprefix("."), [])
    return all(_CONST.search(text(method).partition("{")[0]) for method in methods)


def _declarator(_: Node, outer: Node, above: Node | None, events: Events) -> Answer:
    """Whether a variable is made of a value: no reference, and no object that keeps one."""
    declarator = outer.child_by_field_name("declarator")
    refers = declarator is not None and declarator.type == "reference_declarator"
    words = set(re.findall(r"\w+", text(above).partition("=")[0]))
    return not refers and not words & events.holders


def _argument(node: Node, outer: Node, call: Node | None, events: Events) -> Answer:
    if call is None or call.type != "call_expression":
        return None
    if outer.named_child_count > _MOST:
        return False
    name, given = called(call), arguments(call)
    at, held = [one.id for one in given].index(node.id), events.find(name, call)
    meant = events.overloads.get(name.removeprefix("."), [])
    meant = [held.value] if held is not None and held.value is not None else meant
    if meant:
        same = [one for one in meant if len(parameters(one)) == len(given)] or meant
        answers = [_parameter(one, at) for one in same]
        return False if False in answers else None if None in answers else True
    if name in _THROUGH or name.endswith("_cast"):
        return False if "&" in text(call.child_by_field_name("function")) else None
    made = name in events.classes and name not in events.holders
    return made or name in _VALUES or name.startswith(_OF_NUMBERS)


def _parameter(function: Node, at: int) -> Answer:
    taken, returned = parameters(function), function.child_by_field_name("declarator")
    if at >= len(taken) or ("&" in (said := text(taken[at])) and "const" not in said.split()):
        return False
    gives = returned is not None and returned.type == "reference_declarator"
    return None if gives and "&" in text(taken[at]) else True


_RULES: dict[str, Callable[[Node, Node, Node | None, Events], Answer]] = {
    "parenthesized_expression": lambda *_: None,
    "conditional_expression": lambda *_: None,
    "comma_expression": lambda *_: None,
    "call_expression": lambda node, outer, *_: (
        node == outer.child_by_field_name("function") or None
    ),
    "argument_list": _argument,
    "field_expression": _field,
    "init_declarator": _declarator,
    "compound_literal_expression": _declarator,
    "initializer_list": lambda *given: False if given[-1].holders else None,
    "binary_expression": _sum,
    "assignment_expression": lambda node, outer, *_: node == outer.child_by_field_name("right"),
    "pointer_expression": lambda _, outer, *__: operator(outer) == "*",
    "cast_expression": lambda _, outer, *__: "&" not in text(outer.child_by_field_name("type")),
}
