"""What a small model is told, and in which order.

After a wanted change of a text: `pytest tests/search/prompts/test_render.py --write-golden`, and
read the diff of tests/golden/prompt-*.txt.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example, KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.prompts import render as module
from regraph_kg.search.prompts.adviser import Adviser, KnownFailures
from regraph_kg.search.prompts.parts import parts_of, together
from regraph_kg.search.prompts.render import (
    FailedAnswer,
    cot_advice,
    free_advice,
    prompts_id,
    rag_advice,
    render,
)
from tests.search.toy import TASK, example

ROOT = Path(__file__).parents[3]
KEY = PromptKey(problem="toy", target="openmp", path=("openmp/a",))
FAILURE = FailedAnswer(Outcome.WRONG_ANSWER, "index 3: expected 1, got 2", "int failed;")


def numbered(count: int, **changes: object) -> list[Example]:
    """Examples with reasonings "Reason 0.", "Reason 1.", ..."""
    return [
        replace(example("s", "a"), reasoning=f"Reason {n}.", **changes)  # type: ignore[arg-type]
        for n in range(count)
    ]


def known(diagnosis: str = "it is wrong", before: str = "", **fields: str) -> KnownFailure:
    usual = {"code": "", "problem": "toy", "model": "a model"}
    told = usual | fields
    return KnownFailure(Outcome.WRONG_ANSWER, diagnosis, before=before, **told)


def stands_in_order(text: str, parts: Sequence[str]) -> bool:
    positions = [text.index(part) for part in parts]
    return positions == sorted(positions)


# --- the order of parts ---


def test_a_repair_prompt_ends_with_failure_failed_code_and_answer_format() -> None:
    user = render(TASK, KEY, code="int now;", advice="ADVICE", failure=FAILURE).user
    order = ["ADVICE", "int now;", TASK.signature, "wrong_answer", "index 3", "int failed;"]
    assert stands_in_order(user, order)
    assert user.endswith("```cpp\n...\n```")


def test_a_failure_without_code_shows_none() -> None:
    failure = FailedAnswer(Outcome.PARSE_FAILED, "the answer is empty", None)
    user = render(TASK, KEY, code="int now;", advice="ADVICE", failure=failure).user
    assert "the answer is empty" in user
    assert "That answer was" not in user


def asks(task: Task) -> list[Prompt]:
    """One prompt of every kind."""
    return [
        render(task, KEY, code="int a;", advice="A", seed=3),
        render(task, KEY, code="int b;", advice=cot_advice(), failure=FAILURE),
    ]


def test_the_constant_part_is_that_of_the_target_in_every_prompt_of_a_run() -> None:
    (system,) = {prompt.system for prompt in asks(TASK)}
    (other,) = {p.system for p in asks(Task("p", "openmp", "int s;", "f", 'extern "C" void f()'))}
    (cuda,) = {prompt.system for prompt in asks(replace(TASK, target="cuda"))}
    assert system == other != cuda


def test_dollars_and_braces_of_code_survive() -> None:
    code = 'asm("%0 $1 ${x} {y}");'
    assert code in render(TASK, KEY, code=code, advice=free_advice()).user


# --- the other methods' prompts ---


def test_examples_of_other_code_are_named_by_their_technique() -> None:
    others = [replace(one, target="openmp/cache-tiling") for one in numbered(3)]
    best = Prompting(retrieval="best")
    advice = together(parts_of(rag_advice(others, best, "int a;", "toy")))
    assert "Example from other code, cache tiling (2x as fast on this machine): Reason 0." in advice
    assert "Reason 2." not in advice
    assert rag_advice([], best, "int a;") == free_advice()
    assert rag_advice(others, Prompting(), "float unlike;") == free_advice()
    assert rag_advice(others, Prompting(examples=0), "int a;") == free_advice()


# --- the texts ---


def golden_prompt() -> Prompt:
    """A full prompt for code, from the corpus."""
    found = {load["id"]: load for load in json.loads((ROOT / "corpus/techniques.json").read_text())}
    tiling = Technique.model_validate(found["openmp/cache-tiling"])
    lines = (ROOT / "corpus/trajectories/matmul.openmp.jsonl").read_text().splitlines()
    walk = json.loads(lines[0])
    codes = [step["code"] for step in walk["steps"]]
    shown = replace(
        example("openmp/simd", tiling.id),
        before=codes[2],
        after=codes[3],
        reasoning=walk["steps"][3]["reasoning"],
    )
    tried = codes[1].replace("p < k;", "p < n;")
    failing = known("size 65: index 64: expected 2, got 0", codes[0], code=tried)
    advice = Adviser(
        lambda *asked: (shown,), KnownFailures(lambda *asked: (failing,), 2), Prompting()
    )
    return render(
        TASK,
        KEY,
        code=codes[1],
        advice=advice("openmp/parallel-for", tiling, codes[1]),
        failure=FailedAnswer(Outcome.COMPILE_FAILED, "line 3: 'BS' was not declared", codes[0]),
    )


def test_a_full_prompt_reads_as_it_did(request: pytest.FixtureRequest) -> None:
    prompt = golden_prompt()
    text = f"{prompt.system}\n\n--- user ---\n\n{prompt.user}\n"
    path = ROOT / "tests/golden/prompt-code.txt"
    if request.config.getoption("--write-golden"):
        path.write_text(text)
    assert text == path.read_text()


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
