"""What the embedder promises."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.llm.ngrams import AT_ONCE, HASHED, HashEmbedder, embedder_of
from regraph_kg.models.graph import EmbeddingSpace

EMBEDDER = HashEmbedder()
TILING = "Neighbouring threads read the same rows, so a tile in shared memory is loaded once."
SAME_IDEA = (
    "A tile of the matrix goes to shared memory: threads no longer read the same rows twice."
)
BITS = "Warp shuffles replace the last steps of the reduction; no barrier is left there."


def floats(packed: Sequence[bytes]) -> NDArray[np.float64]:
    return np.stack([np.frombuffer(one, dtype="<f4") for one in packed]).astype(np.float64)


def test_vectors_are_unit_vectors_of_the_spaces_dimension() -> None:
    found = floats(EMBEDDER.embed([TILING, BITS, "x", "日本語", "int a[3] = {1, 2, 3};"]))
    assert found.shape == (5, EMBEDDER.space.dimension)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_text_has_one_vector_alone_or_among_others() -> None:
    texts = [f"text {number}" for number in range(AT_ONCE + 3)]
    together = floats(EMBEDDER.embed(texts))
    alone = floats([EMBEDDER.embed([text])[0] for text in texts[:3] + texts[-1:]])
    assert alone == pytest.approx(together[[0, 1, 2, -1]], abs=1e-4)
    assert len({one.tobytes() for one in together}) == len(texts)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "...", "\x1b["])
def test_a_text_without_a_word_is_the_first_axis(text: str) -> None:
    assert EMBEDDER.embed([]) == []
    first, _ = floats(EMBEDDER.embed([text, "a word"]))
    assert first.tolist() == [1.0] + [0.0] * (EMBEDDER.space.dimension - 1)


def test_a_long_text_counts_to_its_end() -> None:
    beginning = "word " * 150
    short, one, other = floats(
        EMBEDDER.embed([beginning, beginning + "tail " * 50, beginning + "fine " * 50])
    )
    assert not np.allclose(one, other, atol=1e-4)
    assert not np.allclose(one, short, atol=1e-4)


def test_hashes_are_the_same_bytes_everywhere() -> None:
    """Figures from another machine, Python and NumPy; stored vectors depend on them."""
    texts = [TILING, SAME_IDEA, BITS, "", "the", "日本語", "x" * 10_000, "\ud800"]
    digest = hashlib.sha256(b"".join(EMBEDDER.embed(texts))).hexdigest()
    assert digest == "436cb121e424a99f062b51dcd5351e26d57d2d1c14ab4e3666fab687bf620b05"


def test_hashes_know_what_shares_words_and_parts_of_words() -> None:
    near, far, self = (
        floats(EMBEDDER.embed([SAME_IDEA, BITS, TILING.upper()]))
        @ floats(EMBEDDER.embed([TILING])).T
    )
    assert self[0] == pytest.approx(1, abs=1e-6)
    assert near[0] > 0.3 > far[0]


def test_a_graph_of_another_embedder_is_refused_in_one_line() -> None:
    assert embedder_of(None).space == embedder_of(HASHED).space == HASHED
    with pytest.raises(BadInput, match=r"of hash-ngrams-1 .* make them anew"):
        embedder_of(EmbeddingSpace("hash-ngrams-1", 384))
