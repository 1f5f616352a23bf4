"""A model's specification is read once; a trace's name for who answered is compared with it."""

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
    with pytest.raises(BadInput, match='"recorded", "ollama:NAME"'):
        ModelSpec.parse(text)


@pytest.mark.parametrize(
    ("spec", "traced", "same"),
    [
        ("recorded", "recorded", True),
        ("recorded", "recorded:0123456789ab", True),
        ("batch:here", "batch:qwen temperature=0.5 max_tokens=77", True),
        ("ollama:qwen3:8b", "ollama:qwen3:8b@abc server=1", True),
        ("openai:tiny", "openai:tiny@0123456789ab temperature=0.7", True),
        ("ollama:tiny", "ollama:tiny2@abc", False),
        ("ollama:tiny", "openai:tiny@abc", False),
        ("ollama:tiny", "toy", False),
    ],
)
def test_a_trace_is_of_the_same_model_or_not(spec: str, traced: str, same: bool) -> None:
    assert ModelSpec.parse(spec).answered(traced) is same


def test_where_no_answers_are_recorded_other_models_are_named() -> None:
    with pytest.raises(BadInput, match="--model ollama:NAME"):
        any_model(read_settings(), ModelSpec("recorded"))
