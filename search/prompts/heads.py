"""The heads of loops as text, in new orders and steps, and the OpenMP directives before them.

Not here: which loop a recipe means (recipe.py).
"""

import re

from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import around, counts_up, is_parallel, undirected, within

_LOOSE = frozenset("<>&|^?=,")  # signs of operators with a lower precedence than a sum
_OPERAND = re.compile(r"\w+(\[[^][]*\])?")
_NARROW = re.compile(r"auto|char|short|int(8|16)_t")
"""Types of variables that cannot count in blocks of 64, or that its value decides."""
BODY = "{ .. }"  # a mark in the text of a loop: the body that it had


def plus(first: str) -> str:
    """What is added to a number that begins at 0, to begin at `first`."""
    return f" + {first}" if first not in ("", "0") else ""


def end_of(loop: LoopFacts | None) -> str:
    """The upper bound of a loop's variable, exclusive."""
    if loop is None or not loop.end:
        return ""
    end = f"({loop.end})" if _LOOSE & {*loop.end} else loop.end
    return f"{end} + 1" if loop.compare == "<=" else end


def operand(value: str) -> str:
    """An expression as an operand, in brackets if needed."""
    return value if _OPERAND.fullmatch(value) else f"({value})"


def described(loop: LoopFacts | None) -> str:
    """A loop in words: "the loop over `i` (0 to n)"."""
    if loop is None or not loop.variable:
        return ""
    ends = f" ({loop.start} to {loop.end})" if loop.end else ""
    return f"the loop over `{loop.variable}`{ends}"


def head(loop: LoopFacts) -> str:
    """A loop's head anew."""
    name = loop.variable
    return f"for ({loop.type} {name} = {loop.start}; {name} {loop.compare} {loop.end}; ++{name})"


def in_chains(loop: LoopFacts) -> dict[str, str]:
    """Words of a recipe that adds up in four chains what a loop adds up in one."""
    # a remainder of up to three iterations follows the blocks of four
    [result], name = loop.reduces, loop.variable
    end, start = operand(end_of(loop)), loop.start
    quarters = f"{end if start == '0' else f'({end} - {operand(start)})'} / 4 * 4"
    stop = quarters if start == "0" else f"{start} + {quarters}"
    others = [f"{result}{chain}" for chain in (1, 2, 3)]
    zeros = ", ".join(f"{other} = 0" for other in others)
    places = [f"`{other}` with `{name} + {n}`" for n, other in enumerate(others, 1)]
    return {
        "chains": f"decltype({result}) {zeros};\n"
        f"for ({loop.type} {name} = {start}; {name} < {stop}; {name} += 4)",
        "spread": ", ".join([f"`{result}` with `{name}`", *places]),
        "joined": f"for ({loop.type} {name} = {stop}; {name} < {end_of(loop)}; ++{name}) {BODY}\n"
        f"{result} += {' + '.join(others)};",
    }


def swapped(facts: Facts, outer: LoopFacts | None, inner: LoopFacts | None) -> str:
    """Two nested loops in the other order; "" where that takes more than new heads.

    A sum that the inner loop collects and the outer one stores is collected in its element.
    """
    if outer is None or inner is None or not _is_pair(facts, outer, inner):
        return ""
    if outer.perfect:
        return f"{head(inner)}\n    {head(outer)} {BODY}" if is_parallel(inner) is True else ""
    # the sum moves into its element, which then needs its first value before both loops
    for stored in facts.stored_sums:
        if stored.loop == outer.number:
            cleared = f"{head(outer)} {{\n    {stored.element} = 0;\n}}"
            added = f"{head(outer)} {{\n        {stored.element} += {stored.value};\n    }}"
            return f"{cleared}\n{head(inner)} {{\n    {added}\n}}"
    return ""


def tiled(facts: Facts, outer: LoopFacts | None, inner: LoopFacts | None) -> str:
    """Two nested loops in a loop over blocks of the inner one's iterations.

    "" where the order of iterations matters, or where that takes more than new heads.
    """
    if outer is None or inner is None or not _is_pair(facts, outer, inner):
        return ""
    name, end = inner.variable, operand(end_of(inner))
    block, last = name * 2, f"{name}_end"
    # new names must hide none that the body reads
    free = not {block, last} & facts.declared and not _NARROW.search(inner.type)
    if not (outer.perfect and is_parallel(inner) is True and free):
        return ""
    stop = f"{last} = {end} < {block} + 64 ? {end} : {block} + 64"
    return (
        f"for ({inner.type} {block} = {inner.start}; {block} < {end}; {block} += 64)\n"
        f"    {head(outer)}\n"
        f"        for ({inner.type} {name} = {block}, {stop}; {name} < {last}; ++{name}) {BODY}"
    )


def _is_pair(facts: Facts, outer: LoopFacts, inner: LoopFacts) -> bool:
    """Whether two loops count up, one directly in the other, and the outer one is parallel."""
    plain = all(counts_up(loop) and undirected(loop) for loop in (outer, inner))
    nested = around(facts, inner)[:1] == [outer]
    named = outer.variable != inner.variable
    return nested and plain and named and not inner.uneven and is_parallel(outer) is True


def clause(loop: LoopFacts | None, *inner: LoopFacts) -> str:
    """The reduction, private and lastprivate clauses of a loop, with blanks before them."""
    if loop is None:
        return ""
    by_sign: dict[str, list[str]] = {}
    for section, sign in zip(loop.sections, loop.combines, strict=True):
        if section:
            by_sign.setdefault(sign, []).append(section)
    # loop variables are private by the directive itself, and naming them is an error
    excluded = {loop.variable, *loop.lasting, *(nested.variable for nested in inner)}
    private = [name for name in loop.private if name not in excluded]
    clauses = [f"reduction({sign}:{', '.join(names)})" for sign, names in by_sign.items()]
    clauses += [f"private({', '.join(private)})"] if private else []
    if loop.lasting:  # the first value lasts if there is no iteration
        clauses += [
            f"{word}({', '.join(loop.lasting)})" for word in ("firstprivate", "lastprivate")
        ]
    return "".join(f" {clause}" for clause in clauses)


def collapse(facts: Facts, loop: LoopFacts | None) -> str:
    """The clauses of a loop that is shared out together with the next one in it."""
    return f" collapse(2){clause(loop, *within(facts, loop)[:1])}" if loop is not None else ""


def simd(loop: LoopFacts | None) -> str:
    """The directive that shares a loop among vector lanes, which threads may share already."""
    if loop is None:
        return ""
    for directive in loop.directives:
        if "for" in directive.split():
            return f"#pragma {directive.replace(' for', ' for simd', 1)}"
    return f"#pragma omp simd{clause(loop.model_copy(update={'lasting': ()}))}"
