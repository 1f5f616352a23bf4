"""What the embedder promises."""

import hashlib

import numpy as np
import pytest

from regraph_kg.llm.ngrams import AT_ONCE, DIMENSION, vectors_of

TILING = "Neighbouring threads read the same rows, so a tile in shared memory is loaded once."
SAME_IDEA = (
    "A tile of the matrix goes to shared memory: threads no longer read the same rows twice."
)
BITS = "Warp shuffles replace the last steps of the reduction; no barrier is left there."


def test_vectors_are_unit_vectors_of_the_spaces_dimension() -> None:
    found = vectors_of([TILING, BITS, "x", "日本語", "int a[3] = {1, 2, 3};"])
    assert found.shape == (5, DIMENSION)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_text_has_one_vector_alone_or_among_others() -> None:
    texts = [f"text {number}" for number in range(AT_ONCE + 3)]
    together = vectors_of(texts)
    alone = np.concatenate([vectors_of([text]) for text in texts[:3] + texts[-1:]])
    assert alone == pytest.approx(together[[0, 1, 2, -1]], abs=1e-4)
    assert len({one.tobytes() for one in together}) == len(texts)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "...", "\x1b["])
def test_a_text_without_a_word_is_the_first_axis(text: str) -> None:
    assert vectors_of([]).shape == (0, DIMENSION)
    first, _ = vectors_of([text, "a word"])
    assert first.tolist() == [1.0] + [0.0] * (DIMENSION - 1)


def test_a_long_text_counts_to_its_end() -> None:
    beginning = "word " * 150
    short, one, other = vectors_of([beginning, beginning + "tail " * 50, beginning + "fine " * 50])
    assert not np.allclose(one, other, atol=1e-4)
    assert not np.allclose(one, short, atol=1e-4)


def test_hashes_are_the_same_bytes_everywhere() -> None:
    """Figures from another machine, Python and NumPy."""
    texts = [TILING, SAME_IDEA, BITS, "", "the", "日本語", "x" * 10_000, "\ud800"]
    digest = hashlib.sha256(vectors_of(texts).tobytes()).hexdigest()
    assert digest == "436cb121e424a99f062b51dcd5351e26d57d2d1c14ab4e3666fab687bf620b05"


def test_hashes_know_what_shares_words_and_parts_of_words() -> None:
    near, far, self = vectors_of([SAME_IDEA, BITS, TILING.upper()]) @ vectors_of([TILING]).T
    assert self[0] == pytest.approx(1, abs=1e-6)
    assert near[0] > 0.3 > far[0]
