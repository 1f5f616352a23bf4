"""Inputs renewed under a worker: never seen before, what was there is kept and still verified."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.evaluation.arena import Arena, Layout
from regraph_kg.evaluation.bench import Bench, InputSets, reserve
from regraph_kg.evaluation.problem import load_problem
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.models.evaluation import Outcome

SEED = 5


class Standing:
    """A worker on host memory: nothing to transfer; counts how often it stood still."""

    def __init__(self) -> None:
        self.stands, self.stood = False, 0

    def stop(self) -> None:
        self.stands, self.stood = True, self.stood + 1

    def resume(self) -> None:
        self.stands = False

    def upload(self, places: object) -> None: ...

    def download(self, places: object) -> None: ...


class Desk:
    """A bench, its arena and what is needed to look inside."""

    def __init__(self, arena: Arena, bench: Bench, inputs: list[object]) -> None:
        self.arena, self.bench, self.inputs = arena, bench, inputs
        self.worker = Standing()

    def renew(self) -> Failure | None:
        return self.bench.renew(self.worker)  # type: ignore[arg-type]

    def begin(self) -> None:
        self.bench.begin(self.worker)  # type: ignore[arg-type]

    def held(self) -> set[bytes]:
        return {self.arena.view(p["x"]).tobytes() for p in self.inputs}  # type: ignore[index]


@pytest.fixture
def desk(problem_folder: Callable[..., Path]) -> Iterator[Desk]:
    problem = load_problem(problem_folder(toml=("n = 200000", "n = 100")))
    layout = Layout(problem, alignment=64)
    reserved = reserve(layout, Defences())
    arena = layout.build()
    sets = InputSets(problem, len(reserved.inputs), SEED)
    made = Desk(arena, Bench(arena, reserved, sets, SEED, Defences()), list(reserved.inputs))
    made.begin()
    yield made
    arena.close()


def test_no_input_is_seen_twice_however_often_they_are_renewed(desk: Desk) -> None:
    seen = desk.held()
    for times in range(1, 5):
        assert desk.renew() is None
        seen |= desk.held()
        assert len(seen) == 4 * (times + 1)
    assert desk.worker.stood == 4
    assert not desk.worker.stands


def test_the_next_worker_finds_unseen_inputs_too(desk: Desk) -> None:
    for renewals in (1, 3):
        for _ in range(renewals):
            desk.renew()
        desk.begin()
        seen = desk.held()
        desk.renew()
        assert not seen & desk.held()


def test_what_secret_slots_held_before_is_kept_as_it_was(desk: Desk) -> None:
    desk.bench.draw(50)
    for case, held in desk.bench.witnesses(9):
        held["y"][...] = float(case.seed)
    desk.renew()
    desk.bench.fresh()
    *kept, last = desk.bench.witnesses(3)
    last[1]["y"][...] = 0.0
    assert len(kept) == 2
    for case, held in kept:
        assert case.seed < SEED + 100 + 4
        assert set(held["y"]) == {float(case.seed)}
    assert last[0].seed >= SEED + 100 + 4


def test_every_slot_ends_with_the_result_of_an_unseen_set_of_its_own(desk: Desk) -> None:
    desk.bench.draw(50)
    desk.renew()
    rows = desk.bench.fresh()
    assert len(set(rows)) == 3
    seeds = {case.seed - SEED - 100 for case, _ in desk.bench.witnesses(9)[2:]}
    assert len(seeds) == 3
    assert min(seeds) >= 4


def test_reloading_changes_nothing(desk: Desk) -> None:
    before = desk.held()
    desk.bench.reload(desk.worker)  # type: ignore[arg-type]
    assert desk.held() == before


def test_a_changed_input_is_found_before_it_is_overwritten(desk: Desk) -> None:
    desk.arena.view(desk.inputs[2]["x"])[5] += np.float32(1)  # type: ignore[index]
    failure = desk.renew()
    assert failure is not None
    assert failure.outcome is Outcome.MUTATED_INPUT
    assert not desk.worker.stands
