"""A technique's recipe, with the loops and names of the code that it is to be applied to.

A recipe names what it needs by the words of `_GENERAL` after a "$"; each stands for what the facts
of the code say. Not here: whether the technique fits (code/fit.py).
"""

from collections.abc import Iterable, Sequence
from string import Template

from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.code.openmp_predicates import lanes
from regraph_kg.search.code.predicate import around, innermost, is_parallel

_MOST_LOOPS = 3
_GENERAL = {
    "head": "the function's head",
    "parallel": "the outermost loop whose iterations are independent",
    "clause": "",
    "count": "n",
    "index": "i",
    "inner": "the innermost loop",
    "vector": "the innermost loop whose iterations are independent",
    "vector_clause": "",
    "nest": "the outermost loop",
    "reducing": "the loop that adds up",
    "reduction": " reduction(+:sum)",
}
"""Said where the code does not show what is meant."""


def filled(recipe: str, facts: Facts) -> str:
    """The recipe for a code with these facts."""
    loops = _named(facts)
    parallel, vector, reducing = loops["parallel"], loops["vector"], loops["reducing"]
    said = {
        **{name: _loops(some) for name, some in loops.items()},
        "clause": _clause(facts, parallel),
        "count": _first(one.end for one in parallel),
        "index": _first(one.variable for one in parallel),
        "vector_clause": _clause(facts, vector),
        "reduction": _clause(facts, reducing),
    }
    filled_in = {name: text for name, text in said.items() if text}
    return Template(recipe).safe_substitute(_GENERAL | filled_in)


def acts_at(recipe: str, facts: Facts) -> int | None:
    """Bytes of the code before the first place that a recipe names; None where it names none."""
    loops, names = _named(facts), Template(recipe).get_identifiers()
    places = [one.at for name in names for one in loops.get(name, ())]
    return 0 if "head" in names else min(places, default=None)


def _named(facts: Facts) -> dict[str, Sequence[LoopFacts]]:
    """What loops each word means."""
    reducing = [one for one in facts.loops if one.reduces and not one.shared_out]
    inner = innermost(facts)
    nests = [outer[-1] for one in inner if (outer := around(facts, one))]
    vector = [one for one in inner if lanes(one)]
    return {
        "parallel": _parallel(facts),
        "inner": inner,
        "vector": [one for one in vector if one.trips is None] or vector,
        "nest": nests[:1],
        "reducing": reducing[:1],
    }


def _parallel(facts: Facts) -> list[LoopFacts]:
    """The loops to deal out: those that reduce nothing, long ones first; else one that reduces."""
    loops = [one for one in facts.loops if _splits(facts, one)]
    plain = [one for one in loops if not one.reduces]
    long = [one for one in plain if one.trips is None]
    return long or [one for one in loops if one.reduces][:1] or plain


def _splits(facts: Facts, loop: LoopFacts) -> bool:
    """Whether a loop's iterations can be dealt out, and those of no loop around it can or are."""
    outer = around(facts, loop)
    free = is_parallel(loop) is True and not loop.shared_out
    return free and not any(one.shared_out or is_parallel(one) is True for one in outer)


def _loops(loops: Sequence[LoopFacts]) -> str:
    named = [
        f"`{one.variable}` ({one.start} to {one.end})" if one.end else f"`{one.variable}`"
        for one in loops
        if one.variable
    ]
    if not named:
        return ""
    if len(named) == 1:
        return f"the loop over {named[0]}"
    return f"each loop of these: {', '.join(dict.fromkeys(named[:_MOST_LOOPS]))}"


def _clause(facts: Facts, loops: Sequence[LoopFacts]) -> str:
    """The clauses for what loops reduce, with blanks before them; "" where they reduce nothing."""
    by_sign: dict[str, list[str]] = {}
    for loop in loops:
        for name, sign in zip(loop.reduces, loop.combines, strict=True):
            by_sign.setdefault(sign, []).append(_reduced(facts, loop, name))
    clauses = ((sign, dict.fromkeys(names)) for sign, names in by_sign.items() if sign)
    return "".join(f" reduction({sign}:{', '.join(names)})" for sign, names in clauses)


def _reduced(facts: Facts, loop: LoopFacts, name: str) -> str:
    """What a loop reduces; an array with its length, by the loop that clears it."""
    is_array = any(one.array == name for one in loop.accesses)
    ends = (other.end for other in facts.loops if _clears(other, name))
    return f"{name}[:{_first(ends) or 'LENGTH'}]" if is_array else name


def _clears(loop: LoopFacts, array: str) -> bool:
    return any(
        one.array == array and one.mode == "write" and one.strides[-1:] == ("1",)
        for one in loop.accesses
    )


def _first(texts: Iterable[str]) -> str:
    return next((one for one in texts if one), "")
