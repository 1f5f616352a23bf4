"""What a small model is told, and in which order."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import Task
from regraph_kg.search import prompt as module
from regraph_kg.search.prompt import (
    DIFF_LINES,
    REASONING_CHARACTERS,
    Adviser,
    Failure,
    free_advice,
    prompts_id,
    render,
)
from tests.search.toy import TASK, example, technique

KEY = PromptKey(problem="toy", target="openmp", path=("openmp/a",))


def test_a_repair_prompt_ends_with_failure_failed_code_and_answer_format() -> None:
    failure = Failure(Outcome.WRONG_ANSWER, "index 3: expected 1, got 2", "int failed;")
    user = render(TASK, KEY, code="int now;", advice="ADVICE", failure=failure).user
    order = ["ADVICE", "int now;", TASK.signature, "wrong_answer", "index 3", "int failed;"]
    positions = [user.index(part) for part in order]
    assert positions == sorted(positions)
    assert user.endswith("```cpp\n...\n```")


def test_a_failure_without_code_shows_none() -> None:
    failure = Failure(Outcome.PARSE_FAILED, "the answer is empty", None)
    user = render(TASK, KEY, code="int now;", advice="ADVICE", failure=failure).user
    assert "the answer is empty" in user
    assert "That answer was" not in user


def test_the_constant_part_depends_on_the_target_alone() -> None:
    other = Task("p", "openmp", "int s;", "f", 'extern "C" void f()')
    one = render(TASK, KEY, code="int a;", advice="A").system
    assert one == render(other, KEY, code="int b;", advice="B", seed=3).system
    assert one != render(replace(TASK, target="cuda"), KEY, code="int a;", advice="A").system


def test_dollars_and_braces_of_code_survive() -> None:
    code = 'asm("%0 $1 ${x} {y}");'
    assert code in render(TASK, KEY, code=code, advice=free_advice()).user


def test_examples_are_diffs_best_first_and_no_more_than_asked() -> None:
    shown = [replace(example("s", "a"), reasoning=f"Reason {n}.") for n in range(4)]
    advice = Adviser(lambda source, target: tuple(shown), 2)("openmp/start", technique("a"))
    assert "Reason 0." in advice
    assert "Reason 1." in advice
    assert "Reason 2." not in advice
    assert "-int b;\n+int bb;" in advice


def test_without_examples_the_definition_stands_alone() -> None:
    advice = Adviser(lambda source, target: (), 2)("openmp/start", technique("a"))
    assert advice.endswith("Do a to the loops.")


def test_a_long_example_is_cut() -> None:
    long = replace(
        example("s", "a"),
        before="",
        after="".join(f"int x{n};\n" for n in range(500)),
        reasoning="word " * 500,
    )
    advice = Adviser(lambda source, target: (long,), 1)("openmp/start", technique("a"))
    assert advice.count("+int x") == DIFF_LINES - 3
    assert 200 < advice.count("word ") * len("word ") < REASONING_CHARACTERS + 5


def test_the_examples_of_a_transition_are_read_once() -> None:
    reads: list[tuple[str, str]] = []
    adviser = Adviser(lambda source, target: reads.append((source, target)) or (), 2)
    assert adviser("openmp/start", technique("a")) == adviser("openmp/start", technique("a"))
    adviser("openmp/b", technique("a"))
    assert reads == [("openmp/start", "openmp/a"), ("openmp/b", "openmp/a")]


def test_the_nearest_examples_are_read_once_a_code() -> None:
    reads: list[tuple[str, ...]] = []
    adviser = Adviser(lambda *asked: reads.append(asked) or (), 2, "near")
    for code in ("int a;", "int b;", "int a;"):
        adviser("openmp/start", technique("a"), code)
    assert reads == [
        ("openmp/start", "openmp/a", "int a;"),
        ("openmp/start", "openmp/a", "int b;"),
    ]


def test_the_best_examples_do_not_hang_on_the_code() -> None:
    reads: list[tuple[str, ...]] = []
    adviser = Adviser(lambda *asked: reads.append(asked) or (), 2)
    for code in ("int a;", "int b;"):
        adviser("openmp/start", technique("a"), code)
    assert reads == [("openmp/start", "openmp/a")]


def test_no_examples_wanted_none_read() -> None:
    Adviser(lambda source, target: pytest.fail("read"), 0)("openmp/start", technique("a"))


def test_a_changed_template_changes_the_identity_of_the_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(module._FOLDER, tmp_path / "prompts")
    usual = prompts_id()
    assert usual.startswith("1:")
    monkeypatch.setattr(module, "_FOLDER", tmp_path / "prompts")
    assert prompts_id() == usual
    (tmp_path / "prompts" / "answer.txt").write_text("Answer.\n")
    assert prompts_id() != usual
