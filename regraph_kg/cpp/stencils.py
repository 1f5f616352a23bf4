"""Arrays whose neighbouring elements are read together."""

from collections.abc import Sequence
from itertools import combinations

from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.polynomial import Polynomial, add, coefficient
from regraph_kg.cpp.polynomial import names as names_in

_THREADS = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
_MOST = 16


def stencil_arrays(names: Indices, elements: Sequence[ElementAccess]) -> tuple[str, ...]:
    """Arrays that are read at places that another iteration or thread reads too."""
    reads: dict[str, list[ElementAccess]] = {}
    for element in elements:
        listed = reads.setdefault(element.array, [])
        if element.mode == "read" and len(listed) < _MOST:
            listed.append(element)
    return tuple(array for array, listed in reads.items() if _neighbours(names, listed))[:8]


def _neighbours(names: Indices, reads: list[ElementAccess]) -> bool:
    if any(_slides(names, read) for read in reads):
        return True
    for first, second in combinations(reads, 2):
        if len(first.index) != len(second.index):
            continue
        for dimension, (left, right) in enumerate(zip(first.index, second.index, strict=True)):
            gap = add(left, right, -1)
            for step in _steps(names, first, dimension) if gap else ():
                # a whole number of steps, apart from steps of other loops
                if all(part in gap and gap[part] % times == 0 for part, times in step.items()):
                    return True
    return False


def _steps(names: Indices, element: ElementAccess, dimension: int) -> list[Polynomial]:
    """Steps of an index in each loop around it and from thread to thread."""
    around = names.chain(element.place.loop)
    index = element.index[dimension]
    steps = [names.moved(index, loop, around) for loop in around]
    steps += [coefficient(names.expanded(index, name, around), name) for name in _THREADS]
    return [step for step in steps if step]


def _slides(names: Indices, element: ElementAccess) -> bool:
    """Whether two loops walk over the array in the same steps: `x[i + k]`."""
    around = names.chain(element.place.loop)
    symbols = [names.headers[loop].symbol for loop in around]
    for index in element.index:
        moving = [
            (loop, sign)
            for loop, sign in zip(around, symbols, strict=True)
            if sign and sign in names_in(index)
        ]
        steps = []
        for loop, sign in moving:
            step, factor = names.step(loop), coefficient(index, sign)
            if step is not None and factor and len(step) == 1 and step.get(()) == 1:
                steps.append(tuple(sorted(factor.items())))
        if len(set(steps)) < len(steps):
            return True
    return False
