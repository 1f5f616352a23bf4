"""The loops that do most of a code's work, by the depths of their nests.

A loop that clears an array, beside a nest that computes, is no place for a step. Not here: the
kernel that does most (main_kernel.py).
"""

from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import around, outermost


def of_heavy_loops(facts: Facts) -> Facts:
    """The facts without host nests that are shallower than another nest of the function.

    All nests stay where loops stand in several functions: a nest may go on in a callee.
    """
    host = [loop for loop in facts.loops if not loop.kernel]
    if len({loop.function for loop in host}) != 1:
        return facts
    deep: dict[int, int] = {}
    for loop in host:
        nest = outermost(facts, loop).number
        deep[nest] = max(deep.get(nest, 0), _levels(facts, loop))
    most = max(deep.values())
    heavy = [loop for loop in facts.loops if deep.get(outermost(facts, loop).number, most) == most]
    same = len(heavy) == len(facts.loops)
    return facts if same else facts.model_copy(update={"loops": (*heavy,)})


def _levels(facts: Facts, loop: LoopFacts) -> int:
    """Number of loops of unknown length among a loop and those around it."""
    return sum(level.trips is None for level in (loop, *around(facts, loop)))
