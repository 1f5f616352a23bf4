"""The calls of the timing shape: their inputs, and which of them are verified, and when.

docs/evaluation.md (step 4) says what each timed call gets. The secret few whose truths the session
knows are a `Pool`. Which batches hold one is drawn anew for each worker, in blocks of growing
length over the whole series. So a candidate cannot know which calls are verified, before or after
them: the outputs of those are copied as soon as it stands still. One more call, any of all with the
same chance, is kept for an audit; its truth is not known to anybody yet.

What it takes to prepare a call on a device is measured before a candidate (`Readying`). Judges take
turns to time on a device, but workers that another judge starts make their contexts meanwhile, and
all that is done there takes longer then. Too much taken off a candidate's time would make that too
short. So it is measured until it agrees with the least that was seen, and anew where the same takes
less after a candidate was timed. Where it does so again, the candidate has changed it.

Not covered: a device that is disturbed all the time.
"""

import math
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.problem.declaration import RESULT
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import settled
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.verify.large_outputs import KeptOutput, keeper
from regraph_kg.evaluation.verify.timed_inputs import Contents, TimedInputs
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal, Sealing
from regraph_kg.evaluation.worker.shared_memory import MAX_BATCH, ArrayPlace, Call, Layout
from regraph_kg.evaluation.worker.steps import Costs, Rehearsal
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

BatchKind = Literal["sweep", "whole", "changed"]
"""What gets a call ready: a sweep of the cache; before it all inputs unmasked, or some elements."""

_ROOM_BYTES, _MOST_CALLS = 24 * 2**20, 128
_BLOCK_GROWTH = 2  # all batches, once the next block of them is through, over those before it
_DECOYS = 1 / 8  # share of batches in which an unverified call changes: a change tells nothing
_SPARE_SECONDS = 0.05  # writing inputs may take this much longer than the calls did
_READY_CALLS, _READY_WARM_UP_SECONDS, _READY_BATCHES = 16, 0.3, 15
_COMPARED_BYTES = 64 * 2**20
_MOSTLY = 4  # a batch with one call in so many on changed inputs is one of new inputs


def reserve(layout: Layout, problem: Problem) -> list[Call]:
    """Lay out the timing shape as often as 24 MiB hold its arrays: once at least."""
    sizes = problem.sizes.time
    count = _ROOM_BYTES // max(problem.nbytes(sizes), 1)
    return [layout.call(sizes) for _ in range(min(max(count, 1), _MOST_CALLS))]


class Pool:
    """The contents whose truths a session knows; shared by its workers, secret to all of them."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._contents: list[TimedInputs] = []

    def content(self, number: int) -> TimedInputs:
        """The `number`-th of them."""
        while len(self._contents) <= number:
            self._contents.append(TimedInputs(self._rng.getrandbits(128)))
        return self._contents[number]

    def holds(self, seed: int) -> bool:
        """Whether one of them has this seed."""
        return any(content.seed == seed for content in self._contents)

    def retire(self, content: TimedInputs) -> None:
        """Replace one that a diagnosis revealed: the next candidate could know it."""
        for index, current in enumerate(self._contents):
            if current.seed == content.seed:
                self._contents[index] = TimedInputs(self._rng.getrandbits(128))


@dataclass(frozen=True, slots=True)
class Witness:
    """The outputs of a call, and its inputs; `poison` was there before."""

    content: TimedInputs
    outputs: Mapping[str, KeptOutput]
    poison: int


class Bench:
    """Draws the timed calls of one worker; keeps the outputs to verify. Raises `Failure`."""

    def __init__(
        self,
        sealing: Sealing,
        calls: Sequence[Call],
        contents: Contents,
        pool: Pool,
        seed: int,
        defences: Defences,
    ) -> None:
        self._sealing, self._calls, self._contents = sealing, calls, contents
        self._shared = shared = sealing.shared
        self._pool, self._defences = pool, defences
        self._rng = random.Random(seed)
        self._supply = contents.supply(random.Random(self._rng.random()), pool.holds)
        self._seal: Seal | None = None  # the seal of the last calls; `_last` are their places
        self._holds: list[TimedInputs | None] = [None] * len(calls)
        self._batch, self._used = 0, 0
        self._planned: dict[int, tuple[int, TimedInputs]] = {}
        self._horizon = 0
        self.poison = 0  # the byte in outputs before the last batch
        self._spent = 0.0
        self.witnesses: list[Witness] = []
        """Calls whose truths the session knows, or will know for the next worker."""
        self.shown: list[TimedInputs] = []
        """What the worker has had that others may get: of the pool, and drawings of inputs.py."""
        self.audit: Witness | None = None  # one call out of all
        self.is_new = True  # whether the inputs of the last batch were new, and not changed ones
        self._is_lean = self._is_compared = False
        self._nbytes = shared.problem.nbytes(calls[0].sizes)
        self._decoy: int | None = None
        self._last: Sequence[int] = ()  # places of the last batch
        self._refilled = any(arg.role == "inout" for arg in shared.problem.outputs)

    @property
    def largest_batch(self) -> int:
        """Calls that have arrays of their own, and contents enough for a dozen such batches."""
        if not self._defences.fresh_inputs:
            return MAX_BATCH
        return self._supply.most(len(self._calls))

    def begin(self) -> None:
        """Make the memory ready for timed calls."""
        for call in self._calls:
            for place in call.places.values():
                self._shared.set_canaries(place, pattern=True)

    def load(self, worker: Worker, count: int, timed_seconds: float) -> list[int]:
        """Put inputs into the arrays of `count` calls, and poison into their outputs: their rows.

        `timed_seconds` seconds were spent in timed calls so far: where writing inputs took longer,
        they only change.
        """
        start = time.perf_counter()
        chosen = self._chosen(count)
        lean = self._spent > timed_seconds + _SPARE_SECONDS
        self._is_lean = bool(lean and self._can_change and all(self._holds[at] for at in chosen))
        is_free = self._can_change and self._batch not in self._planned
        decoy = is_free and self._rng.random() < _DECOYS
        used, self._last = self._last, chosen
        places = [at for at in chosen if at in used] or chosen  # as that of a planned change
        self._decoy = self._rng.choice(places) if decoy else None
        changed, written = 0, list[ArrayPlace]()
        if worker.on_device:
            self._sealing.begin()
        for at in dict.fromkeys(chosen):
            before, content = self._holds[at], self._next(at)
            changed += before is not None and content == before.next
            written += self._write(worker, at, content)
        self.is_new = _MOSTLY * changed <= len(chosen)
        if self._defences.poison:
            self.poison = self._rng.choice((0xFF, self._rng.randrange(1, 255)))
        self._send(worker, [*written, *self._poisoned(dict.fromkeys(chosen))], chosen)
        self._batch += 1
        self._spent += time.perf_counter() - start
        return [self._calls[at].row for at in chosen]

    def keep(self, worker: Worker, rows: Sequence[int]) -> None:
        """Copy the outputs to verify of the last calls; the worker stands still."""
        first = self._calls[0].row
        places = list(dict.fromkeys(row - first for row in rows))
        planned = self._planned.pop(self._batch - 1, None)
        if planned and planned[0] in places:
            inputs = [] if self._is_compared else list(self._inputs(planned[0]).values())
            worker.download(inputs)
            self.witnesses.append(self.witness(worker, planned[0]))
            if inputs:
                self._require_inputs(planned[0])
            # Once is enough where it takes a while, and once more at the end.
            self._is_compared = self._nbytes > _COMPARED_BYTES
        if self._rng.random() * self._batch < 1:
            self.audit = self.witness(worker, self._rng.choice(places))

    def last(self, worker: Worker, content: TimedInputs) -> int:
        """Load one more call with this content: its row."""
        self._sealing.begin()
        written = self._write(worker, 0, content)
        self._last = [0]
        self._send(worker, [*written, *self._poisoned([0])], self._last)
        return self._calls[0].row

    def costs(self, worker: Worker) -> Costs:
        """Metric "device": seconds to prepare a call."""
        empty = worker.empty()
        end = time.monotonic() + _READY_WARM_UP_SECONDS  # a resting GPU's clock is low
        while time.monotonic() < end:
            self.rehearse(worker, "whole")
        steps: tuple[BatchKind, ...] = ("sweep", "whole", "changed")
        runs = [[self.rehearse(worker, step) for step in steps] for _ in range(_READY_BATCHES)]
        each = [Rehearsal(batches, _READY_CALLS) for batches in zip(*runs, strict=True)]
        sweep, whole, changed = (one.ready for one in each)
        return Costs(
            *(sweep, whole, changed),
            launch=median(one.launch for one in each),
            start=max(0.0, median(one.start for one in each) - empty),
            least=each[0].least,
            around=median(one.around for one in each),
            error=max(one.error for one in each),
        )

    def sweep(self, worker: Worker) -> float:
        """Metric "device": seconds of a sweep of the cache."""
        return Rehearsal([self.rehearse(worker, "sweep")], _READY_CALLS).ready

    def rehearse(self, worker: Worker, step: BatchKind, count: int = _READY_CALLS) -> Elapsed:
        """Metric "device": get so many calls ready, each for a kernel that does nothing."""
        self._sealing.begin()
        for index in range(count if step != "sweep" else 0):
            inputs = self._inputs(index % len(self._calls))
            if step == "whole":
                self._sealing.lying(inputs)
            else:
                self._sealing.changed(self._contents.changes(self._pool.content(0).next), inputs)
        outputs = self._outputs(range(min(count, len(self._calls))))
        worker.upload([], self._sealing.close(count, outputs))
        return worker.sweeps(count)

    def require_no_harm(self, worker: Worker) -> None:
        """Bytes around the arrays must not have changed, nor the inputs of some call."""
        if self._defences.guards:
            places = (place for call in self._calls for place in call.places.values())
            damage = next(filter(None, (self._shared.damage(place) for place in places)), None)
            if damage:
                raise Failure(Outcome.CRASHED, damage)
        known = [at for at, content in enumerate(self._holds) if content and not content.version]
        if known:
            at = self._rng.choice(known)
            worker.download(list(self._inputs(at).values()))
            self._require_inputs(at)

    @property
    def _can_change(self) -> bool:
        changed = self._contents.changed and not self._refilled
        return bool(changed) and self._defences.small_changes

    def _chosen(self, count: int) -> list[int]:
        """Places of the calls in order; the one that is planned for this batch is among them."""
        if not self._defences.fresh_inputs:
            return [0] * count
        chosen = self._rng.sample(range(len(self._calls)), count)
        self._plan_block()
        planned = self._planned.get(self._batch)
        if planned and planned[0] not in chosen:
            chosen[self._rng.randrange(count)] = planned[0]
        return chosen

    def _plan_block(self) -> None:
        """Plan, at the start of a block, a batch and a place for a content; the next changes it."""
        if self._batch < self._horizon:
            return
        length = max(2, (_BLOCK_GROWTH - 1) * self._batch)
        first = self._batch + self._rng.randrange(length - 1)
        content, place = self._pool.content(self._used), self._rng.randrange(len(self._calls))
        self._used += 1
        self._planned[first] = place, content
        if self._contents.changed and self._defences.small_changes:
            self._planned[first + 1] = place, content.next
        self._horizon = self._batch + length

    def _next(self, at: int) -> TimedInputs:
        if not self._defences.fresh_inputs:
            return self._pool.content(0)
        planned, previous = self._planned.get(self._batch), self._holds[at]
        if planned and planned[0] == at:
            self.shown.append(planned[1])
            return planned[1]
        if previous is not None and (self._is_lean or at == self._decoy):
            return previous.next
        content = self._supply.next()
        if self._supply.recurs:
            self.shown.append(content)
        return content

    def _inputs(self, at: int) -> Mapping[str, ArrayPlace]:
        return {arg.name: self._calls[at].places[arg.name] for arg in self._shared.problem.inputs}

    def _write(self, worker: Worker, at: int, content: TimedInputs) -> list[ArrayPlace]:
        """Write a content, or what differs from the version there: arrays to copy to a device."""
        inputs, previous = self._inputs(at), self._holds[at]
        self._holds[at] = content
        is_step = previous is not None and content == previous.next and not self._refilled
        if worker.on_device:
            if is_step and self._sealing.changed(self._contents.changes(content), inputs):
                return []
            self._sealing.whole(self._contents.arrays(content), inputs)
            return list(inputs.values())
        views = {name: self._shared.view(place) for name, place in inputs.items()}
        if is_step:
            self._contents.change(content, views)
        else:
            self._contents.write(content, views)
        return []

    def _outputs(self, chosen: Iterable[int]) -> list[list[ArrayPlace]]:
        """What digests are taken of: of each of these calls the outputs that lie on a device."""
        if not self._defences.digests:
            return []
        names = [arg.name for arg in self._shared.problem.outputs if arg.name != RESULT]
        return [[self._calls[at].places[name] for name in names] for at in chosen]

    def _send(self, worker: Worker, places: Sequence[ArrayPlace], chosen: Sequence[int]) -> None:
        """Metric "device": copy these arrays there; the next calls, of `chosen`, find them open."""
        if worker.on_device:
            self._seal = self._sealing.close(len(chosen), self._outputs(dict.fromkeys(chosen)))
            worker.upload(places, self._seal)
            if not self._defences.sealed_inputs:
                self._seal = None
                worker.sweeps(len(chosen))

    def _poisoned(self, chosen: Iterable[int]) -> list[ArrayPlace]:
        """The outputs of these calls, filled with the poison."""
        names = [arg.name for arg in self._shared.problem.outputs if arg.role == "out"]
        filled = [self._calls[at].places[name] for at in chosen for name in names]
        for place in filled:
            self._shared.fill(place, self.poison)
        return filled

    def witness(self, worker: Worker, at: int = 0) -> Witness:
        """The outputs of the last call at this place; that of `last` has the first."""
        call, content, problem = self._calls[at], self._holds[at], self._shared.problem
        assert content is not None
        worker.download([call.places[arg.name] for arg in problem.outputs])
        (digested,) = self._outputs([at]) or [[]]
        if self._seal and worker.on_device and digested:
            taken = worker.digests[list(dict.fromkeys(self._last)).index(at)]
            if taken != self._sealing.digest(digested, self._seal.key):
                text = "its outputs changed after its calls were over"
                raise Failure(Outcome.SUSPICIOUS, text)
        keep = keeper(problem, problem.sizes.time, content.seed)
        views = {arg.name: self._shared.view(call.places[arg.name]) for arg in problem.outputs}
        outputs = {name: keep(name, output) for name, output in settled(problem, views).items()}
        return Witness(content, outputs, self.poison)

    def _require_inputs(self, at: int) -> None:
        """Inputs must be what was put there."""
        call, content = self._calls[at], self._holds[at]
        if not self._defences.input_compare or content is None or content.version:
            return
        inputs = [arg.name for arg in self._shared.problem.inputs if arg.role == "in"]
        views = {name: self._shared.view(call.places[name]) for name in inputs}
        if altered := self._contents.altered(content, views):
            raise Failure(Outcome.MUTATED_INPUT, f"changed input {altered}")


_AGREES, _TRIES = 1.2, 4  # times the least sweep that was seen; measured so often at most
_OFF, _SHRUNK = 1.1, 1.5
"""A sweep that was so many times as long before the candidate: measured anew; by the candidate."""


class Readying:
    """Time to prepare a call on one device for one problem; not thread-safe."""

    def __init__(self) -> None:
        self._costs: Costs | None = None
        self._least = math.inf
        self.was_off = False  # whether what was taken off the last candidate's time was too much

    def costs(self, bench: Bench, worker: Worker) -> Costs:
        """Costs on a worker without a candidate. Raises `ToolError` where that fails."""
        self.was_off = False
        if not worker.on_device:
            return Costs()
        if self._costs is None:
            for _ in range(_TRIES):
                try:
                    costs, least = bench.costs(worker), self._least
                except Failure as failure:
                    message = f"GPU: cannot get a call ready: {failure.diagnosis}"
                    raise ToolError(message) from None
                self._least = min(least, costs.least)
                if costs.sweep <= _AGREES * least < math.inf:
                    break
            self._costs = costs
        return replace(self._costs)  # of this candidate nothing was late yet

    def require_unshrunk(self, bench: Bench, worker: Worker) -> None:
        """After a candidate was timed: a sweep must not take much less time than before it."""
        before = after = worker.costs.least
        if before:
            with suppress(Failure):
                after = bench.sweep(worker)
        if after < before / _OFF:
            self.was_off, self._costs = True, None  # it is measured anew for the next worker
        if after < before / _SHRUNK:
            message = f"a sweep of the cache takes {after:.3g} s, {before:.3g} s before it came"
            raise Failure(Outcome.SUSPICIOUS, message)
