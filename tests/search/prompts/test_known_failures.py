"""What a prompt warns of: failures that the graph knows, and those of its own run."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from regraph_kg.models.graph import KnownFailure
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.prompts.adviser import (
    LIKE_FAILED,
    SHORT_DIFF_LINES,
    KnownFailures,
    likeness,
    similar,
)
from regraph_kg.search.prompts.examples import DIAGNOSIS_CHARACTERS
from tests.search.prompts.test_render import known, stands_in_order
from tests.search.toy import SERIAL, Toy, code, fenced, header, searching

CODE = "\n".join(f"x[{n}] += a{n};" for n in range(20))


def changed(lines: int) -> str:
    """`CODE`, but for so many lines."""
    return "\n".join(f"other(y{n});" if n < lines else f"x[{n}] += a{n};" for n in range(20))


def warned(known_ones: Sequence[KnownFailure], code: str = CODE, limit: int = 2) -> str:
    failures = KnownFailures(lambda *asked: tuple(known_ones), limit)
    return "\n".join(failures.warnings("openmp/start", "openmp/a", code))


# --- which ---


def test_failures_of_the_most_similar_code_come_first_wherever_they_were_read() -> None:
    ones = [known(f"from {'x' * n}", changed(n)) for n in (9, 4, 1, 6)]
    assert [one.before for one in similar(ones, CODE)] == [changed(n) for n in (1, 4, 6, 9)]
    assert warned(ones).count("Known to fail") == 2


def test_a_failure_of_other_code_is_no_warning() -> None:
    far = known("far", changed(18))
    assert likeness(far.before, CODE) < LIKE_FAILED < likeness(changed(9), CODE)
    assert warned([far]) == ""


def test_what_failed_on_several_problems_is_a_warning_for_all_code_after_what_is_like_it() -> None:
    general = [known("general", changed(20), problem=name) for name in ("dot", "sum")]
    assert [one.diagnosis for one in similar([*general, known("near", CODE)], CODE)] == [
        "near",
        "general",
    ]
    assert similar([general[0], replace(general[1], problem="dot")], CODE) == []


def test_failures_that_differ_in_numbers_only_are_one_and_the_most_similar_stands() -> None:
    ones = [known(f"line {n}: y[{n}] is {n}.5", changed(n)) for n in (8, 2, 4)]
    (told,) = similar(ones, CODE)
    assert told.before == changed(2)
    assert len(similar([*ones, replace(ones[0], diagnosis="line 8: z")], CODE)) == 2


@pytest.mark.parametrize(
    "other",
    [CODE.replace("\n", "\n\n  "), CODE.replace(";", "; // why"), f"/* {changed(20)} */\n{CODE}"],
)
def test_blanks_and_comments_make_no_code_less_alike(other: str) -> None:
    assert likeness(CODE, other) == 1


def test_likeness_is_the_same_from_both_sides_and_none_without_code() -> None:
    assert likeness(CODE, changed(7)) == likeness(changed(7), CODE)
    assert likeness("", CODE) == 0 == likeness("a", "b")


# --- how ---


def test_known_failures_are_told_shortly_and_no_more_than_asked() -> None:
    ones = [known(said, CODE) for said in ("word " * 500, "second", "third")]
    text = warned(ones)
    assert stands_in_order(text, ["Known to fail here (wrong_answer):\n```text\nword", "second"])
    assert "third" not in text
    assert text.count("word ") * len("word ") <= DIAGNOSIS_CHARACTERS + 5


def test_without_warnings_nobody_is_asked() -> None:
    def ask(*_: str) -> tuple[KnownFailure, ...]:
        raise AssertionError("was asked")

    assert KnownFailures(ask, 0).warnings("openmp/start", "openmp/a", CODE) == []


def test_what_was_tried_is_shown_as_a_short_change_of_the_present_code() -> None:
    tried = CODE.replace("a4;", "b4;")
    assert "-x[4] += a4;\n+x[4] += b4;" in warned([known("near", CODE, code=tried)])
    long = "\n".join(f"z{n};" for n in range(SHORT_DIFF_LINES))
    for same_or_long in (CODE, long, ""):
        assert "```diff" not in warned([known("near", CODE, code=same_or_long)])


# --- a run's own ---


def answers(key: PromptKey) -> str:
    """A first try that is wrong, a repair that crashes; from then on right, ever the faster."""
    if key.attempt == 0 and len(key.path) == 1:
        return fenced(code("crashed" if key.repair else "wrong_answer", key.path))
    return fenced(code(0.1 * len(key.path), (key.path, key.attempt)))


def prompts(toy: Toy) -> list[Prompt]:
    return [prompt for prompt in toy.prompts if prompt.key.repair == 0]  # type: ignore[union-attr]


def test_a_run_warns_of_what_it_met_on_the_same_transition_before() -> None:
    toy = Toy({"start": ["a", "b"]}, answers)
    list(searching(toy.world, header(8, settings=McgsSettings(free=False, samples=2, repairs=1))))
    for name in ("a", "b"):
        first, second = [prompt.user for prompt in prompts(toy) if f"Do {name} " in prompt.user]
        assert "Known to fail" not in first
        told = ["Known to fail here (crashed):\n```text\nit crashed", "+extern", "(wrong_answer)"]
        assert stands_in_order(second, told)  # the newest of equals first, with what was tried
        assert f"-{SERIAL}" in second


def test_a_failure_on_one_path_is_a_warning_on_others_that_share_the_transition() -> None:
    def answer(key: PromptKey) -> str:
        fails = len(key.path) == 2
        return fenced(code("wrong_answer" if fails else 0.5, (key.path[:1], key.attempt)))

    toy = Toy({"start": ["a"], "a": ["b"]}, answer)
    list(searching(toy.world, header(20, settings=McgsSettings(free=False, samples=2, repairs=0))))
    paths = [(prompt.key.path, "Known to fail" in prompt.user) for prompt in toy.prompts]
    below = [(path[0], told) for path, told in paths if len(path) == 2]
    assert below[0][1] is False
    assert all(told for _, told in below[1:])
    assert {path for path, _ in below} == {"openmp/a", "openmp/a#1"}


def test_an_answer_without_code_is_no_warning() -> None:
    toy = Toy({"start": ["a"]}, lambda key: "I cannot do that.")
    list(searching(toy.world, header(4, settings=McgsSettings(free=False, samples=2, repairs=0))))
    assert not any("Known to fail" in prompt.user for prompt in toy.prompts)
