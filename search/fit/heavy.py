"""The loops that do most of a code's work, by the depths of their nests.

A loop that clears an array, beside a nest that computes, is no place for a step. Not here: the
kernel that does most (main_kernel.py).
"""

from regraph_kg.search.code.facts import Facts
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.fit.predicate import around, outermost

LONG = 64  # so many iterations may make a loop of known length a level, too


def of_heavy_loops(facts: Facts) -> Facts:
    """The facts without host nests that are shallower than another nest of the function.

    Whether a loop of great constant length is a level is not known: what is deepest either way
    stays. All nests stay where loops stand in several functions: a nest may go on in a callee.
    """
    host = [loop for loop in facts.loops if not loop.kernel]
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


def _levels(facts: Facts, loop: LoopFacts) -> tuple[int, ...]:
    """Loops of unknown length among a loop and those around it; then these and the `LONG` ones."""
    nest = (loop, *around(facts, loop))
    unknown = sum(level.trips is None for level in nest)
    return unknown, unknown + sum((level.trips or 0) >= LONG for level in nest)
