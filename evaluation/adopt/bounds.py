"""Integer expressions of a function's body: polynomials over sizes, loop variables between bounds.

Not covered: variables that a loop changes otherwise than by steps; conditions that narrow an index.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.evaluation.adopt.extent import Extent
from regraph_kg.evaluation.adopt.syntax import CodeFile
from regraph_kg.evaluation.adopt.types import Names

_ROUNDS = 40
_MOST_SHIFT = 31
_CASTS = {"static_cast", "int", "size_t", "long", "unsigned", "int64_t", "ptrdiff_t"}
_ONE = Extent.of(1)


@dataclass(frozen=True, slots=True)
class Alias:
    """A pointer into an array parameter, so many elements from its start."""

    array: str
    offset: Extent | None
    copied: bool = False
    """Into a copy that the body made: what is written there is not written to the array."""


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
    ranges: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    """Least and largest value of each name that stands for a loop variable, both included."""

    def value(self, node: Node | None, env: Mapping[str, Extent | Alias | None]) -> Extent | None:
        """An expression as a polynomial; None where it is none."""
        if node is None:
            return None
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
            case "*":
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
        holder, _, member = name.rpartition(".")
        if called.type == "field_expression":
            return self.length(holder) if member in ("size", "ssize") else None
        kind = name.removeprefix("std::").partition("<")[0]
        if kind in ("size", "ssize") and len(arguments) == 1:
            return self.length(self.source.text(arguments[0]))
        if kind in _CASTS and len(arguments) == 1:
            return self.value(arguments[0], env)
        if kind in ("min", "max"):
            return self._either(kind, [self.value(one, env) for one in arguments])
        return None

    def _either(self, kind: str, values: list[Extent | None]) -> Extent | None:
        known = [value for value in values if value is not None and not value.loads]
        if not known or (kind == "max" and len(known) < len(values)):
            return None
        highest, lowest = [list(map(end, known)) for end in (self.highest, self.lowest)]
        if kind == "min":
            return self._ranged(min(lowest, key=_size), min(highest, key=_size))
        return self._ranged(max(lowest, key=_size), max(highest, key=_size))

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
            return
        down = "-" in self.source.text(update).replace("->", "")
        if start is None or limit is None:
            return
        env[name] = self._ranged(*((limit, start) if down else (start, limit)))

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
        if left is None or right is None:
            return None
        if name in self.source.text(right).split():
            left, right = right, left
            said = said.translate(str.maketrans("<>", "><"))
        bound = self.value(right, env) if self.source.text(left).startswith(name) else None
        if bound is None:
            return None
        moved = {"<": bound - _ONE, "!=": bound - _ONE, ">": bound + _ONE}
        return bound if said in ("<=", ">=") else moved.get(said)


def _size(value: Extent) -> int:
    return value.magnitude


def _shifted(value: Extent) -> Extent | None:
    number = value.number
    return Extent.of(1 << number) if number is not None and 0 <= number < _MOST_SHIFT else None
