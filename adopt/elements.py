"""Which element of which array an expression names.

Not covered: pointers that are moved, arrays of other functions.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from regraph_kg.adopt.bounds import Alias, Bindings, Bounds
from regraph_kg.adopt.extent import Extent
from regraph_kg.adopt.types import Passed
from regraph_kg.evaluation.cpp.syntax import CodeFile

PLACES = {"data", "begin", "end", "cbegin", "cend", "front", "back", "rbegin", "rend"}
"""Members of a container that lead into it."""
ENDS = {"end", "cend", "rbegin", "rend", "back"}
"""Those that depend on its length."""


@dataclass(frozen=True, slots=True)
class Elements:
    """Looks at expressions of one function."""

    _source: CodeFile
    _passed: Mapping[str, Passed]
    _arrays: Collection[str]
    """Parameters that are arrays."""
    _bounds: Bounds

    def target(self, node: Node, env: Bindings) -> Alias | None:
        """The array into which an expression points: `x`, `x + i`, `&x[i]`, `x.data()`."""
        text = self._source.text(node)
        known = env.get(text)
        if isinstance(known, Alias):
            return known
        if node.type == "identifier":
            return Alias(text, Extent()) if text in self._arrays else None
        if node.type == "pointer_expression" and text.startswith("&"):
            inner = node.child_by_field_name("argument")
            return self.of(inner, env) if inner is not None else None
        if node.type == "binary_expression":
            left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
            base = self.target(left, env) if left is not None else None
            added = sign is not None and self._source.text(sign) == "+"
            return moved(base, self._bounds.value(right, env)) if base and added else None
        holder = text.rpartition(".")[0] if text.endswith((".data()", ".begin()")) else ""
        return Alias(holder, Extent()) if holder in self._arrays else None

    def of(self, node: Node, env: Bindings) -> Alias | None:
        """The element that `x[i]`, `x[i][j]`, `*(x + i)`, `x.at(i)` or a reference names.

        Of `x[i].a` the whole element.
        """
        found: Alias | None = None
        match node.type:
            case "parenthesized_expression" if node.named_children:
                found = self.of(node.named_children[0], env)
            case "identifier":
                found = self._named(node, env)
            case "pointer_expression" if self._source.text(node).startswith("*"):
                found = self._pointed(node.child_by_field_name("argument"), env)
            case "subscript_expression":
                found = self._subscript(node, env)
            case "field_expression":
                found = self.of_member(node, env)
            case "call_expression":
                found = self._at(node, env)
        return found

    def _named(self, node: Node, env: Bindings) -> Alias | None:
        """A reference's name is that of its element; a pointer's is not."""
        text = self._source.text(node)
        form = self._passed[text].form if text in self._passed else ""
        known = form == "reference" or isinstance(env.get(text), Alias)
        return self.target(node, env) if known else None

    def _pointed(self, node: Node | None, env: Bindings) -> Alias | None:
        while node is not None and node.type == "parenthesized_expression":
            node = node.named_children[0]
        return self.target(node, env) if node is not None else None

    def _at(self, node: Node, env: Bindings) -> Alias | None:
        called, given = (node.child_by_field_name(f) for f in ("function", "arguments"))
        text = self._source.text(called) if called is not None else ""
        holder = text.removesuffix(".at")
        if given is None or holder == text or holder not in self._arrays:
            return None
        first = given.named_children[0] if given.named_children else None
        return Alias(holder, self._bounds.value(first, env))

    def of_member(self, node: Node, env: Bindings) -> Alias | None:
        """The element whose member `x[i].a` or `p->a` names."""
        holder = node.child_by_field_name("argument")
        if holder is None:
            return None
        arrow = any(child.type == "->" for child in node.children)
        return self.target(holder, env) if arrow else self.of(holder, env)

    def _subscript(self, node: Node, env: Bindings) -> Alias | None:
        argument, given = (node.child_by_field_name(f) for f in ("argument", "indices"))
        if argument is None or given is None or not given.named_children:
            return None
        index = self._bounds.value(given.named_children[0], env)
        if argument.type == "subscript_expression":
            row = self._subscript(argument, env)
            if row is None or row.offset is None:
                return row
            fixed = self._passed[row.array].fixed
            width = Extent.of(fixed[-1] if fixed else 1)
            return moved(replace(row, offset=row.offset * width), index)
        base = self.target(argument, env)
        return moved(base, index) if base else None

    def ends(self, node: Node) -> Alias | None:
        text = self._source.text(node)
        holder, _, member = text.rpartition(".")
        return Alias(holder, None) if holder in self._arrays and member[:-2] in PLACES else None


def moved(base: Alias, by: Extent | None) -> Alias:
    """So many elements further; nobody knows where if that is not known."""
    if base.offset is None or by is None:
        return replace(base, offset=None)
    return replace(base, offset=base.offset + by)
