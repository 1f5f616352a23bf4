"""How an account of work is written."""

from pathlib import Path

from regraph_kg.evaluation.problem.declaration import DeclaredWork
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.timing.roofline import MemoryLevel, Peaks, account

PEAKS = Peaks(
    device="a GPU",
    target="cuda",
    date="2026-11-21T00:00:00+00:00",
    levels=(MemoryLevel(working_set=2**30, rate=2.02e12),),
    fp32=6e13,
    fp64=3e13,
)


def test_a_roofline_is_one_line() -> None:
    scale = load_problem(Path(__file__).parents[1] / "problems" / "scale")
    problem = scale.model_copy(update={"metric": "device", "work": DeclaredWork(flop="2*n")})
    seconds = 1_600_000 / 1.23e12
    assert str(account(problem, seconds, PEAKS)) == (
        "61 % of peak memory bandwidth (1.23 of 2.02 TB/s; 0.25 flop/byte)"
    )
    busy = problem.model_copy(update={"work": DeclaredWork(flop="1000000*n")})
    said = str(account(busy, 0.1, PEAKS))
    assert said.startswith("3 % of peak compute (2 of 60 Tflop/s")
    assert "regraph doctor" in str(account(problem, seconds, None))
