"""A model's specification is read once; a trace's name for who answered is compared with it."""

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.settings import read_settings
from regraph_kg.wiring.answers import any_model

SPECS = ["recorded", "ollama:qwen3:8b", "openai:org/model@v1", "batch:asked/here"]


@pytest.mark.parametrize("text", SPECS)
def test_it_is_written_as_it_is_read(text: str) -> None:
    assert str(ModelSpec.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "ollama", "ollama:", "openai", "openai:", "gpt", "batch", "batch:"),
        *("recorded:", "recorded:x", "Ollama:x", "x:y", ":y"),
    ],
)
def test_an_unknown_model_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput, match=r'know "recorded", "ollama:NAME".* and "batch:FOLDER"'):
        ModelSpec.parse(text)


def test_its_kind_says_how_answers_come() -> None:
    found = [ModelSpec.parse(text) for text in SPECS]
    assert [one.is_recorded for one in found] == [True, False, False, False]
    assert [one.asks_server for one in found] == [False, True, True, False]
    assert [one.by_file for one in found] == [False, False, False, True]


@pytest.mark.parametrize(
    ("traced", "spec"),
    [
        ("recorded", "recorded"),
        ("recorded:0123456789ab", "recorded"),
        ("ollama:qwen3:8b@0123456789ab server=1", "ollama:qwen3:8b"),
        ("openai:tiny@0123456789ab temperature=0.7 max_tokens=64", "openai:tiny"),
        ("batch:qwen temperature=0.5 max_tokens=77", "batch"),
        ("toy", None),
    ],
)
def test_a_trace_tells_who_answered(traced: str, spec: str | None) -> None:
    found = ModelSpec.traced(traced)
    assert (None if found is None else str(found)) == spec


@pytest.mark.parametrize(
    ("spec", "traced", "same"),
    [
        ("recorded", "recorded:0123456789ab", True),
        ("batch:here", "batch:qwen temperature=0.5", True),
        ("ollama:tiny", "ollama:tiny@abc server=1", True),
        ("ollama:tiny", "ollama:tiny2@abc", False),
        ("ollama:tiny", "openai:tiny@abc", False),
        ("ollama:tiny", "toy", False),
    ],
)
def test_a_trace_is_of_the_same_model_or_not(spec: str, traced: str, same: bool) -> None:
    assert ModelSpec.parse(spec).answered(traced) is same


def test_where_no_answers_are_recorded_other_models_are_named() -> None:
    with pytest.raises(BadInput, match=r"model recorded: .*give --model ollama:NAME, "):
        any_model(read_settings(), ModelSpec("recorded"))
