"""Which trajectories are kept, and what is counted once."""

import pytest

from regraph_kg.collect.build import settled
from regraph_kg.collect.curate import CurationRules, counted_once, curate
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.trajectory import FailedStep, Measurement, Step, Trajectory
from tests.collect.toy_task import SERIAL, code

LAX = CurationRules(min_speedup=0)


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
    ("one", "why"),
    [
        (trajectory("t", step("a", 1.05)), "at most 1.05x, below 1.1x (--min-speedup)"),
        (trajectory("t", step("a", None)), "no step was timed well"),
        (trajectory("t", step("a", reasoning="x" * 3000)), "3000 characters (--max-reasoning)"),
        (trajectory("t", *[step(f"a{n}") for n in range(30)]), "30 steps (--max-steps)"),
    ],
)
def test_a_broken_rule_is_named(one: Trajectory, why: str) -> None:
    found = curate([one], CurationRules())
    assert found.kept == ()
    assert why in found.left_out["t"]


def test_steps_that_made_it_slower_stay_where_one_is_fast() -> None:
    one = trajectory("t", step("a", 3.0), step("b", 0.5))
    assert curate([one], CurationRules()).kept == (one,)


def test_untimed_ones_are_kept_where_no_speedup_is_asked_for() -> None:
    assert len(curate([trajectory("t", step("a", None))], LAX).kept) == 1


def test_the_same_steps_are_kept_once() -> None:
    found = curate([trajectory("t", step("a")), trajectory("u", step("a"))], LAX)
    assert [one.ref for one in found.kept] == ["t"]
    assert found.left_out == {"u": "the same steps as t"}


def test_of_equally_fast_ones_the_briefer_is_kept() -> None:
    several = [
        trajectory("slow", step("a", 2.0)),
        trajectory("wordy", step("b", 4.1, "very long")),
        trajectory("brief", step("c", 4.0, "short")),
    ]
    assert [one.ref for one in curate(several, CurationRules(keep=1)).kept] == ["brief"]
    assert [one.ref for one in curate(several, CurationRules(keep=2)).kept] == ["wordy", "brief"]


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
    found = settled(one, (1, 0, 0))
    assert found is not None
    assert [two.label for two in found.steps] == ["a"]
    assert found.steps[0].measurements[0].repairs == 1
    assert [two.label for two in found.failures] == ["x", "b"]


def test_nothing_is_left_where_the_first_step_is_wrong() -> None:
    bad = step("b")
    wrong = bad.measurements[0].model_copy(update={"outcome": Outcome.WRONG_ANSWER})
    one = trajectory("t", bad.model_copy(update={"measurements": (wrong,)}))
    assert settled(one, (0,)) is None
