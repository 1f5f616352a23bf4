"""Secret shapes between those that are checked and the one that is timed.

    long      one size is large, all others are 1, or small
    flat      one size is 1, all others are middling: one at random, one in its upper half
    middling  all sizes between the check shapes' largest and the timing shape's
    moderate  the same, but neither large nor small, so that it can be called often
    nearly    the timing shape, or what of it time and memory allow, a little smaller each way
    around    one extent, or the product of some, just beside a number of a candidate's, or that

Large extents lie around a power of two, where tiles, blocks and grids end; none is above the timing
shape's, up to which the function must work. Shapes are bounded in bytes and, where the problem
declares its work, in that: a truth is computed of each.

Not covered: what several sizes only do together.
"""

import random
from collections.abc import Iterator, Sequence

from regraph_kg.evaluation.problem.declaration import ConditionedRule, SumRule
from regraph_kg.evaluation.problem.expression import holds, size_of
from regraph_kg.evaluation.problem.problem import Problem, Sizes

_MOST_BYTES, _MOST_AROUND_BYTES, _MOST_LARGE_BYTES = 8 * 2**20, 32 * 2**20, 160 * 2**20
_MOST_FLOP = 2e7
MODERATE = 2**17, 2**19  # elements of all arrays of such a shape
_MOST_LOAD = 4  # times what declared shapes have
_TRIES, _AROUND_TRIES = 300, 10
_SMALL = (2, 3, 5, 7, 17, 33)
_NEAR = (-1, 1, 0, -2, 2, 3, -3, 5)


def secret_shapes(problem: Problem, rng: random.Random) -> list[Sizes]:
    """Secret shapes, at most one of each kind for each size; none where none fits."""
    shapes: list[Sizes] = []
    known: list[Sizes] = [*problem.sizes.check, problem.sizes.time]
    for draws in _kinds(problem, rng):
        fits = (sizes for sizes in draws if _fits(problem, sizes) and sizes not in known + shapes)
        shapes += [sizes for sizes in [next(fits, None)] if sizes is not None]
    return shapes


def nearly(problem: Problem, rng: random.Random, share: float) -> Sizes | None:
    """A shape of at most this share of the timing shape's work; None where none fits."""
    timed, most = problem.sizes.time, share * _work(problem, problem.sizes.time)
    for turn in range(_TRIES):
        factor = 2.0 ** -(turn // 10 / 4)
        sizes = {
            name: max(1, int(extent * factor) - rng.randint(1, 1 + int(extent * factor) // 50))
            for name, extent in timed.items()
        }
        fits = _work(problem, sizes) <= most and problem.nbytes(sizes) <= _MOST_LARGE_BYTES
        if fits and sizes != timed and is_possible(problem, sizes):
            return sizes
    return None


def around(problem: Problem, value: int, names: Sequence[str], rng: random.Random) -> list[Sizes]:
    """Shapes at which the product of the named extents is just below `value`, that, and just above.

    The other extents are small. None where none fits.
    """
    timed, shapes = problem.sizes.time, list[Sizes]()
    *others, last = names
    for off in (-1, 0, 1):
        for _ in range(_AROUND_TRIES):
            sizes = {name: min(rng.choice(_SMALL), extent) for name, extent in timed.items()}
            rest = 1
            for name in others:
                even = round(value ** (1 / len(names)))
                sizes[name] = min(max(1, even + rng.choice(_NEAR)), timed[name])
                rest *= sizes[name]
            sizes[last] = value // rest + 1 if off > 0 else (value + off) // rest
            is_extent = 1 <= sizes[last] <= timed[last]
            fits = is_extent and _fits(problem, sizes, _MOST_AROUND_BYTES)
            if fits and is_meant(problem, sizes):
                shapes.append(sizes)
                break
    return shapes


def _work(problem: Problem, sizes: Sizes) -> int:
    """Declared operations, else bytes."""
    flop = problem.work.flop
    return problem.nbytes(sizes) if flop is None else size_of(flop, sizes)


def _kinds(problem: Problem, rng: random.Random) -> Iterator[Iterator[Sizes]]:
    timed = problem.sizes.time
    most = {name: max(s[name] for s in problem.sizes.check) for name in timed}
    for name in timed:
        if timed[name] > most[name]:
            yield _long(name, timed, most, rng, (1,))
            yield _long(name, timed, most, rng, _SMALL)
    for name in timed if len(timed) > 1 else ():
        for least in (0.0, 1 / 2):
            yield ({**sizes, name: 1} for sizes in _middling(timed, most, rng, least))
    yield _middling(timed, most, rng)
    low, high = MODERATE
    yield (s for s in _middling(timed, most, rng) if low <= problem.elements(s) <= high)


def _long(
    name: str, timed: Sizes, most: Sizes, rng: random.Random, small: Sequence[int]
) -> Iterator[Sizes]:
    """From larger extents to smaller ones, until one fits."""
    for turn in range(_TRIES):
        sizes = {other: min(rng.choice(small), extent) for other, extent in timed.items()}
        top = max(most[name] + 1, timed[name] >> turn // (_TRIES // 10))
        yield sizes | {name: _near_power(max(2, top // 8), top, timed[name], rng)}


def _middling(timed: Sizes, most: Sizes, rng: random.Random, least: float = 0.0) -> Iterator[Sizes]:
    """`least`: the smallest extent, as a share of the check shapes' largest."""
    for turn in range(_TRIES):
        share = rng.random() * (1 - turn / _TRIES)
        yield {
            name: _near_power(
                round(least * most[name]),
                round(most[name] * (extent / most[name]) ** share),
                *(extent, rng),
            )
            if most[name] and extent > most[name]
            else rng.randint(1, extent)
            for name, extent in timed.items()
        }


def _near_power(low: int, high: int, most: int, rng: random.Random) -> int:
    """An extent of [low, high], three of four times near a power of two; at most `most`."""
    drawn = rng.randint(min(low, high), high)
    if rng.random() < 3 / 4:
        drawn = (1 << max(drawn, 1).bit_length() - 1) + rng.choice(_NEAR)
    return min(max(drawn, 1), most)


def _fits(problem: Problem, sizes: Sizes, most: int = _MOST_BYTES) -> bool:
    flop = problem.work.flop
    is_quick = flop is None or size_of(flop, sizes) <= _MOST_FLOP
    return is_quick and problem.nbytes(sizes) <= most and is_possible(problem, sizes)


def is_meant(problem: Problem, sizes: Sizes) -> bool:
    """Whether sums have about as many terms for what is declared as at some declared shape."""
    declared = (*problem.sizes.check, problem.sizes.time)
    return _load(problem, sizes) <= _MOST_LOAD * max(_load(problem, each) for each in declared)


def _load(problem: Problem, sizes: Sizes) -> float:
    """Elements of an input for each term of an output's declared sum; 0 where none is declared.

    Where that is more than at any declared shape, sums have more terms than their tolerance knows,
    as a sparse row of 500,000 elements has in a matrix of one column.
    """
    rule = problem.tolerance
    if not isinstance(rule, SumRule | ConditionedRule) or not problem.inputs:
        return 0.0
    most = max(arg.elements(sizes) for arg in problem.inputs)
    outputs = max(arg.elements(sizes) for arg in problem.outputs)
    return most / max(outputs * size_of(rule.terms, sizes), 1)


def is_possible(problem: Problem, sizes: Sizes) -> bool:
    """Whether relations hold, arrays fit, and none is empty."""
    if not all(holds(relation, sizes) for relation in problem.sizes.require):
        return False
    return not problem.fault_at(sizes) and problem.is_full(sizes)
