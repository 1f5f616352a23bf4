"""World "slots": a kernel's state is what its slots hold; techniques set, undo or need them.

Failures hang on problem, technique and state; some answers do another technique, undo a slot, or
are slower than they could be; some second samples equal the first. The graph was told good
teachers' walks and a small model's random ones.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.worlds.world import (
    START,
    Code,
    Tally,
    World,
    capped,
    chance,
    drawn,
    logit,
    most_seen,
    named,
)
from regraph_kg.models.prompt import element

SLOTS = {
    "parallel": 2,
    "memory": 5,
    "reduction": 3,
    "block": 3,
    "coarsening": 3,
    "vector": 3,
    "unroll": 2,
    "transfer": 3,
    "math": 2,
    "simd": 2,
}
"""Name -> how many values; 0 is what the serial code has."""
ORDER = tuple(SLOTS)
MEETINGS = (
    ("memory", "block"),
    ("memory", "vector"),
    ("reduction", "block"),
    ("coarsening", "unroll"),
    ("coarsening", "block"),
    ("memory", "coarsening"),
)
"""Slots whose values help or hurt each other."""
Kernel = tuple[int, ...]


@dataclass(frozen=True)
class _Technique:
    """Sets a slot where it applies, and has others begin again."""

    slot: str
    value: int
    """To what, or by how much where `moves`."""
    applies: Callable[[dict[str, int]], bool]
    resets: tuple[str, ...] = ()
    moves: bool = False


def _gpu(kernel: dict[str, int]) -> bool:
    return kernel["parallel"] == 1


def _moves(slot: str, by: int, most: int, *resets: str) -> _Technique:
    """A technique that takes a slot of a parallel kernel a value on, or back."""
    return _Technique(slot, by, lambda k: _gpu(k) and 0 <= k[slot] + by <= most, resets, moves=True)


_KINDS = {
    "offload": _Technique("parallel", 1, lambda k: not _gpu(k), ("simd",)),
    "coalesce": _Technique("memory", 1, lambda k: _gpu(k) and k["memory"] < 1),
    "tile": _Technique("memory", 2, lambda k: _gpu(k) and k["memory"] < 2, ("unroll", "vector")),
    "pad": _Technique("memory", 3, lambda k: k["memory"] == 2),
    "copy-async": _Technique("memory", 4, lambda k: k["memory"] in (2, 3), ("block",)),
    "untile": _Technique("memory", 1, lambda k: k["memory"] > 1),
    "tree": _Technique("reduction", 1, lambda k: _gpu(k) and k["reduction"] < 1),
    "shuffle": _Technique("reduction", 2, lambda k: _gpu(k) and k["reduction"] < 2),
    "larger-block": _moves("block", 1, 2),
    "smaller-block": _moves("block", -1, 2),
    "coarsen": _moves("coarsening", 1, 2, "unroll"),
    "refine": _moves("coarsening", -1, 2),
    "vectorize": _Technique(
        "vector", 1, lambda k: _gpu(k) and k["memory"] > 0 and k["vector"] < 2, moves=True
    ),
    "narrow": _moves("vector", -1, 2),
    "unroll": _Technique("unroll", 1, lambda k: k["unroll"] == 0),
    "pin": _Technique("transfer", 1, lambda k: _gpu(k) and k["transfer"] == 0),
    "streams": _Technique("transfer", 2, lambda k: k["transfer"] == 1),
    "fast-math": _Technique("math", 1, lambda k: k["math"] == 0),
    "simd": _Technique("simd", 1, lambda k: not _gpu(k) and k["simd"] == 0),
    **{f"idle-{number}": _Technique("math", 0, lambda _: False) for number in range(4)},
}
TECHNIQUES = dict(zip(named(list(_KINDS)), _KINDS.values(), strict=True))


def applies(kernel: Kernel, technique: str) -> bool:
    """Whether a technique can do something."""
    return TECHNIQUES[technique].applies(dict(zip(ORDER, kernel, strict=True)))


def applied(kernel: Kernel, technique: str) -> Kernel:
    """The kernel after it."""
    kind, slots = TECHNIQUES[technique], dict(zip(ORDER, kernel, strict=True))
    slots[kind.slot] = slots[kind.slot] + kind.value if kind.moves else kind.value
    slots |= dict.fromkeys(kind.resets, 0)
    return tuple(slots.values())


class _Domain:
    """What is common to its problems."""

    def __init__(self, name: object) -> None:
        self.name = name
        lot = drawn("slots", name)
        self.effects: dict[tuple[str, int], float] = {}
        for slot, values in SLOTS.items():
            level = 0.0
            for value in range(1, values):
                match slot:
                    case "parallel":
                        level += lot.uniform(0.8, 1.8)
                    case "simd":
                        level += lot.uniform(0.3, 1)
                    case _:
                        level += lot.gauss(0.35, 0.35)
                self.effects[slot, value] = level
        self.meetings = {
            (pair, one, other): lot.gauss(-0.05, 0.25)
            for pair in MEETINGS
            for one in range(1, SLOTS[pair[0]])
            for other in range(1, SLOTS[pair[1]])
        }
        self.fails = {one: min(max(lot.betavariate(2, 3), 0.02), 0.95) for one in TECHNIQUES}


TEACHERS, WALKS, STEPS = 40, 3, 8
STUDENTS, STUDENT_STEPS = 20, 80


def world(domain: object, *, measured: bool) -> World:
    """A domain; `measured`: its graph has statistics."""
    common = _Domain(domain)
    seen: Counter[tuple[str, str]] = Counter()
    told: dict[tuple[str, str], Tally] = {}
    for number in range(TEACHERS):
        _teach(Slots(common, ("teacher", number)), number, seen, told)
    made = World(most_seen(seen), lambda name: Slots(common, name))
    if measured:
        walked = made.walked(STUDENTS, STUDENT_STEPS, domain)
        for edge, tally in walked.items():
            known = told.setdefault(edge, Tally())
            known.tried += tally.tried
            known.passed += tally.passed
            known.gains += tally.gains
        made.tallies = told
    return made


def _teach(
    problem: "Slots",
    number: int,
    seen: Counter[tuple[str, str]],
    told: dict[tuple[str, str], Tally],
) -> None:
    """A teacher's walks: mostly the best step, as far as it knows."""
    lot = drawn("teacher", problem.about, number)
    for _ in range(WALKS):
        technique, kernel = START, (0,) * len(SLOTS)
        for _ in range(STEPS):
            able = [one for one in TECHNIQUES if applies(kernel, one)]
            if not able:
                break
            guesses = {
                one: problem.level(applied(kernel, one)) + lot.gauss(0, 0.35) for one in able
            }
            chosen = lot.choice(able) if lot.random() < 0.1 else max(able, key=lambda a: guesses[a])
            after = applied(kernel, chosen)
            seen[technique, chosen] += 1
            tally = told.setdefault((technique, chosen), Tally())
            tally.tried += 1
            tally.passed += 1
            tally.gains += problem.level(after) - problem.level(kernel)
            technique, kernel = chosen, after


class Slots:
    """A problem."""

    def __init__(self, domain: _Domain, name: object) -> None:
        self.about = (domain.name, name)
        lot = drawn("problem", *self.about)
        self._cap = lot.uniform(2.2, 4.5)
        self._matters = {
            slot: 1.0 if lot.random() < 0.7 or slot == "parallel" else 0.05 for slot in SLOTS
        }
        self._effects = {key: value + lot.gauss(0, 0.3) for key, value in domain.effects.items()}
        self._meetings = {key: value + lot.gauss(0, 0.2) for key, value in domain.meetings.items()}
        self._fails = {one: logit(fails) + lot.gauss(0, 0.8) for one, fails in domain.fails.items()}
        self._values: dict[Kernel, float] = {}

    def serial(self) -> Code:
        kernel = (0,) * len(SLOTS)
        return Code(START, (), 0.0, 0.0, (kernel, 0.0), (kernel, 0.0))

    def level(self, kernel: Kernel, off: float = 0.0) -> float:
        """Of a kernel that is written `off` worse (negative) than it might be."""
        if kernel not in self._values:
            self._values[kernel] = self._value(dict(zip(ORDER, kernel, strict=True)))
        return capped(self._values[kernel] + off, self._cap)

    def _value(self, slots: dict[str, int]) -> float:
        alone = sum(
            self._matters[slot] * self._effects[slot, value]
            for slot, value in slots.items()
            if value
        )
        together = sum(
            min(self._matters[one], self._matters[other])
            * self._meetings.get(((one, other), slots[one], slots[other]), 0.0)
            for one, other in MEETINGS
        )
        return alone + together

    def step(self, code: Code, technique: str, sample: int, repair: int) -> Code | None:
        assert isinstance(code.state, tuple)
        kernel, off = code.state
        asked = (*self.about, code.history, technique)
        same = sample and drawn("same", *asked, sample).random() < 0.3
        lot = drawn(*asked, 0 if same else sample, repair)
        fails = self._fails[technique] + 0.06 * len(code.history) - (0.5 if repair else 0.0)
        fails += drawn(*self.about, kernel, technique).gauss(0, 1.2)
        stuck = repair and drawn("stuck", *asked, 0 if same else sample).random() < 0.35
        if stuck or lot.random() < chance(fails):
            return None
        did = lot.choice(list(TECHNIQUES)) if lot.random() < 0.06 else technique
        if applies(kernel, did):
            kernel = applied(kernel, did)
        elif lot.random() < 0.5:
            return code
        if lot.random() < 0.07:
            undone = lot.randrange(1, len(SLOTS))
            kernel = (*kernel[:undone], 0, *kernel[undone + 1 :])
        if lot.random() < 0.25:
            off -= lot.expovariate(4)
        level = self.level(kernel, off)
        history = (*code.history, element(technique, sample))
        text = (kernel, round(off, 6))
        return Code(technique, history, level, level + lot.gauss(0, 0.03), (kernel, off), text)
