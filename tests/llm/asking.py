"""How the tests ask models."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import SecretStr

from regraph_kg.errors import ModelError
from regraph_kg.llm.model import AskOptions, LanguageModel
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import OpenAICompatibleModel
from regraph_kg.models.prompt import DecisionKey, Prompt, PromptKey

Kind = Literal["ollama", "openai"]
OPTIONS = AskOptions(temperature=0.7, max_tokens=300, timeout=5, patience=0.05)
CHOICE: dict[str, object] = {
    "type": "object",
    "properties": {
        "choice": {"enum": ["cuda/tiling", "cuda/unrolling", "new"]},
        "name": {"type": "string", "maxLength": 20},
    },
    "required": ["choice", "name"],
    "additionalProperties": False,
}


def prompt(user: str = "make it fast", seed: int = 1, **fields: Any) -> Prompt:
    key = PromptKey(problem="matmul", target="openmp", path=("openmp/parallel-for",))
    return Prompt(key=key, system="You write code.", user=user, seed=seed, **fields)


def question(schema: dict[str, object], user: str = "which is it?") -> Prompt:
    key = DecisionKey(kind="relabel", subject="cuda tiling")
    return Prompt(key=key, system="You decide.", user=user, answer_schema=schema)


def open_model(
    kind: Kind, url: str, name: str = "tiny", key: str = "", **changes: float
) -> LanguageModel:
    """A model at `url`, a server's root; `changes` are of `OPTIONS`."""
    options = replace(OPTIONS, **changes)  # type: ignore[arg-type]
    if kind == "ollama":
        return OllamaModel(url, name, options)
    return OpenAICompatibleModel(f"{url}/v1", SecretStr(key), name, options)


def message_of(model: LanguageModel, asked: Prompt | None = None) -> str:
    """The one line of a failure."""
    with pytest.raises(ModelError) as caught:
        model.complete(asked or prompt())
    assert "\n" not in str(caught.value)
    return str(caught.value)
