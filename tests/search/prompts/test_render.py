"""What a small model is told, and in which order.

A whole prompt as it is sent: tests/search/test_prompt_of_run.py.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.search.prompts import render as module
from regraph_kg.search.prompts.render import prompts_id, render
from tests.search.toy import TASK, technique

KEY = PromptKey(problem="toy", target="openmp", path=("openmp/a",))


def asks(task: Task) -> list[Prompt]:
    """A step, and a free choice."""
    return [
        render(task, KEY, code="int a;", technique=technique("a"), seed=3),
        render(task, KEY, code="int b;"),
    ]


def test_technique_code_and_signature_stand_in_order_before_the_answer_format() -> None:
    user = asks(TASK)[0].user
    places = [user.index(part) for part in ("Do a to the loops.", "int a;", TASK.signature)]
    assert places == sorted(places)
    assert user.endswith("```cpp\n...\n```")


def test_the_constant_part_is_that_of_the_target_in_every_prompt_of_a_run() -> None:
    (system,) = {prompt.system for prompt in asks(TASK)}
    (other,) = {p.system for p in asks(Task("p", "openmp", "int s;", "f", 'extern "C" void f()'))}
    (cuda,) = {prompt.system for prompt in asks(replace(TASK, target="cuda"))}
    assert system == other != cuda


def test_dollars_and_braces_of_code_survive() -> None:
    code = 'asm("%0 $1 ${x} {y}");'
    assert code in render(TASK, KEY, code=code).user


def test_a_changed_template_changes_the_identity_of_the_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(module.FOLDER, tmp_path / "prompts")
    (tmp_path / "prompts" / "__pycache__").mkdir(exist_ok=True)
    (tmp_path / "prompts" / "render.py").write_text("# what renders them is no template\n")
    usual = prompts_id()
    assert usual.startswith(f"{module.VERSION}:")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "prompts")
    assert prompts_id() == usual
    (tmp_path / "prompts" / "answer.txt").write_text("Answer.\n")
    assert prompts_id() != usual
