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
from regraph_kg.wiring.open_model import language_model
from tests.llm.fake_ollama import FakeOllama

FIRST = {"path": ["openmp/parallel-for"], "text": "first", "author": "a person"}
SECOND = {"path": ["openmp/parallel-for"], "attempt": 1, "text": "second", "author": "a person"}
BELOW = {"path": ["openmp/parallel-for#1", "openmp/simd"], "text": "below", "author": "a person"}


def record(folder: Path, *lines: object, name: str = "matmul.openmp") -> Path:
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def ask(
    *path: str,
    attempt: int = 0,
    problem: str = "matmul",
    target: Target = "openmp",
) -> Prompt:
    key = PromptKey(problem=problem, target=target, path=path, attempt=attempt)
    return Prompt(key=key, system="", user="")


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (ask("openmp/parallel-for"), "first"),
        (ask("openmp/parallel-for", attempt=1), "second"),
        (ask("openmp/parallel-for#1", "openmp/simd"), "below"),
        (ask("openmp/simd"), None),
        (ask("openmp/parallel-for", attempt=2), None),
        (ask("openmp/parallel-for", "openmp/simd"), None),
        (ask("openmp/parallel-for", problem="stencil"), None),
        (ask("openmp/parallel-for", target="cuda"), None),
        (ask(), None),
    ],
)
def test_each_part_of_the_key_finds_its_own_answer_and_a_miss_is_a_reply(
    prompt: Prompt, text: str | None, tmp_path: Path
) -> None:
    record(tmp_path, FIRST, SECOND, BELOW)
    model = ScriptedModel.read(tmp_path, "matmul", "openmp")
    reply = model.complete(prompt)
    assert (reply.text, reply.finish) == ((text, "stop") if text else ("", "unrecorded"))
    assert reply.model == model.name


def test_decisions_are_recorded_beside_the_prompts_of_a_search() -> None:
    key = DecisionKey(kind="relabel", subject="openmp/Loop tiling")
    model = ScriptedModel("recorded:0", {key: "yes"})
    asked = Prompt(key=key, system="", user="", answer_schema={"type": "string"})
    other = asked.model_copy(update={"key": key.model_copy(update={"attempt": 1})})
    model.close()  # nothing is open
    assert [model.complete(one).finish for one in (asked, other)] == ["stop", "unrecorded"]
    model.finish()


def test_the_name_changes_with_the_file(tmp_path: Path) -> None:
    record(tmp_path, FIRST)
    one = ScriptedModel.read(tmp_path, "matmul", "openmp").name
    assert one == ScriptedModel.read(tmp_path, "matmul", "openmp").name
    record(tmp_path, FIRST, SECOND)
    assert one != ScriptedModel.read(tmp_path, "matmul", "openmp").name


def test_a_text_may_hold_any_line_separator(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\r\n```cpp\nint x;\n```"
    record(tmp_path, json.dumps(FIRST | {"text": text}, ensure_ascii=False), "", "\r")
    model = ScriptedModel.read(tmp_path, "matmul", "openmp")
    assert model.complete(ask("openmp/parallel-for")).text == text.replace("\r", "")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "line"),
        ('{"path": ["openmp/simd"]}', "text"),
        (FIRST | {"path": ["simd"]}, "path.0"),
        (FIRST | {"path": ["openmp/simd#0"]}, "path.0"),
        (FIRST | {"attempt": -1}, "attempt"),
        (FIRST | {"text": ""}, "text"),
        (FIRST | {"atempt": 1}, "atempt"),
        (FIRST | {"text": "again"}, "same path"),
        ('{"path": [], "text": "\udcff"}', "line"),
    ],
)
def test_a_bad_line_is_named_with_file_and_number(line: object, field: str, tmp_path: Path) -> None:
    path = record(tmp_path, FIRST)
    text = line if isinstance(line, str) else json.dumps(line)
    with path.open("ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput) as caught:
        ScriptedModel.read(tmp_path, "matmul", "openmp")
    assert str(caught.value).startswith(f"{path}:2: {field}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_what_is_recorded_and_how_to_use_a_live_model(tmp_path: Path) -> None:
    record(tmp_path, FIRST)
    with pytest.raises(BadInput) as caught:
        ScriptedModel.read(tmp_path, "matmul", "cuda")
    assert "there: matmul.openmp" in str(caught.value)
    assert "--model ollama:NAME" in str(caught.value)


@pytest.mark.parametrize("spec", ["recorded", "ollama:tiny", "openai:tiny"])
def test_the_wiring_opens_each_kind_of_model(spec: str, tmp_path: Path) -> None:
    record(tmp_path / "recorded", FIRST)
    with FakeOllama(key="sk-of-nobody") as fake:
        settings = read_settings(
            corpus=tmp_path,
            ollama_url=fake.url,
            openai_url=f"{fake.url}/v1",
            openai_key="sk-of-nobody",
            model_max_tokens=77,
        )
        model = language_model(settings, ModelSpec.parse(spec), "matmul", "openmp")
        reply = model.complete(ask("openmp/parallel-for"))
    assert reply.finish in ("stop", "length")
    assert model.name.startswith(spec)
    limits = [chat.get("max_tokens") or chat["options"]["num_predict"] for chat in fake.chats]
    assert limits == ([] if spec == "recorded" else [77])
    assert "sk-of-nobody" not in repr(settings)
