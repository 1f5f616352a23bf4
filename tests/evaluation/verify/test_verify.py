"""Cases cover shapes and distributions; runs that differ are told apart from wrong ones."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.problem.inputs import factors, levels
from regraph_kg.evaluation.problem.problem import Problem, SizesTable, load_problem
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.verify import large_outputs
from regraph_kg.evaluation.verify.cases import (
    check_shapes,
    covering,
    plan,
    shape_class,
    unaligned_shape,
)
from regraph_kg.evaluation.verify.outputs import ExpectedOutput
from regraph_kg.evaluation.verify.reference import References
from regraph_kg.evaluation.verify.verify import CallTimes, Verification, _unsteady
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.shared_memory import Layout
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

from ..caught import caught
from ..conftest import problem_named, scale_source


def shapes_of(problem: Problem, seed: int = 1) -> list[dict[str, int]]:
    return [dict(s) for s in check_shapes(problem, seed, Defences())]


def test_a_secret_shape_and_the_timing_shape_follow_the_declared_ones() -> None:
    problem = problem_named("scale")
    shapes = shapes_of(problem)
    assert shapes[:2] == [{"n": 1}, {"n": 1000}]
    assert 1 <= shapes[2]["n"] <= 1000
    assert shapes[3] == problem.sizes.time
    assert len({shapes_of(problem, seed)[2]["n"] for seed in range(20)}) > 10
    assert all(shapes_of(problem, seed)[2]["n"] % 32 for seed in range(200))


def test_the_secret_shape_is_never_a_declared_one() -> None:
    problem = problem_named("scale")
    for seed in range(2000):
        shapes = [shape["n"] for shape in shapes_of(problem, seed)]
        assert len(set(shapes)) == len(shapes) == 4


def test_a_problem_may_refuse_the_secret_shape() -> None:
    problem = problem_named("scale").model_copy(update={"held_out": False})
    assert shapes_of(problem) == [*problem.sizes.check, problem.sizes.time]


def test_without_its_defence_one_shape_is_left() -> None:
    problem = problem_named("scale")
    assert check_shapes(problem, 1, Defences(shapes=False)) == [{"n": 1000}]


def test_screening_takes_each_check_shape_and_each_distribution_once() -> None:
    problem = problem_named("scale")
    shapes = check_shapes(problem, 1, Defences())
    cases = plan(problem, shapes, 1, full=False)
    assert {case.sizes["n"] for case in cases} == {s["n"] for s in shapes[:3]}
    assert {levels(problem, case.variant) for case in cases} == {(0,), (1,), (2,), (3,)}
    assert len(cases) == 4 + 1 + 3
    ragged, other, last, changed = cases[-4:]
    assert (ragged.aligned, ragged.sizes) == (False, {"n": 1000})
    assert other.sizes == last.sizes == changed.sizes == {"n": 1000}
    assert other.variant != last.variant
    assert (last.version, changed) == (0, replace(last, version=1))


def test_arrays_of_the_device_keep_the_alignment_that_prompts_promise() -> None:
    problem = problem_named("scale").model_copy(update={"metric": "device"})
    cases = plan(problem, check_shapes(problem, 1, Defences()), 1, full=True)
    assert all(case.aligned for case in cases)


def test_the_full_grade_adds_pairs_seeds_and_the_timing_shape() -> None:
    problem = problem_named("bump")
    shapes = check_shapes(problem, 1, Defences())
    cases = plan(problem, shapes, 1, full=True)
    assert problem.sizes.time in [case.sizes for case in cases]
    # The timing shape and odd alignment start anew; what changes in place is the case before.
    assert len({case.seed for case in cases}) == len(cases) - 3
    assert cases == plan(problem, shapes, 1, full=True)
    assert cases[-1].sizes == {"n": 100, "k": 7}


@pytest.mark.parametrize(
    ("classes", "counts"),
    [
        (("one", "ragged", "aligned", "ragged", "ragged"), (4, 4)),
        (("one", "ragged"), (4, 2, 3)),
        (("ragged",), (1,)),
        (("one", "ragged", "aligned"), (6, 6, 6, 6)),
        (("one", "ragged"), ()),
    ],
)
def test_every_pair_occurs(classes: tuple[str, ...], counts: tuple[int, ...]) -> None:
    rows = covering(classes, counts, True)
    assert {row[0] for row in rows} == set(range(len(classes)))
    for factor, count in enumerate(counts, start=1):
        pairs = {(classes[row[0]], row[factor]) for row in rows}
        assert pairs == set(itertools.product(set(classes), range(count)))
    for one, other in itertools.combinations(range(len(counts)), 2):
        pairs = {(row[one + 1], row[other + 1]) for row in rows}
        assert pairs == set(itertools.product(range(counts[one]), range(counts[other])))


def test_the_array_is_small() -> None:
    """16 pairs of two arguments' distributions cannot be had in fewer calls; 12 of one's can."""
    assert len(covering(("one", "ragged", "aligned", "ragged", "ragged"), (4, 4), True)) <= 20
    assert len(covering(("one", "ragged", "aligned"), (4,), True)) == 12
    assert len(covering(("one", "ragged", "aligned", "ragged"), (4, 4), False)) == 4


def test_shapes_have_classes() -> None:
    shapes = [{"m": 1, "n": 1}, {"m": 64, "n": 32}, {"m": 64, "n": 31}]
    assert [shape_class(s) for s in shapes] == ["one", "aligned", "ragged"]


def test_the_cases_of_an_argument_cover_its_distributions() -> None:
    problem = problem_named("bump")
    assert factors(problem) == (1, 2)
    cases = plan(problem, check_shapes(problem, 1, Defences()), 1, full=True)
    assert {levels(problem, case.variant) for case in cases} == {(0, 0), (0, 1)}


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ([1.0, 2.0], [1.0, 2.0], None),
        ([1.0, 2.0], [1.0, 2.05], None),
        ([0.92, 2.0], [1.08, 2.0], "by more than the tolerance"),
        ([1.0, np.nan], [1.0, np.nan], None),
    ],
)
def test_floats_may_differ_between_runs_within_the_tolerance(
    first: list[float], second: list[float], says: str | None
) -> None:
    truths = {"y": ExpectedOutput(np.array([1.0, 2.0]), 0.1)}
    runs = [{"y": np.array(first)}, {"y": np.array(second)}]
    text = _unsteady(runs, truths)
    assert text is None if says is None else says in str(text)


def test_integers_may_not_differ_between_runs() -> None:
    truths = {"y": ExpectedOutput(np.array([1, 2]), 1.0)}
    assert "integers differ" in str(
        _unsteady([{"y": np.array([1, 2])}, {"y": np.array([1, 3])}], truths)
    )


@pytest.fixture
def examined(cache: Path) -> Iterator[Callable[..., Failure | bool]]:
    """Examine an openmp candidate for a problem, with real compilers and processes."""
    compiler, limits = (
        Compiler(cache / "compiled", find_gcc(), JudgeLimits()),
        JudgeLimits(call_seconds=1),
    )
    with ExitStack() as stack:

        def examine(problem: Problem, code: str) -> Failure | bool:
            shapes = check_shapes(problem, 1, Defences())
            layout = Layout(problem, alignment=64)
            calls = {(shape_text(sizes), True): [layout.call(sizes)] for sizes in shapes}
            odd = unaligned_shape(problem, shapes)
            calls[shape_text(odd), False] = [layout.call(odd, aligned=False)]
            shared = layout.build()
            stack.callback(shared.close)
            references = References(
                problem, built(problem.promoted(), problem.truth_code), shapes, limits
            )
            stack.callback(references.close)
            worker = stack.enter_context(
                Worker(built(problem, code), shared, Defences(), limits, threads=1)
            )
            worker.start()
            verification = Verification(
                problem, shared, calls, references, Defences(), CallTimes(1.0, 20.0)
            )
            return caught(verification.examine, worker, plan(problem, shapes, 1, full=True))

        def built(problem: Problem, code: str) -> Program:
            library = compiler.host(code, HOST_FLAGS)
            assert isinstance(library, Path)
            return Program(compiler.harness(problem), library, problem.entry)

        yield examine


Examined = Callable[..., Failure | bool]


def test_a_right_candidate_is_right_at_every_case_of_the_full_grade(examined: Examined) -> None:
    problem = problem_named("scale")
    assert examined(problem, problem.serial_code) is False


def test_a_float_that_varies_within_the_tolerance_is_flagged(examined: Examined) -> None:
    code = scale_source(
        "static int calls; ++calls; for (int i = 0; i < n; ++i)"
        " y[i] = a * x[i] * (calls % 2 ? 1.0f : 1.0000001f);"
    )
    assert examined(problem_named("scale"), code) is True


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "static float kept; static const float* at; if (n == 1000 && at == x && kept == x[0])"
            " return; at = x; kept = x[0]; for (int i = 0; i < n; ++i) y[i] = a * x[i];",
            None,
        ),
        (
            "if ((unsigned long)x % 8) return; for (int i = 0; i < n; ++i) y[i] = a * x[i];",
            "aligned to their elements only",
        ),
        (
            "static float kept[1000], out[1000]; if (n == 1000 && kept[0] == x[0] &&"
            " kept[999] == x[999]) { for (int i = 0; i < n; ++i) y[i] = out[i]; return; }"
            " for (int i = 0; i < n; ++i) { y[i] = a * x[i];"
            " if (n == 1000) { kept[i] = x[i]; out[i] = y[i]; } }",
            "a few elements changed in place after a call",
        ),
    ],
    ids=["returns at once", "wants alignment", "knows inputs by their ends"],
)
def test_what_a_candidate_takes_for_granted_is_told(
    examined: Examined, body: str, says: str | None
) -> None:
    failure = examined(problem_named("scale"), scale_source(body))
    assert isinstance(failure, Failure)
    assert failure.outcome in (Outcome.WRONG_ANSWER, Outcome.NONDETERMINISTIC)
    assert says is None or says in failure.diagnosis


def test_a_candidate_that_is_wrong_at_the_timing_shape_only_fails_the_full_grade(
    examined: Examined,
) -> None:
    code = scale_source("for (int i = 0; i < n; ++i) y[i] = n > 1000 ? 0 : a * x[i];")
    failure = examined(problem_named("scale"), code)
    assert isinstance(failure, Failure)
    assert failure.diagnosis.startswith("at shape n=200000")


def test_a_problem_with_its_own_generator_is_judged(examined: Examined) -> None:
    problem = problem_named("spmv")
    assert examined(problem, problem.serial_code) is False
    wrong = examined(problem, problem.serial_code.replace("start[i + 1]", "start[i + 1] - 1"))
    assert isinstance(wrong, Failure)
    assert wrong.outcome is Outcome.WRONG_ANSWER
    assert "start custom, column custom" in wrong.diagnosis


def test_large_products_are_checked_at_random(
    examined: Examined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_outputs, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(large_outputs, "_SAMPLES", 100)
    monkeypatch.setattr(large_outputs, "_ENDS", 10)
    matmul = load_problem(Path(__file__).parents[3] / "corpus" / "problems" / "matmul")
    small = SizesTable(check=({"m": 3, "n": 4, "k": 5},), time={"m": 60, "n": 70, "k": 80})
    problem = matmul.model_copy(update={"sizes": small})
    assert examined(problem, problem.serial_code) is False
    late = problem.serial_code.rpartition("}")[0] + "if (m > 9) C[m * n - 1] += 1; }"
    failure = examined(problem, late)
    assert isinstance(failure, Failure)
    assert "sampled" in failure.diagnosis


def test_a_secret_shape_has_elements_and_keeps_to_the_relations() -> None:
    problem = problem_named("bump")
    sizes = problem.sizes.model_copy(
        update={"check": ({"n": 0, "k": 0}, {"n": 500, "k": 500}), "require": ("k * 9 <= n",)}
    )
    related = problem.model_copy(update={"sizes": sizes})
    for seed in range(50):
        secret = check_shapes(related, seed, Defences())[2]
        assert 1 <= secret["k"] * 9 <= secret["n"] <= 500
    impossible = sizes.model_copy(update={"require": ("k > n + 500",)})
    shapes = check_shapes(problem.model_copy(update={"sizes": impossible}), 1, Defences())
    assert len(shapes) == 3, "the declared ones and the timing shape"


def test_empty_shapes_occur_once_and_stand_for_no_distribution() -> None:
    rows = covering(("empty", "ragged", "one"), (3, 2), True)
    assert sum(row[0] == 0 for row in rows) == 1
    with_elements = {(row[0], row[1]) for row in rows if row[0]}
    assert with_elements == {(shape, place) for shape in (1, 2) for place in range(3)}


class Dawdler:
    """A worker whose calls take so many seconds, or are ended."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now, self._seconds = 0.0, seconds
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def call(self, _: Sequence[int], seconds: float) -> Elapsed:
        self.now += min(self._seconds, seconds)
        if self._seconds > seconds:
            raise Failure(Outcome.TIMED_OUT, f"no result after {seconds:.3g} s: killed")
        return Elapsed(self._seconds, self._seconds)


@pytest.mark.parametrize(
    ("seconds", "calls", "said"),
    [(0.9, 11, "this call and those before it took 10 s"), (1.1, 0, "no result after 1 s")],
)
def test_calls_that_each_end_in_time_may_not_take_forever(
    monkeypatch: pytest.MonkeyPatch, seconds: float, calls: int, said: str
) -> None:
    worker: Any = Dawdler(monkeypatch, seconds)
    times = CallTimes(call=1.0, all=10.0)
    for _ in range(calls):
        times.spend(worker, [0])
    with pytest.raises(Failure) as late:
        times.spend(worker, [0])
    assert late.value.diagnosis.startswith(said)
