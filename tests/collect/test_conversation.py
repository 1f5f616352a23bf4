"""A large model is asked step by step: repairs, limits, and answers that are of no use."""

from collections.abc import Iterator

import pytest

from regraph_kg.collect.answer import AnsweredStep, NoFurtherStep, read_answer
from regraph_kg.collect.build import BuiltTrajectory, build
from regraph_kg.collect.conversation import AskingLimits, Conversation
from regraph_kg.errors import AnswersPending
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.trajectory import Source
from regraph_kg.search.read_answer import ParseFailure
from tests.collect.toy_task import TASK, code, judge

DONE = "NO FURTHER STEP: it is bound by memory."


def step(label: str, mark: str, reasoning: str = "It helps.") -> str:
    return f"TECHNIQUE: {label}\nREASONING: {reasoning}\nDETAIL: A loop.\n```cpp\n{code(mark)}```\n"


class Scribe:
    """Answers in turn, and remembers what it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = iter(answers)
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        return Reply(text=next(self._answers), finish="stop", model="a model")


def collected(scribe: Scribe, **limits: int) -> BuiltTrajectory:
    asking = Conversation(
        TASK, 0, scribe, AskingLimits(**limits), ["loop tiling"], Source(run="collect now")
    )
    return build(asking, TASK, judge)


def test_right_steps_become_a_trajectory_with_its_source() -> None:
    scribe = Scribe(step("Vectorize", "fast2"), step("Threads", "fast6"), DONE)
    built = collected(scribe)
    assert built.trajectory is not None
    assert [step.label for step in built.trajectory.steps] == ["Vectorize", "Threads"]
    assert built.trajectory.steps[0].reasoning == "It helps."
    assert built.trajectory.source == Source(model="a model", run="collect now")
    assert built.ended == "the model sees no further step: it is bound by memory."
    assert "1. Vectorize: 2x" in scribe.prompts[1].user
    assert "loop tiling" in scribe.prompts[0].user


def test_a_failure_is_repaired_by_its_diagnosis_and_kept() -> None:
    scribe = Scribe(step("Threads", "wrong"), "no code", step("Threads", "fast3"), DONE)
    built = collected(scribe)
    assert built.trajectory is not None
    assert "y[3] is 1, should be 2" in scribe.prompts[1].user
    assert "the answer has no" in scribe.prompts[2].user
    (failure,) = built.trajectory.failures
    assert (failure.after_step, failure.label, failure.outcome) == (
        0,
        "Threads",
        Outcome.WRONG_ANSWER,
    )
    assert failure.code == code("wrong")
    assert built.repairs == (2,)


def test_a_model_that_proposes_no_step_leaves_nothing() -> None:
    built = collected(Scribe(DONE))
    assert built.trajectory is None
    assert built.ended.startswith("the model sees no further step")


def test_a_model_that_never_gives_code_is_asked_a_bounded_number_of_times() -> None:
    scribe = Scribe(*["I cannot do that."] * 100)
    built = collected(scribe, repairs=2, patience=2)
    assert len(scribe.prompts) == 6
    assert built.ended == "2 tries in a row made nothing faster"


def test_the_same_step_for_ever_ends_it() -> None:
    scribe = Scribe(*[step("Vectorize", "fast2")] * 100)
    built = collected(scribe, patience=3)
    assert built.trajectory is not None
    assert (len(built.trajectory.steps), built.unchanged) == (1, 3)
    assert "Vectorize (the code was the same as before)" in scribe.prompts[-1].user
    assert len(scribe.prompts) == 4


def test_fifty_steps_are_cut_at_the_limit() -> None:
    built = collected(Scribe(*[step("More", f"fast{n + 2}") for n in range(50)]), steps=8)
    assert built.trajectory is not None
    assert len(built.trajectory.steps) == 8
    assert built.ended == "8 steps, as many as are asked for"


def test_steps_that_make_nothing_faster_end_it_but_stay() -> None:
    built = collected(Scribe(step("A", "fast2"), step("B", "fast1.5"), step("C", "fast1.2")))
    assert built.trajectory is not None
    assert [step.label for step in built.trajectory.steps] == ["A", "B", "C"]


def test_calls_stay_below_the_bound_that_is_told() -> None:
    limits = AskingLimits(steps=3, repairs=1, patience=2)

    def worst() -> Iterator[str]:
        for n in range(100):
            yield from ("no code", "no code", "no code", step("A", f"fast{n + 2}"))

    scribe = Scribe(*worst())
    collected(scribe, steps=3, repairs=1, patience=2)
    assert len(scribe.prompts) <= limits.calls


def test_an_answer_to_come_by_file_is_waited_for() -> None:
    def pending(_: Prompt) -> Reply:
        raise AnswersPending("later")

    asking = Conversation(TASK, 0, pending, AskingLimits(), [], Source())
    with pytest.raises(AnswersPending):
        build(asking, TASK, judge)


def test_two_trajectories_of_a_problem_ask_apart() -> None:
    first, second = (
        Conversation(TASK, n, Scribe(), AskingLimits(), [], Source()).first_prompt() for n in (0, 1)
    )
    assert first.user == second.user
    assert (first.seed, first.key) != (second.seed, second.key)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("**TECHNIQUE:** Loop tiling\n", "Loop tiling"),
        ("## TECHNIQUE: `Loop tiling`.\n", "Loop tiling"),
        ("<think>TECHNIQUE: other ```cpp\nint scale();\n```</think>TECHNIQUE: Tiling\n", "Tiling"),
        ("TECHNIQUE: a\x1b[31mb\n", "a[31mb"),
    ],
)
def test_a_label_is_read_however_it_is_dressed(text: str, label: str) -> None:
    found = read_answer(Reply(text=f"{text}```\n{code('x')}```", finish="stop"), "scale")
    assert isinstance(found, AnsweredStep)
    assert found.label == label


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"Faster:\n```\n{code('x')}```", "names no technique"),
        (f"TECHNIQUE: a\n```\n\0{code('x')}```", "null character"),
    ],
)
def test_code_without_a_technique_or_that_no_file_can_hold_is_no_step(text: str, why: str) -> None:
    found = read_answer(Reply(text=text, finish="stop"), "scale")
    assert isinstance(found, ParseFailure)
    assert why in found.reason


def test_a_cut_answer_is_not_taken_for_the_end() -> None:
    assert isinstance(read_answer(Reply(text=DONE, finish="length"), "scale"), ParseFailure)
    assert isinstance(read_answer(Reply(text=DONE, finish="stop"), "scale"), NoFurtherStep)
