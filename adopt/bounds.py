"""Integer expressions of a function's body: polynomials over sizes, loop variables between bounds.

A condition narrows what it compares where it holds. Not covered: variables that a loop changes
otherwise than by steps.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from regraph_kg.adopt.extent import LOADED, Extent
from regraph_kg.adopt.formulas import Formula
from regraph_kg.adopt.guards import Inequality, comparisons
from regraph_kg.adopt.types import Names
from regraph_kg.evaluation.cpp.syntax import CodeFile

_SINGLE = re.compile(r"\+\+|--|[+-]=\s*1\b")
_ROUNDS = 40
_MOST_SHIFT = 31
_CASTS = {"static_cast", "int", "size_t", "long", "unsigned", "int64_t", "ptrdiff_t"}
_ONE = Extent.of(1)
_ELEMENTS = {"subscript_expression", "field_expression", "pointer_expression"}


@dataclass(frozen=True, slots=True)
class Alias:
    """A pointer into an array parameter, so many elements from its start."""

    array: str
    offset: Extent | None
    copied: bool = False
    """Into a copy that the body made: what is written there is not written to the array."""


@dataclass(frozen=True, slots=True)
class Held:
    """A value, if that was known, and the end below which a condition keeps it."""

    known: Extent | None
    end: Extent
    is_above: bool
    """Whether a condition keeps it above another end, too."""


Bindings = dict[str, Extent | Alias | None]
"""What a name stands for at a place of the body; None where that is not known."""


@dataclass
class Bounds:
    """Values of expressions; `length` is asked for the size of a container."""

    source: CodeFile
    names: Names
    length: Callable[[str], Extent | None]
    loaded: Callable[[Node, Bindings], Extent | None]
    """Asked for an element of an array: a name for its value."""
    formulas: Mapping[str, Formula]
    """What calls stand for; none while that formula is looked at."""
    ranges: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    """Least and largest value of each name that stands for a loop variable, both included."""
    held: dict[str, Held] = field(default_factory=dict)
    """Of those names that a condition keeps below an end: what it does."""
    overruled: set[str] = field(default_factory=set)
    """Sizes of loops whose variables a condition keeps below another end."""
    stepped: set[str] = field(default_factory=set)
    """Ranges of loops that go by more than one."""
    starts: set[str] = field(default_factory=set)
    """Arrays whose neighbours are the ends of loops, as row starts of a sparse matrix are."""

    def value(self, node: Node | None, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        """An expression as a polynomial; None where it is none."""
        if node is None:
            return None
        narrowed = env.get(self.source.text(node)) if node.type in _ELEMENTS else None
        return narrowed if isinstance(narrowed, Extent) else self._computed(node, env)

    def _computed(self, node: Node, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        text, first = self.source.text(node), next(iter(node.named_children), None)
        found: Extent | None = None
        match node.type:
            case "parenthesized_expression" | "argument_list" if node.named_child_count == 1:
                found = self.value(first, env)
            case "cast_expression":
                found = self.value(node.child_by_field_name("value"), env)
            case "identifier":
                found = self._identifier(node, env)
            case "number_literal":
                number = self.names.number(text)
                found = None if number is None else Extent.of(number)
            case "binary_expression":
                found = self._binary(node, env)
            case "unary_expression" if text.startswith("-"):
                inner = self.value(node.child_by_field_name("argument"), env)
                found = None if inner is None else Extent() - inner
            case "call_expression":
                found = self._call(node, env)
            case "conditional_expression":
                found = self._chosen(node, env)
            case "subscript_expression" | "field_expression" | "pointer_expression":
                found = self.loaded(node, dict(env))
        return found

    def _identifier(self, node: Node, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        name = self.source.text(node)
        known = env.get(name)
        if isinstance(known, Alias):  # a reference to an element
            return self.loaded(node, dict(env))
        number = None if name in env else self.names.number(name)
        return known if number is None else Extent.of(number)

    def _binary(self, node: Node, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        left = self.value(node.child_by_field_name("left"), env)
        right = self.value(node.child_by_field_name("right"), env)
        sign = node.child_by_field_name("operator")
        if right is None or sign is None:
            return None
        said = self.source.text(sign)
        if said == "%" and not right.loads:
            return self._ranged(Extent(), right - _ONE)
        return None if left is None else self._combined(left, said, right)

    def _combined(self, left: Extent, said: str, right: Extent) -> Extent | None:
        found: Extent | None = None
        is_known = not (left.loads or right.loads)
        match said:
            case "+":
                found = left + right
            case "-":
                found = left - right
            case "*" if left.fits(right):
                found = left * right
            case "/" if is_known:
                found = self._quotient(left, right)
            case ">>" if is_known:
                found = self._quotient(left, _shifted(right))
            case "<<" if is_known:
                shifted = _shifted(right)
                found = left * shifted if shifted is not None else None
        return found

    def _quotient(self, left: Extent, right: Extent | None) -> Extent | None:
        """A quotient of sizes is a name of its own; of loop variables a range."""
        if right is None or right.number == 0:
            return None
        if left.number is not None and right.number is not None:
            return Extent.of(left.number // right.number)
        if (left.names | right.names) & set(self.ranges):
            if right.number is None or right.number < 1:
                return None
            return self._ranged(Extent(), self._divided(self.highest(left), right))
        return self._divided(left, right)

    def _divided(self, left: Extent, right: Extent) -> Extent:
        if left.number is not None and right.number is not None:
            return Extent.of(left.number // right.number)
        return Extent.of(
            f"(({left}) // ({right}))" if len(left.terms) > 1 else f"({left} // {right})"
        )

    def _call(self, node: Node, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or given is None:
            return None
        arguments, name = given.named_children, self.source.text(called)
        is_own = name in self.formulas
        return (self._formula if is_own else self._library)(name, arguments, env)

    def _library(
        self, name: str, arguments: Sequence[Node], env: Mapping[str, Extent | Alias | None]
    ) -> Extent | None:
        """A call of the standard library."""
        holder, _, member = name.rpartition(".")
        if holder:
            return self.length(holder) if member in ("size", "ssize") else None
        kind = name.removeprefix("std::").partition("<")[0]
        if kind in ("size", "ssize") and len(arguments) == 1:
            return self.length(self.source.text(arguments[0]))
        if kind in _CASTS and len(arguments) == 1:
            return self.value(arguments[0], env)
        values = [self.value(argument, env) for argument in arguments]
        if kind == "clamp":
            return self._clamped(values)
        return self._either(kind, values) if kind in ("min", "max") else None

    def _formula(
        self, name: str, given: Sequence[Node], env: Mapping[str, Extent | Alias | None]
    ) -> Extent | None:
        """A call as the expression that it stands for."""
        one = self.formulas[name]
        if len(given) != len(one.parameters):
            return None
        values = [self.value(argument, env) for argument in given]
        inner = {**(env if one.is_open else {}), **dict(zip(one.parameters, values, strict=True))}
        rest = {other: held for other, held in self.formulas.items() if other != name}
        return replace(self, source=one.source, formulas=rest).value(one.expression, inner)

    def _clamped(self, values: Sequence[Extent | None]) -> Extent | None:
        """`std::clamp(x, low, high)`."""
        match values:
            case [known, Extent() as low, Extent() as high] if not (low.loads | high.loads):
                return self._kept(Held(known, high, is_above=True), low)
        return None

    def _either(self, kind: str, values: list[Extent | None]) -> Extent | None:
        known = [value for value in values if value is not None and not value.loads]
        if not known or (kind == "max" and len(known) < len(values)):
            return None
        highest, lowest = [list(map(end, known)) for end in (self.highest, self.lowest)]
        if kind == "min":
            return self._ranged(min(lowest, key=_size), min(highest, key=_size))
        return self._ranged(max(lowest, key=_size), max(highest, key=_size))

    def _chosen(self, node: Node, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        """`c ? a : b`: from the lesser of both to the larger one."""
        asked = node.child_by_field_name("condition")
        values = [
            self.value(node.child_by_field_name(part), self.narrowed(asked, dict(env), holds=holds))
            for part, holds in (("consequence", True), ("alternative", False))
        ]
        known = [value for value in values if value is not None and not value.loads]
        if len(known) < len(values):
            return None
        lowest, highest = [list(map(end, known)) for end in (self.lowest, self.highest)]
        return self._ranged(min(lowest, key=_size), max(highest, key=_size))

    def narrowed(self, condition: Node | None, env: Bindings, *, holds: bool) -> Bindings:
        """What is known where a condition holds, or where it does not."""
        inner = dict(env)
        for comparison in comparisons(self.source, condition, holds=holds):
            value = self.value(comparison.right, inner)
            if value is None or value.loads:
                continue
            target, end = self._solved(comparison.left, comparison.end(value), inner)
            if target is None or isinstance(inner.get(self.source.text(target)), Alias):
                continue
            inner |= self._narrower(target, comparison, end, inner)
        return inner

    def _narrower(self, target: Node, one: Inequality, end: Extent, env: Bindings) -> Bindings:
        """A value between the ends that it had and the one that it is compared with."""
        name, known = self.source.text(target), self.value(target, env)
        if known is None or known.loads:
            mark = f"{name} >="  # what is kept above an end is no range yet
            made = self._kept(Held(known, end, mark in env), Extent())
            return {name: made} if one.is_upper else {mark: end}
        if not known.names & set(self.ranges):
            return {}  # a size
        low, high = self.lowest(known), self.highest(known)
        held = self.held.get(str(known))
        if not one.is_upper and held:
            return {name: self._kept(replace(held, is_above=True), low)}
        if not one.is_upper:
            return {name: self._ranged(end, high)} if _size(low) < _size(end) else {}
        if high.names <= self.highest(end).names and _size(high) <= _size(end):
            return {}
        self.overruled |= high.words
        return {name: self._kept(Held(known, end, is_above=False), low)}

    def _kept(self, held: Held, low: Extent) -> Extent:
        """A range whose end a condition says."""
        found = self._ranged(low, held.end)
        self.held |= dict.fromkeys(found.names & set(self.ranges), held)
        return found

    def _solved(self, node: Node, end: Extent, env: Bindings) -> tuple[Node | None, Extent]:
        """What of `i + 1` the end n says something of: i, and its end n - 1."""
        while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
            node = node.named_children[-1]
        if node.type == "identifier" or node.type in _ELEMENTS:
            return node, end
        left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        said = self.source.text(sign) if sign and node.type == "binary_expression" else ""
        if left is None or right is None or said not in ("+", "-"):
            return None, end
        by = self.value(right, env)
        if by is not None and not by.loads:
            return self._solved(left, end - by if said == "+" else end + by, env)
        by = self.value(left, env)
        if by is None or by.loads or said == "-":
            return None, end
        return self._solved(right, end - by, env)

    def _ranged(self, low: Extent, high: Extent) -> Extent:
        if low == high:
            return low
        name = f"@{len(self.ranges)}"
        self.ranges[name] = low, high
        return Extent.of(name)

    def highest(self, value: Extent) -> Extent:
        """The largest that a polynomial can be, in sizes alone."""
        return self._end(value, 1)

    def lowest(self, value: Extent) -> Extent:
        """The least that a polynomial can be."""
        return self._end(value, 0)

    def _end(self, value: Extent, end: int) -> Extent:
        for _ in range(_ROUNDS):
            ranged = value.names & set(self.ranges)
            if not ranged:
                break
            inner = max(ranged, key=lambda name: int(name[1:]))  # its bounds may name outer ones
            total = Extent()
            for names, factor in value.terms:
                side = end if factor > 0 else 1 - end
                one = Extent(((names, factor),))
                total = total + one.renamed({inner: self.ranges[inner][side]})
            value = total
        return value

    def strides(self, value: Extent) -> list[Extent]:
        """By how much an index moves with each loop variable that it is linear in, widest first."""
        found = []
        for name in sorted(value.names & set(self.ranges)):
            stride = Extent()
            for names, factor in value.terms:
                if name in names:
                    rest = list(names)
                    rest.remove(name)
                    stride = stride + Extent(((tuple(rest), factor),))
            if not stride.names & set(self.ranges) and stride not in found:
                found.append(stride)
        return sorted(found, key=lambda each: -each.magnitude)

    def loop(self, node: Node, env: Bindings) -> None:
        """Put a for loop's variable into `env`, with its bounds where they are known."""
        name, start = self._start(node.child_by_field_name("initializer"), env)
        update = node.child_by_field_name("update")
        if not name or update is None:
            return
        limit = self._limit(name, node.child_by_field_name("condition"), env)
        env[name] = None
        if start is not None and limit is not None and (start.loads | limit.loads):
            if start.loads == limit.loads and not (start - limit).names:
                self.starts |= {loaded.removeprefix(LOADED) for loaded in start.loads}
                env[name] = start
            return
        down = "-" in self.source.text(update).replace("->", "")
        if start is None or limit is None:
            return
        made = self._ranged(*((limit, start) if down else (start, limit)))
        if not _SINGLE.search(self.source.text(update)):
            self.stepped |= made.names
        env[name] = made

    def _start(self, node: Node | None, env: Bindings) -> tuple[str, Extent | None]:
        if node is None:
            return "", None
        if node.type == "declaration":
            inits = [c for c in node.named_children if c.type == "init_declarator"]
            node = inits[0] if inits else node
        side = ("declarator", "value") if node.type == "init_declarator" else ("left", "right")
        name, value = (node.child_by_field_name(field) for field in side)
        return (self.source.text(name) if name else ""), self.value(value, env)

    def _limit(self, name: str, node: Node | None, env: Bindings) -> Extent | None:
        """The last value that a condition lets through."""
        while node is not None and node.type in ("condition_clause", "parenthesized_expression"):
            node = node.named_children[0] if node.named_children else None
        if node is None or node.type != "binary_expression":
            return None
        left, right, sign = (node.child_by_field_name(f) for f in ("left", "right", "operator"))
        said = self.source.text(sign) if sign else ""
        if said == "&&":
            return self._limit(name, left, env) or self._limit(name, right, env)
        for comparison in comparisons(self.source, node, holds=True):
            bound = self.value(comparison.right, env)
            if bound is None:
                continue
            target, end = self._solved(comparison.left, comparison.end(bound), {**env, name: None})
            if target is not None and self.source.text(target) == name:
                return end
        return None


def _size(value: Extent) -> int:
    return value.magnitude


def _shifted(value: Extent) -> Extent | None:
    number = value.number
    return Extent.of(1 << number) if number is not None and 0 <= number < _MOST_SHIFT else None
