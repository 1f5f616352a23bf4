"""A large model is asked step by step: repairs, limits, unusable answers."""

import pytest

from regraph_kg.collect.conversation import PATIENCE, REPAIRS, Conversation, read_answer
from regraph_kg.collect.judged_steps import TrajectoryDraft
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.trajectory import Source, Step
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


def conversation(scribe: Scribe, steps: int = 8, number: int = 0) -> Conversation:
    draft = TrajectoryDraft(TASK.target, TASK.problem, TASK.serial, Source(run="now"), "a name")
    return Conversation(TASK, number, scribe, judge, steps, ["loop tiling"], draft)


def collected(scribe: Scribe, steps: int = 8) -> TrajectoryDraft:
    asking = conversation(scribe, steps)
    asking.propose()
    return asking.draft


def labels(draft: TrajectoryDraft) -> list[str]:
    return [step.label for step in draft.steps]


def test_right_steps_become_a_trajectory_with_its_source() -> None:
    scribe = Scribe(step("Vectorize", "fast2"), step("Threads", "fast6"), DONE)
    draft = collected(scribe)
    built = draft.trajectory()
    assert built is not None
    assert labels(draft) == ["Vectorize", "Threads"]
    assert built.steps[0].reasoning == "It helps."
    assert built.source == Source(model="a model", run="now")
    assert "1. Vectorize: 2x" in scribe.prompts[1].user
    assert "loop tiling" in scribe.prompts[0].user


def test_a_failure_is_repaired_by_its_diagnosis_and_kept() -> None:
    scribe = Scribe(step("Threads", "wrong"), "no code", step("Threads", "fast3"), DONE)
    draft = collected(scribe)
    assert "y[3] is 1, should be 2" in scribe.prompts[1].user
    (failure,) = draft.failures
    assert (failure.after_step, failure.outcome) == (0, Outcome.WRONG_ANSWER)
    assert failure.code == code("wrong")


def test_a_model_that_never_gives_code_is_asked_a_bounded_number_of_times() -> None:
    scribe = Scribe(*["I cannot do that."] * 100)
    collected(scribe)
    assert len(scribe.prompts) == PATIENCE * (REPAIRS + 1)


def test_the_same_step_for_ever_ends_it() -> None:
    scribe = Scribe(*[step("Vectorize", "fast2")] * 100)
    assert labels(collected(scribe)) == ["Vectorize"]
    assert len(scribe.prompts) == 1 + PATIENCE


def test_fifty_steps_are_cut_at_the_limit() -> None:
    draft = collected(Scribe(*[step("More", f"fast{n + 2}") for n in range(50)]), steps=8)
    assert len(draft.steps) == 8


def test_steps_that_make_nothing_faster_end_it_but_stay() -> None:
    draft = collected(Scribe(step("A", "fast2"), step("B", "fast1.5"), step("C", "fast1.2")))
    assert labels(draft) == ["A", "B", "C"]


def test_two_trajectories_of_a_problem_ask_apart() -> None:
    scribe = Scribe(DONE, DONE)
    for number in (0, 1):
        conversation(scribe, number=number).propose()
    first, second = scribe.prompts
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
    assert isinstance(found, Step)
    assert found.label == label


@pytest.mark.parametrize(
    "text", [f"Faster:\n```\n{code('x')}```", f"TECHNIQUE: a\n```\n\0{code('x')}```"]
)
def test_code_without_a_technique_or_that_no_file_can_hold_is_no_step(text: str) -> None:
    assert isinstance(read_answer(Reply(text=text, finish="stop"), "scale"), ParseFailure)


def test_a_cut_answer_is_not_taken_for_the_end() -> None:
    assert isinstance(read_answer(Reply(text=DONE, finish="length"), "scale"), ParseFailure)
    assert read_answer(Reply(text=DONE, finish="stop"), "scale") == "it is bound by memory."
