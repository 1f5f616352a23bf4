"""A technique's recipe, with the loops and names of the code that it is to be applied to.

A recipe names what it needs by the words of `_GENERAL` after a "$"; each stands for what the facts
of the code say. Not here: whether the technique fits (code/fit.py).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from string import Template

from regraph_kg.search.code.cuda_facts import GridNumber, KernelFacts
from regraph_kg.search.code.cuda_host import LaunchFacts
from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.code.openmp_predicates import lanes
from regraph_kg.search.code.predicate import (
    around,
    collapsible,
    innermost,
    is_parallel,
    shareable,
    walks,
    within,
)

_GENERAL = {
    "head": "the function's head",
    "parallel": "the outermost loop whose iterations are independent",
    "clause": "",
    "atomic": "",
    "count": "n",
    "begin": "",
    "kernel": "the kernel",
    "kernelname": "kernel",
    "input": "a",
    "launch": "the host function",
    "block": "the threads of a block",
    "share": "the head of the loop to share out",
    "item": "i",
    "items": "n",
    "thread": "blockIdx.x * blockDim.x + threadIdx.x",
    "first": "",
    "fused": "sum = fmaf(a, b, sum);",
    "unfused": "sum += a * b;",
    "index": "i",
    "inner": "the innermost loop",
    "vector": "the innermost loop whose iterations are independent",
    "simd": "#pragma omp simd",
    "nest": "the outermost loop",
    "contiguous": "the loop whose variable has stride 1",
    "sum": "sum",
    "reducing": "the loop that adds up",
    "reduction": " reduction(..)",
    "collapsible": "the outer of two loops with nothing between their heads",
    "collapse": " collapse(2)",
}
"""Said where the code does not show what is meant."""


def filled(recipe: str, facts: Facts) -> str:
    """The recipe for a code with these facts."""
    loops = _named(facts, Template(recipe).get_identifiers())
    parallel, vector, reducing = loops["parallel"], loops["vector"], loops["reducing"]
    said = {
        **{name: _told(loop) for name, loop in loops.items()},
        **_threads(facts, parallel),
        **_fused(facts),
        "atomic": _atomic(facts, parallel),
        "clause": _clause(parallel),
        "count": parallel.end if parallel else "",
        "index": parallel.variable if parallel else "",
        "simd": _simd(vector),
        "reduction": _clause(reducing),
        "collapse": _collapse(facts, loops["collapsible"]),
        "sum": ", ".join(reducing.reduces) if reducing else "",
    }
    filled_in = {name: text for name, text in said.items() if text}
    return Template(recipe).safe_substitute(_GENERAL | filled_in)


def acts_at(recipe: str, facts: Facts) -> int | None:
    """Bytes of the code before the first place that a recipe names; None where it names none."""
    names = Template(recipe).get_identifiers()
    places = _places(facts, names)
    found = [at for name in names for at in places.get(name, ())]
    return 0 if "head" in names else min(found, default=None)


def opening(recipe: str, facts: Facts) -> str:
    """The new code at that place: what a recipe has in marks behind `$begin`.

    "" where the code does not have all that the recipe names, or more than that place must change.
    """
    found = re.search(r"\$begin`([^`]+)`", recipe)
    names = Template(recipe).get_identifiers()
    places = _places(facts, names)
    known = all(places.get(name, True) for name in names)
    known = known and ("share" not in names or _splits_alone(facts))
    return filled(found[1], facts) if found and known else ""


def _places(facts: Facts, names: Collection[str]) -> dict[str, list[int]]:
    """Bytes of the code before what each word means, for words that mean a place."""
    loops = _named(facts, names)
    at = {name: [loop.at] if loop else [] for name, loop in loops.items()}
    return at | {
        "share": [one.at for one in _numbered(facts)]
        or [one.at for one in (loops["parallel"],) if one and not _each_has(facts, one)],
        "unfused": [one.at for one in facts.product_sums],
        "kernel": [one.head_at for one in _main(facts)],
        "launch": [one.at for one in _launches(facts)],
    }


def _named(facts: Facts, names: Collection[str]) -> dict[str, LoopFacts | None]:
    """What loop each word means: of several the one in the deepest nest that has all of `names`."""
    inner = innermost(facts)
    lanes_share = [one for one in inner if lanes(one) and shareable(one)]
    long = [one for one in lanes_share if one.trips is None]
    if "contiguous" in names:
        inner = [one for one in inner if _walking(facts, one)] or inner
    nests = [outer for one in inner if (outer := _nest(facts, one)) is not one]
    found = {
        "parallel": _parallel(facts),
        "inner": inner,
        "vector": long or lanes_share,
        "nest": nests,
        "contiguous": [two for one in inner for two in _walking(facts, one)],
        "reducing": [
            one for one in facts.loops if one.reduces and shareable(one) and not one.shared_out
        ],
        "collapsible": [
            one for one in facts.loops if collapsible(facts, one) and not _in_threads(facts, one)
        ],
    }
    shared = _deepest(facts, _nests_of_all(facts, [found[name] for name in names if name in found]))
    return {name: _deepest(facts, _inside(facts, loops, shared)) for name, loops in found.items()}


def _walking(facts: Facts, loop: LoopFacts) -> list[LoopFacts]:
    """The loops around one along which memory is read in order."""
    return [two for two in around(facts, loop) if walks(two, loop)]


def _nests_of_all(facts: Facts, lists: Sequence[Sequence[LoopFacts]]) -> list[LoopFacts]:
    """The outermost loops that have a loop of each list in them."""
    roots = [[_outermost(facts, one) for one in loops] for loops in lists if loops]
    return [one for one in roots[0] if all(one in others for others in roots)] if roots else []


def _inside(
    facts: Facts, loops: Sequence[LoopFacts], nest: LoopFacts | None
) -> Sequence[LoopFacts]:
    """Those of some loops in a nest, where any are."""
    return [one for one in loops if _outermost(facts, one) is nest] or loops


def _outermost(facts: Facts, loop: LoopFacts) -> LoopFacts:
    return [loop, *around(facts, loop)][-1]


def _deepest(facts: Facts, loops: Sequence[LoopFacts]) -> LoopFacts | None:
    """Of several loops the first of those that stand in the deepest nest."""
    depths = [max((two.depth for two in within(facts, one)), default=one.depth) for one in loops]
    return loops[depths.index(max(depths))] if loops else None


def _nest(facts: Facts, loop: LoopFacts) -> LoopFacts:
    """The outermost loop around one whose iterations, and those of all between, change places."""
    free = takewhile(
        lambda one: one.kind == "for" and not one.time and one.carries != "yes", around(facts, loop)
    )
    return [loop, *free][-1]


def _threads(facts: Facts, parallel: LoopFacts | None) -> dict[str, str]:
    """What is said of threads: those that there are, or those to be made of a loop."""
    said = {
        "block": _first(one.block for one in _launches(facts)),
        **{word: _first(one.name for one in _main(facts)) for word in ("kernel", "kernelname")},
        "input": _first(name for one in _main(facts) for name in one.inputs),
        "launch": _first(f"`{one.function}`" for one in _launches(facts) if one.function),
    }
    for one in _numbered(facts):
        lines = f"`int {one.name} = ..;` and `if ({one.name} < {one.end})`"
        first = f" + {one.first[1:]}" if one.first else ""
        said |= {"thread": f"{_GENERAL['thread']}{first}", "first": first}
        return {**said, "share": lines, "item": one.name, "items": one.end}
    if parallel is not None and not _each_has(facts, parallel):
        said["share"] = f"the head of {_told(parallel)}"
        said |= {"item": parallel.variable, "items": parallel.end}
    return said


def _fused(facts: Facts) -> dict[str, str]:
    """The first sum of products in the code, and what it becomes."""
    for one in facts.product_sums[:1]:
        name, (a, b) = "fmaf" if "double" not in facts.types else "fma", one.factors
        return {
            "fused": f"{one.sum} = {name}({a}, {b}, {one.sum});",
            "unfused": f"{one.sum} += {a} * {b};",
        }
    return {}


def _atomic(facts: Facts, loop: LoopFacts | None) -> str:
    """What threads write in place of sums that several of them add to; "" where none do."""
    if loop is None or not loop.kernel or not loop.reduces or _numbered(facts):
        return ""
    numbers = {one.number for one in (loop, *within(facts, loop))}
    sums = [one for one in facts.element_sums if one.loop in numbers]
    said = (f"`atomicAdd(&{one.element}, {one.value});` for `{one.element} += ..`" for one in sums)
    return "".join(f"\nWrite {one}." for one in dict.fromkeys(said))


def _main(facts: Facts) -> list[KernelFacts]:
    """The kernel that does most, first of all that are as deep; none where there is none."""
    return sorted(facts.kernels, key=lambda one: -_depth(facts, one))[:1]


def _depth(facts: Facts, kernel: KernelFacts) -> int:
    """How many ranges of unknown length a kernel goes through: its loops', and its threads'."""
    loops = [one for one in facts.loops if one.function in (kernel.name, *kernel.reached)]
    few = kernel.number is not None and kernel.number.end.isdigit()
    deepest = max((one.depth + 1 for one in loops if one.trips is None), default=0)
    return deepest + (bool(kernel.axes) and not few)


def _launches(facts: Facts) -> list[LaunchFacts]:
    """Those of that kernel; all, where it is not told which that are."""
    names = [one.name for one in _main(facts)]
    return [one for one in facts.launches if one.kernel in names] or [*facts.launches]


def _numbered(facts: Facts) -> list[GridNumber]:
    return [one.number for one in _main(facts) if one.number]


def _splits_alone(facts: Facts) -> bool:
    """Whether there are threads, or can be by a new head of the one loop of its function alone."""
    alone = False
    for loop in _parallel(facts)[:1]:
        others = [one for one in facts.loops if one.function == loop.function and not one.depth]
        alone = others == [loop] and not loop.reduces and not _each_has(facts, loop)
    return alone or bool(_numbered(facts))


def _parallel(facts: Facts) -> list[LoopFacts]:
    """Loops to deal out: those that reduce nothing, long ones first; else those that reduce."""
    loops = [one for one in facts.loops if shareable(one) and not _in_threads(facts, one)]
    plain = [one for one in loops if not one.reduces]
    long = [one for one in plain if one.trips is None]
    reducing = [] if _numbered(facts) else [one for one in loops if one.reduces]
    return long or reducing or plain


def _each_has(facts: Facts, loop: LoopFacts) -> bool:
    """Whether it is a loop of each thread of several."""
    return any(one.axes and loop.function in (one.name, *one.reached) for one in facts.kernels)


def _in_threads(facts: Facts, loop: LoopFacts) -> bool:
    """Whether threads share a loop, or share or can share one around it."""
    outer = around(facts, loop)
    return loop.shared_out or any(one.shared_out or is_parallel(one) is True for one in outer)


def _told(loop: LoopFacts | None) -> str:
    if loop is None or not loop.variable:
        return ""
    ends = f" ({loop.start} to {loop.end})" if loop.end else ""
    return f"the loop over `{loop.variable}`{ends}"


def _clause(loop: LoopFacts | None, *inner: LoopFacts) -> str:
    """The clauses for what a loop reduces and for what each iteration sets, with blanks before."""
    if loop is None:
        return ""
    by_sign: dict[str, list[str]] = {}
    for section, sign in zip(loop.sections, loop.combines, strict=True):
        if section:
            by_sign.setdefault(sign, []).append(section)
    variables = {one.variable for one in inner}
    own = [one for one in loop.private if one not in {loop.variable, *loop.lasting, *variables}]
    clauses = [f"reduction({sign}:{', '.join(names)})" for sign, names in by_sign.items()]
    clauses += [f"private({', '.join(own)})"] if own else []
    clauses += [f"lastprivate({', '.join(loop.lasting)})"] if loop.lasting else []
    return "".join(f" {one}" for one in clauses)


def _collapse(facts: Facts, loop: LoopFacts | None) -> str:
    return f" collapse(2){_clause(loop, *within(facts, loop)[:1])}" if loop is not None else ""


def _simd(loop: LoopFacts | None) -> str:
    """The directive that has vector lanes share a loop, which threads may share already."""
    if loop is None:
        return ""
    for one in loop.directives:
        if "for" in one.split():
            return f"#pragma {one.replace(' for', ' for simd', 1)}"
    lasting = tuple(one for one in loop.lasting if one != loop.variable)  # it lasts anyhow
    return f"#pragma omp simd{_clause(loop.model_copy(update={'lasting': lasting}))}"


def _first(texts: Iterable[str]) -> str:
    return next((one for one in texts if one), "")
