"""Recorded answers: found by key, a miss is a reply, a bad file is named with its line."""

import json
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import DecisionKey, Prompt, PromptKey
from regraph_kg.models.target import Target
from regraph_kg.settings import read_settings
from regraph_kg.wiring.answers import language_model
from tests.llm.fake_ollama import FakeOllama

FIRST = {"path": ["openmp/parallel-for"], "text": "first", "author": "a person"}
SECOND = {"path": ["openmp/parallel-for"], "attempt": 1, "text": "second", "author": "a person"}
BELOW = {"path": ["openmp/parallel-for#1", "openmp/simd"], "text": "below", "author": "a person"}
MENDED = {"path": ["openmp/parallel-for"], "repair": 1, "text": "mended", "author": "a person"}


def record(folder: Path, *lines: object, name: str = "matmul.openmp") -> Path:
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def ask(
    *path: str,
    attempt: int = 0,
    repair: int = 0,
    problem: str = "matmul",
    target: Target = "openmp",
) -> Prompt:
    key = PromptKey(problem=problem, target=target, path=path, attempt=attempt, repair=repair)
    return Prompt(key=key, system="", user="")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (ask("openmp/parallel-for"), "first"),
        (ask("openmp/parallel-for", attempt=1), "second"),
        (ask("openmp/parallel-for", repair=1), "mended"),
        (ask("openmp/parallel-for#1", "openmp/simd"), "below"),
    ],
)
def test_each_part_of_the_key_finds_its_own_answer(
    prompt: Prompt, text: str, tmp_path: Path
) -> None:
    record(tmp_path, FIRST, SECOND, BELOW, MENDED)
    model = ScriptedModel.read(tmp_path, "matmul", "openmp")
    reply = model.complete(prompt)
    assert (reply.text, reply.finish, reply.model) == (text, "stop", model.name)


@pytest.mark.parametrize(
    "prompt",
    [
        ask("openmp/simd"),
        ask("openmp/parallel-for", attempt=2),
        ask("openmp/parallel-for", attempt=1, repair=1),
        ask("openmp/parallel-for", "openmp/simd"),
        ask("openmp/parallel-for", problem="stencil"),
        ask("openmp/parallel-for", target="cuda"),
        ask(),
    ],
)
def test_a_miss_is_a_reply_that_is_unrecorded(prompt: Prompt, tmp_path: Path) -> None:
    record(tmp_path, FIRST, SECOND, BELOW, MENDED)
    reply = ScriptedModel.read(tmp_path, "matmul", "openmp").complete(prompt)
    assert (reply.text, reply.finish) == ("", "unrecorded")


def test_decisions_are_recorded_beside_the_prompts_of_a_search() -> None:
    key = DecisionKey(kind="relabel", subject="openmp/Loop tiling")
    model = ScriptedModel("recorded:0", {key: "yes"})
    asked = Prompt(key=key, system="", user="", answer_schema={"type": "string"})
    other = asked.model_copy(update={"key": key.model_copy(update={"attempt": 1})})
    assert [model.complete(one).finish for one in (asked, other)] == ["stop", "unrecorded"]
    model.finish()


def test_the_name_changes_with_the_file(tmp_path: Path) -> None:
    record(tmp_path, FIRST)
    one = ScriptedModel.read(tmp_path, "matmul", "openmp").name
    assert one == ScriptedModel.read(tmp_path, "matmul", "openmp").name
    record(tmp_path, FIRST, SECOND)
    other = ScriptedModel.read(tmp_path, "matmul", "openmp").name
    assert one != other
    assert len(one) == len(other) == len("recorded:") + 12


def test_a_text_may_hold_any_line_separator(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\r\n```cpp\nint x;\n```"
    record(tmp_path, json.dumps(FIRST | {"text": text}, ensure_ascii=False), "", "\r")
    model = ScriptedModel.read(tmp_path, "matmul", "openmp")
    assert model.complete(ask("openmp/parallel-for")).text == text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "2: line: Invalid JSON"),
        ('{"path": ["openmp/simd"]}', "2: text: Field required"),
        (FIRST | {"path": ["simd"]}, "2: path.0: String should match pattern"),
        (FIRST | {"path": ["openmp/simd#0"]}, "2: path.0: String should match pattern"),
        (FIRST | {"attempt": -1}, "2: attempt: Input should be greater"),
        (FIRST | {"text": ""}, "2: text: String should have at least 1 character"),
        (FIRST | {"atempt": 1}, "2: atempt: Extra inputs are not permitted"),
        (FIRST | {"text": "again"}, "2: same path, attempt and repair as line 1"),
    ],
)
def test_a_bad_line_is_named_with_file_and_number(line: object, said: str, tmp_path: Path) -> None:
    path = record(tmp_path, FIRST, line)
    with pytest.raises(BadInput) as caught:
        ScriptedModel.read(tmp_path, "matmul", "openmp")
    assert str(caught.value).startswith(f"{path}:{said}")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path) -> None:
    (tmp_path / "matmul.openmp.jsonl").write_bytes(b'{"path": [], "text": "\xff"}\n')
    with pytest.raises(BadInput, match=r"jsonl:1: "):
        ScriptedModel.read(tmp_path, "matmul", "openmp")


def test_a_missing_file_says_what_is_recorded_and_how_to_use_a_live_model(tmp_path: Path) -> None:
    record(tmp_path, FIRST)
    record(tmp_path, FIRST, name="stencil.openmp")
    with pytest.raises(BadInput) as caught:
        ScriptedModel.read(tmp_path, "matmul", "cuda")
    assert "(there: matmul.openmp, stencil.openmp)" in str(caught.value)
    assert "--model ollama:NAME" in str(caught.value)


def test_the_wiring_reads_recorded_answers_of_the_corpus(tmp_path: Path) -> None:
    record(tmp_path / "recorded", FIRST)
    settings = read_settings(corpus=tmp_path)
    model = language_model(settings, ModelSpec("recorded"), "matmul", "openmp")
    assert model.complete(ask("openmp/parallel-for")).text == "first"


def test_the_wiring_opens_a_live_model(tmp_path: Path) -> None:
    with FakeOllama() as fake:
        settings = read_settings(corpus=tmp_path, ollama_url=fake.url, model_max_tokens=77)
        model = language_model(settings, ModelSpec("ollama", "tiny"), "matmul", "openmp")
        assert model.complete(ask("openmp/parallel-for")).finish in ("stop", "length")
    assert fake.chats[0]["options"]["num_predict"] == 77
    assert model.name.startswith("ollama:tiny@")


def test_the_wiring_opens_an_openai_compatible_server(tmp_path: Path) -> None:
    with FakeOllama(key="sk-of-nobody") as fake:
        settings = read_settings(
            corpus=tmp_path,
            openai_url=f"{fake.url}/v1",
            openai_key="sk-of-nobody",
            model_max_tokens=77,
        )
        model = language_model(settings, ModelSpec("openai", "tiny"), "matmul", "openmp")
        assert model.complete(ask("openmp/parallel-for")).finish in ("stop", "length")
    assert fake.chats[0]["max_tokens"] == 77
    assert model.name.startswith("openai:tiny@")
    assert "sk-of-nobody" not in repr(settings)
