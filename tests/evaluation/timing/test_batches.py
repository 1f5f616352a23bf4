"""What timed calls work on, which of them are verified, and that nobody can tell which."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.timing import batches
from regraph_kg.evaluation.timing.batches import Bench, Pool, reserve
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.timed_inputs import Contents, TimedInputs
from regraph_kg.evaluation.worker.sealing import Sealing
from regraph_kg.evaluation.worker.shared_memory import Layout
from regraph_kg.models.evaluation import Outcome

from ..caught import caught
from ..conftest import problem_named

SECRET = 5
NEVER_SPENT, SPENT = 1e9, -1e9
"""Seconds of timed calls so far: writing inputs took less; took far more."""


class Standing:
    """A worker on host memory: test_sealing.py has one with a device."""

    on_device = False

    def download(self, places: object) -> None: ...


CHANGED = (Outcome.MUTATED_INPUT, "changed input x")


def says(failure: Failure | None) -> tuple[Outcome, str] | None:
    return (failure.outcome, failure.diagnosis) if failure else None


class Desk:
    """A bench, its shared memory, and a worker who computes y = 2 x, or b = 1."""

    def __init__(
        self, problem: Problem, seed: int = 1, calls: int = 4, defences: Defences | None = None
    ) -> None:
        layout = Layout(problem, alignment=64)
        self.problem = problem
        self.calls = reserve(layout, problem)[:calls]
        self.shared = layout.build()
        self.contents = Contents(problem, SECRET)
        self.pool = Pool(SECRET)
        self.worker: Any = Standing()
        self.bench = Bench(
            *(Sealing(self.shared), self.calls, self.contents, self.pool),
            *(seed, defences or Defences()),
        )
        self.bench.begin()

    def load(self, count: int, timed: float = NEVER_SPENT) -> list[int]:
        return self.bench.load(self.worker, count, timed)

    def batch(self, count: int, timed: float = NEVER_SPENT) -> list[int]:
        """One batch, computed and kept."""
        rows = self.load(count, timed)
        for row in rows:
            self.output(row)[:] = 2 * self.input(row)
        self.bench.keep(self.worker, rows)
        return rows

    def input(self, row: int) -> Any:
        return self._view(row, self.problem.inputs[0].name)

    def output(self, row: int) -> Any:
        return self._view(row, self.problem.outputs[0].name)

    def _view(self, row: int, name: str) -> Any:
        call = self.calls[row - self.calls[0].row]
        return self.shared.view(call.places[name]).reshape(-1)


@pytest.fixture
def scale(problem_folder: Callable[..., Path]) -> Problem:
    return load_problem(problem_folder(toml=("n = 200000", "n = 100")))


@pytest.fixture
def desks() -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def desk(*args: Any, **options: Any) -> Desk:
        made.append(Desk(*args, **options))
        return made[-1]

    yield desk
    for each in made:
        each.shared.close()


Desks = Callable[..., Desk]


def test_no_worker_sees_an_input_twice(desks: Desks, scale: Problem) -> None:
    desk = desks(scale)
    seen = [desk.input(row).tobytes() for _ in range(100) for row in desk.batch(3)]
    assert len(set(seen)) == 300


def test_each_call_of_a_batch_has_arrays_of_its_own_in_any_order(
    desks: Desks, scale: Problem
) -> None:
    desk = desks(scale)
    assert desk.bench.largest_batch == 4
    orders = Counter(tuple(desk.batch(4)) for _ in range(60))
    assert len(orders) > 10
    assert all(sorted(order) == [call.row for call in desk.calls] for order in orders)


def test_without_fresh_inputs_one_call_is_made_again_and_again(
    desks: Desks, scale: Problem
) -> None:
    desk = desks(scale, defences=Defences(fresh_inputs=False))
    assert desk.bench.largest_batch > 1000
    rows = [desk.batch(9) for _ in range(3)]
    assert rows == [[desk.calls[0].row] * 9] * 3
    wanted = desk.contents.arrays(desk.pool.content(0))["x"]
    assert desk.input(rows[0][0]).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("count", [1, 3])
def test_each_block_of_growing_length_has_a_known_content_and_then_its_change(
    desks: Desks, scale: Problem, count: int
) -> None:
    blocks = [(0, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, 63), (64, 127)]
    starts: list[set[int]] = [set() for _ in blocks]
    for seed in range(8):
        desk = desks(scale, seed=seed)
        kept = []
        for batch in range(128):
            before = len(desk.bench.witnesses)
            desk.batch(count)
            kept += [batch] * (len(desk.bench.witnesses) - before)
        known = [desk.pool.content(number) for number in range(len(blocks))]
        wanted = [each for content in known for each in (content, content.next)]
        assert [witness.content for witness in desk.bench.witnesses] == wanted
        for block, (first, last) in enumerate(blocks):
            one, next_ = kept[2 * block : 2 * block + 2]
            assert first <= one < next_ == one + 1 <= last
            starts[block].add(one)
    assert len(starts[-1]) > 4, "nobody knows when"


def test_neither_a_place_nor_a_change_tells_of_a_known_content(
    desks: Desks, scale: Problem
) -> None:
    elsewhere = decoys = 0
    for seed in range(40):
        desk = desks(scale, seed=seed)
        bench = desk.bench
        at_first = -1
        for batch in range(8):  # the block of batches 4 to 7 is looked at
            held, shown = list(bench._holds), len(bench.shown)
            (row,) = desk.batch(1)
            at = row - desk.calls[0].row
            now, before = bench._holds[at], held[at]
            at_first = at if batch == 4 else at_first
            if len(bench.shown) > shown:
                elsewhere += batch > 4 and at != at_first
            else:
                decoys += bool(now and before and now == before.next)
    assert elsewhere > 20
    assert decoys, "changes of which no truth is known"


def test_what_is_verified_is_what_was_there_when_the_call_was_made(
    desks: Desks, scale: Problem
) -> None:
    desk = desks(scale)
    for _ in range(40):
        desk.batch(2)
    assert desk.bench.audit
    for witness in [*desk.bench.witnesses, desk.bench.audit]:
        wanted = 2 * desk.contents.arrays(witness.content)["x"]
        assert witness.outputs["y"].tobytes() == wanted.tobytes()


def test_a_known_content_is_changed_in_place(desks: Desks, scale: Problem) -> None:
    desk = desks(scale)
    desk.batch(1)
    before = desk.bench.witnesses[0].outputs["y"]
    desk.batch(1)
    after = desk.bench.witnesses[1].outputs["y"]
    different = np.flatnonzero(before != after)
    assert 1 <= different.size <= 16
    assert (different.min() >= 100 // 8, different.max() < 100 - 100 // 8) == (True, True)


def test_any_call_of_all_may_be_audited(desks: Desks, scale: Problem) -> None:
    desk = desks(scale)
    last, kept = Counter[int](), 0
    for seed in range(400):
        bench = Bench(Sealing(desk.shared), desk.calls, desk.contents, desk.pool, seed, Defences())
        for batch in range(4):
            rows, audit = bench.load(desk.worker, 1, NEVER_SPENT), bench.audit
            bench.keep(desk.worker, rows)
            kept = batch if bench.audit is not audit else kept
        last[kept] += 1
    assert all(70 <= last[batch] <= 130 for batch in range(4)), last


def test_outputs_hold_a_secret_byte_before_each_batch(desks: Desks, scale: Problem) -> None:
    desk, seen = desks(scale), Counter[int]()
    for _ in range(200):
        for row in desk.load(2):
            assert set(desk.output(row).view(np.uint8)) == {desk.bench.poison}
        seen[desk.bench.poison] += 1
    assert seen[0xFF] > 50, "NaN, or -1"
    assert len(seen) > 40
    assert 0 not in seen


def test_a_witness_knows_its_poison(desks: Desks, scale: Problem) -> None:
    desk = desks(scale)
    rows = desk.load(1)
    desk.bench.keep(desk.worker, rows)
    witness = desk.bench.witnesses[0]
    assert set(witness.outputs["y"].view(np.uint8)) == {witness.poison}


def test_where_writing_takes_longer_than_calling_only_few_elements_change(
    desks: Desks, scale: Problem
) -> None:
    desk = desks(scale)
    desk.bench._spent = 0.0
    new = []
    for batch in range(40):
        before = {call.row: desk.input(call.row).copy() for call in desk.calls}
        rows = desk.batch(4, SPENT if batch % 5 else NEVER_SPENT)
        new.append(desk.bench.is_new)
        changed = sum(np.count_nonzero(desk.input(row) != before[row]) <= 16 for row in rows)
        assert new[-1] == (changed <= 1)
    assert new == [batch % 5 == 0 for batch in range(40)]


@pytest.mark.parametrize("why", ["switched off", "no change shows", "refilled each time"])
def test_where_nothing_can_change_all_batches_are_new(
    desks: Desks, scale: Problem, why: str
) -> None:
    refilled = why == "refilled each time"
    off = Defences(small_changes=why != "switched off")
    desk = desks(problem_named("bump") if refilled else scale, defences=off)
    if why == "no change shows":
        desk.contents.changed = 0
    seen = []
    for _ in range(12):
        rows = desk.batch(2, SPENT)
        assert desk.bench.is_new or refilled
        seen += [desk.input(row).tobytes() for row in rows]
    versions = {witness.content.version for witness in desk.bench.witnesses}
    assert versions == ({0, 1} if refilled else {0})
    if not refilled:
        assert len(set(seen)) == 24


@pytest.mark.parametrize("compared", [True, False])
def test_an_input_that_a_known_call_changed_is_seen(
    desks: Desks, scale: Problem, compared: bool
) -> None:
    desk = desks(scale, defences=Defences(input_compare=compared))
    rows = desk.load(1)
    desk.input(rows[0])[50] += 1
    failure = caught(desk.bench.keep, desk.worker, rows)
    assert says(failure) == (CHANGED if compared else None)


@pytest.mark.parametrize("compared", [True, False])
def test_large_inputs_are_compared_again_at_the_end(
    desks: Desks, scale: Problem, monkeypatch: pytest.MonkeyPatch, compared: bool
) -> None:
    monkeypatch.setattr(batches, "_COMPARED_BYTES", 0)
    desk = desks(scale, defences=Defences(input_compare=compared))
    for _ in range(20):
        for row in desk.batch(4):
            desk.input(row)[50] += 1
    failure = caught(desk.bench.require_no_harm, desk.worker)
    assert says(failure) == (CHANGED if compared else None)


@pytest.mark.parametrize("guarded", [True, False])
def test_what_is_written_around_any_array_is_seen(
    desks: Desks, scale: Problem, guarded: bool
) -> None:
    desk = desks(scale, defences=Defences(guards=guarded))
    desk.bench.require_no_harm(desk.worker)
    place = desk.calls[3].places["y"]
    desk.shared._bytes[desk.shared.offset(place) - 1] = 0
    failure = caught(desk.bench.require_no_harm, desk.worker)
    assert (failure is not None) is guarded
    assert failure is None or "before the start of y" in failure.diagnosis


def test_one_more_call_has_a_content_of_choice(desks: Desks, scale: Problem) -> None:
    desk, content = desks(scale), TimedInputs(77)
    row = desk.bench.last(desk.worker, content)
    assert desk.input(row).tobytes() == desk.contents.arrays(content)["x"].tobytes()
    witness = desk.bench.witness(desk.worker)
    assert witness.content == content
    assert set(witness.outputs["y"].view(np.uint8)) == {desk.bench.poison}


def test_of_large_outputs_elements_are_kept_that_are_the_contents_secret(
    desks: Desks, scale: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_outputs, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(large_outputs, "_SAMPLES", 20)
    monkeypatch.setattr(large_outputs, "_ENDS", 2)
    desk = desks(scale)
    for _ in range(30):
        desk.batch(1)
    places = {}
    for witness in desk.bench.witnesses:
        at = large_outputs.places(scale, scale.sizes.time, witness.content.seed)["y"]
        places[witness.content.seed] = at.tobytes()
        wanted = 2 * desk.contents.arrays(witness.content)["x"][at]
        seen = witness.outputs["y"]
        assert isinstance(seen, large_outputs.Sampled)
        assert seen.elements.tobytes() == wanted.tobytes()
    assert len(set(places.values())) == len(places) > 1


@pytest.mark.parametrize(
    ("n", "calls"), [(1, 128), (10**6, 3), (3 * 10**6, 1), (10**8, 1), (50_000, 62)]
)
def test_room_for_calls_is_bounded(scale: Problem, n: int, calls: int) -> None:
    """24 MiB / (8 n bytes), from 1 to 128."""
    sizes = scale.sizes.model_copy(update={"time": {"n": n}})
    problem = scale.model_copy(update={"sizes": sizes})
    assert len(reserve(Layout(problem, alignment=64), problem)) == calls


def test_a_pool_is_the_same_for_all_until_a_content_is_retired() -> None:
    pool = Pool(SECRET)
    first = [pool.content(number) for number in range(5)]
    assert len(set(first)) == 5
    assert [pool.content(number) for number in range(5)] == first
    pool.retire(first[2].next)
    after = [pool.content(number) for number in range(5)]
    assert after[2] not in first
    assert [*after[:2], *after[3:]] == [*first[:2], *first[3:]]
    pool.retire(TimedInputs(12345))
    assert [pool.content(number) for number in range(5)] == after
