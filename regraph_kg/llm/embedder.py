"""Embedder: turns a text into a unit vector; built in, or by Ollama.

Not here: which of them a graph's vectors are from, and how the nearest ones are found
(backends/vectors.py); the built-in one (ngrams.py).
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Protocol

import numpy as np

from regraph_kg.errors import ModelError
from regraph_kg.llm.model import AskOptions
from regraph_kg.llm.ngrams import HASHED, batches, packed, words
from regraph_kg.models.graph import EmbeddedKind, EmbeddingSpace, Vector

Vectors = Sequence[Sequence[float]]
SHORT = 32  # characters below which a text that is refused is not refused for its length
BUILT_IN = HASHED.model.rstrip("0123456789")  # without its version: graphs may hold an older one's
SHOWN = 12  # digits of a digest in the name of a space


class Embedder(Protocol):
    """Turns texts into vectors of one space; the same text always into the same vector.

    Raises `ModelError` when the model or its server fails.
    """

    @property
    def space(self) -> EmbeddingSpace:
        """Model and dimension: vectors of two spaces cannot be compared."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A unit vector for each text that may be found: little-endian float32, packed.

        A text without any letter or digit is the first axis; no model is asked about it.
        """


def place(text: str, kind: EmbeddedKind, embedder: Embedder) -> Vector:
    """The vector of `text` as a query among texts, or codes."""
    return Vector(embedder.space, embedder.embed([text])[0], kind)


def spec_of(space: EmbeddingSpace) -> str:
    """The value of REGRAPH_EMBEDDER for an embedder of `space`, or of its kind."""
    if space.model.startswith(BUILT_IN):
        return "hash"
    return space.model.rpartition("@")[0] or space.model


class OllamaEmbedder:
    """An embedding model behind an Ollama server.

    A text that the model cannot hold gets the mean of the vectors of its halves: nothing is cut.
    """

    def __init__(self, url: str, model: str, options: AskOptions) -> None:
        """Find server, model and dimension.

        Raises `ModelError` (no server, unknown model, one that does not embed), `BadInput` for a
        malformed URL.
        """
        from regraph_kg.llm.ollama import OllamaServer  # noqa: PLC0415 (0.4 s)

        self._server = OllamaServer(url, model, options, sends="a text to embed")
        with self._server.failures():
            _, digest = self._server.describe()
            # neither server nor library tells it: a short text does
            width = len(self._ask(["dimension"])[0])
        # another model of the same name is another space
        self.space = EmbeddingSpace(f"ollama:{model}@{digest[:SHOWN]}", width)

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        found: list[bytes] = []
        for batch in batches(texts):
            # models differ in what they make of a text without a word, or fail on it
            worded = [number for number, text in enumerate(batch) if words(text)]
            vectors = np.zeros((len(batch), self.space.dimension))
            vectors[:, 0] = 1
            if worded:
                with self._server.failures():
                    answer = self._ask([batch[number] for number in worded])
                vectors[worded] = _directions(answer, len(worded), self.space)
            found += packed(vectors)
        return found

    def _ask(self, texts: Sequence[str]) -> Vectors:
        from regraph_kg.llm.connection import Refused  # noqa: PLC0415

        try:
            return self._server.embed(texts)
        except Refused as refused:
            if refused.status != HTTPStatus.BAD_REQUEST or len(max(texts, key=len)) < SHORT:
                raise
        # the server does not say which of them is too long
        if len(texts) > 1:
            return [self._ask([text])[0] for text in texts]
        halves = np.asarray(self._ask(_halves(texts[0])), dtype=np.float64)
        mean: list[float] = np.mean(halves, axis=0).tolist()
        return [mean]


def _directions(vectors: Vectors, count: int, space: EmbeddingSpace) -> np.ndarray[Any, Any]:
    """`count` unit vectors of `space`; `ModelError` where a model gave something else."""
    shape = {len(vector) for vector in vectors}
    # checked before numpy sees it: rows of unequal length are an error of its own there
    if len(vectors) != count or shape != {space.dimension}:
        raise ModelError(
            f"{space.model} answered {count} texts with {len(vectors)} vectors of"
            f" {sorted(shape)} numbers, not {space.dimension}: it is no longer the same model, or"
            " none for embeddings"
        )
    found = np.asarray(vectors, dtype=np.float64)
    norms = np.sqrt((found * found).sum(axis=1, keepdims=True))
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise ModelError(f"{space.model} gave a vector without a direction: use another model")
    directions: np.ndarray[Any, Any] = found / norms
    return directions


def _halves(text: str) -> list[str]:
    """Two parts of a text, cut at a blank if one is near."""
    middle = text.rfind(" ", len(text) // 4, len(text) // 2)
    middle = len(text) // 2 if middle < 0 else middle
    return [half for half in (text[:middle], text[middle:]) if words(half)]
