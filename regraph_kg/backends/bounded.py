"""Which examples of a pair stay TRANSITIONs: pure arithmetic.

A pair keeps its `bound` best examples. Half of the places go to the devices in turn, the best
effect on each first; more than half where there are more devices, so that every device keeps its
best while there are at most `bound` devices. The rest goes to the problems in turn, verified
before unverified, each problem's best first, so that no problem fills the pair. Given examples
precede learned ones. Examples learned from one model get a third of the places at most
(`learned_places`), even where places stay empty: a search must not mostly read back one model.

Every newcomer joins, and is displaced at the next pruning where it is none of those. So the best
of each device are exact at any time.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

DEFAULT_BOUND = 128
POOL = 8
"""How many times its limit of examples a selection holds at once."""


def limit(bound: int) -> int:
    """How many TRANSITIONs a pair may have before it is pruned back to `bound`."""
    return bound + bound // 4


def exact(bound: int) -> int:
    """How many of each device's best are sure to be TRANSITIONs."""
    return max(3, bound // 8)


def learned_places(bound: int) -> int:
    """How many examples learned from one model stay once a pair is pruned."""
    return max(exact(bound), bound // 3)


@dataclass(frozen=True, slots=True)
class Mark:
    """The properties that decide whether an example stays."""

    id: str
    problem: str
    effects: Mapping[str, float]
    """By device on which it is verified; none = not verified."""
    learner: str | None = None
    """The model that it was learned from; None: it was given."""

    @property
    def rank(self) -> tuple[bool, bool, float, str]:
        """Sorts best first: verified, given, largest effect, id."""
        largest = max(self.effects.values(), default=0.0)
        return (not self.effects, self.learner is not None, -largest, self.id)

    def on(self, device: str) -> tuple[bool, float, str]:
        """Sorts those that are verified on `device`, best there first: given, effect, id."""
        return (self.learner is not None, -self.effects[device], self.id)


@dataclass(slots=True)
class Selection:
    """The examples of a pair that stay, out of any number that are added one after the other.

    A function of their set while they are few; beyond `POOL` times the limit they are chosen in
    portions, so that memory stays bounded.
    """

    bound: int
    stay: list[Mark] = field(default_factory=list)

    def add(self, mark: Mark) -> None:
        """Add an example."""
        self.stay.append(mark)
        if len(self.stay) > POOL * limit(self.bound):
            self.cut()

    def cut(self) -> list[Mark]:
        """Keep at most `bound` of them; return the others."""
        chosen = choose(self.stay, self.bound)
        surplus = [mark for mark in self.stay if mark.id not in chosen]
        self.stay = [mark for mark in self.stay if mark.id in chosen]
        return surplus


def choose(marks: Sequence[Mark], bound: int) -> frozenset[str]:
    """Ids of the at most `bound` examples that stay; a function of the set, not of its order."""
    if len(marks) <= bound:
        return frozenset(mark.id for mark in marks)
    ranked = sorted(marks, key=lambda mark: mark.rank)
    kept: set[str] = set()
    learned: Counter[str] = Counter()

    def keep(turns: Iterable[Mark], places: int) -> None:
        for mark in turns:
            if len(kept) >= places:
                return
            if mark.id in kept:
                continue
            if mark.learner is not None:
                if learned[mark.learner] >= learned_places(bound):
                    continue
                learned[mark.learner] += 1
            kept.add(mark.id)

    devices = {device for mark in ranked for device in mark.effects}
    keep(_devices_in_turn(ranked), min(bound, max((bound + 1) // 2, len(devices))))
    keep(_problems_in_turn(ranked), bound)
    return frozenset(kept)


def _devices_in_turn(ranked: Iterable[Mark]) -> list[Mark]:
    """The verified ones: every device's best there, then every device's second, .."""
    by_device: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in ranked:
        for device in mark.effects:
            by_device[device].append(mark)
    turns: list[tuple[int, str, Mark]] = []
    for device, marks in by_device.items():
        best = sorted(marks, key=lambda mark: mark.on(device))
        turns += [(place, device, mark) for place, mark in enumerate(best)]
    return [mark for _, _, mark in sorted(turns, key=lambda turn: turn[:2])]


def _problems_in_turn(ranked: Iterable[Mark]) -> list[Mark]:
    """Verified before unverified; in both, every problem's best, then every problem's second, .."""
    places: Counter[tuple[bool, str]] = Counter()
    turns: list[tuple[bool, int, Mark]] = []
    for mark in ranked:
        group = (not mark.effects, mark.problem)
        places[group] += 1
        turns.append((group[0], places[group], mark))
    return [mark for *_, mark in sorted(turns, key=lambda turn: (turn[0], turn[1], turn[2].rank))]
