"""Which trajectories are kept, and what is counted once."""

import pytest

from regraph_kg.collect.judged_steps import choose_kept, counted_once, settled
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.trajectory import FailedStep, Measurement, Step, Trajectory
from tests.collect.toy_task import SERIAL, code


def step(mark: str, speedup: float | None = 2.0, reasoning: str = "why") -> Step:
    outcome = Outcome.UNSTABLE_TIMING if speedup is None else Outcome.PASSED
    measured = Measurement(
        device="a CPU",
        toolchain="g++",
        evaluator="3",
        run="r",
        outcome=outcome,
        seconds=1 / (speedup or 1),
        serial_seconds=1.0,
    )
    return Step(label=mark, reasoning=reasoning, code=code(mark), measurements=(measured,))


def trajectory(ref: str, *steps: Step, failures: tuple[FailedStep, ...] = ()) -> Trajectory:
    return Trajectory(
        schema=1,
        ref=ref,
        target="openmp",
        problem="scale",
        serial=SERIAL,
        steps=steps,
        failures=failures,
    )


@pytest.mark.parametrize(
    ("speedups", "least", "kept"),
    [((1.05,), 1.1, False), ((None,), 1.1, False), ((None,), 0, True), ((3.0, 0.5), 1.1, True)],
)
def test_the_fastest_step_must_be_fast_enough_where_that_is_asked_for(
    speedups: tuple[float | None, ...], least: float, kept: bool
) -> None:
    steps = [step(mark, speedup) for mark, speedup in zip("ab", speedups, strict=False)]
    chosen, left_out = choose_kept([trajectory("t", *steps)], least)
    assert (len(chosen), list(left_out)) == ((1, []) if kept else (0, ["t"]))


def test_the_same_steps_are_kept_once() -> None:
    kept, left_out = choose_kept([trajectory("t", step("a")), trajectory("u", step("a"))], 0)
    assert [one.ref for one in kept] == ["t"]
    assert list(left_out) == ["u"]


def test_shared_steps_and_their_failures_are_counted_once() -> None:
    failure = FailedStep(after_step=1, label="x", outcome=Outcome.CRASHED, code="c")
    first = trajectory("t", step("a"), step("b"), failures=(failure,))
    second = trajectory("u", step("a"), step("c"), failures=(failure,))
    once = counted_once([first, second])
    assert once[0] == first
    assert [len(step.measurements) for step in once[1].steps] == [0, 1]
    assert once[1].failures == ()


def test_what_the_full_grade_finds_wrong_ends_a_trajectory() -> None:
    bad = step("b")
    wrong = bad.measurements[0].model_copy(update={"outcome": Outcome.WRONG_ANSWER})
    late = FailedStep(after_step=2, label="x", outcome=Outcome.CRASHED)
    early = late.model_copy(update={"after_step": 1})
    one = trajectory(
        *("t", step("a"), bad.model_copy(update={"measurements": (wrong,)}), step("c")),
        failures=(early, late),
    )
    assert settled(one.model_copy(update={"steps": one.steps[1:]})) is None
    found = settled(one)
    assert found is not None
    assert [two.label for two in found.steps] == ["a"]
    assert [two.label for two in found.failures] == ["x", "b"]
