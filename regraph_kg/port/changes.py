"""Variables that a part of a function may change, by assignment or by passing them on.

A function may change its reference parameters; an unknown function may change all its arguments.
Not covered: references in objects that are copied.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import inside_of, target, text, walk
from regraph_kg.port.names import BY_VALUE, NUMBERS, is_number

_PARTS = {"subscript_expression", "field_expression", "parenthesized_expression"}
_SEVERAL = {
    *("argument_list", "initializer_list", "conditional_expression", "comma_expression"),
    "parenthesized_expression",
}
_PLACES = {"identifier", "subscript_expression", "field_expression"}
_CLASSES = {"class_specifier", "struct_specifier", "union_specifier"}
_LISTS, _LAMBDA = {"initializer_list", "argument_list"}, "lambda_expression"


class Changes:
    """Effects that the functions of a file have on their arguments."""

    def __init__(self, source: CodeFile) -> None:
        """`source` must hold all functions that are called."""
        self._source = source
        self._takes: dict[str, list[list[bool]]] = {}  # whether each parameter is only read
        self._has_operators = False
        self._classes, self._holders = set[str](), set[str]()  # the second have references
        for node in walk(source.tree.root_node):
            listed, name = node.child_by_field_name("parameters"), ""
            if node.type == "function_declarator":
                name = source.text(node.children[0]).split("::")[-1]
            elif node.type == "field_declaration" and "&" in source.text(node):
                above = inside_of(node, _CLASSES)
                self._holders.add(text(above and above.child_by_field_name("name")))
            elif node.type == "init_declarator" and node.named_children[-1].type == _LAMBDA:
                heads = node.named_children[-1].child_by_field_name("declarator")
                listed = heads and heads.child_by_field_name("parameters")
                name = source.text(node.named_children[0])
            elif node.type in _CLASSES and node.child_by_field_name("body"):
                self._classes.add(text(node.child_by_field_name("name")))
            if name and listed is not None:
                texts = [source.text(n) for n in listed.named_children if n.type != "comment"]
                taken = ["const" in it or not re.search(r"&|\.\.\.", it) for it in texts]
                self._takes.setdefault(name, []).append(taken)
                # an operator, other than an assignment, may change its operands
                if re.fullmatch(r"operator\W*[^\w=\])]", name) and not name.endswith(("++", "--")):
                    is_free = len(taken) > 1 or source.text(node).endswith("const")
                    self._has_operators |= not (is_free and all(taken))

    def changed_by(self, node: Node) -> Iterator[Node]:
        """Variables that a node may change; an expression where the variable is unclear."""
        for inner in walk(node):
            set_ = filter(None, [target(inner)])
            yield from map(_base, (*set_, *self._arguments(inner)))

    def names(self, node: Node) -> set[str]:
        """The texts of what a node may change."""
        return set(map(text, self.changed_by(node)))

    def _arguments(self, node: Node) -> Iterator[Node]:
        """Arguments that a call or a constructor may change."""
        value = node.child_by_field_name("value")
        if node.type in ("init_declarator", "compound_literal_expression") and value:
            holder = node if node.type[0] == "c" else node.parent or node
            kind = holder.child_by_field_name("type")
            told = self._source.text(kind) if kind is not None else ""
            items = value.named_children if value.type in _LISTS else [value]
            for place, item in enumerate(items if not is_number(told) else []):
                if not self._is_kept(told, place, len(items)):
                    yield from _places(item)
        if node.type == "binary_expression" and self._has_operators:
            yield from (place for side in node.named_children for place in _places(side))
        called = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if node.type != "call_expression" or called is None or arguments is None:
            return
        if called.type in ("field_expression", "subscript_expression"):
            yield called
        items = [child for child in arguments.named_children if child.type != "comment"]
        for place, item in enumerate(items):
            if not self._is_copied(self._source.text(called), place, len(items)):
                yield from _places(item)

    def _is_kept(self, kind: str, place: int, count: int) -> bool:
        """Whether an object takes what it is made of by value, or to read."""
        name = re.findall(r"\w*$", kind.partition("<")[0])[0]
        if name in self._takes:
            return self._is_copied(name, place, count)
        return name in self._classes - self._holders

    def _is_copied(self, called: str, place: int, count: int) -> bool:
        """Whether a function takes an argument by value, or to read."""
        name = re.findall(r"\w*$", called.partition("<")[0])[0]
        signatures = [take for take in self._takes.get(name, ()) if len(take) >= count]
        if not signatures or called.startswith("std::"):
            return name in BY_VALUE or name in NUMBERS or name.endswith("_cast")
        return all(signature[place] for signature in signatures)


def _base(node: Node) -> Node:
    """The variable of `a`, `a[i]`, `a[i].x`, `(a)`."""
    while node.type in _PARTS:
        node = node.child_by_field_name("argument") or node.named_children[0]
    return node


def _places(node: Node) -> Iterator[Node]:
    """The parts of an argument that a reference may bind to."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in _SEVERAL:
            waiting += current.named_children
        elif current.type in _PLACES:
            yield current
