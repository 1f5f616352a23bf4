"""All mends of a code in turn, each repeated while it finds something.

Mended code is judged like any other. Not here: which part of an answer is its code (extract.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

from regraph_kg.search.mends.entry import RequestedEntry, entry_renamed, exported, kernel_renamed
from regraph_kg.search.mends.functions import (
    Mended,
    closed_once,
    declared_first,
    defined_once,
    moved_outside,
)
from regraph_kg.search.mends.includes import included
from regraph_kg.search.mends.source import ParsedCode

MOST = 4
"""Most repetitions of one mend: a text may have thousands of places to mend."""
_MENDS: tuple[Callable[[ParsedCode, RequestedEntry], Mended | None], ...] = (
    lambda source, _: closed_once(source),
    lambda source, _: defined_once(source),
    lambda source, _: moved_outside(source),
    kernel_renamed,
    entry_renamed,
    lambda source, _: declared_first(source),
    exported,
    lambda source, request: included(source.code, on_gpu=request.on_gpu),
)
"""The order matters: later mends see the places and names that earlier ones leave."""


@dataclass(frozen=True, slots=True)
class MendedCode:
    """Code that can be judged, and notes of its mends: usually none."""

    code: str
    done: tuple[str, ...] = ()


def mended(code: str, request: RequestedEntry) -> MendedCode:
    """The code with all mends that it needs. Never raises, and takes bounded time."""
    source, mends = ParsedCode(code), list[str]()
    if not source.small:
        return MendedCode(code)
    for mend in _MENDS:
        for _ in range(MOST):
            result = mend(source, request)
            if result is None:
                break
            source = ParsedCode(result[0])
            mends.append(result[1])
    return MendedCode(source.code, tuple(mends))
