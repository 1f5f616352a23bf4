"""A technique's recipe, filled in with the loops and names of a code.

A recipe has words of `_GENERAL` after a "$", which the facts of the code replace. Not here: whether
the technique fits (fit/fit.py).
"""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from string import Template

from regraph_kg.cpp.cuda_facts import GridNumber
from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.sums import CommonSum, ElementSum
from regraph_kg.search.fit.predicate import is_parallel, within
from regraph_kg.search.prompts.heads import (
    clause,
    collapse,
    described,
    end_of,
    in_chains,
    operand,
    plus,
    simd,
    swapped,
    tiled,
)
from regraph_kg.search.prompts.named_loops import each_has, named_loops, numbered_threads

# text for words whose value the code does not show
_GENERAL = json.loads((Path(__file__).parent / "words.json").read_text(encoding="utf-8"))


def filled(recipe: str, facts: Facts, part: str = "") -> str:
    """The recipe, or a part of it, filled in with the facts of a code."""
    # safe: a vocabulary of a user may have words of its own behind a "$"
    return Template(part or recipe).safe_substitute(_GENERAL | recipe_values(recipe, facts))


def recipe_values(recipe: str, facts: Facts) -> dict[str, str]:
    """Word of a recipe -> its value in a code, for values that the facts show."""
    names = Template(recipe).get_identifiers()
    loops, threads = named_loops(facts, names), numbered_threads(facts, names)
    parallel, vector, reducing = loops["parallel"], loops["vector"], loops["reducing"]
    values = {
        **{name: described(loop) for name, loop in loops.items()},
        **_threads(facts, parallel, threads),
        **_cells(facts),
        **_fused(facts),
        **(in_chains(loops["adding"]) if loops["adding"] else {}),
        "swapped": swapped(facts, loops["contiguous"], loops["inner"]),
        "tiled": tiled(facts, loops["nest"], loops["inner"]),
        "common": _first(top.value for top in _common(facts)),
        "atomic": "" if threads else _atomic(facts, parallel),
        "clause": clause(parallel),
        "count": end_of(parallel) if parallel and parallel.start.isdigit() else "",
        "simd": simd(vector),
        "reduction": clause(reducing),
        "collapse": collapse(facts, loops["collapsible"]),
        "sum": ", ".join(reducing.reduces) if reducing else "",
    }
    # a word without a value here is filled in by its general text
    return {name: text for name, text in values.items() if text}


def acts_at(recipe: str, facts: Facts) -> int | None:
    """Bytes of the code before the first place that a recipe names; None for no place."""
    names = Template(recipe).get_identifiers()
    places = _places(facts, names)
    positions = [at for name in names for at in places.get(name, ())]
    # what stands before the first place is copied, so nothing behind it may have changed
    return 0 if "head" in names else min(positions, default=None)


def opening(recipe: str, facts: Facts, mark: str = "$begin") -> str:
    """The new code at that place, quoted in the recipe behind `$begin`; behind `$end` its end.

    "" where the code lacks a place that the recipe names, or where other places must change too.
    """
    match = re.search(rf"{re.escape(mark)}`([^`]+)`", recipe)
    names = Template(recipe).get_identifiers()
    places = _places(facts, names)
    # half a recipe would begin an answer that its other half contradicts
    complete = all(places.get(name, True) for name in names)
    complete = complete and (not {"share", "serial"} & {*names} or _splits_alone(facts, names))
    return filled(recipe, facts, match[1]) if match and complete else ""


def is_small(recipe: str, facts: Facts) -> bool:
    """Whether a recipe that has new code has a place for it: else the step is a large one."""
    return "$begin" not in recipe or opening(recipe, facts) != ""


def _places(facts: Facts, names: Collection[str]) -> dict[str, list[int]]:
    """Word -> bytes of the code before its places, for words that mean a place."""
    loops = named_loops(facts, names)
    at = {name: [loop.at] if loop else [] for name, loop in loops.items()}
    main, parallel = facts.main_kernel, loops["parallel"]
    serial = [parallel.at] if parallel and not each_has(facts, parallel) else []
    return at | {
        "share": [number.at for number in numbered_threads(facts, names)] or serial,
        "serial": serial,
        "row": [top.number.at for top in (main,) if top and top.number and _cells(facts)],
        "unfused": [product.at for product in facts.product_sums],
        "swapped": at["contiguous"] if swapped(facts, loops["contiguous"], loops["inner"]) else [],
        "tiled": at["nest"] if tiled(facts, loops["nest"], loops["inner"]) else [],
        "kernel": [main.head_at] if main else [],
        "common": [top.at for top in _common(facts)],
    }


def _common(facts: Facts) -> list[CommonSum]:
    main = facts.main_kernel
    return [main.common_sum] if main and main.common_sum else []


def _threads(
    facts: Facts, parallel: LoopFacts | None, threads: Sequence[GridNumber]
) -> dict[str, str]:
    """Values of words about threads: existing threads, or those to be made of a loop."""
    main = facts.main_kernel
    name = main.name if main else ""
    values = {"kernel": name, "kernelname": name}
    # a kernel has one number of its threads, or none
    for number in threads:
        lines = f"`int {number.name} = ..;` and `if ({number.name} < {number.end})`"
        first = plus(number.first.removeprefix("+"))
        values |= {"thread": f"{_GENERAL['thread']}{first}", "first": first}
        return {**values, "share": lines, "item": number.name, "items": number.end}
    if parallel is not None and not each_has(facts, parallel):
        values |= {word: f"the head of {described(parallel)}" for word in ("share", "serial")}
        values |= {"item": parallel.variable, "items": end_of(parallel), "type": parallel.type}
        values["thread"] = f"{_GENERAL['thread']}{plus(operand(parallel.start))}"
        runs_it = (
            one.name for one in facts.kernels if parallel.function in (one.name, *one.reached)
        )
        values["kernelname"] = next(runs_it, name)
    return values


def _cells(facts: Facts) -> dict[str, str]:
    """Values for one thread an element, if each thread now has a row of elements."""
    main = facts.main_kernel
    number = main.number if main else None
    rows = [loop for loop in facts.loops if number and loop.at == number.row_at]
    if number is None or not rows or not _is_row(rows[0]):
        return {}
    loop, row, column = rows[0], number.name, rows[0].variable
    # the product of both extents: a thread for each element, counted in one dimension
    first, above = operand(loop.start), number.first.removeprefix("+")
    wide = operand(end_of(loop) if first == "0" else f"{end_of(loop)} - {first}")
    tall = operand(f"{number.end} - {above}" if above else number.end)
    numbers = f"{row} = cell / {wide}{plus(above)}, {column} = cell % {wide}{plus(first)}"
    guard = f"if ({row} < {number.end})"
    return {
        "flat": f"unsigned cell = {_GENERAL['thread']}; int {numbers}; {guard} {number.row_begins}",
        "row": f"`int {row} = ..;`, `{guard}` and the head of {described(loop)}",
        "grid": f"<<<({tall} * {wide} + 255) / 256, 256>>>",
    }


def _is_row(loop: LoopFacts) -> bool:
    """Whether a loop's iterations are independent, and counted by an int."""
    counted = loop.step == "1" and loop.compare in ("<", "<=") and loop.type == "int"
    return counted and is_parallel(loop) is True and not (loop.reduces or loop.continues)


def _fused(facts: Facts) -> dict[str, str]:
    """The first sum of products in the code, and what it becomes."""
    for product in facts.product_sums[:1]:
        # fma on floats would compute in double, which GPUs do far more slowly
        name, (a, b) = "fmaf" if "double" not in facts.types else "fma", product.factors
        return {
            "fused": f"{product.sum} = {name}({a}, {b}, {product.sum});",
            "unfused": f"{product.sum} += {a} * {b};",
        }
    return {}


def _atomic(facts: Facts, loop: LoopFacts | None) -> str:
    """Atomic updates in place of sums that several threads add to; "" for none."""
    if loop is None or not loop.kernel or not loop.reduces:
        return ""
    # one update may stand in several places; it is told once
    lines = []
    for one in _sums(facts, loop):
        place = one.element[1:] if one.element.startswith("*") else f"&{one.element}"
        lines.append(f"`atomicAdd({place}, {one.value});` for `{one.element} += ..`")
    return "".join(f"\nWrite {text}." for text in dict.fromkeys(lines))


def _sums(facts: Facts, loop: LoopFacts) -> list[ElementSum]:
    """A loop's additions to elements that it reduces, and of its sums to elements.

    Empty where it updates them otherwise, too, or where a GPU has no atomic addition.
    """
    numbers = {nested.number for nested in (loop, *within(facts, loop))}
    additions = [
        addition
        for addition in facts.element_sums
        if addition.function == loop.function
        and (
            (addition.loop in numbers and _array(addition) in loop.reduces)
            or (addition.loop == loop.parent and addition.sum and addition.value in loop.reduces)
        )
    ]
    # one update that cannot be atomic makes the others useless
    return additions if all(addition.atomic and addition.value for addition in additions) else []


def _array(addition: ElementSum) -> str:
    return addition.element.partition("[")[0]


def _splits_alone(facts: Facts, names: Collection[str]) -> bool:
    """Whether threads exist, or a new head of the kernel's only loop can make them.

    Sums that threads share must be additions to elements, which the recipe names.
    """
    loop = named_loops(facts, names)["parallel"]
    if numbered_threads(facts, names) or loop is None:
        return bool(numbered_threads(facts, names))
    sums = _sums(facts, loop) if "atomic" in names else []
    protected = {name for addition in sums for name in (_array(addition), addition.value)}
    counted = loop.step == "1" and loop.compare in ("<", "<=", "!=")
    bounds = any(kernel.bounds for kernel in facts.kernels if kernel.name == loop.function)
    alone = loop.kernel and loop.alone and not (bounds or each_has(facts, loop))
    head = loop.type and not (loop.continues and "serial" in names)
    return bool(alone and counted and head) and {*loop.reduces} <= protected


def _first(texts: Iterable[str]) -> str:
    return next((text for text in texts if text), "")
