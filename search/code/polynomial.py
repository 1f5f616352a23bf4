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


def add(one: Polynomial, other: Polynomial, times: int = 1) -> Polynomial:
    """`one + times * other`."""
    total = dict(one)
    for product, factor in other.items():
        total[product] = total.get(product, 0) + times * factor
    return {product: factor for product, factor in total.items() if factor}


def multiply(one: Polynomial, other: Polynomial) -> Polynomial | None:
    """The product; None where it has too many terms or too large numbers."""
    if len(one) * len(other) > MOST_TERMS:
        return None
    total: dict[Monomial, int] = {}
    for left, factor in one.items():
        for right, second in other.items():
            product = tuple(sorted(left + right))
            total[product] = total.get(product, 0) + factor * second
    if any(abs(factor) > 2**63 or len(product) > MOST_TERMS for product, factor in total.items()):
        return None
    return {product: factor for product, factor in total.items() if factor}


def number(one: Polynomial) -> int | None:
    """The value of a constant polynomial; None for another."""
    return one.get((), 0) if all(not product for product in one) else None


def names(one: Polynomial) -> frozenset[str]:
    """All names in it."""
    return frozenset(name for product in one for name in product)


def coefficient(one: Polynomial, name: str) -> Polynomial | None:
    """What `name` is multiplied by; None where a power of it occurs."""
    found: dict[Monomial, int] = {}
    for product, factor in one.items():
        if name not in product:
            continue
        rest = list(product)
        rest.remove(name)
        if name in rest:
            return None
        found[tuple(rest)] = factor
    return found


def replace(one: Polynomial, name: str, by: Polynomial) -> Polynomial:
    """`one` with `by` for `name`; as it was where that has too many terms."""
    total: Polynomial = {product: f for product, f in one.items() if name not in product}
    factor = coefficient(one, name)
    if not factor:
        return one
    part = multiply(factor, by)
    return one if part is None else add(total, part)


def shown(one: Polynomial) -> str:
    """As text: `2*n+1`."""
    parts = []
    for product, factor in sorted(one.items(), key=lambda item: (-len(item[0]), item[0])):
        words = [*map(plain, product)]
        if abs(factor) != 1 or not words:
            words.insert(0, str(abs(factor)))
        parts.append(("-" if factor < 0 else "+") + "*".join(words))
    return "".join(parts).removeprefix("+") or "0"


def plain(name: str) -> str:
    """A name without the number of its loop."""
    return name.partition("#")[0]
