"""Index expressions as polynomials with integer coefficients over names: `i * n + j + 1`.

A polynomial is a mapping from a product of names (sorted) to its coefficient.
"""

from collections.abc import Mapping

Monomial = tuple[str, ...]
Polynomial = Mapping[Monomial, int]

MOST_TERMS = 24


def constant(value: int) -> Polynomial:
    """A number."""
    return {(): value} if value else {}


def symbol(name: str) -> Polynomial:
    """A name alone."""
    return {(name,): 1}


def add(first: Polynomial, second: Polynomial, times: int = 1) -> Polynomial:
    """`first + times * second`."""
    total = dict(first)
    for product, factor in second.items():
        total[product] = total.get(product, 0) + times * factor
    return {product: factor for product, factor in total.items() if factor}


def multiply(first: Polynomial, second: Polynomial) -> Polynomial | None:
    """The product; None for too many terms or too large numbers."""
    if len(first) * len(second) > MOST_TERMS:
        return None
    total: dict[Monomial, int] = {}
    for left, factor in first.items():
        for right, other_factor in second.items():
            product = tuple(sorted(left + right))
            total[product] = total.get(product, 0) + factor * other_factor
    if any(abs(factor) > 2**63 or len(product) > MOST_TERMS for product, factor in total.items()):
        return None
    return {product: factor for product, factor in total.items() if factor}


def number(polynomial: Polynomial) -> int | None:
    """The value of a constant polynomial; None for another."""
    return polynomial.get((), 0) if all(not product for product in polynomial) else None


def names(polynomial: Polynomial) -> frozenset[str]:
    """All names in a polynomial."""
    return frozenset(name for product in polynomial for name in product)


def coefficient(polynomial: Polynomial, name: str) -> Polynomial | None:
    """The coefficient of `name`; None where a power of it occurs."""
    factors: dict[Monomial, int] = {}
    for product, factor in polynomial.items():
        if name not in product:
            continue
        remaining = list(product)
        remaining.remove(name)
        if name in remaining:
            return None
        factors[tuple(remaining)] = factor
    return factors


def replace(polynomial: Polynomial, name: str, value: Polynomial) -> Polynomial:
    """`polynomial` with `value` for `name`; unchanged where that has too many terms."""
    total: Polynomial = {product: f for product, f in polynomial.items() if name not in product}
    factor = coefficient(polynomial, name)
    if not factor:
        return polynomial
    part = multiply(factor, value)
    return polynomial if part is None else add(total, part)


def shown(polynomial: Polynomial) -> str:
    """The polynomial as text: `2*n+1`."""
    parts = []
    for product, factor in sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0])):
        words = [*map(plain, product)]
        if abs(factor) != 1 or not words:
            words.insert(0, str(abs(factor)))
        parts.append(("-" if factor < 0 else "+") + "*".join(words))
    return "".join(parts).removeprefix("+") or "0"


def plain(name: str) -> str:
    """A name without the number of its loop."""
    return name.partition("#")[0]
