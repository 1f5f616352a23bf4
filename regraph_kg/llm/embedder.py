"""Embedder: turns a reasoning into a unit vector; built in, by Ollama, by sentence-transformers.

Not here: which of them a graph's vectors are from, and how the nearest ones are found
(backends/vectors.py).
"""

import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from importlib import import_module
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from regraph_kg import remedies
from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.server import OllamaServer
from regraph_kg.models.graph import EmbeddingSpace

HASHED = EmbeddingSpace("hash-ngrams-1", 384)
"""The built-in space. Other hashing, other name: stored vectors are compared with new ones."""
AT_ONCE = 64
"""Texts worked on, or sent to a server, in one go."""
CHARACTERS_AT_ONCE = 32_768
HALVED = 32
"""Characters below which a text that is refused is not refused for its length."""
SHORTEST, LONGEST = 3, 5
"""Characters in an n-gram."""
WORD_WEIGHT = 2
"""A word counts as so many n-grams."""
STOP_WORDS = frozenset(
    b"a an and are as at be been by can each for from has have in into is it its no not of on one"
    b" only or so that the their them then there these they this to was we where which while with"
    b" would".split()
)

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint32]
Cells = NDArray[np.int64]


class Embedder(Protocol):
    """Turns texts into vectors of one space; the same text always into the same vector.

    Raises `ModelError` when the model or its server fails.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """Which model, of how many dimensions: vectors of two spaces cannot be compared."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector for each text: little-endian float32, packed.

        A text without any letter or digit is the first axis; no model is asked about it.
        """


class HashEmbedder:
    """Hashed words and character n-grams: no download, and the same bytes on every machine.

    It sees that texts share words and parts of words, not that they mean the same. Characters
    count as UTF-8 bytes, ASCII letters without case; counts are signed by their hash, so that
    chance meetings cancel out, and log-scaled. All sums are of integers: exact in any order.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """See `Embedder`."""
        return HASHED

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`. The more texts at once, the less each costs."""
        return [vector for batch in _batches(texts) for vector in _packed(_hashed(batch))]


class OllamaEmbedder:
    """An embedding model behind an Ollama server.

    Of a text that the model cannot hold the vector is the mean of its halves': nothing is cut.
    """

    def __init__(self, url: str, model: str, *, timeout: float, patience: float) -> None:
        """Find server, model and dimension; `timeout` is the longest silence in seconds.

        Raises `ModelError` (no server, unknown model, one that does not embed), `BadInput` for a
        malformed URL.
        """
        self._server = OllamaServer(
            url, model, timeout=timeout, patience=patience, sends="a text to embed"
        )
        with self._server.failures():
            self._server.version()
            digest = self._server.describe()
            width = len(self._ask(["dimension"])[0])
        self._space = EmbeddingSpace(f"ollama:{model}@{digest[:12]}", width)

    @property
    def space(self) -> EmbeddingSpace:
        """See `Embedder`; the model's digest is part of its name."""
        return self._space

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        vectors: list[bytes] = []
        with self._server.failures():
            for batch in _batches(texts):
                vectors += _worded(batch, self._ask, self._space)
        return vectors

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        import ollama  # noqa: PLC0415 (0.3 s)

        server = self._server
        try:
            return server.patiently(
                lambda: server.client.embed(server.model, texts, truncate=False, keep_alive="10m")
            ).embeddings
        except ollama.ResponseError as error:
            if error.status_code != HTTPStatus.BAD_REQUEST or len(max(texts, key=len)) < HALVED:
                raise
        if len(texts) > 1:
            return [self._ask([text])[0] for text in texts]
        return [_mean(self._ask(_halves(texts[0])))]


class SentenceTransformerEmbedder:
    """A sentence-transformers model that lies on this machine; nothing is downloaded.

    Longer texts than the model holds are treated as `OllamaEmbedder` does.
    """

    def __init__(self, model: str) -> None:
        """Load `model`, a name in the Hugging Face cache or a folder.

        Raises `ModelError` without the extra `embed` and for a model that is not here.
        """
        try:
            library = import_module("sentence_transformers")  # 5 to 13 s
        except ImportError:
            raise ModelError(
                f"embedder sentence-transformers:{model} needs a package that is not installed:"
                f" {remedies.install('embed')}"
            ) from None
        try:
            self._model: Any = library.SentenceTransformer(model, local_files_only=True)
            width = len(self._ask(["dimension"])[0])
        except (OSError, ValueError, RuntimeError) as error:
            said = " ".join(str(error).split())[:200]
            raise ModelError(
                f"embedder sentence-transformers:{model} cannot be loaded ({said}): give a folder,"
                f" or get it once with: hf download {model}"
            ) from None
        self._space = EmbeddingSpace(f"sentence-transformers:{model}", width)

    @property
    def space(self) -> EmbeddingSpace:
        """See `Embedder`."""
        return self._space

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        batches = (_worded(batch, self._ask, self._space) for batch in _batches(texts))
        return [vector for batch in batches for vector in batch]

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = self._model.encode(list(texts), show_progress_bar=False).tolist()
        for number, text in enumerate(texts):
            if len(text) >= HALVED and self._cuts(text):
                vectors[number] = _mean(self._ask(_halves(text)))
        return cast("Sequence[Sequence[float]]", vectors)

    def _cuts(self, text: str) -> bool:
        """Whether the model would read the beginning of the text only."""
        longest = self._model.max_seq_length
        tokens = self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"]
        return longest is not None and len(tokens) > longest


def open_embedder(spec: str, ollama_url: str, *, timeout: float, patience: float) -> Embedder:
    """The embedder that `spec` names; raises `BadInput` for a spec that is none."""
    kind, _, name = spec.partition(":")
    if spec == "hash":
        return HashEmbedder()
    if kind == "ollama" and name:
        return OllamaEmbedder(ollama_url, name, timeout=timeout, patience=patience)
    if kind == "sentence-transformers" and name:
        return SentenceTransformerEmbedder(name)
    raise BadInput(
        f'embedder {spec!r}: know "hash", "ollama:NAME" and "sentence-transformers:NAME"'
        " (REGRAPH_EMBEDDER)"
    )


def spec_of(space: EmbeddingSpace) -> str:
    """What to set REGRAPH_EMBEDDER to for an embedder of `space`."""
    return "hash" if space == HASHED else space.model.partition("@")[0]


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Runs of texts, bounded in number and size: an array of a batch fits in the cache."""
    first = size = 0
    for number, text in enumerate(texts):
        size += len(text)
        if size > CHARACTERS_AT_ONCE or number - first == AT_ONCE:
            if number > first:
                yield texts[first:number]
            first, size = number, len(text)
    if first < len(texts):
        yield texts[first:]


def _worded(
    texts: Sequence[str],
    ask: Callable[[Sequence[str]], Sequence[Sequence[float]]],
    space: EmbeddingSpace,
) -> list[bytes]:
    """Unit vectors of `ask`, which never sees a text without words."""
    worded = [number for number, text in enumerate(texts) if _words(text)]
    vectors = np.zeros((len(texts), space.dimension))
    vectors[:, 0] = 1
    if worded:
        answers = np.asarray(ask([texts[number] for number in worded]), dtype=np.float64)
        if answers.shape != (len(worded), space.dimension):
            raise ModelError(
                f"{space.model} answered {len(worded)} texts with numbers of shape"
                f" {answers.shape}, not {space.dimension} numbers each: it is no longer the same"
                " model, or none for embeddings"
            )
        norms = np.sqrt((answers * answers).sum(axis=1, keepdims=True))
        if not (np.isfinite(norms) & (norms > 0)).all():
            raise ModelError(f"{space.model} gave a vector without a direction: use another model")
        vectors[worded] = answers / norms
    return _packed(vectors)


def _halves(text: str) -> list[str]:
    """Two parts of a text, cut at a blank if one is near."""
    middle = text.rfind(" ", len(text) // 4, len(text) // 2)
    middle = len(text) // 2 if middle < 0 else middle
    return [half for half in (text[:middle], text[middle:]) if _words(half)]


def _mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    mean: list[float] = np.mean(np.asarray(vectors, dtype=np.float64), axis=0).tolist()
    return mean


def _packed(vectors: Floats) -> list[bytes]:
    return [row.tobytes() for row in vectors.astype("<f4")]


def _words(text: str) -> list[bytes]:
    """Runs of letters and digits, ASCII ones in lower case; without stop words if others remain."""
    words = text.encode("utf-8", "surrogatepass").translate(_PLAIN).split()
    return [word for word in words if word not in STOP_WORDS] or words


def _hashed(texts: Sequence[str]) -> Floats:
    """Unit vectors, one a row."""
    words = [_words(text) for text in texts]
    counts = _counts(_ngrams(words), len(texts)) + WORD_WEIGHT * _counts(_terms(words), len(texts))
    signed = counts[:, :, 0] - counts[:, :, 1]
    scaled = np.sign(signed) * _LOGARITHMS[np.minimum(np.abs(signed), len(_LOGARITHMS) - 1)]
    squares: Cells = (scaled * scaled).sum(axis=1)
    scaled[squares == 0, 0] = 1  # no word, or all of them cancelled out
    squares[squares == 0] = 1
    return np.asarray(scaled / np.sqrt(squares.astype(np.float64))[:, None])


def _ngrams(words: Sequence[Sequence[bytes]]) -> Cells:
    """Cells of the n-grams of texts; a blank stands before, between and after words."""
    lines = [b" %b " % b" ".join(line) for line in words]
    codes = np.frombuffer(b"".join(lines), dtype=np.uint8).astype(np.uint32)
    places = _places([len(line) for line in lines])
    cells = []
    hashes = codes
    for size in range(2, min(LONGEST, len(codes)) + 1):
        hashes = hashes[:-1] * _FACTOR + codes[size - 1 :]
        if size >= SHORTEST:
            first, last = places[: 1 - size], places[size - 1 :]
            cells.append((first + _slots(hashes + np.uint32(size)))[first == last])
    return np.concatenate(cells) if cells else np.zeros(0, dtype=np.int64)


def _terms(words: Sequence[Sequence[bytes]]) -> Cells:
    """Cells of the words of texts."""
    hashes = np.array([zlib.crc32(word) for line in words for word in line], dtype=np.uint32)
    return _places([len(line) for line in words]) + _slots(hashes)


def _places(sizes: Sequence[int]) -> Cells:
    """First cell of the text that each of its `sizes` items belongs to."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64) * 2 * HASHED.dimension, sizes)


def _slots(hashes: Hashes) -> Cells:
    """A cell within a text: dimension and sign."""
    mixed = hashes ^ (hashes >> np.uint32(16))
    mixed *= np.uint32(0x7FEB352D)
    mixed ^= mixed >> np.uint32(15)
    mixed *= np.uint32(0x846CA68B)
    mixed ^= mixed >> np.uint32(16)
    scaled = mixed.astype(np.uint64) * np.uint64(2 * HASHED.dimension)
    return (scaled >> np.uint64(32)).astype(np.int64)


def _counts(cells: Cells, texts: int) -> Cells:
    """How often each cell was hit: texts x dimensions x signs."""
    counts = np.bincount(cells, minlength=texts * 2 * HASHED.dimension)
    return counts.astype(np.int64, copy=False).reshape(texts, HASHED.dimension, 2)


_PLAIN = bytes(
    code if chr(code).isalnum() or code > 127 else ord(" ")  # noqa: PLR2004 (ASCII ends)
    for code in bytes(range(256)).lower()
)
_FACTOR = np.uint32(0x01000193)
_LOGARITHMS = np.array([round(1000 * math.log1p(count)) for count in range(4096)], dtype=np.int64)
"""Whole numbers: a machine's logarithm may differ in its last digit, its roundings do not."""
