"""Which timed calls are drawn, and what the output slots hold in the end."""

from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.evaluation import bench as bench_module
from regraph_kg.evaluation.arena import Layout
from regraph_kg.evaluation.bench import Bench, InputSets, reserve
from regraph_kg.evaluation.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences


@pytest.fixture
def problem(problem_folder: Callable[..., Path]) -> Problem:
    return load_problem(problem_folder(toml=("n = 200000", "n = 100")))


def held_in_the_end(problem: Problem, seed: int, most: int) -> list[int]:
    """Seeds of the inputs whose results the slots must hold after a closing batch."""
    layout = Layout(problem, alignment=64)
    reserved = reserve(layout, Defences())
    arena = layout.build()
    try:
        bench = Bench(
            arena, reserved, InputSets(problem, len(reserved.inputs), seed), seed, Defences()
        )
        bench.draw(7)
        assert len(bench.draw(most, closing=True)) <= max(most, len(reserved.slots))
        return [case.seed for case, _ in bench.witnesses(99)]
    finally:
        arena.close()


@pytest.mark.parametrize("most", [1, 2, 50])
def test_slots_end_with_results_of_different_inputs(problem: Problem, most: int) -> None:
    for seed in range(30):
        held = held_in_the_end(problem, seed, most)
        assert len(held) == len(set(held)) == 3


def test_so_do_the_fewer_slots_of_large_problems(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_module, "_LARGE_BYTES", 0)
    for seed in range(30):
        held = held_in_the_end(problem, seed, 1)
        assert len(held) == len(set(held)) == 2
