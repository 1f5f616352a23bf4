"""Containers that a function's body declares: how long they are, where sizes say so.

Not covered: those of other functions; containers that are members.
"""

from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.adopt.bounds import Bindings, Bounds
from regraph_kg.adopt.extent import Extent
from regraph_kg.evaluation.cpp.syntax import CodeFile


@dataclass(slots=True)
class Locals:
    """Of one function."""

    _source: CodeFile
    _bounds: Bounds
    lengths: dict[str, Extent] = field(default_factory=dict)
    """By name."""
    grown: set[str] = field(default_factory=set)
    """Those whose lengths depend on the data."""
    _rows: dict[str, Extent] = field(default_factory=dict)
    """Of containers of containers: the length of each inner one."""

    def declared(self, name: str, value: Node, env: Bindings) -> None:
        """A vector of `(n)`, `(n, 0)`, `(rows, std::vector<T>(columns))`, or a copy of another."""
        given = value.named_children if value.type == "argument_list" else [value]
        first = given[0] if given else value
        length = self._bounds.length(self._source.text(first)) or self._bounds.value(first, env)
        if length is not None and not length.loads:
            self.lengths[name] = length
        inner = given[1].child_by_field_name("arguments") if len(given) > 1 else None
        columns = inner.named_children[0] if inner and inner.named_children else None
        width = self._bounds.value(columns, env)
        if width is not None and not width.loads:
            self._rows[name] = width

    def gathered(self, node: Node, env: Bindings) -> tuple[Extent, Extent] | None:
        """Length and index of an element of one of them, where the index is what an array holds."""
        holder, given = (node.child_by_field_name(f) for f in ("argument", "indices"))
        if node.type != "subscript_expression" or not (holder and given and given.named_children):
            return None
        index = self._bounds.value(given.named_children[0], env)
        whole = self.lengths.get(self._source.text(holder))
        if holder.type == "subscript_expression":
            outer = holder.child_by_field_name("argument")
            whole = self._rows.get(self._source.text(outer)) if outer else None
        if index is None or whole is None or not index.loads:
            return None
        return whole, index
