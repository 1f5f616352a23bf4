"""Texts as unit vectors of hashed words and parts of words."""

import math
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SPACE = "hash-ngrams-2"
"""The space of these vectors. Other hashing, other name: stored ones are compared with new ones."""
DIMENSION = 384
AT_ONCE = 16  # texts worked on in one go: the arrays of more codes leave the cache
SHORTEST, LONGEST = 4, 5  # characters in an n-gram
WORD_WEIGHT = 8  # a word's stem counts as so many n-grams (docs/embeddings.md has what was tried)
ENDINGS = (
    b"izations isations ization isation ations ation ings ions ing ion ers er ed es s e".split()
)
"""Longest first, as far as they hold one another: "tiles", "tiled" and "tiling" are one word."""
LEAST_STEM = 3  # fewest letters of a stem
STOP_WORDS = frozenset(
    b"a an and are as at be been by can each for from has have in into is it its no not of on one"
    b" only or so that the their them then there these they this to was we where which while with"
    b" would".split()
)

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint32]
Cells = NDArray[np.int64]


def vectors_of(texts: Sequence[str]) -> Floats:
    """Unit vectors of texts, one a row: no download, and the same on every machine.

    They tell that texts share words and parts of words, not that they mean the same. Characters
    count as UTF-8 bytes, ASCII letters without case; counts are signed by their hash, so that
    chance meetings cancel out, and log-scaled. All sums are of integers: exact in any order. A text
    without any letter or digit is the first axis. The more texts at once, the less each costs.
    """
    parts = (texts[first : first + AT_ONCE] for first in range(0, len(texts), AT_ONCE))
    rows = [_hashed(part).astype("<f4") for part in parts]
    return np.concatenate(rows) if rows else np.zeros((0, DIMENSION), "<f4")


def words(text: str) -> list[bytes]:
    """Runs of letters and digits, ASCII ones in lower case; without stop words if others remain."""
    runs = text.encode("utf-8", "surrogatepass").translate(_PLAIN).split()
    return [word for word in runs if word not in STOP_WORDS] or runs


def _hashed(texts: Sequence[str]) -> Floats:
    """Unit vectors, one a row."""
    lines = [words(text) for text in texts]
    counts = _counts(_ngrams(lines), len(texts)) + WORD_WEIGHT * _counts(_terms(lines), len(texts))
    signed = counts[:, :, 0] - counts[:, :, 1]
    scaled = np.sign(signed) * _LOGARITHMS[np.minimum(np.abs(signed), len(_LOGARITHMS) - 1)]
    squares: Cells = (scaled * scaled).sum(axis=1)
    scaled[squares == 0, 0] = 1  # no word, or all of them cancelled out
    squares[squares == 0] = 1
    return np.asarray(scaled / np.sqrt(squares.astype(np.float64))[:, None])


def _ngrams(lines: Sequence[Sequence[bytes]]) -> Cells:
    """Cells of the n-grams of the words of texts; a blank stands before and after each word."""
    padded = [b" %b " % word for line in lines for word in line]
    codes = np.frombuffer(b"".join(padded), dtype=np.uint8).astype(np.uint32)
    places = _places([sum(len(word) + 2 for word in line) for line in lines])
    owners = np.repeat(np.arange(len(padded)), [len(word) for word in padded])
    cells = []
    hashes = codes
    for size in range(2, min(LONGEST, len(codes)) + 1):
        hashes = hashes[:-1] * _FACTOR + codes[size - 1 :]
        if size >= SHORTEST:
            inside = owners[: 1 - size] == owners[size - 1 :]
            cells.append((places[: 1 - size] + _slots(hashes + np.uint32(size)))[inside])
    return np.concatenate(cells) if cells else np.zeros(0, dtype=np.int64)


def _terms(lines: Sequence[Sequence[bytes]]) -> Cells:
    """Cells of the stems of the words of texts."""
    hashes = np.array([_stem_hash(word) for line in lines for word in line], dtype=np.uint32)
    return _places([len(line) for line in lines]) + _slots(hashes)


@lru_cache(2**14)
def _stem_hash(word: bytes) -> int:
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) >= LEAST_STEM + len(ending):
            return zlib.crc32(word[: -len(ending)])
    return zlib.crc32(word)


def _places(sizes: Sequence[int]) -> Cells:
    """First cell of the text that each of its `sizes` items belongs to."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64) * 2 * DIMENSION, sizes)


def _slots(hashes: Hashes) -> Cells:
    """A cell within a text: dimension and sign."""
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed *= np.uint32(0x7FEB352D)
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x846CA68B)
    mixed ^= mixed >> np.uint32(16)
    scaled = mixed.astype(np.uint64) * np.uint64(2 * DIMENSION)
    return (scaled >> np.uint64(32)).astype(np.int64)


def _counts(cells: Cells, texts: int) -> Cells:
    """Hits of each cell: texts x dimensions x signs."""
    counts = np.bincount(cells, minlength=texts * 2 * DIMENSION)
    return counts.astype(np.int64, copy=False).reshape(texts, DIMENSION, 2)


_PLAIN = bytes(
    code if chr(code).isalnum() or code > 127 else ord(" ")  # noqa: PLR2004 (ASCII ends)
    for code in bytes(range(256)).lower()
)
_FACTOR = np.uint32(0x01000193)
_LOGARITHMS = np.array([round(1000 * math.log1p(count)) for count in range(4096)], dtype=np.int64)
"""Whole numbers: a machine's logarithm may differ in its last digit, its roundings do not."""
