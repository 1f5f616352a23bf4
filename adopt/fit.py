"""Which formula over sizes gives numbers that were measured: one number at each of a few sizes.

Tried from the simplest on: a number, a size, products of two and three, quotients, sums of two of
those. Not covered: what no such formula gives; a person is asked for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = Mapping[str, int]
_MOST_FACTOR, _MOST_OFFSET, _PAIR_FACTOR, _PAIR_OFFSET = 64, 64, 4, 4
_LEAST_FOR_PAIRS, _LEAST_POWERS = 5, 3


@dataclass(frozen=True, slots=True)
class Term:
    """A product of sizes, or a quotient."""

    text: str
    names: tuple[str, ...]

    def at(self, point: Point) -> int:
        values = [point[name] for name in self.names]
        if "//" not in self.text:
            return int(np.prod(values, dtype=np.int64))
        over = values[1] if len(values) > 1 else int(self.text.partition("//")[2].strip(" )"))
        return values[0] // over if over else 0


@dataclass(frozen=True, slots=True)
class Formula:
    """A sum of terms with factors, and a number."""

    terms: tuple[tuple[int, Term], ...]
    number: int = 0

    @property
    def names(self) -> set[str]:
        """Every size in it."""
        return {name for _, term in self.terms for name in term.names}

    @property
    def axes(self) -> tuple[str, ...]:
        """The sizes of which it is the product, and nothing else; () for other formulas."""
        if len(self.terms) != 1 or self.number or self.terms[0][0] != 1:
            return ()
        return () if "//" in self.terms[0][1].text else self.terms[0][1].names

    def at(self, point: Point) -> int:
        """Its value."""
        return sum(factor * term.at(point) for factor, term in self.terms) + self.number

    @property
    def rounded(self) -> "Formula":
        """Up to its largest product, where only smaller ones are taken away: m*n - n is m*n."""
        if not self.terms:
            return self
        degrees = [len(term.names) for _, term in self.terms]
        top = [
            one for one, degree in zip(self.terms, degrees, strict=True) if degree == max(degrees)
        ]
        lower = [f for (f, _), d in zip(self.terms, degrees, strict=True) if d < max(degrees)]
        whole = len(top) == 1 and top[0][0] == 1 and self.number <= 0
        return Formula((top[0],)) if whole and all(factor < 0 for factor in lower) else self

    def __str__(self) -> str:
        text = ""
        ordered = sorted(self.terms, key=lambda one: (-len(one[1].names), one[1].text))
        parts = [(f, "" if abs(f) == 1 else f"{abs(f)}*", t.text) for f, t in ordered]
        parts += [(self.number, "", str(abs(self.number)))] if self.number or not parts else []
        for factor, times, said in parts:
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += f"{sign}{times}{said}"
        return text


class Fitting:
    """Looks for formulas over the sizes of some points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        self._names = list(points[0]) if points else []

    @cached_property
    def _terms(self) -> list[tuple[Term, NDArray[Any]]]:
        names = self._names
        terms = [
            Term("*".join(c), c) for d in (1, 2, 3) for c in combinations_with_replacement(names, d)
        ]
        terms += [Term(f"({name} // 2)", (name,)) for name in names]
        terms += [Term(f"({a} // {b})", (a, b)) for a in names for b in names if a != b]
        return [(one, np.array([one.at(point) for point in self._points])) for one in terms]

    def find(self, values: Sequence[int]) -> Formula | None:
        """The simplest formula that gives the values; None where none does."""
        wanted = np.array(values)
        if len(wanted) == 0:
            return None
        if (wanted == wanted[0]).all():
            return Formula((), int(wanted[0]))
        return next(self._single(wanted), None) or next(self._pairs(wanted), None)

    def at_powers(self, values: Sequence[int]) -> Formula | None:
        """A size that gives the values where all sizes are powers of two."""
        kept = [(p, v) for p, v in zip(self._points, values, strict=True) if _powers(p)]
        if len(kept) < _LEAST_POWERS:
            return None
        found = Fitting([p for p, _ in kept]).find([v for _, v in kept])
        return found if found is not None and len(found.terms) == 1 and not found.number else None

    def _single(self, wanted: NDArray[Any]) -> Iterator[Formula]:
        alike = [term for term, at in self._terms if (at == wanted).all()]
        yield from (Formula(((1, term),)) for term in alike)
        for term, at in self._terms:
            spread = np.flatnonzero(at != at[0])
            if not len(spread):
                continue
            other = spread[0]
            factor, rest = divmod(int(wanted[other] - wanted[0]), int(at[other] - at[0]))
            number = int(wanted[0]) - factor * int(at[0])
            if rest or not factor or abs(factor) > _MOST_FACTOR or abs(number) > _MOST_OFFSET:
                continue
            if (factor * at + number == wanted).all():
                yield Formula(((factor, term),), number)

    def _pairs(self, wanted: NDArray[Any]) -> Iterator[Formula]:
        if len(wanted) < _LEAST_FOR_PAIRS:
            return
        ones = np.ones(len(wanted))
        for (one, a), (other, b) in combinations(self._terms, 2):
            matrix = np.stack([a, b, ones], axis=1)
            found, _, rank, _ = np.linalg.lstsq(matrix, wanted, rcond=None)
            whole = np.rint(found).astype(int)
            if rank < matrix.shape[1] or (matrix @ whole != wanted).any() or not whole[:2].all():
                continue
            if abs(whole[:2]).max() <= _PAIR_FACTOR and abs(whole[2]) <= _PAIR_OFFSET:
                terms = ((int(whole[0]), one), (int(whole[1]), other))
                yield Formula(terms, int(whole[2]))

    def highest(self, values: Sequence[int]) -> Formula | None:
        """The size that values stay within, and reach at most points; None where none is."""
        wanted = np.array(values)
        found = [
            (term, at) for term, at in self._terms if len(term.names) == 1 and "//" not in term.text
        ]
        for term, at in found:
            if (
                (wanted <= at).all()
                and (2 * (wanted == at).sum() >= len(wanted))
                and (wanted > 0).any()
            ):
                return Formula(((1, term),))
        return None

    def least(self, values: Sequence[int]) -> tuple[Formula, str] | None:
        """A size, where the values are that or another one, whichever is less; and the other."""
        wanted = np.array(values)
        plain = [(term, at) for term, at in self._terms if term.text in self._names]
        for (one, a), (other, b) in combinations(plain, 2):
            if (np.minimum(a, b) == wanted).all():
                return Formula(((1, one),)), other.text
        return None

    def beside(self, values: Sequence[int], places: Sequence[str]) -> tuple[Formula, str] | None:
        """A size, where the values are that or one more than a place, whichever is more."""
        wanted = np.array(values)
        for place in places:
            one = np.array([point[place] + 1 for point in self._points])
            for term, at in self._terms:
                if place not in term.names and (np.maximum(at, one) == wanted).all():
                    return Formula(((1, term),)), place
        return None


def _powers(point: Point) -> bool:
    return all(value > 0 and value & (value - 1) == 0 for value in point.values())
