"""How a function uses each array: which indices it reads and writes, and in what order.

From that: role and extent. A guess that a person or the compiler and the judge's worker look at.
Not covered: pointers that are moved; what a function of another file does.
"""

import re
from collections.abc import Callable, Mapping
from typing import Literal

from tree_sitter import Node

from regraph_kg.adopt.bounds import Alias, Bindings, Bounds
from regraph_kg.adopt.elements import ENDS, PLACES, Elements
from regraph_kg.adopt.extent import LOADED, Extent
from regraph_kg.adopt.formulas import formulas
from regraph_kg.adopt.guards import changed, clamped, ends
from regraph_kg.adopt.locals import Locals
from regraph_kg.adopt.shapes import extent, places, shape
from regraph_kg.adopt.types import Names, Passed
from regraph_kg.adopt.use import Use
from regraph_kg.evaluation.cpp.syntax import Function, walk
from regraph_kg.evaluation.problem.types import is_whole

Role = Literal["in", "out", "inout"]
_RESIZING = {
    *("resize", "push_back", "emplace_back", "pop_back"),
    *("assign", "clear", "insert", "erase", "swap"),
}
_BRANCHES = {
    "if_statement",
    "switch_statement",
    "while_statement",
    "do_statement",
    "conditional_expression",
    "catch_clause",
}
_SIGNS = re.compile(r"[*& ]*(?:__restrict(?:__)? )?")
_FILLS = {"fill", "fill_n", "iota", "generate", "memset"}
_ONE = Extent.of(1)


Writes = Callable[[str, int], bool | None]
"""Whether a function of the file, by name, writes what its argument of a place points to."""


class Uses:
    """Looks at a function's body, once."""

    def __init__(
        self, function: Function, passed: Mapping[str, Passed], names: Names, writes: Writes
    ) -> None:
        self._source, self._passed, self._writes = function.source, passed, writes
        self.found = {name: Use() for name, one in passed.items() if one.form != "scalar"}
        self.gathers: list[tuple[str | Extent, Extent]] = []
        """An array, or a local one's size, that is indexed by what arrays hold, and the index."""
        self.returned: Extent | None = None
        self.returns_rows = False
        """What is returned has a length that depends on the data."""
        calls = formulas(function.source)
        self.bounds = Bounds(function.source, names, self._length, self._loaded, calls)
        self.locals = Locals(function.source, self.bounds)
        self._elements = Elements(function.source, passed, self.found, self.bounds)
        self._changed = changed(function)
        self._branch = 0
        env: Bindings = {}
        for name, one in passed.items():
            if one.form == "scalar" and not one.element.is_float:
                env[name] = None if name in self._changed else Extent.of(name)
        self._visit(function.body, env)

    def extent(self, name: str) -> Extent | None:
        """Elements that the array must have: one more than the largest index; None if unknown."""
        return extent(self.found[name].indices, self.bounds, self.places)

    def shape(self, name: str) -> tuple[Extent, ...]:
        """That extent by axes, where an index is built of strides; else as one axis."""
        return shape(self.found[name].indices, self.bounds, self.places)

    @property
    def places(self) -> set[str]:
        """Scalars that are indices themselves and bound nothing: the source of a search."""
        indices = {index for use in self.found.values() for index in use.indices}
        return places(indices, self.bounds, self.locals.lengths.values()) & set(self._passed)

    def role(self, name: str) -> Role:
        """By what the body does, and by const."""
        use = self.found[name]
        if self._passed[name].const or not use.is_written:
            return "in"
        whole = self.extent(name)
        # What the body sizes has no elements before that could shine through.
        partly = not use.is_sized and None not in (whole, use.filled_to) and whole != use.filled_to
        return (
            "out"
            if (use.is_filled and not partly) or (use.is_resized and not use.is_read)
            else "inout"
        )

    def _length(self, name: str) -> Extent | None:
        one = self._passed.get(name)
        if one is None:
            return self.locals.lengths.get(name)
        if name not in self.found:
            return None
        if one.fixed:
            return Extent.of(one.fixed[0])
        self.found[name].own_length = True
        return Extent.of(f"{name}_size")

    def _loaded(self, node: Node, env: Bindings) -> Extent | None:
        """A name for an integer that an array holds."""
        element = self._elements.of(node, env)
        if element is None:
            return None
        kind, name = self._passed[element.array].element, element.array
        member = node.child_by_field_name("field") if node.type == "field_expression" else None
        said = kind.type
        if kind.record:
            field = self._source.text(member) if member is not None else ""
            name, said = f"{name}.{field}", kind.record.fields.get(field, "struct")
        return Extent.of(f"{LOADED}{name}") if said != "struct" and is_whole(said) else None

    def _visit(self, node: Node, env: Bindings) -> None:
        """One node and what is in it, in the order in which it runs."""
        looks = {
            "init_declarator": self._declared,
            "assignment_expression": self._assigned,
            "call_expression": self._called,
            "return_statement": self._returned,
            "if_statement": self._branched,
            "conditional_expression": self._branched,
            "binary_expression": self._both,
        }
        match node.type:
            case kind if kind in looks:
                looks[kind](node, env)
            case "for_statement":
                self._loop(node, dict(env))
            case "for_range_loop":
                self._range(node, dict(env))
            case "update_expression":
                self._touched(node.child_by_field_name("argument"), env, writes=True, reads=True)
            case "subscript_expression" | "pointer_expression" | "field_expression" | "identifier":
                self._touched(node, env, reads=True)
            case _:
                self._inside(node, dict(env) if node.type == "compound_statement" else env)

    def _inside(self, node: Node, env: Bindings) -> None:
        self._branch += node.type in _BRANCHES
        for child in node.named_children:
            self._visit(child, env)
        self._branch -= node.type in _BRANCHES

    def _branched(self, node: Node, env: Bindings) -> None:
        """Each way with what its condition says; after a way that ends, what the other one says."""
        asked, then, other = (
            node.child_by_field_name(part) for part in ("condition", "consequence", "alternative")
        )
        self._branch += 1
        for part, holds in ((asked, None), (then, True), (other, False)):
            if part is not None:
                inner = env if holds is None else self.bounds.narrowed(asked, env, holds=holds)
                self._visit(part, dict(inner))
        self._branch -= 1
        if other is None and (ends(then) or clamped(self._source, node)):
            env |= self.bounds.narrowed(asked, env, holds=False)

    def _both(self, node: Node, env: Bindings) -> None:
        """The right side of `&&` knows what the left one says."""
        left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        said = self._source.text(sign) if sign is not None else ""
        for part in filter(None, (left, right)):
            inner = env
            if part is right and said in ("&&", "||"):
                inner = self.bounds.narrowed(left, env, holds=said == "&&")
            self._visit(part, inner)

    def _loop(self, node: Node, env: Bindings) -> None:
        for part in ("initializer", "condition"):
            inner = node.child_by_field_name(part)
            if inner is not None:
                self._visit(inner, env)
        self.bounds.loop(node, env)
        body = node.child_by_field_name("body")
        if body is not None:
            self._visit(body, env)

    def _range(self, node: Node, env: Bindings) -> None:
        over, variable = (node.child_by_field_name(f) for f in ("right", "declarator"))
        name = self._source.text(over) if over else ""
        if name in self.found:
            use = self.found[name]
            use.own_length = use.is_read = True
            const = "const" in {self._source.text(child) for child in node.children}
            if variable is not None and variable.type == "reference_declarator" and not const:
                use.is_written = True
            if variable is not None:
                env[_SIGNS.sub("", self._source.text(variable), count=1)] = Alias(name, None)
        body = node.child_by_field_name("body")
        if body is not None:
            self._visit(body, env)

    def _declared(self, node: Node, env: Bindings) -> None:
        name, value = (node.child_by_field_name(f) for f in ("declarator", "value"))
        if name is None or value is None:
            return
        text = _SIGNS.sub("", self._source.text(name), count=1)
        target = (
            self._elements.target(value, env)
            if name.type in ("pointer_declarator", "reference_declarator")
            else None
        )
        if target is not None:
            env[text] = target
            return
        kind = node.parent.child_by_field_name("type") if node.parent else None
        said = self._source.text(kind) if kind else ""
        if "vector" in said or (said == "auto" and self._source.text(value) in self.found):
            self.locals.declared(text, value, env)
            if self._source.text(value) in self.found:
                env[text] = Alias(self._source.text(value), Extent(), copied=True)
        else:
            env[text] = None if text in self._changed else self.bounds.value(value, env)
        self._inside(value, env) if value.type == "argument_list" else self._visit(value, env)

    def _returned(self, node: Node, env: Bindings) -> None:
        for child in node.named_children:
            text = self._source.text(child)
            self.returns_rows = self.returns_rows or text in self.locals.grown
            self.returned = self.returned or self.locals.lengths.get(text)
            if self.returned is None and text in self.found:
                self.returned = self._length(text)
            self._visit(child, env)

    def _touched(
        self, node: Node | None, env: Bindings, *, reads: bool = False, writes: bool = False
    ) -> None:
        """An element is read or written; a name alone may be taken anywhere."""
        if node is None:
            return
        element = self._elements.of(node, env)
        if element is None:
            bare = self._elements.target(node, env) if node.type == "identifier" else None
            if bare is not None and not bare.copied:
                use = self.found[bare.array]
                use.is_read = True
                use.is_written = use.is_written or not self._passed[bare.array].const
            gathered = self.locals.gathered(node, env)
            self.gathers += [gathered] if gathered else []
            self._inside(node, env)
            return
        partly = node.type == "field_expression"
        self._record(element, reads=reads, writes=writes, partly=partly)
        for child in walk(node):
            if child.type == "subscript_argument_list":
                self._inside(child, env)

    def _record(self, element: Alias, *, reads: bool, writes: bool, partly: bool = False) -> None:
        use, index = self.found[element.array], element.offset
        use.is_elsewhere = use.is_elsewhere or index is None or bool(index.loads)
        if index is not None and index.loads:
            self.gathers.append((element.array, index))
        elif index is not None:
            use.indices.append(index)
        if element.copied:
            return
        use.is_read = use.is_read or (reads and not use.is_filled)
        if not writes:
            return
        known = index is not None and not (index.loads or index.names & self.bounds.stepped)
        if index is not None and known and not (reads or partly or self._branch):
            use.fill(self.bounds.lowest(index), self.bounds.highest(index) + _ONE)
        use.is_written = True

    def _assigned(self, node: Node, env: Bindings) -> None:
        left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        if right is not None:
            self._visit(right, env)
        compound = sign is not None and self._source.text(sign) != "="
        name = self._source.text(left) if left is not None else ""
        if name in self.found and self._passed[name].form in ("vector", "array"):
            self._replaced(self.found[name], self._source.text(right) if right else "")
            return
        if left is not None:
            self._touched(left, env, reads=compound, writes=True)

    def _replaced(self, use: Use, by: str) -> None:
        """A container becomes another one."""
        length = self._length(by) if by in self.found or by in self.locals.lengths else None
        use.is_written = True
        use.is_filled = use.is_filled or not (use.is_read or self._branch)
        if length is None or self._branch:
            use.is_resized = True
        else:
            use.indices.append(length - _ONE)
            use.is_sized = True

    def _called(self, node: Node, env: Bindings) -> None:
        called, given = (node.child_by_field_name(f) for f in ("function", "arguments"))
        if called is None or given is None:
            return
        if self._elements.of(node, env) is not None:
            self._touched(node, env, reads=True)
            return
        if called.type == "field_expression":
            self._member(called, given, env)
        name = self._source.text(called).removeprefix("std::").split("<")[0]
        for place, argument in enumerate(given.named_children):
            target = self._elements.target(argument, env) or self._elements.ends(argument)
            if target is None:
                self._visit(argument, env)
            else:
                member = self._source.text(argument).rpartition(".")[2].removesuffix("()")
                whole = argument.type == "identifier" or member in ENDS
                self._given(name, place, target, whole=whole)

    def _member(self, called: Node, given: Node, env: Bindings) -> None:
        holder, member = (called.child_by_field_name(f) for f in ("argument", "field"))
        name, said = (self._source.text(one) if one else "" for one in (holder, member))
        if said in _RESIZING and name:
            self._resized(name, said, given, env)
        elif name not in self.found:
            element = self._elements.of_member(called, env)
            if element is not None and holder is not None:  # x[i].real(), p[i].move(1)
                one = self._passed[element.array]
                writes = not one.const and (one.element.record or given.named_child_count)
                self._touched(holder, env, reads=True, writes=bool(writes))
        elif said in PLACES:
            use = self.found[name]
            use.own_length = use.own_length or said in ENDS
            use.is_read = True
            use.is_written = use.is_written or not (
                self._passed[name].const or said.startswith("c")
            )
        elif said in ("size", "ssize"):
            self._length(name)

    def _resized(self, name: str, said: str, given: Node, env: Bindings) -> None:
        """A container gets another length: one that sizes say, or one that the data say."""
        first = given.named_children[0] if given.named_children else None
        length = self.bounds.value(first, env) if said in ("resize", "assign") else None
        known = (
            length is not None and not self._branch and not length.names & set(self.bounds.ranges)
        )
        use = self.found.get(name)
        if use is None:
            if length is not None and known and name not in self.locals.grown:
                self.locals.lengths[name] = length
            elif said not in ("clear", "reserve"):
                self.locals.grown.add(name)
            return
        use.is_written = True
        fills = said in ("assign", "clear") and not (use.is_read or self._branch)
        use.is_filled = use.is_filled or fills
        if length is not None and known:
            use.indices.append(length - _ONE)
            use.is_sized = True
        elif said != "clear":
            use.is_resized = True

    def _given(self, called: str, place: int, target: Alias, *, whole: bool) -> None:
        """An array is handed to another function."""
        if target.copied:
            return
        use = self.found[target.array]
        holds = whole and self._passed[target.array].form in ("vector", "span")
        use.own_length = use.own_length or holds
        if called in _FILLS:
            use.is_filled = use.is_filled or (place == 0 and not use.is_read and not self._branch)
            use.is_written = True
            return
        use.is_read = True
        if self._writes(called, place) is not False and not self._passed[target.array].const:
            use.is_written = True
