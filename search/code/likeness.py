"""How much two codes have in common: what a prompt goes by that shows what became of other code.

Not covered: meaning. Two ways to write one computation may have little in common.
"""

from functools import lru_cache

from regraph_kg.search.code.tokens import normalized


def likeness(first: str, second: str) -> float:
    """How much two codes have in common, 0 to 1: Dice's coefficient of their runs of three tokens.

    Neither blanks nor comments count; names do, so that other code of the same form is other code.
    """
    if first == second:
        return 1.0
    left, right = _runs(first), _runs(second)
    return 2 * len(left & right) / max(1, len(left) + len(right))


@lru_cache(maxsize=512)
def _runs(code: str) -> frozenset[tuple[str, str, str]]:
    tokens = normalized(code).split()
    return frozenset(zip(tokens, tokens[1:], tokens[2:], strict=False))
