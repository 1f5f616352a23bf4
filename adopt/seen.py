"""What a function does with its arrays, found by running it: shapes, roles, lengths, indices.

Hypotheses are run at a few sizes each (adopt/probe.py): which elements are accessed as sizes vary
says how long an array is (adopt/fit.py), what is written before it is read is an output.
Not covered: arrays whose extents depend on their contents; a person says how long they are.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal

from regraph_kg.adopt.fit import Fitting, Point, axes, names_in, rounded
from regraph_kg.adopt.indices import Index, indices, limits, rows, starts
from regraph_kg.adopt.probe import ROOM, Called, Probe, ProbeCall, Touched
from regraph_kg.adopt.trials import KINDS, ProbeTrials
from regraph_kg.adopt.types import Passed
from regraph_kg.evaluation.problem.declaration import size_of

Role = Literal["in", "out", "inout"]
_ENOUGH = 5  # points at which all calls went well that make the others needless
_LEAST_POWERS = 3
_BORDERS = 3  # elements from one row's to the next one's, where a loop leaves the borders out
_LONG = 8  # elements from which on a search shows


@dataclass
class Seen:
    shape: tuple[str, ...] = ()  # over integers and lengths by name; () where nobody knows
    role: Role = "in"
    counted: bool = False  # its length after the call depends on the data
    room: str = ""  # then what it has at most, as far as was seen
    sized: bool = False  # the function gives it its length, which sizes say
    starts: bool = False  # a loop runs between its neighbours
    between: bool = False  # it holds what another one's neighbours start
    bisected: bool = False  # its middle is looked at first, then that of a half
    by_bytes: bool = False  # bytes are its indices
    ranges: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Least and largest of its integers that are indices, by field ("" for itself)."""
    leads: list[Index] = field(default_factory=list)  # arrays that its own integers index


@dataclass
class Watched:
    arrays: dict[str, Seen]  # what is returned as ""
    places: set[str] = field(default_factory=set)  # integers that are an index and nothing else
    bounds: set[str] = field(default_factory=set)
    """Integers and lengths that end a loop which another size ends before."""
    stops: bool = False  # it may stop before it has read everything


def watch(probe: Probe, passed: Mapping[str, Passed], returned: Passed | None) -> Watched:
    trials = ProbeTrials(probe, passed)
    begun = starts(trials)
    trials.starts = set(begun)
    led = indices(trials)
    trials.small = {one.name for one in led}
    between = {name for names in begun.values() for name in names}
    watching = _Watching(trials, led, between)
    found = watching.watched()
    if returned is not None:
        found.arrays[""] = watching.returned(returned)
    watching.share_lengths(found)
    watching.shorten(found)
    watching.limit(found)
    for (name, leaf), row in rows(trials, trials.small).items():
        own, target = found.arrays[name], found.arrays[row.target]
        own.ranges[leaf], own.shape = (0, row.high), own.shape or (row.length,)
        target.shape = tuple(n for text in (row.count, row.width) for n in axes(text) or (text,))
    for name, over in begun.items():
        found.arrays[name].starts = True
        found.arrays[name].leads.append(Index(name, "", max(over), last=0))
    for one in led:
        found.arrays[one.name].leads.append(one)
    return found


class _Watching:
    """Concludes from what calls did at each point, with all kinds of contents."""

    def __init__(self, trials: ProbeTrials, led: Sequence[Index], between: set[str]) -> None:
        self._trials, self._led, self._between = trials, led, between
        self._points, self._outcomes = self._varied()
        self._stops = any(map(self._is_less_read, self._outcomes))
        self._fitting = Fitting(self._points)
        self._ends = dict[str, str]()

    def _varied(self) -> tuple[list[Point], list[list[Called]]]:
        trials = self._trials
        alive = [
            trials.run([trials.case(point, kind) for point in trials.points])
            for kind in ("small", "signed")
        ]
        tried = [p for p, *each in zip(trials.points, *alive, strict=True) if any(each)]
        outcomes = trials.run([trials.case(point, kind) for point in tried for kind in KINDS])
        apart = zip(*[iter(outcomes)] * len(KINDS), strict=True)
        found = [(point, [*filter(None, here)]) for point, here in zip(tried, apart, strict=True)]
        whole = [one for one in found if len(one[1]) == len(KINDS)]
        self._is_partial = not whole
        kept = whole if len(whole) >= _ENOUGH else [one for one in found if one[1]]
        return [point for point, _ in kept], [good for _, good in kept]

    def _is_less_read(self, calls: Sequence[Called]) -> bool:
        """Whether one of these calls reads less of every array than another one does."""
        spread = self._between.union(index.target for index in self._led)
        most = dict[str, int]()
        for name in set(self._trials.arrays) - spread:
            touched = [one.arrays[name] for one in calls]
            if any(one.read_first for one in touched):
                most[name] = max(one.distinct for one in touched)
        fewer = (all(one.arrays[n].distinct < all_ for n, all_ in most.items()) for one in calls)
        return bool(most) and any(fewer)

    def _touched(self, name: str) -> Iterator[tuple[Point, Touched]]:
        for point, here in zip(self._points, self._outcomes, strict=True):
            yield from ((point, one.arrays[name]) for one in here if name in one.arrays)

    def watched(self) -> Watched:
        """Shapes and roles, each array by itself."""
        found = Watched({}, stops=self._stops)
        for name in self._trials.arrays:
            if end := self._end(name, found):
                self._ends[name] = end
            found.arrays[name] = self._seen(name)
        return found

    def _end(self, name: str, found: Watched) -> str:
        """One more than an array's largest index; "" where nobody knows."""
        one = self._trials.passed[name]
        if _is_bits(one):
            return ""
        if one.form == "reference" or (one.fixed and one.form != "rows"):
            return str(prod(one.fixed))
        ends = [max((o.arrays[name].end for o in here), default=0) for here in self._outcomes]
        decides = self._is_partial and bool(self._trials.leaves(name))
        if not any(ends) or max(ends) >= ROOM or name in self._between or decides:
            return ""  # or what it holds decides whether the function ends
        kept = [place for place, end in enumerate(ends) if end]
        kept = kept if len(kept) >= _ENOUGH else [*range(len(ends))]
        text = self._formula([self._points[p] for p in kept], [ends[p] for p in kept], found)
        is_led = any(index.target == name for index in self._led)
        stops = self._stops and one.form in ("vector", "span")
        return "" if text.isdigit() and (is_led or stops) else rounded(text)

    def _formula(self, points: Sequence[Point], ends: Sequence[int], found: Watched) -> str:
        fitting = Fitting(points)
        if text := fitting.find(ends):
            return text
        text, place, bound = fitting.mostly(ends, self._trials.ints)
        found.places |= {place} - {""}
        found.bounds |= {bound} - {""}
        powers = [p for p, at in enumerate(points) if all(v & v - 1 == 0 for v in at.values())]
        if len(powers) >= _LEAST_POWERS and not (place or bound):
            at_powers = Fitting([points[p] for p in powers]).find([ends[p] for p in powers])
            return at_powers if at_powers in points[0] else text
        return text

    def _seen(self, name: str) -> Seen:
        one, seen = self._trials.passed[name], Seen()
        led = [index for index in self._led if index.target == name]
        seen.between = name in self._between
        seen.by_bytes = any(self._trials.passed[i.name].element.type == "uint8" for i in led)
        if not one.const:
            self._change(seen, name)
        end = self._ends.get(name, "")
        if end and not (seen.sized or seen.counted):
            seen.shape = self._axes(name, end)
        if end:
            lengths = [(size_of(end, point), t) for point, t in self._touched(name)]
            long = [(length, t) for length, t in lengths if length > _LONG and t.begins]
            seen.bisected = bool(long) and all(_bisects(t, length) for length, t in long)
        return seen

    def _axes(self, name: str, end: str) -> tuple[str, ...]:
        """A product by axes: last what accesses step over."""
        names = [*axes(end)]
        if not names[1:]:
            return (end,)
        steps = {
            one: sum(_stepped(t.steps, point[one]) for point, t in self._touched(name))
            for one in names
        }
        inner = max(reversed(names), key=lambda one: steps[one])
        if steps[inner] and names.count(inner) == 1:
            names = [one for one in names if one != inner] + [inner]
        return tuple(names)

    def _change(self, seen: Seen, name: str) -> None:
        """Role and length of what the function may write."""
        one, touched = self._trials.passed[name], list(self._touched(name))
        if _is_bits(one):
            seen.role = "out"  # nobody sees its bits being read
            return
        if not touched:
            seen.role = "inout"  # no call came to an end
            return
        reads = any(t.read_first for _, t in touched)
        self._resized(seen, name, reads=reads)
        if seen.sized:
            reads = any(t.read_within for _, t in touched)
        if seen.counted:
            seen.role = "inout" if reads else "out"
        elif seen.sized or any(t.written or t.moved for _, t in touched):
            end = self._ends.get(name, "")
            # without a formula: the same elements, whatever the data are
            same = (len({o.arrays[name].end for o in here}) == 1 for here in self._outcomes)
            whole = seen.sized or end != "" or all(same)
            for point, t in touched:
                expected = t.size if seen.sized else size_of(end, point) if end else t.end
                whole = whole and (t.moved or t.written >= expected)
            seen.role = "out" if whole and not reads else "inout"

    def _resized(self, seen: Seen, name: str, *, reads: bool) -> None:
        """Whether its length after the call is another one, and what says which."""
        own = f"{name}_size"
        if own not in self._trials.lengths:
            return
        sizes = [{o.arrays[name].size for o in here if name in o.arrays} for here in self._outcomes]
        if all(s == {p[own]} for s, p in zip(sizes, self._points, strict=True)):
            return
        given = self._length(sizes)
        if given and own not in names_in(given):
            self._ends[name], seen.sized, seen.shape = given, True, (given,)
        elif swapped := self._swapped(own, sizes):
            self._ends[name] = swapped
        else:
            seen.counted, seen.shape = True, ((own,) if reads else ())
            added = [  # to what was there, which is nothing then
                {size - point[own] for size in here if size > point[own]} or here
                for here, point in zip(sizes, self._points, strict=True)
            ]
            rooms = [
                text for kind in (sizes, added) if own not in names_in(text := self._room(kind))
            ]
            seen.room = rooms[0] if rooms and not reads else ""

    def _room(self, lengths: Sequence[Collection[int]]) -> str:
        """The most elements that a container gets, over sizes; "" where no formula says it."""
        text = rounded(self._fitting.find([*map(max, lengths)])) if all(lengths) else ""
        return text if names_in(text) else ""

    def _swapped(self, own: str, lengths: Sequence[Collection[int]]) -> str:
        """The length that a container gets now and then, as by a swap: one that it must have."""
        pairs = zip(self._points, lengths, strict=True)
        others = [(point, {*here} - {point[own]}) for point, here in pairs]
        apart = [(point, min(here)) for point, here in others if here]
        text = Fitting([point for point, _ in apart]).find([size for _, size in apart])
        is_one = all(len(here) <= 1 for _, here in others)
        return text if is_one and names_in(text) - {own} else ""

    def returned(self, returned: Passed) -> Seen:
        """How long what is returned is."""
        if returned.form != "vector":
            return Seen((str(prod(returned.fixed)),), "out")
        lengths = [{one.returned for one in here} for here in self._outcomes]
        length = self._length(lengths)
        room = "" if length else self._room(lengths)
        return Seen((length,) if length else (), "out", counted=not length, room=room)

    def _length(self, lengths: Sequence[Collection[int]]) -> str:
        """What says the length after the calls at each point; "" where that is the data."""
        fixed = all(len(each) == 1 for each in lengths)
        return self._fitting.find([*map(min, lengths)]) if fixed else ""

    def share_lengths(self, found: Watched) -> None:
        """Lengths of containers that are asked for, by their own names or by what else they are."""
        used = {name for end in self._ends.values() for name in names_in(end)}
        if "" in found.arrays:
            used |= names_in(" ".join(found.arrays[""].shape))
        for name, seen in found.arrays.items():
            own, end = f"{name}_size", self._ends.get(name, "")
            if own not in self._trials.lengths or seen.sized or seen.counted:
                continue
            if not end and seen.role == "in" and not seen.between:
                seen.shape = (own,)
            elif own in used and own not in names_in(end) and not f"{end}0".isdigit():
                _rename(found, own, end)
        # vectors of bool, whose accesses nobody sees, are taken to be as long as the first array
        known = [seen.shape for seen in found.arrays.values() if seen.shape]
        for name in self._trials.arrays:
            if _is_bits(self._trials.passed[name]) and known:
                found.arrays[name].shape = found.arrays[name].shape or known[0]

    def shorten(self, found: Watched) -> None:
        """Lengths that other sizes say, since a container that is shorter is left."""
        trials = self._trials
        names = [name for name, seen in found.arrays.items() if seen.shape == (f"{name}_size",)]
        points = trials.long[:4]
        cases, tried = list[ProbeCall](), list[tuple[str, int, int]]()
        for name in names:
            for place, point in enumerate(points):
                ints = [point[one] for one in trials.ints]
                ends = {1, *ints, *(a * b for a in ints for b in ints)}
                for value in sorted({end + by for end in ends for by in (-1, 0)}):
                    cases.append(trials.case({**point, f"{name}_size": value}))
                    tried.append((name, place, value))
        least = {name: [0] * len(points) for name in names}
        for (name, place, value), one in zip(tried, trials.run(cases), strict=True):
            if one is None or one.arrays[name].end > value:
                least[name][place] = max(least[name][place], value + 1)
        fitting = Fitting([{one: point[one] for one in trials.ints} for point in points])
        for name in names:
            end = fitting.find(least[name])
            if end and not end.isdigit():
                _rename(found, f"{name}_size", rounded(end))

    def limit(self, found: Watched) -> None:
        """Ranges of integers that are indices, and arrays as long as their conditions say."""
        most = limits(self._trials, self._led, self._ends, self._points)
        for index in self._led:
            end, length = most.get((index.name, index.leaf), ("", ""))
            if not end:
                continue
            high = end if index.checked else f"{end} - 1"
            found.arrays[index.name].ranges.setdefault(index.leaf, (index.low, high))
            own, target = f"{index.target}_size", found.arrays.get(index.target)
            if target is None or not index.checked or index.stride != 1:
                continue
            if own in target.shape:
                _rename(found, own, length)
            elif not target.shape:
                target.shape = (length,)


def _rename(found: Watched, own: str, text: str) -> None:
    """Write what a container's length is in the place of its name."""
    closed = text if re.fullmatch(r"\w+", text) else f"({text})"

    def put(said: str) -> str:
        return text if said == own else re.sub(rf"\b{own}\b", closed, said)

    for seen in found.arrays.values():
        alone = seen.shape == (own,) and axes(text)
        seen.shape = axes(text) if alone else tuple(map(put, seen.shape))


def _stepped(steps: Collection[int], width: int) -> float:
    """The part of distances between accesses that are rows of a width, or one beside that."""
    rows = [step for step in steps if step > _BORDERS]
    return sum(min(step % width, -step % width) <= 1 for step in rows) / max(len(rows), 1)


def _is_bits(one: Passed) -> bool:
    """Whether it is a vector of bool, whose accesses nobody sees, that may be written."""
    return one.form == "vector" and one.element.type == "bool" and not one.const


def _bisects(touched: Touched, length: int) -> bool:
    """Whether an array's middle is looked at first, then the middle of one half."""
    near = [abs(2 * begin - length) <= 2 for begin in touched.begins]  # noqa: PLR2004
    if True not in near[:2]:
        return False
    after = touched.begins[near.index(True) + 1 :]
    halves = (abs(4 * after[0] - part * length) for part in (1, 3)) if after else ()
    return any(distance <= 6 for distance in halves)  # noqa: PLR2004
