"""Whether a technique can be applied to a code, by its preconditions and the code's facts.

Not here: whether it makes the code faster, which the judge measures.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.models.technique import Technique
from regraph_kg.search.fit.predicate import Truth, any_of, around, outermost
from regraph_kg.search.fit.predicates import PREDICATES

_LONG = 64  # so many iterations may make a loop of known length a level, too


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a technique fits a code, and why, in one sentence."""

    fits: bool | None  # none: unknown
    why: str


def applicable(technique: Technique, facts: Facts) -> Fit:
    """Whether a technique fits a code.

    All of `needs` must hold, and none of `pointless`. An entry is one predicate, or several with
    "|" between, one of which is enough. An undefined predicate counts as unknown. Needs must hold
    in the heavy loops: a loop that clears an array is no evidence for a nest.
    """
    heavy = _of_heavy_loops(facts)
    answers = {entry: _holds(entry, heavy) for entry in technique.needs}
    lacking = [entry for entry, answer in answers.items() if answer is False]
    if lacking:
        small = _holds(lacking[0], facts)
        has = "it in loops that do little alone" if small else _inventory(facts)
        return Fit(False, f"Needs {_what(lacking[0])}; this code has {has}.")
    pointless = [entry for entry in technique.pointless if _holds(entry, facts)]
    if pointless:
        return Fit(False, f"Pointless, since this code has {_what(pointless[0])} already.")
    unknown = [entry for entry, answer in answers.items() if answer is None]
    if unknown:
        return Fit(None, f"Needs {_what(unknown[0])}, which this code does not plainly show.")
    if not answers:
        return Fit(True, "Needs nothing in particular.")
    return Fit(True, f"This code has {_listed([_what(entry, facts) for entry in answers])}.")


def _of_heavy_loops(facts: Facts) -> Facts:
    """The facts without host nests that are shallower than another nest of the function.

    A loop that clears an array, beside a nest that computes, is no place for a step.
    Whether a loop of great constant length is a level is not known: what is deepest either way
    stays. All nests stay where loops stand in several functions: a nest may go on in a callee.
    """
    host = [loop for loop in facts.loops if not loop.kernel]
    host = [loop for loop in host if not _fills(loop)] or host
    if len({loop.function for loop in host}) != 1:
        return facts
    levels = {loop.number: _levels(facts, loop) for loop in host}
    most = set[int]()
    for order in (1, -1):
        deepest = max(level[::order] for level in levels.values())
        deep = [loop for loop in host if levels[loop.number][::order] == deepest]
        most |= {outermost(facts, loop).number for loop in deep}
    heavy = [loop for loop in facts.loops if loop.kernel or outermost(facts, loop).number in most]
    same = len(heavy) == len(facts.loops)
    return facts if same else facts.model_copy(update={"loops": (*heavy,)})


def _fills(loop: LoopFacts) -> bool:
    """Whether a loop sets elements to what it does not compute from others, and no more."""
    alone = loop.innermost and not loop.depth and not (loop.branches or loop.math or loop.reduces)
    return alone and {access.mode for access in loop.accesses} == {"write"}


def _levels(facts: Facts, loop: LoopFacts) -> tuple[int, ...]:
    """Loops of unknown length among a loop and those around it; then these and the `_LONG` ones."""
    nest = (loop, *around(facts, loop))
    unknown = sum(level.trips is None for level in nest)
    return unknown, unknown + sum((level.trips or 0) >= _LONG for level in nest)


def _holds(entry: str, facts: Facts) -> Truth:
    return any_of(
        PREDICATES[name].holds(facts) if name in PREDICATES else None for name in entry.split("|")
    )


def _what(entry: str, facts: Facts | None = None) -> str:
    """An entry in words; with facts, only the alternative that holds."""
    names = [name for name in entry.split("|") if name in PREDICATES]
    if facts is not None:
        names = [name for name in names if PREDICATES[name].holds(facts)][:1] or names
    return ", or ".join(PREDICATES[name].what for name in names) or entry


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def _inventory(facts: Facts) -> str:
    """The loops, kernels and directives of a code, in a few words."""
    loops, deepest = len(facts.loops), max((loop.depth + 1 for loop in facts.loops), default=0)
    parts = [_count(loops, "loop") + (f" in nests up to {deepest} deep" if deepest > 1 else "")]
    if facts.kernels:
        parts.append(_count(len(facts.kernels), "kernel"))
    if facts.directives:
        parts.append(_count(len(facts.directives), "OpenMP directive"))
    return _listed(parts)


def _count(number: int, name: str) -> str:
    words = ("no", "one", "two", "three")
    many = words[number] if number < len(words) else str(number)
    return f"{many} {name}{'' if number == 1 else 's'}"
