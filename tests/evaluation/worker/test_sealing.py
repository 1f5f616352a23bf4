"""What lies on a device before a call, what opens it, and that nothing lies open before."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.timing.batches import Bench, Pool, Witness, reserve
from regraph_kg.evaluation.verify.timed_inputs import Contents, TimedInputs
from regraph_kg.evaluation.worker import sealing as module
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.sealing import Seal, Sealing
from regraph_kg.evaluation.worker.shared_memory import (
    SEALED,
    ArrayPlace,
    Call,
    Layout,
    SharedMemory,
)

from ..caught import caught
from ..conftest import problem_named

Array = np.ndarray[Any, Any]


def digest(output: Array, key: tuple[int, int]) -> int:
    """One output's digest by numpy, as harness/seal.h has it."""
    words = np.zeros(-(-output.size // 8), np.uint64)
    words.view(np.uint8)[: output.size] = output
    x = words + np.uint64(key[0])
    x ^= np.arange(words.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x *= np.uint64(key[1] | 1)
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    x ^= x >> np.uint64(29)
    return int(np.sum(x, dtype=np.uint64))


SECRET = 5
NEVER_SPENT, SPENT = 1e9, -1e9


class Device:
    """A worker whose device is another piece of memory, unmasked by numpy's keystream."""

    on_device = True

    def __init__(self, shared: SharedMemory) -> None:
        self._shared = shared
        self.memory = shared._bytes.copy()
        self.seal: Seal | None = None
        self.digests: list[int] = []
        self.uploads: list[str] = []
        self.swept: list[Seal] = []

    def upload(self, places: Sequence[ArrayPlace], seal: Seal) -> None:
        self.uploads += [place.name for place in places]
        for first, count in map(self._shared.span, places):
            self.memory[first : first + count] = self._shared._bytes[first : first + count]
        self.table = self._shared.sealed[: seal.entries].copy()
        self.seal = seal

    def download(self, places: Sequence[ArrayPlace]) -> None:
        for first, count in map(self._shared.span, places):
            self._shared._bytes[first : first + count] = self.memory[first : first + count]

    def sweeps(self, count: int) -> Elapsed:
        assert self.seal
        for index in range(count):
            self.open(index)
        self.swept.append(self.seal)
        self.seal = None
        return Elapsed(0.5 * count, 0.0)

    def open(self, index: int) -> None:
        """What the harness does before call `index` of a batch."""
        if not self.seal:
            return
        first, arrays, elements = (int(number) for number in self.seal.parts[index])
        for entry in self.table[first : first + arrays]:
            at, size = int(entry["at"]), int(entry["bytes"])
            self.memory[at : at + size] ^= self._mask(entry["block"], size)
        for entry in self.table[first + arrays : first + arrays + elements]:
            plain = self._mask(entry["block"], 24).view(np.uint64)
            plain ^= np.array([entry["at"], entry["bytes"], entry["value"]])
            at, size, _ = map(int, plain)
            self.memory[at : at + size] = plain[2:].view(np.uint8)[:size]

    def finish(self) -> None:
        """What the harness does after the last call of a batch."""
        if not self.seal:
            return
        self.digests = [0] * self.seal.digests
        for entry in self.table[self.seal.entries - self.seal.outputs :]:
            at, size = int(entry["at"]), int(entry["bytes"])
            one = digest(self.memory[at : at + size], self.seal.key)
            self.digests[int(entry["value"])] += one
        self.digests = [one % 2**64 for one in self.digests]

    def holds(self, place: ArrayPlace) -> Array:
        """The array there."""
        at = self._shared.offset(place)
        return self.memory[at : at + place.nbytes].view(place.dtype)

    def _mask(self, block: int, size: int) -> Array:
        assert self.seal
        key = np.array(self.seal.key, np.uint64)
        words = np.random.Philox(key=key, counter=int(block)).random_raw(-(-size // 8))
        return words.view(np.uint8)[:size]


class Desk:
    """A bench on a device, on which y = 2 x is computed."""

    def __init__(self, problem: Problem, defences: Defences | None = None, calls: int = 4) -> None:
        layout = Layout(problem, alignment=256)
        self.calls: list[Call] = reserve(layout, problem)[:calls]
        self.shared = layout.build()
        self.contents = Contents(problem, SECRET)
        self.device: Any = Device(self.shared)
        self.bench = Bench(
            *(Sealing(self.shared), self.calls, self.contents),
            *(Pool(SECRET), 1, defences or Defences()),
        )
        self.bench.begin()

    def load(self, count: int, timed: float = NEVER_SPENT) -> list[Call]:
        rows = self.bench.load(self.device, count, timed)
        return [self.calls[row - self.calls[0].row] for row in rows]

    def batch(self, count: int, timed: float = NEVER_SPENT) -> list[Witness]:
        """One batch, computed and kept: what is verified of it."""
        before, calls = len(self.bench.witnesses), self.load(count, timed)
        for index, call in enumerate(calls):
            self.device.open(index)
            self.device.holds(call.places["y"])[:] = 2 * self.device.holds(call.places["x"])
        self.device.finish()
        self.bench.keep(self.device, [call.row for call in calls])
        return self.bench.witnesses[before:]

    def wanted(self, call: Call) -> Array:
        content = self.bench._holds[self.calls.index(call)]
        assert content
        return self.contents.arrays(content)["x"].reshape(-1)


def counted(seal: Seal) -> tuple[int, int]:
    """Calls whose arrays are masked, or single elements."""
    arrays, elements = (np.count_nonzero(seal.parts[kind]) for kind in ("arrays", "elements"))
    return int(arrays), int(elements)


Desks = Callable[..., Desk]


@pytest.fixture
def on_device(problem_folder: Callable[..., Path]) -> Problem:
    problem = load_problem(problem_folder(toml=("n = 200000", "n = 101")))
    return problem.model_copy(update={"metric": "device"})


@pytest.fixture
def desks() -> Iterator[Desks]:
    made: list[Desk] = []

    def desk(*args: Any, **options: Any) -> Desk:
        made.append(Desk(*args, **options))
        return made[-1]

    yield desk
    for each in made:
        each.shared.close()


@pytest.mark.parametrize("kind", ["complex128", "float16", "bool", "struct"])
def test_elements_of_every_size_change_masked(kind: str) -> None:
    problem = problem_named("scale")
    fields = {"a": "float32", "b": "int32", "c": "int32"}
    record = {"struct": "S", "fields": fields} if kind == "struct" else {}
    x = problem.args[0].model_copy(update={"type": kind, **record})
    desk = Desk(problem.model_copy(update={"metric": "device", "args": (x, *problem.args[1:])}))
    place, call = desk.calls[0].places["x"], desk.calls[0]
    values = (np.arange(place.shape[0]) % 100).astype(place.dtype)
    at, new = np.array([5, 7, 5]), np.array([10, 1, 0]).astype(place.dtype)
    sealing = Sealing(desk.shared)
    sealing.whole({"x": values}, {"x": place})
    sealing.changed({"x": (at, new)}, {"x": place})
    desk.device.upload([place], sealing.close(2))
    for index in range(2):
        desk.device.open(index)
    values[at] = new
    assert np.array_equal(desk.device.holds(call.places["x"]), values)


def test_before_its_call_nothing_of_an_input_lies_anywhere(
    desks: Desks, on_device: Problem
) -> None:
    desk, keys = desks(on_device), set()
    for _ in range(8):
        calls = desk.load(3)
        keys.add(desk.device.seal.key)
        for index, call in enumerate(calls):
            place, wanted = call.places["x"], desk.wanted(call)
            is_step = bool(desk.device.seal.parts[index]["elements"])
            for seen in (desk.device.holds(place), desk.shared.view(place).reshape(-1)):
                assert np.count_nonzero(seen == wanted) <= (100 if is_step else 3)
            desk.device.open(index)
            assert desk.device.holds(place).tobytes() == wanted.tobytes()
    assert len(keys) == 8


def test_a_call_opens_its_own_inputs_only(desks: Desks, on_device: Problem) -> None:
    desk = desks(on_device)
    first, *others = desk.load(4)
    desk.device.open(0)
    assert desk.device.holds(first.places["x"]).tobytes() == desk.wanted(first).tobytes()
    for call in others:
        assert desk.device.holds(call.places["x"]).tobytes() != desk.wanted(call).tobytes()


@pytest.mark.parametrize("timed", [NEVER_SPENT, SPENT])
def test_what_is_verified_of_a_device_is_right(
    desks: Desks, on_device: Problem, timed: float
) -> None:
    desk = desks(on_device)
    seen = [witness for _ in range(40) for witness in desk.batch(3, timed)]
    assert len(seen) >= 4
    for witness in seen:
        wanted = 2 * desk.contents.arrays(witness.content)["x"]
        assert witness.outputs["y"].tobytes() == wanted.tobytes()


def test_of_a_change_in_place_only_masked_elements_are_sent(
    desks: Desks, on_device: Problem
) -> None:
    desk = desks(on_device)
    desk.batch(1)
    assert desk.device.uploads == ["x", "y"]
    (call,) = desk.load(1)
    assert desk.device.uploads == ["x", "y", "y"]
    assert counted(desk.device.seal) == (0, 1)
    place, wanted = call.places["x"], desk.wanted(call)
    different = np.flatnonzero(desk.device.holds(place) != wanted)
    assert 1 <= different.size <= 16
    bits = set(wanted.view(np.uint32)[different].tolist())
    assert not bits & set(desk.device.table["value"].tolist())
    assert desk.shared.offset(place) + 4 * different[0] not in desk.device.table["at"]
    desk.device.open(0)
    assert desk.device.holds(place).tobytes() == wanted.tobytes()


def test_more_elements_than_there_is_room_for_are_sent_as_arrays(
    desks: Desks, on_device: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_ELEMENTS", 7)
    desk = desks(on_device)
    for _ in range(2):
        for witness in desk.batch(1):
            wanted = 2 * desk.contents.arrays(witness.content)["x"]
            assert witness.outputs["y"].tobytes() == wanted.tobytes()
    assert desk.device.uploads == ["x", "y"] * 2


def test_of_an_element_that_changes_twice_the_last_counts(desks: Desks, on_device: Problem) -> None:
    desk = desks(on_device)
    place = desk.calls[0].places["x"]
    sealing = Sealing(desk.shared)
    values = np.array([1, 2, 3, 4], np.float32)
    assert sealing.changed({"x": (np.array([7, 9, 7, 9]), values)}, {"x": place})
    desk.device.upload([], sealing.close(1))
    desk.device.open(0)
    assert desk.device.holds(place)[[7, 9]].tolist() == [3, 4]


def test_without_the_defence_all_lies_open_before_the_clock_runs(
    desks: Desks, on_device: Problem
) -> None:
    desk = desks(on_device, Defences(sealed_inputs=False))
    for _ in range(3):
        calls = desk.load(3)
        assert desk.device.seal is None
        for call in calls:
            assert desk.device.holds(call.places["x"]).tobytes() == desk.wanted(call).tobytes()
    assert [len(seal.parts) for seal in desk.device.swept] == [3] * 3


def test_one_call_made_again_and_again_is_opened_once(desks: Desks, on_device: Problem) -> None:
    desk = desks(on_device, Defences(fresh_inputs=False))
    desk.load(5)
    assert desk.device.seal.parts["arrays"].tolist() == [1, 0, 0, 0, 0]


def test_one_more_call_is_sealed_as_well(desks: Desks, on_device: Problem) -> None:
    desk, content = desks(on_device), TimedInputs(77)
    assert desk.bench.last(desk.device, content) == desk.calls[0].row
    place, wanted = desk.calls[0].places["x"], desk.contents.arrays(content)["x"]
    assert desk.device.holds(place).tobytes() != wanted.tobytes()
    desk.device.open(0)
    assert desk.device.holds(place).tobytes() == wanted.tobytes()


@pytest.mark.parametrize(
    ("step", "whole", "changed"), [("sweep", 0, 0), ("whole", 6, 0), ("changed", 0, 6)]
)
def test_a_rehearsal_readies_calls_as_batches_do(
    desks: Desks, on_device: Problem, step: Any, whole: int, changed: int
) -> None:
    desk = desks(on_device)
    assert desk.bench.rehearse(desk.device, step, 6) == Elapsed(3.0, 0.0)
    (seal,) = desk.device.swept
    assert (*counted(seal), len(seal.parts)) == (whole, changed, 6)


def test_an_element_takes_a_block_of_the_keystream() -> None:
    assert SEALED.itemsize == 32


def planned(desk: Desk) -> list[Call]:
    """Load and compute batches until one has a call to be verified, which is not kept yet."""
    while True:
        calls = desk.load(2)
        for index, call in enumerate(calls):
            desk.device.open(index)
            desk.device.holds(call.places["y"])[:] = 2 * desk.device.holds(call.places["x"])
        desk.device.finish()
        if desk.bench._batch - 1 in desk.bench._planned:
            return calls


@pytest.mark.parametrize("watched", [True, False])
def test_outputs_that_change_after_the_calls_are_noticed(
    on_device: Problem, desks: Desks, watched: bool
) -> None:
    desk = desks(on_device, Defences(digests=watched))
    calls = planned(desk)
    place, _ = desk.bench._planned[desk.bench._batch - 1]
    late = desk.calls[place].places["y"]
    desk.device.holds(late)[-1] += 1
    failure = caught(desk.bench.keep, desk.device, [call.row for call in calls])
    assert (failure is not None) == watched
    if failure:
        assert failure.outcome == "suspicious"
        assert "changed after" in failure.diagnosis


@pytest.mark.parametrize("nbytes", [0, 5, 8, 61, 2**18 + 8, 2**18 + 13])
def test_a_digest_shows_every_byte_and_its_place(nbytes: int) -> None:
    output = np.random.default_rng(nbytes).integers(0, 256, nbytes, dtype=np.uint8)
    key, other = (3, 5), (3, 7)
    one = arrays.digest([output], key)
    assert one == digest(output, key)
    assert nbytes == 0 or one != arrays.digest([output], other)
    for at in {0, nbytes // 2, nbytes - 1} if nbytes else ():
        changed = output.copy()
        changed[at] ^= 1
        assert arrays.digest([changed], key) != one
    if nbytes > 16:
        swapped = output.copy()
        swapped[:8], swapped[8:16] = output[8:16], output[:8]
        assert arrays.digest([swapped], key) != one


@pytest.mark.parametrize("nbytes", [0, 1, 31, 32, 33, 4096, 2**18 + 13])
def test_a_mask_is_numpys_keystream_from_a_block_on(nbytes: int) -> None:
    plain = np.random.default_rng(nbytes).integers(0, 256, nbytes, dtype=np.uint8)
    key, block, masked = (2**63 + 1, 7), 12345, np.zeros(nbytes, np.uint8)
    arrays.mask(plain, masked, block, key)
    philox = np.random.Philox(key=np.array(key, np.uint64), counter=block)
    words = philox.random_raw(-(-nbytes // arrays.STREAM_BYTES) * arrays.STREAM_BYTES // 8)
    assert np.array_equal(masked, plain ^ words.view(np.uint8)[:nbytes])
