"""The servers of the contract suite: one of our own, and a real Ollama."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from pydantic import SecretStr

from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import Endpoint, OpenAICompatibleModel
from tests.llm import real_ollama
from tests.llm.fake_ollama import MODELS, FakeOllama

Kind = Literal["ollama", "openai"]
Model = OllamaModel | OpenAICompatibleModel


@dataclass(frozen=True)
class Served:
    """A running server, and what the test models are called there."""

    url: str
    names: dict[str, str]

    def open(
        self, name: str, *, timeout: float = 120, max_tokens: int = 64, temperature: float = 0.7
    ) -> OllamaModel:
        return OllamaModel(
            self.url,
            self.names[name],
            timeout=timeout,
            temperature=temperature,
            max_tokens=max_tokens,
            patience=30,
        )


@dataclass(frozen=True)
class Opener:
    """Opens models of one kind of client."""

    server: Served
    kind: Kind

    def __call__(
        self, name: str, *, timeout: float = 120, max_tokens: int = 64, temperature: float = 0.7
    ) -> Model:
        settings = {"timeout": timeout, "max_tokens": max_tokens, "temperature": temperature}
        if self.kind == "ollama":
            return self.server.open(name, **settings)  # type: ignore[arg-type]
        return OpenAICompatibleModel(
            Endpoint(f"{self.server.url}/v1", SecretStr("")),
            self.server.names.get(name, name),
            **settings,  # type: ignore[arg-type]
            patience=30,
        )


@pytest.fixture(
    scope="module", params=["fake", pytest.param("real", marks=pytest.mark.xdist_group("ollama"))]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    if request.param == "fake":
        with FakeOllama() as fake:
            yield Served(fake.url, {name: name for name in MODELS})
        return
    place, folder = real_ollama.found(), tmp_path_factory.mktemp("ollama")
    if "://" in place:
        names = real_ollama.create_models(place, folder)
        yield Served(place, names)
        real_ollama.delete_models(place, names)
    else:
        with real_ollama.served(place, folder) as (url, _):
            yield Served(url, real_ollama.create_models(url, folder))


@pytest.fixture(params=["ollama", "openai"])
def opened(server: Served, request: pytest.FixtureRequest) -> Opener:
    """Both clients in turn: Ollama has both ways in."""
    return Opener(server, request.param)
