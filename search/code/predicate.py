"""What a predicate over facts is, and how the answers of several loops become one.

An answer is True, False, or None: not known.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts

Truth = bool | None
ROW = 16
"""A longer constant stride is that of rows, a shorter one that of records."""
Test = Callable[[Facts], Truth]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A named question to facts."""

    name: str
    test: Test
    what: str
    """What the code has where it holds, as a noun with its article: "a loop in another loop"."""

    def holds(self, facts: Facts) -> Truth:
        """The answer; what is not seen in a text that was not read whole is not known."""
        answer = self.test(facts)
        return None if answer is False and not facts.read_whole else answer


class Predicates(dict[str, Predicate]):
    """Predicates by name; `add` enters a function under its own name."""

    def add(self, what: str) -> Callable[[Test], Test]:
        """Enter a function as a predicate; `what` is said of a code for which it holds."""

        def enter(test: Test) -> Test:
            name = test.__name__
            self[name] = Predicate(name, test, what)
            return test

        return enter


def any_of(answers: Iterable[Truth]) -> Truth:
    """True where one is, else None where one is not known."""
    listed = list(answers)
    return True if True in listed else (None if None in listed else False)


def all_of(answers: Iterable[Truth]) -> Truth:
    """False where one is, else None where one is not known."""
    listed = list(answers)
    return False if False in listed else (None if None in listed else True)


def is_parallel(loop: LoopFacts) -> Truth:
    """Whether the iterations of a loop could run at once, what they reduce aside."""
    if loop.carries == "yes" or loop.launches or loop.time:
        return False
    unknown = loop.carries == "unknown" or loop.exits
    unclear = "" in loop.combines and not loop.kernel  # there, no clause must say how
    return None if unknown or unclear else True


def shareable(loop: LoopFacts) -> bool:
    """Whether a directive with what the facts tell can have threads or lanes share a loop."""
    return is_parallel(loop) is True and loop.canonical and (loop.kernel or "" not in loop.sections)


def around(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops around a loop, innermost first."""
    by_number = {candidate.number: candidate for candidate in facts.loops}
    outer = []
    while loop.parent in by_number:
        loop = by_number[loop.parent]
        outer.append(loop)
    return outer


def outermost(facts: Facts, loop: LoopFacts) -> LoopFacts:
    """The loop around it that stands in none; itself, where it does."""
    return [loop, *around(facts, loop)][-1]


def within(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops within a loop, in the order of the text."""
    return [candidate for candidate in facts.loops if loop in around(facts, candidate)]


def collapsible(facts: Facts, loop: LoopFacts) -> Truth:
    """Whether a loop and the one that is its whole body can be dealt out together."""
    for inner in within(facts, loop)[:1] if loop.perfect else []:
        even = not inner.uneven and not any(
            "collapse" in directive for directive in loop.directives
        )
        alike = set(inner.reduces) <= set(loop.reduces)
        named = (shareable(loop) and inner.canonical) or None
        return all_of([even, is_parallel(loop), is_parallel(inner), alike or None, named])
    return False


def innermost(facts: Facts) -> list[LoopFacts]:
    """Loops with no loop in them."""
    return [loop for loop in facts.loops if loop.innermost]


def unit(stride: str, step: str) -> Truth:
    """Whether a loop walks with a stride of one; one that is unrolled walks by its step."""
    if stride == "unknown":
        return None
    return stride in ("0", "1", "-1") or stride == step


def walks(outer: LoopFacts, inner: LoopFacts) -> Truth:
    """Whether a loop walks an array in steps of one through which `inner` in it strides."""
    answers: list[Truth] = []
    for access in inner.accesses:
        stride = access.strides[-1] if len(access.strides) > outer.depth else ""
        far = stride not in ("", "0", "1", "-1", inner.step, "indirect", "unknown")
        if far and (not stride.isdigit() or int(stride) > ROW):
            answers.append(access.strides[outer.depth] == "1")
        elif stride == "unknown":
            answers.append(None)
    return any_of(answers)
