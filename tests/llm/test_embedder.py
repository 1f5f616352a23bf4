"""What an Embedder promises: built in, and by an Ollama server (ours and a real one)."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.embedder import Embedder, OllamaEmbedder, spec_of
from regraph_kg.llm.ngrams import AT_ONCE, HashEmbedder
from regraph_kg.models.graph import EmbeddingSpace
from regraph_kg.settings import Settings
from regraph_kg.wiring.open_model import embedder_of
from tests.llm import real_ollama
from tests.llm.asking import OPTIONS
from tests.llm.fake_ollama import FakeModel, FakeOllama

TILING = "Neighbouring threads read the same rows, so a tile in shared memory is loaded once."
SAME_IDEA = (
    "A tile of the matrix goes to shared memory: threads no longer read the same rows twice."
)
BITS = "Warp shuffles replace the last steps of the reduction; no barrier is left there."
SLOW = replace(OPTIONS, timeout=120, patience=30)
HELD = 640
"""Bytes, which are tokens, that the models of servers hold."""


@pytest.fixture(
    scope="module",
    params=[
        "hash",
        "fake ollama",
        pytest.param("ollama", marks=(pytest.mark.nightly, pytest.mark.xdist_group("ollama"))),
    ],
)
def embedder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Embedder]:
    """Each kind in turn."""
    folder = tmp_path_factory.mktemp("embedder")
    match request.param:
        case "hash":
            yield HashEmbedder()
        case "fake ollama":
            with FakeOllama(models={"tiny": FakeModel(context=HELD)}) as fake:
                yield OllamaEmbedder(fake.url, "tiny", OPTIONS)
        case _:
            yield from _real(folder)


def _real(folder: Path) -> Iterator[Embedder]:
    place = real_ollama.found()
    if "://" in place:
        names = real_ollama.create_models(place, folder, HELD)
        yield OllamaEmbedder(place, names["tiny"], SLOW)
        real_ollama.delete_models(place, names)
    else:
        with real_ollama.served(place, folder) as (url, _):
            names = real_ollama.create_models(url, folder, HELD)
            yield OllamaEmbedder(url, names["tiny"], SLOW)


def floats(packed: Sequence[bytes]) -> NDArray[np.float64]:
    return np.stack([np.frombuffer(one, dtype="<f4") for one in packed]).astype(np.float64)


def test_vectors_are_unit_vectors_of_the_spaces_dimension(embedder: Embedder) -> None:
    found = floats(embedder.embed([TILING, BITS, "x", "日本語", "int a[3] = {1, 2, 3};"]))
    assert found.shape == (5, embedder.space.dimension)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_text_has_one_vector_alone_or_among_others(embedder: Embedder) -> None:
    texts = [f"text {number}" for number in range(AT_ONCE + 3)]
    together = floats(embedder.embed(texts))
    alone = floats([embedder.embed([text])[0] for text in texts[:3] + texts[-1:]])
    assert alone == pytest.approx(together[[0, 1, 2, -1]], abs=1e-4)
    assert len({one.tobytes() for one in together}) == len(texts)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "...", "\x1b["])
def test_a_text_without_a_word_is_the_first_axis(text: str, embedder: Embedder) -> None:
    assert embedder.embed([]) == []
    first, _ = floats(embedder.embed([text, "a word"]))
    assert first.tolist() == [1.0] + [0.0] * (embedder.space.dimension - 1)


def test_a_text_longer_than_the_model_holds_counts_to_its_end(embedder: Embedder) -> None:
    beginning = "word " * 150
    short, one, other = floats(
        embedder.embed([beginning, beginning + "tail " * 50, beginning + "fine " * 50])
    )
    assert len(beginning) > HELD
    assert not np.allclose(one, other, atol=1e-4)
    assert not np.allclose(one, short, atol=1e-4)


def test_a_spec_leads_back_to_the_space(embedder: Embedder) -> None:
    kind = {HashEmbedder().space.model: "hash"}.get(embedder.space.model, embedder.space.model)
    assert spec_of(embedder.space) == kind.partition("@")[0]
    assert spec_of(EmbeddingSpace("hash-ngrams-1", 384)) == "hash"  # of an older program


def test_hashes_are_the_same_bytes_everywhere() -> None:
    """Figures from another machine, Python and NumPy; stored vectors depend on them."""
    texts = [TILING, SAME_IDEA, BITS, "", "the", "日本語", "x" * 10_000, "\ud800"]
    digest = hashlib.sha256(b"".join(HashEmbedder().embed(texts))).hexdigest()
    assert digest == "436cb121e424a99f062b51dcd5351e26d57d2d1c14ab4e3666fab687bf620b05"


def test_hashes_know_what_shares_words_and_parts_of_words() -> None:
    near, far, self = (
        floats(HashEmbedder().embed([SAME_IDEA, BITS, TILING.upper()]))
        @ floats(HashEmbedder().embed([TILING])).T
    )
    assert self[0] == pytest.approx(1, abs=1e-6)
    assert near[0] > 0.3 > far[0]


def opened(fake: FakeOllama, name: str = "tiny", patience: float = 3) -> OllamaEmbedder:
    return OllamaEmbedder(fake.url, name, replace(OPTIONS, patience=patience))


def test_ollama_is_asked_in_batches_never_for_nothing_and_never_to_cut(fake: FakeOllama) -> None:
    embedder = opened(fake)
    fake.embeds.clear()
    embedder.embed(["", *(f"text {number}" for number in range(AT_ONCE)), "..."])
    assert [len(body["input"]) for body in fake.embeds] == [AT_ONCE - 1, 1]
    assert all(body["truncate"] is False for body in fake.embeds)
    assert all(text for body in fake.embeds for text in body["input"])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ('500 {"error": "no\\nluck"}', "(500: no luck)"),
        ('404 {"error": "gone"}', "ollama pull tiny"),
        ('400 {"error": "too long"}', "holds 5120 tokens"),
        ('200 {"embeddings": [[1.0, 2.0]]}', "not 16"),
        (f'200 {{"embeddings": [{[0.0] * 16}]}}', "without a direction"),
        ("200 <html>", "broken"),
    ],
)
def test_what_goes_wrong_with_ollama_is_one_line(fault: str, said: str, fake: FakeOllama) -> None:
    embedder = opened(fake, patience=0.05)
    fake.faults = [fault] * 20
    with pytest.raises(ModelError) as caught:
        embedder.embed(["short"])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


KNOWN = EmbeddingSpace("ollama:tiny@0123456789ab", 16)


def test_an_unset_embedder_is_the_graphs_or_built_in(fake: FakeOllama) -> None:
    unset = Settings(ollama_url=fake.url)
    assert embedder_of(unset).space == HashEmbedder().space
    assert embedder_of(unset, HashEmbedder().space).space == HashEmbedder().space
    served = opened(fake).space
    assert embedder_of(unset, served).space == served


@pytest.mark.parametrize("embedder", ["hash", None])
def test_an_embedder_of_another_space_is_refused(embedder: str | None, fake: FakeOllama) -> None:
    """`None`: the graph's own, but what is called so has changed since."""
    settings = Settings(ollama_url=fake.url, embedder=embedder)
    with pytest.raises(BadInput) as caught:
        embedder_of(settings, KNOWN)
    said = str(caught.value)
    assert said.startswith("the graph holds embeddings of ollama:tiny@0123456789ab (16 dimensions)")
    assert ("REGRAPH_EMBEDDER=ollama:tiny" in said) == (embedder is not None)
    assert "regraph graph embed" in said


@pytest.mark.parametrize("spec", ["ollama", "ollama:", "sentence-transformers:x", "HASH", "x:y"])
def test_an_unknown_embedder_names_the_known_ones(spec: str) -> None:
    with pytest.raises(BadInput, match=r'know "hash" and "ollama:NAME"'):
        embedder_of(Settings(embedder=spec))
