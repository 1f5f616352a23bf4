"""The meaning of index expressions: names are replaced by their values where these are plain.

`const float* row = a + i * n; .. row[j]` is the element `i * n + j` of `a`. An unknown expression
becomes a new name, which begins with "@" if it was read from an array, else with "?".
"""

import re
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property

from tree_sitter import Node

from regraph_kg.cpp import polynomial as poly
from regraph_kg.cpp.headers import Header, headers_of
from regraph_kg.cpp.library import MATH
from regraph_kg.cpp.occurrences import NO_LOOP, CodePlace, Declared, Events, Mode, Occurrence
from regraph_kg.cpp.polynomial import Polynomial
from regraph_kg.cpp.syntax import arguments, bare, called, operator, root_name, short, text, walk

_DEEPEST = 24
_BITS = 32  #: of an int, beyond which nothing is shifted
_MOST_NODES = 60
_NARROW = re.compile(r"\b(?:char|short|bool|byte|u?int(?:8|16)_t)\b")
_FRACTION = re.compile(r"\b(?:float|double|half|__half)\b")
_PART = re.compile(r"^0*\d*\.|^\d+e")
_ELEMENTS = frozenset({"subscript_expression", "pointer_expression"})
UNKNOWN, INDIRECT = "unknown", "indirect"


@dataclass(frozen=True, slots=True)
class ElementAccess:
    """An access to an array."""

    array: str
    declared: Declared | None
    index: tuple[Polynomial, ...]  # one polynomial for each pair of brackets
    mode: Mode
    place: CodePlace
    order: int
    node: Node


Pointed = tuple[str, Declared | None, tuple[Polynomial, ...]]
"""An array, its declaration, and an index in it."""


class Indices:
    """The indices of one text. Polynomials name a loop's variable by its `Header.symbol`."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.headers: list[Header] = headers_of(events)
        self._loops = {header.symbol: k for k, header in enumerate(self.headers) if header.symbol}
        self._inside: dict[str, frozenset[str]] = {}
        self.minima: dict[str, list[Polynomial]] = {}
        """Name in polynomials of a call of `min` -> its arguments."""
        self._known: dict[tuple[int, int], Polynomial] = {}
        self.disturbed: set[int] = set()  # loops whose variables change in their bodies, too
        self._varying: list[set[str]] = [set() for _ in events.loops]
        for use in events.names:
            if use.mode != "read":
                self._vary(text(use.node), use.place.loop)
                self._disturb(use)
        for name, place in events.exposed:
            for loop in events.loops:
                if loop.place.function == place.function:
                    self._vary(name, loop.number)
        for listed in events.declared.values():
            for declaration in listed:
                if declaration.value is None or declaration.writes:
                    self._vary(declaration.name, declaration.loop)

    def _vary(self, name: str, loop: int) -> None:
        for k in self.chain(loop):
            self._varying[k].add(name)

    def _disturb(self, use: Occurrence) -> None:
        for k in self.chain(use.place.loop):
            body = self.events.loops[k].node.child_by_field_name("body")
            named = self.headers[k].variable == text(use.node) and not self.headers[k].ranged
            if named and body is not None and use.node.start_byte >= body.start_byte:
                self.disturbed.add(k)

    def chain(self, loop: int) -> list[int]:
        """The loops around a place, outermost first, given the innermost."""
        loops = []
        while loop != NO_LOOP:
            loops.append(loop)
            loop = self.events.loops[loop].place.loop
        return loops[::-1]

    def value(self, node: Node | None, loop: int, depth: int = 0) -> Polynomial:
        """An expression as a polynomial."""
        whole, node = node, bare(node)
        if node is None or whole is None:
            return {}
        if depth > _DEEPEST:
            return self._opaque(node, loop, depth)
        key = (whole.id, loop)
        if key not in self._known:
            is_narrow = _NARROW.search(text(whole)[: node.start_byte - whole.start_byte])
            read = self._opaque if is_narrow else self._value
            self._known[key] = read(node, loop, depth)
        return self._known[key]

    def _value(self, node: Node, loop: int, depth: int) -> Polynomial:
        if node.type == "number_literal":
            try:
                return poly.constant(int(text(node).replace("'", "").rstrip("uUlL"), 0))
            except ValueError:
                return poly.symbol(f"?{short(node)}")
        if node.type == "identifier":
            return self._name(node, loop, depth)
        base = node.child_by_field_name("argument") if node.type == "field_expression" else None
        if base is not None and base.type == "identifier":  # `threadIdx.x`, if no element's field
            declared = self.events.find(text(base), base)
            plain = declared is None or (declared.value is None and not declared.element)
            if plain and (declared is None or not declared.writes):
                return poly.symbol(text(node)[:80])
        if node.type == "unary_expression" and operator(node) == "-":
            return poly.add(
                {}, self.value(node.child_by_field_name("argument"), loop, depth + 1), -1
            )
        total = self._binary(node, loop, depth) if node.type == "binary_expression" else None
        return self._opaque(node, loop, depth) if total is None else total

    def _binary(self, node: Node, loop: int, depth: int) -> Polynomial | None:
        sign = operator(node)
        if sign not in ("+", "-", "*", "<<"):
            return None
        left = self.value(node.child_by_field_name("left"), loop, depth + 1)
        right = self.value(node.child_by_field_name("right"), loop, depth + 1)
        if any(map(self._is_fraction, (node.child_by_field_name(k) for k in ("left", "right")))):
            return None
        if sign in ("+", "-"):
            return poly.add(left, right, 1 if sign == "+" else -1)
        if sign == "*":
            return poly.multiply(left, right)
        places = poly.number(right) or 0
        return poly.multiply(left, poly.constant(1 << places)) if 0 < places < _BITS else None

    def _is_fraction(self, node: Node | None) -> bool:
        """Whether it is a number that may have a fraction, or a name or function of one."""
        base = root_name(plain) if (plain := bare(node)) is not None else None
        declared = self.events.find(text(base), base) if base is not None else None
        if declared is not None and declared.kind == "auto" and declared.value is not None:
            return self._is_fraction(declared.value)
        if plain is None or declared is not None:
            return declared is not None and bool(_FRACTION.search(declared.kind))
        is_fixed = plain.type == "number_literal" and _PART.search(text(plain))
        return bool(is_fixed) or (plain.type == "call_expression" and called(plain) in MATH)

    def _name(self, node: Node, loop: int, depth: int) -> Polynomial:
        name = text(node)
        for k in reversed(self.chain(loop)):
            header = self.headers[k]
            if header.variable == name and not header.ranged:
                return poly.symbol(header.symbol)
        declared = self.events.find(name, node)
        if declared is None or declared.parameter:
            return poly.symbol(name)
        if declared.element:
            return self._opaque(node, loop, depth)
        if declared.value is not None and not declared.writes and not declared.pointer:
            if _NARROW.search(declared.kind):
                return self._opaque(declared.value, declared.loop, depth)
            return self.value(declared.value, declared.loop, depth + 1)
        return poly.symbol(name)

    def _opaque(self, node: Node, loop: int, depth: int) -> Polynomial:
        """A name for an expression that is no sum of products; notes the names inside it."""
        parts: set[str] = set()
        data = False
        for count, current in enumerate(walk(node)):
            if count > _MOST_NODES:
                parts.add(UNKNOWN)
                break
            if current.type in ("subscript_expression", "pointer_expression"):
                data = True
            if current.type == "field_expression":
                parts.add(text(current))
            if current.type != "identifier":
                continue
            declared = self.events.find(text(current), current)
            if declared is not None and declared.element:
                data = True
                parts.add(self.headers[declared.loop].symbol)
            elif current.id == node.id or depth > _DEEPEST:
                parts.add(text(current))
            else:
                inner = self.closure(self.value(current, loop, depth + 1))
                parts |= inner
                data |= any(part.startswith("@") for part in inner)
        name = ("@" if data else "?") + short(node)
        self._inside[name] = self._inside.get(name, frozenset()) | parts
        if node.type == "call_expression" and called(node) == "min" and depth < _DEEPEST:
            self.minima[name] = [
                self.value(argument, loop, depth + 1) for argument in arguments(node)
            ]
        return poly.symbol(name)

    def closure(self, index: Polynomial) -> frozenset[str]:
        """All names in a polynomial, and inside its opaque names."""
        names = poly.names(index)
        return names.union(*(self._inside.get(name, frozenset()) for name in names))

    def begun(self, index: Polynomial, element: ElementAccess) -> frozenset[str]:
        """All names in what local variables of an index began with that are written later."""
        known = found = self.closure(index)
        while found:
            named = [self.events.find(name, element.node) for name in found]
            moved = [one for one in named if one and one.value is not None and one.writes]
            values = (self.value(declared.value, declared.loop) for declared in moved)
            found = frozenset[str]().union(*map(self.closure, values)) - known
            known |= found
        return known - self.closure(index)

    def start(self, loop: int) -> Polynomial:
        """The start of a loop's variable, by its head or its declaration; 0 where unknown."""
        return self.known_start(loop) or {}

    def known_start(self, loop: int) -> Polynomial | None:
        """The same; None where unknown."""
        header, outer = self.headers[loop], self.events.loops[loop].place.loop
        if header.start is None and header.variable and not header.ranged:
            declared = self.events.find(header.variable, self.events.loops[loop].node)
            if declared is not None and declared.value is not None:
                return self.value(declared.value, declared.loop)
        return self.value(header.start, outer) if header.start is not None else None

    def end(self, loop: int) -> Polynomial:
        """The other side of a loop's comparison."""
        return self.value(self.headers[loop].end, self.events.loops[loop].place.loop)

    def step(self, loop: int) -> Polynomial | None:
        """A loop's step; None where it is no sum."""
        header = self.headers[loop]
        if header.ranged:
            return poly.constant(1)
        if not header.sign:
            return None
        outer = self.events.loops[loop].place.loop
        size = poly.constant(1) if header.step is None else self.value(header.step, outer)
        return poly.add({}, size, -1 if header.sign == "-" else 1)

    def expanded(self, index: Polynomial, name: str, inner: list[int]) -> Polynomial:
        """`index` with the variables of `inner` loops counted from their starts.

        Only where start and end depend on the loop of `name`, or the start on a thread's number:
        a loop in a tile moves with the loop over tiles, while a triangular nest does not.
        """
        for loop in reversed(inner):
            begin, variable = self.start(loop), self.headers[loop].symbol
            if not variable or variable not in poly.names(index) or name not in self.closure(begin):
                continue
            if name not in self._loops or name in self.closure(self.end(loop)):
                index = poly.replace(index, variable, poly.add(begin, poly.symbol(variable)))
        return index

    def moved(self, index: Polynomial, loop: int, around: list[int]) -> Polynomial | None:
        """The step of an index in one iteration of `loop`; None: unknown."""
        variable = self.headers[loop].symbol
        inner = around[around.index(loop) + 1 :] if loop in around else []
        index = self.expanded(index, variable, inner) if variable else index
        if not variable:
            return None if self.varies(index, loop, variable) else {}
        factor, step = poly.coefficient(index, variable), self.step(loop)
        if factor is None or step is None or self.varies(index, loop, variable):
            return None
        return poly.multiply(factor, step)

    def varies(self, index: Polynomial, loop: int, variable: str) -> bool:
        """Whether `index` changes in `loop` by more than the loop's variable alone."""
        names = poly.names(index)
        hidden = set[str]().union(*(self._inside.get(name, frozenset()) for name in names))
        for key in hidden & self._loops.keys():
            hidden |= self.closure(self.start(self._loops[key]))
        varying = self._varying[loop] - {""}
        return bool(variable and variable in hidden) or bool((names | hidden) & varying)

    def stride(self, index: tuple[Polynomial, ...], loop: int, around: list[int]) -> str:
        """The stride of an access in a loop: "0", "1", "n", "row", "indirect" or "unknown"."""
        moves = [self.moved(part, loop, around) for part in index]
        if any(move is None for move in moves):
            names = frozenset().union(*map(self.closure, index))
            return INDIRECT if any(name.startswith("@") for name in names) else UNKNOWN
        if any(moves[:-1]):
            return "row"
        return poly.shown(moves[-1] or {}) if moves else "0"

    @property
    def elements(self) -> list[ElementAccess]:
        """All accesses to arrays, in the order of the text."""
        return [element for element in self._accesses if element.array]

    @property
    def unnamed(self) -> list[ElementAccess]:
        """Accesses to what the text does not name, as in `pick(a, b)[i]`."""
        return [element for element in self._accesses if not element.array]

    @cached_property
    def _accesses(self) -> list[ElementAccess]:
        items = [self._element(use) for use in self.events.elements]
        for use in self.events.names:
            base = use.node.child_by_field_name("argument") or use.node
            declared = self.events.find(text(base), base)
            if declared is None or not declared.refers or declared.parameter:
                continue
            inner = self._element_of(declared, use, field=base.id != use.node.id)
            if inner is not None:
                item = self._element(Occurrence(inner, use.mode, use.place, use.order))
                items.append(replaced(item, node=use.node) if item is not None else None)
        return sorted((item for item in items if item is not None), key=lambda item: item.order)

    def _element_of(self, declared: Declared, use: Occurrence, *, field: bool) -> Node | None:
        """The element behind a local reference, or behind a field of a local name."""
        inner, copied = bare(declared.value), not (declared.reference or declared.pointer)
        if declared.element:
            loop = self.events.loops[declared.loop].node
            return loop if use.mode != "read" and not copied else None
        if inner is None:
            return None
        element = inner.type in _ELEMENTS
        refers = not (element and copied) if field else declared.reference and element
        return inner if refers else None

    def _element(self, use: Occurrence) -> ElementAccess | None:
        node, loop = use.node, use.place.loop
        if node.type == "for_range_loop":
            base = self.pointer(node.child_by_field_name("right"), loop)
            loops = [k for k in self.chain(loop) if self.events.loops[k].node.id == node.id]
            index = (poly.symbol(self.headers[loops[-1]].symbol),) if loops else ({},)
            base = (base[0], base[1], index) if base else None
        else:
            accessed = node.type in _ELEMENTS
            base = self.target(node, loop) if accessed else self.pointer(node, loop)
        base = base or (("", None, ({},)) if node.type in _ELEMENTS else None)
        return ElementAccess(*base, use.mode, use.place, use.order, use.node) if base else None

    def target(self, node: Node, loop: int, depth: int = 0) -> Pointed | None:
        """The array of an access, and the index."""
        if node.type == "pointer_expression":
            return self.pointer(node.child_by_field_name("argument"), loop, depth)
        indices: list[Polynomial] = []
        base: Node | None = node
        while base is not None and base.type == "subscript_expression" and len(indices) < _DEEPEST:
            listed = base.child_by_field_name("indices")
            inner = listed.named_children[0] if listed and listed.named_children else None
            indices.insert(0, self.value(inner, loop))
            base = bare(base.child_by_field_name("argument"))
        pointed = self.pointer(base, loop, depth)
        if pointed is None:
            return None
        name, declared, offset = pointed
        head = poly.add(offset[-1], indices[0]) if offset else indices[0]
        return name, declared, (*offset[:-1], head, *indices[1:])

    def pointer(self, node: Node | None, loop: int, depth: int = 0) -> Pointed | None:
        """The array that an expression points into, and where."""
        node = bare(node)
        if node is None or depth > _DEEPEST:
            return None
        if node.type == "identifier":
            return self._pointer_name(node, loop, depth)
        if node.type == "field_expression":
            return text(node)[:80], None, ({},)
        if node.type == "binary_expression" and operator(node) in ("+", "-"):
            return self._moved_pointer(node, loop, depth)
        if node.type == "subscript_expression" or operator(node) == "*":
            return self._row(self.target(node, loop, depth + 1))
        return self._pointer_call(node, loop, depth)

    def _pointer_call(self, node: Node, loop: int, depth: int) -> Pointed | None:
        """The array and index of `&a[i]` and `a.data()`."""
        inner = None
        if node.type == "pointer_expression" and operator(node) != "*":
            inner = bare(node.child_by_field_name("argument"))
        elif node.type == "call_expression" and called(node) in (".data", ".begin", ".get"):
            function = node.child_by_field_name("function")
            inner = function.child_by_field_name("argument") if function else None
        if inner is not None and inner.type == "subscript_expression":
            pointed = self.target(inner, loop, depth + 1)
            # `a[i].data()` points to a row, `&a[i]` to an element
            return self._row(pointed) if node.type == "call_expression" else pointed
        return self.pointer(inner, loop, depth + 1)

    def _row(self, pointed: Pointed | None) -> Pointed | None:
        return (pointed[0], pointed[1], (*pointed[2], {})) if pointed else None

    def _pointer_name(self, node: Node, loop: int, depth: int) -> Pointed:
        """The target of a name: itself, or the only value that it is set to."""
        declared = self.events.find(text(node), node)
        if declared is None:
            return text(node), None, ({},)
        for k in reversed(self.chain(loop)):
            header = self.headers[k]
            if header.variable == text(node) and not header.ranged and depth < _DEEPEST:
                outer = self.events.loops[k].place.loop
                begun = self.pointer(header.start, outer, depth + 1) or (text(node), declared, ())
                return begun[0], begun[1], (poly.symbol(header.symbol),)
        fixed = declared.value is not None and not declared.writes
        if fixed and declared.refers:
            pointed = self.pointer(declared.value, declared.loop, depth + 1)
            if pointed is not None:
                return pointed
        moving = declared.writes and declared.pointer
        return text(node), declared, (poly.symbol(text(node)),) if moving else ({},)

    def _moved_pointer(self, node: Node, loop: int, depth: int) -> Pointed | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        pointed = self.pointer(left, loop, depth + 1)
        if pointed is None:
            return None
        array, declared, index = pointed
        last = poly.add(index[-1], self.value(right, loop), 1 if operator(node) == "+" else -1)
        return array, declared, (*index[:-1], last)
