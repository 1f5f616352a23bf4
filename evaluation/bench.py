"""The arrays and calls of the timing shape: what is called while the clock runs.

Each timed call takes a secret set of inputs and a secret output slot; a slot never gets the same
set twice in a row, so that work not done leaves a wrong answer behind. In the end all slots hold
results of different sets, so that one result for all is wrong. `turn` moves every set to another
place, so that a result remembered by its inputs' addresses is wrong. `renew` puts other inputs into
all places, so that one remembered by its inputs' content is of no use; what some secret slots held
just before is kept and verified as well.
Not covered: a result remembered by a few elements of its inputs is right where those are equal.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.evaluation.arena import MAX_BATCH, Arena, Call, Layout, Place
from regraph_kg.evaluation.inputs import generate
from regraph_kg.evaluation.problem import Problem
from regraph_kg.evaluation.reference import Case
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

Array = NDArray[Any]

_SETS, _SLOTS = 4, 3
_LARGE_BYTES = 64 * 2**20
_LARGE_SETS, _LARGE_SLOTS = 2, 2
_KEPT = 2
"""Secret slots whose content is kept when inputs are renewed."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """Places for sets of inputs, output slots, and `calls[place][slot]`."""

    inputs: Sequence[Mapping[str, Place]]
    slots: Sequence[Mapping[str, Place]]
    calls: Sequence[Sequence[Call]]

    @property
    def places(self) -> list[Place]:
        """Every array."""
        return [place for group in (*self.inputs, *self.slots) for place in group.values()]


def reserve(layout: Layout, defences: Defences) -> Reserved:
    """Lay out the timing shape: 4 sets of inputs and 3 slots, fewer above 64 MiB a call."""
    problem, sizes = layout.problem, layout.problem.sizes.time
    sets, slots = _counts(problem, defences)
    inputs = [{arg.name: layout.place(arg, sizes) for arg in problem.inputs} for _ in range(sets)]
    ring = [{arg.name: layout.place(arg, sizes) for arg in problem.outputs} for _ in range(slots)]
    refilled = {arg.name for arg in problem.inputs} & {arg.name for arg in problem.outputs}
    calls = [
        [
            layout.call(sizes, given | slot, {name: given[name] for name in refilled})
            for slot in ring
        ]
        for given in inputs
    ]
    return Reserved(inputs, ring, calls)


class InputSets:
    """Sets of inputs at the timing shape, by number, drawn when asked for; shared by seats."""

    def __init__(self, problem: Problem, count: int, seed: int) -> None:
        self.count = count
        """How many lie in a bench at once."""
        self._problem, self._seed = problem, seed
        self._drawn: dict[int, Mapping[str, Array]] = {}

    def case(self, number: int) -> Case:
        """The case whose inputs these are."""
        return Case(self._problem.sizes.time, 0, self._seed + 100 + number)

    def arrays(self, number: int) -> Mapping[str, Array]:
        """Inputs by argument name."""
        if number in self._drawn:
            return self._drawn[number]
        case = self.case(number)
        arrays = generate(self._problem, case.sizes, case.variant, case.seed)
        if number < 2 * self.count:  # the others are wanted once in a blue moon
            self._drawn[number] = arrays
        return arrays


class Bench:
    """Draws the timed calls, keeps track of what each slot must hold, looks for damage."""

    def __init__(
        self, arena: Arena, reserved: Reserved, sets: InputSets, seed: int, defences: Defences
    ) -> None:
        self._arena, self._reserved, self._defences = arena, reserved, defences
        self._rng = random.Random(seed)
        self._pool = sets
        self._first = 0
        """Number of the first set that lies here."""
        self._sets = [sets.arrays(number) for number in range(sets.count)]
        self._renewed = 0
        """How often inputs were renewed for this worker."""
        self._kept: list[tuple[Case, Mapping[str, Array]]] = []
        inout = any(arg.role == "inout" for arg in arena.problem.outputs)
        self.largest_batch = len(reserved.slots) if inout else MAX_BATCH
        """inout arrays are refilled before a batch only, so it takes each slot once."""
        self._shift, self._last = 0, 0
        self._holds: dict[int, int] = {}
        self._load()
        self._clean = True
        """Whether the inputs are known to be what they should be."""

    def begin(self, worker: Worker) -> Failure | None:
        """Make everything ready for a worker's timed calls."""
        self._holds.clear()
        self._kept = []
        self._renewed = 0
        if self._first > self._pool.count:
            self._take(0)
        if not self._clean:
            self._load()
        self._clean = False
        for place in self._reserved.places:
            self._arena.set_canaries(place)
        return worker.upload(self._reserved.places)

    def draw(self, most: int, *, closing: bool = False) -> list[int]:
        """Rows of the next batch: three quarters of `most` calls or more, how many is secret.

        A `closing` batch may be the last one, so it ends with every slot once, each with another
        set: one result handed out for every call is wrong in all slots but one.
        """
        count = self._rng.randint(-(-3 * most // 4), most)
        if closing:
            count = max(count - len(self._reserved.slots), 0)
        rows = [self._row(slot, self._other_set(slot)) for slot in self._draw_slots(count)]
        if closing:
            rows += [self._row(slot, chosen) for slot, chosen in self._draw_pairs()]
        return rows

    def _draw_slots(self, count: int) -> list[int]:
        slots = range(len(self._reserved.slots))
        if self.largest_batch < MAX_BATCH:
            return self._rng.sample(slots, count)
        return self._rng.choices(slots, k=count)

    def _other_set(self, slot: int) -> int:
        held = self._holds.get(slot)
        return self._rng.choice([i for i in range(len(self._sets)) if i != held] or [0])

    def _draw_pairs(self) -> list[tuple[int, int]]:
        """Every slot with a set of its own, other than the one it holds wherever that can be."""
        order = self._rng.sample(range(len(self._reserved.slots)), len(self._reserved.slots))
        pairs = [
            list(zip(order, sets, strict=True))
            for sets in itertools.permutations(range(len(self._sets)), len(order))
        ]
        fresh = [sum(self._holds.get(slot) != chosen for slot, chosen in each) for each in pairs]
        best = max(fresh)
        return self._rng.choice([p for p, n in zip(pairs, fresh, strict=True) if n == best])

    def _row(self, slot: int, chosen: int) -> int:
        self._holds[slot], self._last = chosen, slot
        return self._reserved.calls[(chosen - self._shift) % len(self._sets)][slot].row

    def turn(self, worker: Worker) -> Failure | None:
        """Move every set of inputs to the next place."""
        failure = self._changed_input()
        if failure and self._defences.input_compare:
            return failure
        self._shift = (self._shift + 1) % len(self._sets)
        self._load()
        return worker.upload(self._input_places)

    def renew(self, worker: Worker) -> Failure | None:
        """Put inputs that this worker has never seen in place of all, while it stands still.

        Keeps what some secret slots hold now, for `witnesses`.
        """
        failure = worker.download(self._reserved.places)
        if failure:
            return failure
        worker.stop()
        try:
            failure = self._changed_input()
            if failure and self._defences.input_compare:
                return failure
            self._kept = self._kept or self._keep()
            self._holds.clear()
            self._take(self._next_first())
            self._load()
        finally:
            worker.resume()
        return worker.upload(self._input_places)

    def reload(self, worker: Worker) -> Failure | None:
        """Write the same inputs into the same places again, just as `renew` writes others."""
        failure = worker.download(self._reserved.places)
        if failure:
            return failure
        worker.stop()
        self._load()
        worker.resume()
        return worker.upload(self._input_places)

    def fresh(self) -> list[int]:
        """Rows that give every slot the result of a set of its own."""
        return [self._row(slot, chosen) for slot, chosen in self._draw_pairs()]

    def end(self, worker: Worker) -> Failure | None:
        """Fetch what the timed calls left behind."""
        return worker.download(self._reserved.places)

    def witnesses(self, count: int) -> list[tuple[Case, Mapping[str, Array]]]:
        """Outputs that must be right: those of the last call, of secret slots, and those kept."""
        others = [slot for slot in self._holds if slot != self._last]
        more = max(count - 1 - len(self._kept), 0)
        chosen = [self._last, *self._rng.sample(others, min(more, len(others)))]
        return [*self._kept, *map(self._witness, chosen)]

    def _witness(self, slot: int) -> tuple[Case, Mapping[str, Array]]:
        places = self._reserved.slots[slot]
        held = {name: self._arena.view(place) for name, place in places.items()}
        return self._case(self._holds[slot]), held

    def _keep(self) -> list[tuple[Case, Mapping[str, Array]]]:
        """Copies of what some secret slots hold."""
        chosen = self._rng.sample(list(self._holds), min(_KEPT, len(self._holds)))
        return [
            (case, {name: array.copy() for name, array in held.items()})
            for case, held in map(self._witness, chosen)
        ]

    def _case(self, chosen: int) -> Case:
        return self._pool.case(self._first + chosen)

    def _take(self, first: int) -> None:
        self._first = first
        self._sets = [self._pool.arrays(first + index) for index in range(self._pool.count)]
        self._clean = False

    def _next_first(self) -> int:
        """Of two groups that are at hand the other one; then groups that nobody has seen."""
        count = self._pool.count
        self._renewed += 1
        if self._renewed == 1:
            return count - self._first
        return self._renewed * count

    @property
    def _input_places(self) -> list[Place]:
        return [place for places in self._reserved.inputs for place in places.values()]

    def unlike_last(self) -> tuple[int, Case, Mapping[str, Place]]:
        """A row with other inputs than the last call's: it, its case, its output places."""
        last = self._holds.get(self._last)
        chosen = next(i for i in range(len(self._sets)) if i != last or len(self._sets) == 1)
        slot = self._last
        row = self._row(slot, chosen)
        return row, self._case(chosen), self._reserved.slots[slot]

    def harm(self) -> Failure | None:
        """What the timed calls did besides writing their outputs."""
        changed, damage = self._changed_input(), self._damage()
        return (changed if self._defences.input_compare else None) or (
            damage if self._defences.guards else None
        )

    def _changed_input(self) -> Failure | None:
        """Whether some input is no longer what was put there."""
        self._clean = True
        for index, places in enumerate(self._reserved.inputs):
            for name, array in self._held_at(index).items():
                if not self._arena.holds(places[name], array):
                    self._clean = False
                    return Failure(Outcome.MUTATED_INPUT, f"changed input {name}")
        return None

    def _damage(self) -> Failure | None:
        """Whether something was written around the arrays."""
        texts = (self._arena.damage(place) for place in self._reserved.places)
        first = next(filter(None, texts), None)
        return Failure(Outcome.CRASHED, first) if first else None

    def _load(self) -> None:
        for index, places in enumerate(self._reserved.inputs):
            for name, array in self._held_at(index).items():
                self._arena.view(places[name])[...] = array

    def _held_at(self, place: int) -> Mapping[str, Array]:
        return self._sets[(place + self._shift) % len(self._sets)]


def _counts(problem: Problem, defences: Defences) -> tuple[int, int]:
    if not defences.fresh_inputs:
        return 1, 1
    nbytes = sum(
        np.dtype(arg.type).itemsize * np.prod(arg.dimensions(problem.sizes.time), dtype=np.int64)
        for arg in problem.arrays
    )
    return (_LARGE_SETS, _LARGE_SLOTS) if nbytes > _LARGE_BYTES else (_SETS, _SLOTS)
