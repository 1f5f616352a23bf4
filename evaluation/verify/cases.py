"""Cases that a candidate must get right: a covering array of shapes and distributions (`covering`).

Classes of shapes: every extent 1; every extent a multiple of 32; the rest. Shapes whose arrays are
empty occur once and show nothing of distributions. Rows are chosen greedily, first come first
served, so that the same seed gives the same cases. (allpairspy, the usual library, was last
released in 2023 and would be a dependency for these lines.)

Secret shapes (`secret_shapes`, `nearly`, `around`) lie between those that are checked and the one
that is timed, up to which the function must work. Large extents lie around a power of two, where
tiles, blocks and grids end. Shapes are bounded in bytes and, where the problem declares its work,
in that: a truth is computed of each.

Not covered: three distributions at once; each shape, rather than class, with each distribution;
what several sizes only do together.
"""

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from regraph_kg.evaluation.problem.declaration import Sizes, TermsRule, holds, size_of
from regraph_kg.evaluation.problem.inputs import factors, variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.verify.reference import Case

_ALIGNED = 32
_TIMED_BYTES = 16 * 2**20
"""Above this the timing shape is verified by its timed calls only: a slot has room for one more."""
_LAST_SEED = 7
_SECRET_TRIES = 1000
_EMPTY = "empty"
_ALL_COMBINATIONS = 256
"""Combinations of distributions that are all looked at for the next row; beyond, a sample."""

CoveringRow = tuple[int, ...]  # index of a shape, then the place each factor takes


def check_shapes(problem: Problem, seed: int, defences: Defences) -> list[Sizes]:
    """Declared check shapes in order, then a secret one, then the timing shape if small enough."""
    # the secret one lies between the smallest and largest declared, has elements, and keeps to
    # `sizes.require`; none where no such shape is found
    declared: list[Sizes] = list(problem.sizes.check)
    if not defences.shapes:
        return declared[-1:]
    shapes = list(declared)
    if problem.held_out:
        rng, names = random.Random(seed), list(problem.sizes.time)
        extents = {name: [sizes[name] for sizes in declared] for name in names}
        for _ in range(_SECRET_TRIES):
            sizes = {name: _between(rng, extents[name]) for name in names}
            if sizes not in declared and is_possible(problem, sizes):
                shapes.append(sizes)
                break
    timed = problem.sizes.time
    small = problem.nbytes(timed) <= _TIMED_BYTES
    return [*shapes, timed] if small and timed not in shapes else shapes


def plan(problem: Problem, shapes: list[Sizes], seed: int, full: bool) -> list[Case]:
    """Cases, cheap first. The largest check shape comes last, with two variants.

    Five repeats and the sensitivity check use those two; then the last one comes with a few
    elements changed in place. Before them a ragged shape comes with arrays that are aligned to
    their elements only, unless they are the device's own: those of cudaMalloc are aligned to 256
    bytes, and candidates are told so. `shapes` are those of `check_shapes`.
    """
    checked = [s for s in shapes if s != problem.sizes.time or s in problem.sizes.check]
    largest = max(checked, key=problem.elements)
    counts = factors(problem)
    classes = tuple(shape_class(s) if problem.is_full(s) else _EMPTY for s in checked)
    rows = covering(classes, counts, full)
    cases = [
        Case(checked[row[0]], variant_of(problem, row[1:]), seed + (index if full else 0))
        for index, row in enumerate(sorted(rows, key=lambda r: problem.elements(checked[r[0]])))
    ]
    if full and problem.sizes.time in shapes and problem.sizes.time not in checked:
        cases.append(Case(problem.sizes.time, 0, seed))
    if problem.metric != "device":
        cases.append(Case(unaligned_shape(problem, checked), 0, seed, aligned=False))
    other = variant_of(problem, [min(1, count - 1) for count in counts])
    last = Case(largest, 0, seed + _LAST_SEED + 1)
    return [*cases, Case(largest, other, seed + _LAST_SEED), last, replace(last, version=1)]


def unaligned_shape(problem: Problem, shapes: Sequence[Sizes]) -> Sizes:
    """The shape whose arrays also come aligned to their elements only."""
    # One of even extents, if there is any: fast paths are for these, and think rows are aligned,
    # too.
    return _first_of(problem, shapes, ("aligned", "ragged"))


def ragged_shape(problem: Problem) -> Sizes:
    """A small shape with edges everywhere."""
    return _first_of(problem, problem.sizes.check, ("ragged",))


def _first_of(problem: Problem, shapes: Sequence[Sizes], kinds: Sequence[str]) -> Sizes:
    """The first declared shape of a kind, else the last one declared."""
    declared = [sizes for sizes in problem.sizes.check if sizes in shapes]
    found = (sizes for kind in kinds for sizes in declared if shape_class(sizes) == kind)
    return next(found, problem.sizes.check[-1])


def shape_class(sizes: Sizes) -> str:
    """Kind of a shape: "one", "aligned" or "ragged"."""
    if all(extent == 1 for extent in sizes.values()):
        return "one"
    return "aligned" if all(e % _ALIGNED == 0 for e in sizes.values()) else "ragged"


@functools.lru_cache(maxsize=64)
def covering(
    classes: tuple[str, ...], counts: tuple[int, ...], pairwise: bool
) -> list[CoveringRow]:
    """Rows in which each shape occurs and each place of each factor; with `pairwise`, each pair.

    `classes` has the class of each shape, "empty" ones being good for no pair, `counts` how many
    places each factor has. Pairs are of (class, place of a factor) and of (place, place of two
    factors).
    """
    each = [(factor, place) for factor, count in enumerate(counts) for place in range(count)]
    alone, missing = set[tuple[object, ...]](each), set[tuple[object, ...]]()
    if pairwise:
        missing = {(kind, *one) for kind in {*classes} - {_EMPTY} for one in each}
        both = itertools.combinations(each, 2)
        missing |= {(*one, *other) for one, other in both if one[0] != other[0]}
    unused = set(range(len(classes)))
    rows: list[CoveringRow] = []
    while unused or missing or alone:
        candidates = _combinations(counts, len(rows))
        shape, places = max(
            itertools.product(sorted(unused) or range(len(classes)), candidates),
            key=lambda pair: (
                len(missing & (shown := _shown(classes[pair[0]], pair[1]))),
                len(alone & shown),
                -sum(row[0] == pair[0] for row in rows),
                -pair[0],
            ),
        )
        rows.append((shape, *places))
        missing -= _shown(classes[shape], places)
        alone -= _shown(classes[shape], places)
        unused.discard(shape)
    return rows


def _shown(kind: str, places: CoveringRow) -> set[tuple[object, ...]]:
    """Each place, with the class, and each pair of them; nothing where arrays are empty."""
    alone = [] if kind == _EMPTY else [*enumerate(places)]
    both = itertools.combinations(alone, 2)
    return {*alone, *((kind, *one) for one in alone), *((*one, *other) for one, other in both)}


def _combinations(counts: Sequence[int], turn: int) -> list[CoveringRow]:
    """All ways of placing the factors, or a sample in which each place of each factor occurs."""
    if math.prod(counts) <= _ALL_COMBINATIONS:
        return list(itertools.product(*(range(count) for count in counts)))
    rng = random.Random(turn)
    drawn = [tuple(rng.randrange(count) for count in counts) for _ in range(_ALL_COMBINATIONS)]
    even = [tuple((shift + turn) % count for count in counts) for shift in range(max(counts))]
    return [*even, *drawn]


def _between(rng: random.Random, extents: Sequence[int]) -> int:
    """Any extent between the smallest and largest; not a multiple of 32 where there is another."""
    lowest = min(max(1, min(extents)), max(extents))
    drawn = rng.randint(lowest, max(extents))
    if drawn % _ALIGNED == 0 and drawn > lowest:
        return drawn - 1
    return drawn


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
    """Shapes where the product of these extents is just below `value`, that, and just above."""
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
    """Elements of an input for each term of an output's declared sum; 0 where none is declared."""
    # Where that is more than at any declared shape, sums have more terms than their tolerance
    # knows, as a sparse row of 500,000 elements has in a matrix of one column.
    rule = problem.tolerance
    if not isinstance(rule, TermsRule) or not problem.inputs:
        return 0.0
    most = max(arg.elements(sizes) for arg in problem.inputs)
    outputs = max(arg.elements(sizes) for arg in problem.outputs)
    return most / max(outputs * size_of(rule.terms, sizes), 1)


def is_possible(problem: Problem, sizes: Sizes) -> bool:
    """Whether relations hold, arrays fit, and none is empty."""
    if not all(holds(relation, sizes) for relation in problem.sizes.require):
        return False
    return not problem.fault_at(sizes) and problem.is_full(sizes)
