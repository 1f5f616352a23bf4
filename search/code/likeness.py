"""Likeness of two codes, by which a prompt chooses examples and known failures.

Not covered: meaning. Two ways to write one computation may have little in common.
"""

from functools import lru_cache

from regraph_kg.search.code.tokens import normalized


def likeness(first: str, second: str) -> float:
    """Likeness of two codes, 0 to 1: Dice's coefficient of their runs of three tokens.

    Blanks and comments do not count. Names count, since the same form may be other code.
    """
    if first == second:
        return 1.0
    left, right = _runs(first), _runs(second)
    return 2 * len(left & right) / max(1, len(left) + len(right))


@lru_cache(maxsize=512)
def _runs(code: str) -> frozenset[tuple[str, str, str]]:
    tokens = normalized(code).split()
    return frozenset(zip(tokens, tokens[1:], tokens[2:], strict=False))
