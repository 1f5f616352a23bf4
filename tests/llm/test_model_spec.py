"""A model's name, as users give it and as traces have it."""

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.settings import read_settings
from regraph_kg.wiring.open_model import any_model

SPECS = ["recorded", "ollama:qwen3:8b", "openai:org/model@v1", "batch:asked/here"]


def test_it_is_written_as_it_is_read_and_says_how_answers_come() -> None:
    found = [ModelSpec.parse(text) for text in SPECS]
    assert [str(one) for one in found] == SPECS
    assert [one.is_recorded for one in found] == [True, False, False, False]
    assert [one.asks_server for one in found] == [False, True, True, False]
    assert [one.by_file for one in found] == [False, False, False, True]


@pytest.mark.parametrize(
    "text",
    [
        *("", "ollama", "ollama:", "openai", "openai:", "gpt", "batch", "batch:"),
        *("recorded:", "recorded:x", "Ollama:x", "x:y", ":y"),
    ],
)
def test_an_unknown_model_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput):
        ModelSpec.parse(text)


@pytest.mark.parametrize(
    ("traced", "spec"),
    [
        ("recorded:0123456789ab", "recorded"),
        ("batch:qwen temperature=0.5 max_tokens=77", "batch"),
        ("ollama:qwen3:8b@abc server=1", "ollama:qwen3:8b"),
        ("openai:tiny@0123456789ab temperature=0.7", "openai:tiny"),
        ("toy", "None"),
    ],
)
def test_a_traces_name_is_read_as_far_as_it_names_a_model(traced: str, spec: str) -> None:
    assert str(ModelSpec.traced(traced)) == spec


def test_where_no_answers_are_recorded_other_models_are_named() -> None:
    with pytest.raises(BadInput, match="--model ollama:NAME"):
        any_model(read_settings(), ModelSpec("recorded"))
