"""Predicates over facts, and the combination of answers for several loops.

An answer is True, False, or None: unknown.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.models.base import Frozen

Truth = bool | None
ROW = 16  # a longer constant stride belongs to rows, a shorter one to records
_UPWARD = ("<", "<=")
_SIGNS = str.maketrans("(),:.", "     ")
Test = Callable[[Facts], Truth]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A question to facts."""

    test: Test
    what: str  # a noun for the code's property, with its article: "a loop in another loop"

    def holds(self, facts: Facts) -> Truth:
        """The answer; a False about a text that was not read whole is unknown."""
        answer = self.test(facts)
        return None if answer is False and not facts.read_whole else answer


class Predicates(dict[str, Predicate]):
    """Predicates by name; `add` enters a function under its own name."""

    def add(self, what: str) -> Callable[[Test], Test]:
        """Enter a function as a predicate; `what` describes a code for which it holds."""

        def enter(test: Test) -> Test:
            self[test.__name__] = Predicate(test, what)
            return test

        return enter


def any_of(answers: Iterable[Truth]) -> Truth:
    """True if one is True, else None if one is unknown."""
    listed = list(answers)
    return True if True in listed else (None if None in listed else False)


def all_of(answers: Iterable[Truth]) -> Truth:
    """False if one is False, else None if one is unknown."""
    listed = list(answers)
    return False if False in listed else (None if None in listed else True)


def at_path(path: str, facts: Facts) -> Sequence[object] | None:
    """All matches of a path of facts, such as `directives.nowait`; None where they are unknown."""
    here: list[object] = [facts]
    for part in path.split("."):
        values = [_values(item, part) for item in here]
        if None in values:
            return None
        here = [item for listed in values if listed is not None for item in listed]
    return here


def _values(item: object, part: str) -> Sequence[object] | None:
    if not isinstance(item, Frozen):
        return [item] * (part in str(item).translate(_SIGNS).split())
    value = getattr(item, part, None)
    if isinstance(value, int):
        return [part] * value
    if isinstance(value, tuple):
        return value
    return None if value is None else [value] * bool(value)


def has_any(paths: str, facts: Facts) -> Truth:
    """Whether one of several paths, with "|" between, has a match."""
    found = (at_path(path, facts) for path in paths.split("|"))
    return any_of(None if listed is None else bool(listed) for listed in found)


def is_parallel(loop: LoopFacts) -> Truth:
    """Whether the iterations of a loop could run at once, apart from reductions."""
    if loop.carries == "yes" or loop.launches or loop.time:
        return False
    unknown = loop.carries == "unknown" or loop.exits
    unclear = "" in loop.combines and not loop.kernel  # there, no clause must say how
    return None if unknown or unclear else True


def shareable(loop: LoopFacts) -> bool:
    """Whether a directive, built from the facts, can share a loop among threads or lanes."""
    named = loop.kernel or "" not in loop.sections
    return is_parallel(loop) is True and loop.canonical and named and not loop.large


def around(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops around a loop, innermost first."""
    by_number = {candidate.number: candidate for candidate in facts.loops}
    outer = []
    while loop.parent in by_number:
        loop = by_number[loop.parent]
        outer.append(loop)
    return outer


def outermost(facts: Facts, loop: LoopFacts) -> LoopFacts:
    """The outermost loop around a loop, or the loop itself."""
    return [loop, *around(facts, loop)][-1]


def within(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops within a loop, in the order of the text."""
    return [candidate for candidate in facts.loops if loop in around(facts, candidate)]


def collapsible(facts: Facts, loop: LoopFacts) -> Truth:
    """Whether a loop and the one that is its whole body can be shared out together."""
    for inner in within(facts, loop)[:1] if loop.perfect else []:
        even = not inner.uneven and not any(
            "collapse" in directive for directive in loop.directives
        )
        even = even and not inner.directives  # nothing may stand between the heads
        alike = set(inner.reduces) <= set(loop.reduces)
        named = (shareable(loop) and inner.canonical) or None
        return all_of([even, is_parallel(loop), is_parallel(inner), alike or None, named])
    return False


def innermost(facts: Facts) -> list[LoopFacts]:
    """Loops with no loop in them."""
    return [loop for loop in facts.loops if loop.innermost]


def unit(stride: str, step: str) -> Truth:
    """Whether a loop walks with a stride of one; an unrolled loop walks by its step."""
    if stride == "unknown":
        return None
    return stride in ("0", "1", "-1") or stride == step


def walks(outer: LoopFacts, inner: LoopFacts) -> Truth:
    """Whether `outer` walks an array in steps of one where `inner` walks it with a stride."""
    answers: list[Truth] = []
    for access in inner.accesses:
        stride = access.strides[-1] if len(access.strides) > outer.depth else ""
        far = stride not in ("", "0", "1", "-1", inner.step, "indirect", "unknown")
        if far and (not stride.isdigit() or int(stride) > ROW):
            answers.append(access.strides[outer.depth] == "1")
        elif stride == "unknown":
            answers.append(None)
    return any_of(answers)
