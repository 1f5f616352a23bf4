"""The servers of the contract suite: one of our own, and a real Ollama."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from regraph_kg.llm.model import LanguageModel
from tests.llm import real_ollama
from tests.llm.asking import Kind, open_model
from tests.llm.fake_ollama import MODELS, FakeOllama


@dataclass(frozen=True)
class Served:
    """A running server, and what the test models are called there."""

    url: str
    names: dict[str, str]


@dataclass(frozen=True)
class Opener:
    """Opens models of one kind of client at one server."""

    server: Served
    kind: Kind

    def __call__(self, name: str, **changes: float) -> LanguageModel:
        usual = {"max_tokens": 64, "timeout": 120, "patience": 30}
        name = self.server.names.get(name, name)
        return open_model(self.kind, self.server.url, name, **(usual | changes))


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


@pytest.fixture(scope="module")
def fake_ollama() -> Iterator[Served]:
    with FakeOllama() as server:
        yield Served(server.url, {name: name for name in MODELS})


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


OLLAMAS = {"fake": "fake_ollama", "real": "ollama"}
# a real server is started by one process of a parallel run
ONE_OLLAMA = (pytest.mark.nightly, pytest.mark.xdist_group("ollama"))
WAYS_IN = [
    *("fake-ollama", "fake-openai"),
    *(pytest.param(way, marks=ONE_OLLAMA) for way in ("real-ollama", "real-openai")),
]


@pytest.fixture(params=["fake", pytest.param("real", marks=ONE_OLLAMA)])
def server(request: pytest.FixtureRequest) -> Served:
    """An Ollama."""
    served: Served = request.getfixturevalue(OLLAMAS[request.param])
    return served


@pytest.fixture
def own_way(server: Served) -> Opener:
    """Ollama's own way in."""
    return Opener(server, "ollama")


@pytest.fixture(params=WAYS_IN)
def opened(request: pytest.FixtureRequest) -> Opener:
    """Both clients at each server: Ollama has both ways in."""
    server, kind = request.param.split("-")
    return Opener(request.getfixturevalue(OLLAMAS[server]), kind)
