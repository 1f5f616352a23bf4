"""Extents of arrays as polynomials over size names: added, multiplied, compared, written.

Not covered: division; a quotient is a name of its own, `(n // 2)`.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.expression import size_of

_LARGE = 10007
_MOST_TERMS = 1024
LOADED = "~"
"""Begins the name of a value that an array holds."""


@dataclass(frozen=True, slots=True)
class Extent:
    """A polynomial: sorted names of each product, and its factor; 0 has no terms."""

    terms: tuple[tuple[tuple[str, ...], int], ...] = ()

    @staticmethod
    def of(value: int | str) -> "Extent":
        """A number, or a name."""
        if isinstance(value, str):
            return Extent((((value,), 1),))
        return _extent({(): value})

    def __add__(self, other: "Extent") -> "Extent":
        total = dict(self.terms)
        for names, factor in other.terms:
            total[names] = total.get(names, 0) + factor
        return _extent(total)

    def __sub__(self, other: "Extent") -> "Extent":
        return self + other * Extent.of(-1)

    def __mul__(self, other: "Extent") -> "Extent":
        if not self.fits(other):
            raise BadInput("an index is a product of too many sums to be read; write it in steps")
        total: dict[tuple[str, ...], int] = {}
        for (mine, a), (theirs, b) in product(self.terms, other.terms):
            names = tuple(sorted((*mine, *theirs)))
            total[names] = total.get(names, 0) + a * b
        return _extent(total)

    def fits(self, other: "Extent") -> bool:
        """Whether their product is short enough: each sum in it doubles its terms, or more."""
        return len(self.terms) * len(other.terms) <= _MOST_TERMS

    @property
    def number(self) -> int | None:
        """Its value, where no name is in it."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () and len(self.terms) == 1 else None

    @property
    def names(self) -> set[str]:
        """Every name in it."""
        return {name for names, _ in self.terms for name in names}

    @property
    def words(self) -> set[str]:
        """Every size in it, those of quotients too."""
        return {word for name in self.names for word in re.findall(r"[A-Za-z_]\w*", name)}

    @property
    def loads(self) -> set[str]:
        """Names in it that stand for elements of arrays, `~idx` or `~p.row`."""
        return {name for name in self.names if LOADED in name}

    @property
    def is_product(self) -> bool:
        """Whether it is one product without a factor, such as m*n."""
        return len(self.terms) == 1 and self.terms[0][1] == 1 and bool(self.terms[0][0])

    @property
    def rounded(self) -> "Extent":
        """Up to its largest product, where only smaller ones are taken away: m*n - n is m*n."""
        degrees = [len(names) for names, _ in self.terms]
        top = [term for term in self.terms if len(term[0]) == max(degrees)]
        lower = [factor for names, factor in self.terms if len(names) < max(degrees)]
        whole = len(top) == 1 and top[0][0] and top[0][1] == 1
        if whole and all(factor < 0 for factor in lower):
            return Extent((top[0],))
        return self

    def stride(self, name: str) -> "Extent | None":
        """What a name is multiplied by; None where it is not linear in it."""
        stride = Extent()
        for names, factor in self.terms:
            if names.count(name) > 1:
                return None
            if name in names:
                rest = tuple(other for other in names if other != name)
                stride = stride + Extent(((rest, factor),))
        return stride

    def over(self, other: "Extent") -> "Extent | None":
        """The quotient of two products; None where one does not divide the other."""
        if len(self.terms) != 1 or len(other.terms) != 1:
            return None
        (mine, a), (theirs, b) = self.terms[0], other.terms[0]
        left = list(mine)
        for name in theirs:
            if name not in left:
                return None
            left.remove(name)
        return None if a % b else Extent(((tuple(left), a // b),))

    @property
    def magnitude(self) -> int:
        """Its value where every name is large: what is larger there is taken for larger."""
        return self.value(dict.fromkeys(self.names, _LARGE))

    def value(self, sizes: Mapping[str, int]) -> int:
        """Its value at `sizes`; a name that is a quotient is computed."""
        total = 0
        for names, factor in self.terms:
            values = (sizes[n] if n in sizes else size_of(n, sizes) for n in names)
            total += factor * math.prod(values)
        return total

    def renamed(self, names: Mapping[str, "Extent"]) -> "Extent":
        """With extents for some of its names."""
        total = Extent()
        for product_, factor in self.terms:
            one = Extent.of(factor)
            for name in product_:
                one = one * names.get(name, Extent.of(_inside(name, names)))
            total = total + one
        return total

    def __str__(self) -> str:
        text = ""
        for names, factor in sorted(self.terms, key=lambda term: (-len(term[0]), term[0])):
            said = "*".join((*(() if abs(factor) == 1 and names else (str(abs(factor)),)), *names))
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += sign + said
        return text or "0"


def _extent(terms: Mapping[tuple[str, ...], int]) -> Extent:
    return Extent(tuple(sorted((names, factor) for names, factor in terms.items() if factor)))


def _inside(name: str, names: Mapping[str, Extent]) -> str:
    """A quotient with extents for the names in it."""
    if not name.startswith("("):
        return name
    return re.sub(r"[A-Za-z_]\w*", lambda f: _closed(names[f[0]]) if f[0] in names else f[0], name)


def _closed(extent: Extent) -> str:
    text = str(extent)
    return text if re.fullmatch(r"\w+", text) else f"({text})"
