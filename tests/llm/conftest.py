"""The servers of the contract suite: one of our own, a real Ollama, a real llama.cpp."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pytest
from pydantic import SecretStr

from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import Endpoint, OpenAICompatibleModel
from tests.llm import real_llama_cpp, real_ollama
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


@pytest.fixture(scope="module")
def fake_ollama() -> Iterator[Served]:
    with FakeOllama() as fake:
        yield Served(fake.url, {name: name for name in MODELS})


@pytest.fixture(scope="module")
def ollama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place, folder = real_ollama.found(), tmp_path_factory.mktemp("ollama")
    if "://" in place:
        names = real_ollama.create_models(place, folder)
        yield Served(place, names)
        real_ollama.delete_models(place, names)
    else:
        with real_ollama.served(place, folder) as (url, _):
            yield Served(url, real_ollama.create_models(url, folder))


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    python, folder = real_llama_cpp.found(), tmp_path_factory.mktemp("llama-cpp")
    with real_llama_cpp.served(python, folder) as url:
        yield Served(url, {name: name for name in real_llama_cpp.MODELS})


OLLAMAS = {"fake": "fake_ollama", "real": "ollama"}
ONE_OLLAMA = (pytest.mark.slow, pytest.mark.xdist_group("ollama"))
"""The real one is started by one process."""
ONE_LLAMA_CPP = (pytest.mark.slow, pytest.mark.xdist_group("llama-cpp"))
WAYS_IN = [
    *("fake-ollama", "fake-openai"),
    *(pytest.param(way, marks=ONE_OLLAMA) for way in ("real-ollama", "real-openai")),
]


@pytest.fixture(params=["fake", pytest.param("real", marks=ONE_OLLAMA)])
def server(request: pytest.FixtureRequest) -> Served:
    """An Ollama."""
    served: Served = request.getfixturevalue(OLLAMAS[request.param])
    return served


@pytest.fixture(params=WAYS_IN)
def opened_at_ollama(request: pytest.FixtureRequest) -> Opener:
    """Both clients in turn: Ollama has both ways in."""
    return opener(request)


@pytest.fixture(params=[*WAYS_IN, pytest.param("llama-cpp", marks=ONE_LLAMA_CPP)])
def opened(request: pytest.FixtureRequest) -> Opener:
    """Every way in to every server."""
    return opener(request)


def opener(request: pytest.FixtureRequest) -> Opener:
    if request.param == "llama-cpp":
        return Opener(request.getfixturevalue("llama_cpp"), "openai")
    server, kind = request.param.split("-")
    return Opener(request.getfixturevalue(OLLAMAS[server]), kind)
