"""Whether accesses in different iterations of a loop can reach the same element.

The bounds of loops' variables bound an index. Assumptions: ends of loops are one or more, loops'
variables are zero or more, and a step that has a name is not zero.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from regraph_kg.cpp import polynomial as poly
from regraph_kg.cpp.guards import sides
from regraph_kg.cpp.headers import COMPARES
from regraph_kg.cpp.indices import Indices
from regraph_kg.cpp.polynomial import Polynomial
from regraph_kg.cpp.syntax import operator

Meets = Literal["never", "later", "unknown"]
"""Result for two accesses in different iterations; "later": certain, some iterations apart."""
_MOST = 16


class Overlaps:
    """Answers for one loop."""

    def __init__(self, names: Indices, loop: int) -> None:
        self.names, self.loop = names, loop
        self.own = names.headers[loop].symbol
        self._loops = {header.symbol: k for k, header in enumerate(names.headers) if header.symbol}
        ends = (names.closure(names.end(k)) for k in range(len(names.headers)))
        self._sizes = frozenset[str]().union(*ends)
        self._known: dict[tuple[object, ...], Meets] = {}

    def meets(self, first: Polynomial, second: Polynomial, inside: Iterable[int]) -> Meets:
        """Whether two indices meet; `inside`: loops inside this one, around either access."""
        inner = list(dict.fromkeys(inside))
        key = (frozenset(first.items()), frozenset(second.items()), *inner)
        if key not in self._known:
            hidden = self._hides(first, inner) or self._hides(second, inner)
            pair = [self.names.expanded(index, self.own, inner) for index in (first, second)]
            self._known[key] = "unknown" if hidden else self._meets(pair[0], pair[1], inner)
        return self._known[key]

    def _meets(self, first: Polynomial, second: Polynomial, inner: Sequence[int]) -> Meets:
        factor = poly.coefficient(first, self.own)
        if self._never_equal(first, second, [self.loop, *inner]):
            return "never"
        varying = {self.names.headers[loop].symbol for loop in inner}
        move = self._size(self.loop, factor or {})
        if not move or poly.names(move) & varying or factor != poly.coefficient(second, self.own):
            return "unknown"
        if first == second and not poly.names(first) & varying:
            return "never"
        if self._steps(poly.add(first, second, -1), move, inner):
            return "later"
        return self._nested_meets(first, second, move, inner)

    def _nested_meets(
        self, first: Polynomial, second: Polynomial, move: Polynomial, inner: Sequence[int]
    ) -> Meets:
        """The same for the rest, where a larger step of an inner loop separates the indices."""
        for loop in inner:
            big = poly.coefficient(first, self.names.headers[loop].symbol)
            if not big:
                continue
            remaining = [self._without(index, big, inner) for index in (first, second)]
            around = [self.loop, *inner]
            smaller = remaining[0] != first and remaining[1] != second
            if smaller and self._fits(remaining[0], remaining[1], self._size(loop, big), around):
                return self._meets(remaining[0], remaining[1], inner)
        left, right = (poly.replace(index, self.own, {}) for index in (first, second))
        fits = self._fits(left, right, move, [self.loop, *inner])
        return "never" if fits else "unknown"

    def _size(self, loop: int, factor: Polynomial) -> Polynomial:
        return poly.multiply(factor, self.names.step(loop) or {}) or {}

    def _without(self, index: Polynomial, factor: Polynomial, inner: Sequence[int]) -> Polynomial:
        """An index without the part that one of the inner loops moves by `factor`."""
        for loop in inner:
            name = self.names.headers[loop].symbol
            if poly.coefficient(index, name) == factor:
                return poly.replace(index, name, {})
        return index

    def _steps(self, gap: Polynomial, move: Polynomial, inner: Sequence[int]) -> bool:
        if not gap or gap.keys() != move.keys():
            return False
        times = {gap[product] / move[product] for product in move}
        even = all(gap[product] % move[product] == 0 for product in move)
        starts = (self.names.closure(self.names.start(loop)) for loop in inner)
        return even and len(times) == 1 and not any(self.own in start for start in starts)

    def _never_equal(self, first: Polynomial, second: Polynomial, loops: Sequence[int]) -> bool:
        """Whether one index is always larger than the other."""
        for left, right in ((first, second), (second, first)):
            least, most = self.extremes(left, loops, -1), self.extremes(right, loops, 1)
            if any(self._positive(poly.add(low, high, -1)) for low in least for high in most):
                return True
        return False

    def _fits(
        self, first: Polynomial, second: Polynomial, move: Polynomial, loops: Sequence[int]
    ) -> bool:
        """Whether two indices are less than a step apart."""
        step = move if self._positive(move) else poly.add({}, move, -1)
        return all(
            any(
                self._positive(poly.add(step, poly.add(high, low, -1), -1))
                for high in self.extremes(left, loops, 1)
                for low in self.extremes(right, loops, -1)
            )
            for left, right in ((first, second), (second, first))
        )

    def extremes(self, index: Polynomial, loops: Sequence[int], sign: int) -> list[Polynomial]:
        """Known upper (`sign` 1) or lower (-1) bounds of an index."""
        ends = [index]
        for loop in sorted(loops, reverse=True):
            name = self.names.headers[loop].symbol
            ends = [end for value in ends for end in self._extreme(value, name, loop, sign)][:_MOST]
        return ends

    def _extreme(self, index: Polynomial, name: str, loop: int, sign: int) -> list[Polynomial]:
        factor = poly.coefficient(index, name)
        if factor is None or not factor:
            return [] if factor is None else [index]
        signs = {value > 0 for value in factor.values()}
        if len(signs) > 1:
            return []
        low, high = self.ends(loop)
        ends = high if signs == {sign > 0} else low
        values = [poly.replace(index, name, end) for end in ends]
        return [end for end in values if name not in poly.names(end)]

    def ends(self, loop: int) -> tuple[list[Polynomial], list[Polynomial]]:
        """Lower and upper bounds of a loop's variable, several of each."""
        names, header = self.names, self.names.headers[loop]
        start, ends = names.known_start(loop), self._limits(loop)
        if start is None or not ends or not header.sign:
            return [], []
        tight = poly.constant(0 if header.compare in ("<=", ">=") else 1)
        tile = loop != self.loop and self.own in names.closure(start)
        if tile and self.own in names.closure(names.end(loop)):  # counted from the tile's start
            ends = [poly.add(end, start, -1) for end in ends]
            start = {}
        if header.sign == "-":
            return [poly.add(end, tight) for end in ends], [start]
        return [start], [poly.add(end, tight, -1) for end in ends]

    def _limits(self, loop: int) -> list[Polynomial]:
        """Ends of a loop; each part of a minimum is one."""
        header = self.names.headers[loop]
        if header.end is None:
            return []
        end = self.names.end(loop)
        if operator(header.end) in COMPARES:  # `i + 4 <= n`
            left, right = (self.names.value(side, loop) for side in sides(header.end))
            difference = poly.add(left, right, -1)
            factor = poly.number(poly.coefficient(difference, header.symbol) or {})
            if factor not in (1, -1):
                return []
            end = poly.add({}, poly.replace(difference, header.symbol, {}), -factor)
        limits = [end]
        for name in sorted(poly.names(end) & self.names.minima.keys()):
            parts = self.names.minima[name]
            limits = [poly.replace(limit, name, part) for limit in limits for part in parts][:_MOST]
        return limits

    def _positive(self, value: Polynomial) -> bool:
        """Whether a value is one or more, given the least values of names and loops' variables."""
        variables = poly.names(value) & self._loops.keys()
        for loop in sorted((self._loops[name] for name in variables), reverse=True):
            name = self.names.headers[loop].symbol
            factor = poly.coefficient(value, name) or {}
            ends = self.ends(loop)[0 if all(times > 0 for times in factor.values()) else 1]
            value = poly.replace(value, name, ends[0]) if ends else value
        sizes = poly.names(value) - set(self._loops)
        if any(not (name in self._sizes or name[:1] == "?" or name.isupper()) for name in sizes):
            return False
        for name in sorted(name for name in sizes if name[0] != "?"):
            value = poly.replace(value, name, poly.add(poly.symbol(name), poly.constant(1)))
        return value.get((), 0) > 0 and all(factor > 0 for factor in value.values())

    def _hides(self, index: Polynomial, inner: Sequence[int]) -> bool:
        """Whether parts of an index depend on a loop's variable in an unknown way."""
        varying = {self.names.headers[loop].symbol for loop in (self.loop, *inner)}
        unseen = self.names.closure(index) - poly.names(index)
        disturbed = {self.names.headers[loop].symbol for loop in self.names.disturbed & {*inner}}
        return bool(unseen & varying or self.names.closure(index) & disturbed) or any(
            self.names.varies(index, loop, self.names.headers[loop].symbol)
            for loop in (self.loop, *inner)
        )
