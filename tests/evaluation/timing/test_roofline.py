"""Accounts of work, bounds and floors, on peaks whose numbers are easy to reckon with."""

import math
from pathlib import Path

import pytest

from regraph_kg.evaluation.problem.declaration import DeclaredWork
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.timing.roofline import (
    SAFETY,
    MemoryLevel,
    Peaks,
    account,
    below_floor,
    floor_seconds,
    nominal,
    traffic,
)
from regraph_kg.models.evaluation import EvalReport, Outcome, Roof
from regraph_kg.models.target import Target

PROBLEMS = Path(__file__).parents[1] / "problems"
CORPUS = Path(__file__).parents[3] / "corpus" / "problems"
N = 200_000  # timing size of problem "scale": y[n] = a x[n], 4 bytes an element in, 4 out

CPU = Peaks(
    device="a CPU",
    target="openmp",
    date="2026-11-21T00:00:00+00:00",
    levels=(
        MemoryLevel(working_set=2**20, rate=4e11),
        MemoryLevel(working_set=2**24, rate=2e11),
        MemoryLevel(working_set=2**30, rate=1e11),
    ),
    fp32=1e12,
    fp64=5e11,
)
GPU = Peaks(
    device="a GPU",
    target="cuda",
    date="2026-11-21T00:00:00+00:00",
    levels=(MemoryLevel(working_set=10**6, rate=1e13), MemoryLevel(working_set=2**30, rate=4e12)),
    fp32=6e13,
    fp64=3e13,
    host_to_device=5e10,
    device_to_host=2.5e10,
)


@pytest.fixture
def scale() -> Problem:
    return load_problem(PROBLEMS / "scale")


def declared(problem: Problem, metric: str = "call", **work: object) -> Problem:
    return problem.model_copy(update={"work": DeclaredWork.model_validate(work), "metric": metric})


def test_outputs_whose_rows_are_counted_need_not_be_written_whole(scale: Problem) -> None:
    x, y, *rest = scale.args
    counted = scale.model_copy(update={"args": (x, y.model_copy(update={"count": "found"}), *rest)})
    assert (traffic(scale).outward, traffic(counted).outward) == (4.0 * N, 0.0)


def roof(problem: Problem, seconds: float, peaks: Peaks) -> Roof:
    found = account(problem, seconds, peaks).roof
    assert found is not None
    return found


def test_bytes_are_derived_from_the_arrays_where_none_are_declared(scale: Problem) -> None:
    moved = traffic(scale)
    assert (moved.inward, moved.outward, moved.held) == (4 * N, 4 * N, 8 * N)
    assert account(scale, 1.0, None).bytes == 8 * N


def test_an_array_that_is_read_and_written_counts_twice() -> None:
    bump = load_problem(PROBLEMS / "bump")
    moved = traffic(bump)
    once = [arg for arg in bump.arrays if arg.role != "inout"]
    assert len(once) == 1
    assert moved.total == 2 * moved.held - math.prod(once[0].dimensions(bump.sizes.time))


def test_a_smaller_declaration_lowers_the_traffic_a_larger_one_does_not(scale: Problem) -> None:
    assert traffic(declared(scale, bytes="4*n")).total == 4 * N
    assert traffic(declared(scale, bytes="4*n")).inward == 2 * N
    assert traffic(declared(scale, bytes="400*n")).total == 8 * N
    assert account(declared(scale, bytes="400*n"), 1.0, None).bytes == 400 * N


def test_rates_and_intensity(scale: Problem) -> None:
    found = account(declared(scale, flop="n"), 0.001, None)
    assert found.intensity == 1 / 8
    assert found.roof is None
    assert account(scale, 0.001, None).intensity is None


def test_cpu_memory_bound_holds_against_the_level_that_the_arrays_fit_in(scale: Problem) -> None:
    found = roof(scale, 2 * 8 * N / 2e11, CPU)
    assert found.bound == "memory"
    assert found.peak == 2e11
    assert found.share == pytest.approx(0.5)
    assert found.reached == pytest.approx(1e11)


def test_more_arithmetic_than_bytes_is_compute_bound(scale: Problem) -> None:
    found = roof(declared(scale, flop="1000*n"), 1.0, CPU)
    assert found.bound == "compute"
    assert found.peak == CPU.fp32
    assert found.seconds == pytest.approx(1000 * N / 1e12)


def test_fp64_arrays_are_held_against_the_fp64_peak(scale: Problem) -> None:
    assert roof(declared(scale.promoted(), flop="1000*n"), 1.0, CPU).peak == CPU.fp64


def test_a_call_with_host_pointers_is_bound_by_the_slower_copy(scale: Problem) -> None:
    found = roof(scale, 1.0, GPU)
    assert found.bound == "transfer"
    assert found.peak == GPU.device_to_host
    assert found.seconds == pytest.approx(4 * N / 2.5e10)


def test_a_call_with_device_pointers_is_bound_by_the_gpus_memory(scale: Problem) -> None:
    found = roof(declared(scale, "device"), 1.0, GPU)
    assert (found.bound, found.peak) == ("memory", 4e12)


def test_the_floor_of_host_pointers_lets_directions_overlap(scale: Problem) -> None:
    assert floor_seconds(scale, GPU) == pytest.approx(SAFETY * 4 * N / 2.5e10)


def test_the_floor_of_device_pointers_grants_what_the_cache_can_hold(scale: Problem) -> None:
    large = declared(scale, "device")
    assert floor_seconds(large, GPU) == pytest.approx(SAFETY * (8 * N / 1e13))
    huge = large.model_copy(
        update={"sizes": large.sizes.model_copy(update={"time": {"n": 100 * N}})}
    )
    assert floor_seconds(huge, GPU) == pytest.approx(SAFETY * (800 * N - 10**6) / 4e12)


def test_the_floor_of_a_cpu_takes_its_fastest_cache(scale: Problem) -> None:
    assert floor_seconds(scale, CPU) == pytest.approx(SAFETY * 8 * N / 4e11)


def test_no_floor_where_the_function_may_exit_early(scale: Problem) -> None:
    early = declared(scale, early_exit=True)
    assert floor_seconds(early, CPU) is None


@pytest.mark.parametrize("target", ["openmp", "cuda"])
def test_a_floor_holds_where_nobody_has_measured_peaks(scale: Problem, target: Target) -> None:
    for metric in ("call", "device") if target == "cuda" else ("call",):
        problem = declared(scale, metric)
        floor = floor_seconds(problem, nominal(target, "machine", 2, 4.8e12))
        assert floor is not None
        failure = below_floor(account(problem, 1e-12, None), floor)
        assert failure is not None
        measured = floor_seconds(problem, GPU if target == "cuda" else CPU)
        assert measured is not None
        assert 1e-9 < floor < measured, "no measured device passes for one that cheats"


def test_no_floor_without_the_links_rate(scale: Problem) -> None:
    linkless = GPU.model_copy(update={"host_to_device": None})
    assert floor_seconds(scale, linkless) is None


def test_a_time_below_the_floor_is_suspicious_one_above_is_not(scale: Problem) -> None:
    floor = floor_seconds(scale, GPU)
    assert floor is not None
    failure = below_floor(account(scale, 0.9 * floor, GPU), floor)
    assert failure is not None
    assert failure.outcome is Outcome.SUSPICIOUS
    assert "1600000 bytes" in failure.diagnosis
    assert below_floor(account(scale, 1.1 * floor, GPU), floor) is None


def test_the_fastest_honest_call_stays_above_its_floor(scale: Problem) -> None:
    for peaks, problem in ((CPU, scale), (GPU, scale), (GPU, declared(scale, "device"))):
        floor = floor_seconds(problem, peaks)
        assert floor is not None
        assert floor < roof(problem, 1.0, peaks).seconds


@pytest.mark.parametrize("name", sorted(p.name for p in CORPUS.iterdir() if p.is_dir()))
def test_corpus_problems_declare_no_more_bytes_than_their_arrays_hold(name: str) -> None:
    problem = load_problem(CORPUS / name)
    derived = traffic(problem.model_copy(update={"work": DeclaredWork()})).total
    found = account(problem, 1.0, CPU)
    assert found.bytes <= derived
    assert problem.work.early_exit or found.bytes >= 0.5 * derived


def test_reports_written_before_accounts_can_be_read() -> None:
    field = EvalReport.model_fields["account"]
    assert field.default is None
    assert not field.is_required()


def test_reports_that_name_more_of_a_roof_can_be_read(scale: Problem) -> None:
    found = roof(scale, 1.0, CPU)
    older = found.model_dump() | {"light": {"bound": "memory", "seconds": 1.0}}
    assert Roof.model_validate(older) == found
