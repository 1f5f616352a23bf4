"""Integers that are indices: where they lead, and how large they may be.

An array's integers are all 2 in one call and all 3 in another: what is accessed then shifts by what
each leads to. Then they grow until the call leaves an array, or accesses nothing more.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

from regraph_kg.adopt.fit import Fitting, Point, names_in
from regraph_kg.adopt.probe import Called, ProbeCall
from regraph_kg.adopt.trials import STEP, ProbeTrials
from regraph_kg.evaluation.problem.declaration import size_of

_ONE, _TWO, _THREE, _FAR = 1, 2, 3, 5003
_MOST_SHIFTED, _MOST_POINTS = 64, 4
_USUAL_ENDS = (10, 16, 26, 64, 100, 128, 256)


@dataclass(frozen=True, slots=True)
class Index:
    """Integers of an array that are indices: of which array, how they lead there."""

    name: str
    leaf: str  # the field of a struct; "" for the element itself
    target: str = ""  # "" for memory of the function's own
    stride: int = 1
    offset: int = 0
    checked: bool = False  # a condition keeps what is too large from leading anywhere else
    low: int = 0  # the least of them that a call is given
    last: int = 1  # how far the largest one lies before the array's end
    clamped: bool = False  # what is too large leads to the array's last element


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of an array, of each of which a beginning or one element is looked at; over sizes."""

    target: str
    count: str
    width: str
    high: str  # the largest integer that says which
    length: str  # of the array that says how much


def starts(trials: ProbeTrials) -> dict[str, set[str]]:
    """Arrays of integers between whose neighbours a loop runs, and over what it does."""
    found = dict[str, set[str]]()
    names = [name for name in trials.arrays if [*trials.leaves(name)] == [""]]
    steps = {name: trials.content(name, "steps", {"": STEP}) for name in names}
    cases = [trials.case(trials.points[0], held={name: held}) for name, held in steps.items()]
    for name, one in zip(names, trials.run(cases), strict=True):
        own = one.arrays.get(name) if one else None
        last = STEP * (own.end - 1) if own else 0
        if one and last > 0:
            found[name] = {n for n, t in one.arrays.items() if t.end == last and n != name}
    return {name: between for name, between in found.items() if between}


def indices(trials: ProbeTrials) -> list[Index]:
    """Integers that lead to an array's elements, or to memory of the function's own."""
    leaves = [(name, leaf) for name in trials.arrays for leaf in trials.leaves(name)]
    leaves = [one for one in leaves if one[0] not in trials.starts]
    values = (_ONE, _TWO, _THREE, _FAR, _FAR - 1, -1)
    cases = [
        trials.case(trials.alike, held={name: trials.content(name, "is", {leaf: value})})
        for name, leaf in leaves
        for value in values
    ]
    found = list[Index]()
    apart = zip(*[iter(trials.run(cases))] * len(values), strict=True)
    for (name, leaf), here in zip(leaves, apart, strict=True):
        far = min(_FAR, int(trials.leaves(name)[leaf].max))
        led = [_led((name, leaf), t, here, far) for t in trials.arrays if t != name]
        kept = [one for one in led if one is not None]
        _, two, three, beyond, *_ = here
        if not kept and beyond is None and two is not None and three is not None:
            kept = [Index(name, leaf)]
        is_unsigned = trials.leaves(name)[leaf].min == 0
        found += [replace(i, low=max(i.low, 0)) if is_unsigned else i for i in kept]
    return found


def _led(
    holder: tuple[str, str], target: str, outcomes: Sequence[Called | None], most: int
) -> Index | None:
    """How integers lead to an array's elements, by the shift of what is accessed."""
    one, two, three, far, nearer, below = outcomes
    if one is None or two is None or three is None or target not in two.arrays:
        return None
    before, here = _shifted(one, two, target)
    there = _shifted(three, two, target)[0]
    if not 0 < len(here) <= _MOST_SHIFTED or not there or there[0] <= here[0]:
        return None
    stride = there[0] - here[0]
    if [[i - stride for i in here], [i + stride for i in here]] != [before, there]:
        return None
    offset = here[0] - _TWO if stride == 1 else 0
    checked = clamped = False
    if far is not None and far.arrays[target].end <= most + min(offset, 0):
        checked = True
        if far.arrays[target].total >= two.arrays[target].total:
            clamped = (
                nearer is not None and nearer.arrays[target].counts == far.arrays[target].counts
            )
            if not clamped:
                return None  # brought back into the array by a remainder
    low = min(-1, -offset) if below is not None and (checked or offset >= 0) else -offset
    return Index(*holder, target, stride, offset, checked, low, clamped=clamped)


def rows(trials: ProbeTrials, led: Collection[str]) -> dict[tuple[str, str], Rows]:
    """Integers that say how much of each row of an array is looked at, or where; and those rows."""
    found, points = dict[tuple[str, str], Rows](), trials.points[: 2 * _MOST_POINTS]
    leaves = [(name, leaf) for name in trials.arrays for leaf in trials.leaves(name)]
    for name, leaf in (one for one in leaves if one[0] not in trials.starts):
        holds = [trials.content(name, "is", {leaf: value}) for value in (_ONE, _TWO, _THREE)]
        outcomes = trials.run([trials.case(p, held={name: h}) for p in points for h in holds])
        here = [outcomes[at : at + len(holds)] for at in range(0, len(outcomes), len(holds))]
        for target in set(trials.arrays) - {name}:
            begun = [_begun(name, target, one, is_place=name in led) for one in here]
            good = [(point, one) for point, one in zip(points, begun, strict=True) if one]
            fitting = Fitting([point for point, _ in good])
            count, width, length = (fitting.find([one[at] for _, one in good]) for at in range(3))
            if len(good) >= _MOST_POINTS and count and width and names_in(count + width):
                high = f"{width} - 1" if name in led else width
                found[name, leaf] = Rows(target, count, width, high, length)
    return found


def _begun(
    name: str, target: str, outcomes: Sequence[Called | None], *, is_place: bool
) -> tuple[int, int, int] | None:
    """How many rows an array has and how wide they are, where one more of each is looked at.

    And how long the array is that says it. `is_place`: where only the next one is looked at.
    """
    alive = [one for one in outcomes if one is not None]
    seen = [one.arrays[target] for one in alive]
    sets = [{i for i, count in enumerate(one.counts) if count} for one in seen]
    begins = sorted(sets[0]) if len(sets) == len(outcomes) else []
    widths = {after - before for before, after in pairwise(begins)}
    if len(widths) != 1 or (width := min(widths)) <= _THREE or begins[0] != is_place:
        return None
    grown = [
        {b + at for b in begins for at in range(more * is_place, 1 + more)} for more in (0, 1, 2)
    ]
    shown = [
        {at for at in one if at < len(two.counts)} for one, two in zip(grown, seen, strict=True)
    ]
    end = alive[0].arrays[name].end
    return (-(-seen[0].end // width), width, end) if sets == shown else None


def _shifted(one: Called, other: Called, target: str) -> tuple[list[int], list[int]]:
    """Elements that are accessed more often in one call, and those in the other."""
    pairs = zip_longest(one.arrays[target].counts, other.arrays[target].counts, fillvalue=0)
    more = [a - b for a, b in pairs]
    return [i for i, n in enumerate(more) if n > 0], [i for i, n in enumerate(more) if n < 0]


def limits(
    trials: ProbeTrials, found: Sequence[Index], ends: Mapping[str, str], points: Sequence[Point]
) -> dict[tuple[str, str], tuple[str, str]]:
    """Two bounds of each array and field: one more than the largest integer, and than its index."""
    points = sorted(points, key=lambda one: -min(one.values(), default=0))[:_MOST_POINTS]
    fitting, known = Fitting(points), dict[tuple[str, str], tuple[str, str]]()
    keys = {(one.name, one.leaf): one for one in sorted(found, key=lambda one: one.stride)}
    for key, index in reversed(keys.items()):  # wide strides first: narrower ones go on top of them
        kept = {n: text for n, text in ends.items() if not (index.checked and n == index.target)}
        others = {other: text for other, (text, _) in known.items()}
        most = [_most(trials, index, point, (kept, others)) for point in points]
        text = fitting.find([value + 1 for value in most])
        if text and max(most) < _FAR and min(most) >= _THREE:
            known[key] = text, fitting.find([value + 1 + index.offset for value in most])
    return known


def _most(
    trials: ProbeTrials,
    index: Index,
    point: Point,
    known: tuple[Mapping[str, str], Mapping[tuple[str, str], str]],
) -> int:
    """The largest value at which a call keeps to its arrays and leads anywhere; below 0: none."""
    ends, others = known
    lengths = {name: size_of(text, point) for name, text in ends.items()}
    cases, values = list[ProbeCall](), _values(point)
    for value in values:
        fields = {key: size_of(text, point) - 1 for key, text in others.items()}
        fields[index.name, index.leaf] = value
        held: dict[str, dict[str, int]] = {}
        for (name, leaf), number in fields.items():
            held.setdefault(name, {})[leaf] = number
        contents = {name: trials.content(name, "is", one) for name, one in held.items()}
        cases.append(trials.case(point, "small", lengths, contents))
    outcomes = zip(values, trials.run(cases), strict=True)
    good = {value: one for value, one in outcomes if one is not None}
    if index.checked:
        counts = {value: one.arrays[index.target].counts for value, one in good.items()}
        good = {value: good[value] for value in good if counts[value] != counts.get(_FAR)}
    return max(good, default=-2) + index.clamped


def _values(point: Point) -> list[int]:
    """Values to try: those about each end that there may be."""
    ints = [value for name, value in point.items() if not name.endswith("_size")]
    ends = {*point.values(), *(a * b for a in ints for b in ints), *_USUAL_ENDS}
    return sorted({one + by for one in ends for by in (-2, -1, 0, 1)} | {_THREE, _FAR})
