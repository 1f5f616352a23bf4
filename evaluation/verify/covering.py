"""Cases that a candidate must get right: a covering array of shapes and distributions.

Two distributions of two arguments, and a distribution and a class of shapes, occur together in at
least one case; every declared shape, a secret one and, for the full grade, the timing shape occur.
Classes: every extent 1; every extent a multiple of 32; the rest. Shapes whose arrays are empty
occur once and show nothing of distributions. Screening takes each shape once, with those
distributions that add most pairs. Rows are chosen greedily, first come first served, so that the
same seed gives the same cases. (allpairspy, the usual library, was last released in 2023 and would
be a dependency for these lines.)

Not covered: three distributions at once; each shape, rather than class, with each distribution.
"""

import functools
import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from regraph_kg.evaluation.problem.inputs import factors, variant_of
from regraph_kg.evaluation.problem.problem import Problem, Sizes
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.verify.reference import Case
from regraph_kg.evaluation.verify.secret_shapes import is_possible

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
    """Declared check shapes in order, then the secret one, then the timing shape if small enough.

    The secret one lies between the smallest and largest declared, has elements, and keeps to
    `sizes.require`; none where no such shape is found.
    """
    declared: list[Sizes] = list(problem.sizes.check)
    if not defences.shapes:
        return declared[-1:]
    shapes = list(declared)
    if problem.held_out:
        secret = _secret(problem, random.Random(seed))
        shapes += [] if secret is None else [secret]
    timed = problem.sizes.time
    small = problem.nbytes(timed) <= _TIMED_BYTES
    return [*shapes, timed] if small and timed not in shapes else shapes


def _secret(problem: Problem, rng: random.Random) -> Sizes | None:
    """A shape not declared that the problem allows: its relations hold, no array is empty."""
    declared = problem.sizes.check
    for _ in range(_SECRET_TRIES):
        sizes = {name: _between(rng, [s[name] for s in declared]) for name in problem.sizes.time}
        if sizes not in declared and is_possible(problem, sizes):
            return sizes
    return None


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
    """The shape whose arrays also come aligned to their elements only.

    One of even extents, if there is any: fast paths are for these, and think rows are aligned, too.
    """
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
    missing = set(_needed(classes, counts)) if pairwise else set()
    alone = {(factor, place) for factor, count in enumerate(counts) for place in range(count)}
    unused = set(range(len(classes)))
    rows: list[CoveringRow] = []
    while unused or missing or alone:
        candidates = _combinations(counts, len(rows))
        chosen = max(
            itertools.product(sorted(unused) or range(len(classes)), candidates),
            key=lambda pair: (
                len(missing & set(_pairs(classes[pair[0]], pair[1]))),
                len(alone & _placed(classes[pair[0]], pair[1])),
                -sum(row[0] == pair[0] for row in rows),
                -pair[0],
            ),
        )
        rows.append((chosen[0], *chosen[1]))
        missing -= set(_pairs(classes[chosen[0]], chosen[1]))
        alone -= _placed(classes[chosen[0]], chosen[1])
        unused.discard(chosen[0])
    return rows


def _needed(classes: Sequence[str], counts: Sequence[int]) -> Iterable[tuple[object, ...]]:
    for factor, count in enumerate(counts):
        kinds = set(classes) - {_EMPTY}
        yield from ((c, factor, place) for c in kinds for place in range(count))
    for first, second in itertools.combinations(range(len(counts)), 2):
        for a, b in itertools.product(range(counts[first]), range(counts[second])):
            yield (first, a, second, b)


def _placed(kind: str, places: CoveringRow) -> set[tuple[int, int]]:
    return set() if kind == _EMPTY else set(enumerate(places))


def _pairs(kind: str, places: CoveringRow) -> Iterable[tuple[object, ...]]:
    if kind == _EMPTY:
        return
    yield from ((kind, factor, place) for factor, place in enumerate(places))
    for (first, a), (second, b) in itertools.combinations(enumerate(places), 2):
        yield (first, a, second, b)


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
