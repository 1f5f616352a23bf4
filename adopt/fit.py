"""Which formula over sizes gives numbers that were measured: one number at each of a few sizes.

Tried from the simplest on: a number, a size, products of two and three, quotients, sums of two of
those. Not covered: what no such formula gives; a person is asked for it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, combinations_with_replacement, permutations
from keyword import iskeyword
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = Mapping[str, int]
_MOST = {1: 64, 2: 4}  # the largest factor and number of a formula with so many products
_DEGREES = {1: 4, 2: 3}  # the most sizes of a product in it
_LEAST_FOR_PAIRS = 5
_WORD = r"[A-Za-z_]\w*"
_PRODUCT = rf"{_WORD}(?:\*{_WORD})*"


class Fitting:
    """Looks for formulas over the sizes of some points."""

    def __init__(self, points: Sequence[Point]) -> None:
        names = list(points[0]) if points else []
        self._sizes = {name: np.array([point[name] for point in points]) for name in names}

    @cached_property
    def _terms(self) -> dict[str, NDArray[Any]]:
        """Products and quotients, and what they are at the points."""
        sizes = {n: at for n, at in self._sizes.items() if not iskeyword(n)}  # of no expression
        found = {
            "*".join(names): np.prod([sizes[name] for name in names], axis=0)
            for degree in range(1, _DEGREES[1] + 1)
            for names in combinations_with_replacement(sizes, degree)
        }
        found |= {f"({name} // 2)": at // 2 for name, at in sizes.items()}
        return found | {
            f"({a} // {b})": sizes[a] // np.maximum(sizes[b], 1) for a, b in permutations(sizes, 2)
        }

    def find(self, values: Sequence[int]) -> str:
        """The simplest formula that gives the values; "" where none does."""
        wanted = np.array(values)
        if len(wanted) == 0:
            return ""
        if (wanted == wanted[0]).all():
            return str(wanted[0])
        singles = list(self._sums(wanted, 1))
        found = [one for one in singles if one in self._terms] + singles
        if not found and len(wanted) >= _LEAST_FOR_PAIRS:
            return next(self._sums(wanted, 2), "")
        return found[0] if found else ""

    def _sums(self, wanted: NDArray[Any], count: int) -> Iterator[str]:
        """Sums of so many terms with factors, and a number."""
        fit = ((text, at) for text, at in self._terms.items() if text.count("*") < _DEGREES[count])
        for terms in combinations(fit, count):
            matrix = np.stack([*(at for _, at in terms), np.ones(len(wanted))], axis=1)
            solved, _, rank, _ = np.linalg.lstsq(matrix, wanted, rcond=None)
            whole = np.rint(solved).astype(int)
            is_whole = rank == count + 1 and (matrix @ whole == wanted).all() and whole[:-1].all()
            if is_whole and abs(whole).max() <= _MOST[count]:
                yield _sum(whole, [text for text, _ in terms])

    def mostly(self, values: Sequence[int], places: Collection[str]) -> tuple[str, str, str]:
        """What most values are; an index beside it, or a size that some are below; else all ""."""
        wanted = np.array(values)
        for text, at in self._terms.items():
            for other in self._sizes.keys() - names_in(text):
                beside = self._sizes[other]
                if other in places and (np.maximum(at, beside + 1) == wanted).all():
                    return text, other, ""
                if text in self._sizes and (np.minimum(at, beside) == wanted).all():
                    return text, "", other
        bounds = {text: at for text, at in self._terms.items() if (wanted <= at).all()}
        most = max(bounds, key=lambda text: (wanted == bounds[text]).sum(), default="")
        count = (wanted == bounds[most]).sum() if most else 0
        is_most = 2 * count >= len(wanted) and wanted.any()
        is_known = most in self._sizes or count >= _LEAST_FOR_PAIRS
        return (most, "", "") if is_most and is_known else ("", "", "")


def names_in(text: str) -> set[str]:
    return set(re.findall(_WORD, text))


def axes(text: str) -> tuple[str, ...]:
    """The sizes of which a formula is the product, and nothing else; () for other formulas."""
    return tuple(text.split("*")) if re.fullmatch(_PRODUCT, text) else ()


def rounded(text: str) -> str:
    """Up to its largest product, where only smaller ones are taken away: m*n - n is m*n."""
    first, *rest = text.split(" - ")
    most = len(re.findall(_WORD, first))
    is_less = all(len(re.findall(_WORD, part)) < most for part in rest)
    whole = re.fullmatch(rf"{_PRODUCT}|\({_WORD} // \w+\)", first)
    return first if whole and is_less and "+" not in text else text


def _sum(factors: Sequence[int], terms: Sequence[str]) -> str:
    """The last factor is the number."""
    *times, number = factors
    parts = sorted(zip(times, terms, strict=True), key=lambda p: (-len(names_in(p[1])), p[1]))
    text = ""
    for factor, term in [*parts, *([(number, "")] if number else [])]:
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        shown = [str(abs(factor))] if abs(factor) != 1 or not term else []
        text += sign + "*".join([*shown, *([term] if term else [])])
    return text
