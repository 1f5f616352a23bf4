"""A large model takes one technique out of a fast version after the other: steps, turned round."""

from regraph_kg.collect.backwards import Backwards
from regraph_kg.collect.build import BuiltTrajectory, build
from regraph_kg.collect.conversation import AskingLimits
from regraph_kg.models.trajectory import Source
from tests.collect.test_conversation import DONE, Scribe, step
from tests.collect.toy_task import SERIAL, TASK, code, judge

BEST = code("fast9")
START = f"TECHNIQUE: Threads\nREASONING: Cores are idle.\nDETAIL: A pragma.\n```cpp\n{SERIAL}```\n"


def back(scribe: Scribe, best: str = BEST, **limits: int) -> BuiltTrajectory:
    source = Source(run="collect now")
    asking = Backwards(TASK, 0, scribe, AskingLimits(**limits), [], source, best=best)
    return build(asking, TASK, judge)


def test_steps_back_become_a_trajectory_forwards() -> None:
    scribe = Scribe(step("Streaming stores", "fast6", "Lines are read in vain."), START)
    built = back(scribe)
    assert built.trajectory is not None
    assert built.trajectory.serial == SERIAL
    assert [(one.label, one.reasoning, one.code) for one in built.trajectory.steps] == [
        ("Threads", "Cores are idle.", code("fast6")),
        ("Streaming stores", "Lines are read in vain.", BEST),
    ]
    assert built.trajectory.ref == "collect now/scale-openmp-back-0"
    assert built.ended == "the original code is reached"


def test_the_model_sees_both_codes_and_what_it_took_out() -> None:
    scribe = Scribe(step("Streaming stores", "fast6"), START)
    back(scribe)
    first, second = (prompt.user for prompt in scribe.prompts)
    assert SERIAL.strip() in first
    assert BEST.strip() in first
    assert "Streaming stores" not in first
    assert "1. Streaming stores" in second
    assert BEST.strip() not in second


def test_code_that_gives_other_results_is_sent_back_and_leaves_nothing() -> None:
    scribe = Scribe(step("Stores", "wrong"), step("Stores", "fast6"), START)
    built = back(scribe)
    assert "y[3] is 1, should be 2" in scribe.prompts[1].user
    assert built.trajectory is not None
    assert built.trajectory.failures == ()
    assert built.failed == 1
    assert built.repairs == (0, 1)


def test_the_serial_code_must_be_reached() -> None:
    for answers, ended in (
        ([step("Stores", "fast6")], "1 steps back did not reach the original code"),
        ([DONE], "the model ended before the original code: it is bound by memory."),
        ([step("Stores", "fast9")] * 2, "2 tries in a row took nothing out"),
    ):
        built = back(Scribe(*answers), steps=1)
        assert built.trajectory is None
        assert built.ended == ended


def test_a_fast_version_that_is_not_right_or_not_new_asks_nobody() -> None:
    for best, ended in (
        (code("wrong"), "the fast version: wrong"),
        (SERIAL, "the fast version is the original code"),
    ):
        scribe = Scribe()
        built = back(scribe, best)
        assert (built.trajectory, scribe.prompts, built.ended) == (None, [], ended)
