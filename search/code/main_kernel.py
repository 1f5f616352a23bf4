"""The kernel that does most of a code's work, which recipes and predicates refer to.

Not here: facts of each kernel (cuda_facts.py).
"""

from regraph_kg.search.code.cuda_facts import KernelFacts
from regraph_kg.search.code.cuda_host import LaunchFacts
from regraph_kg.search.code.facts import Facts


def main_kernel(facts: Facts) -> KernelFacts | None:
    """The kernel that does most, the first of equally deep ones; None for no kernel."""
    return max(facts.kernels, key=lambda kernel: _depth(facts, kernel), default=None)


def main_launches(facts: Facts) -> list[LaunchFacts]:
    """The launches of that kernel; all launches where none names it."""
    main = main_kernel(facts)
    name = main.name if main is not None else None
    return [launch for launch in facts.launches if launch.kernel == name] or [*facts.launches]


def _depth(facts: Facts, kernel: KernelFacts) -> int:
    """Number of nested ranges of unknown length: a kernel's loops, and its threads."""
    loops = [loop for loop in facts.loops if loop.function in (kernel.name, *kernel.reached)]
    few = kernel.number is not None and kernel.number.end.isdigit()
    deepest = max((loop.depth + 1 for loop in loops if loop.trips is None), default=0)
    return deepest + (bool(kernel.axes) and not few)
