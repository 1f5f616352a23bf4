"""Embedder: turns a text into a unit vector; built in, by Ollama, by sentence-transformers.

Not here: which of them a graph's vectors are from, and how the nearest ones are found
(backends/vectors.py); the built-in one (ngrams.py).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from regraph_kg.errors import ModelError
from regraph_kg.llm.model import AskOptions
from regraph_kg.llm.ngrams import HASHED, batches, packed, words
from regraph_kg.models.graph import EmbeddedKind, EmbeddingSpace, Vector

Vectors = Sequence[Sequence[float]]
SHORT = 32  # characters below which a text that is refused is not refused for its length
BUILT_IN = HASHED.model.rstrip("0123456789")  # without its version: graphs may hold an older one's
SHOWN = 12  # digits of a digest or a revision in the name of a space


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prefixes of a query and of a document, as a model declares them."""

    query: str = ""
    document: str = ""

    def as_json(self) -> str:
        """The prompts as JSON, part of a space's key; "" where there are none."""
        prompts = {"query": self.query, "document": self.document}
        return json.dumps(prompts, ensure_ascii=False) if any(prompts.values()) else ""


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

    def embed_queries(self, texts: Sequence[str]) -> list[bytes]:
        """Embed queries: some models want another prompt there."""


def place(text: str, kind: EmbeddedKind, embedder: Embedder) -> Vector:
    """The vector of `text` as a query among texts, or codes."""
    return Vector(embedder.space, embedder.embed_queries([text])[0], kind)


def spec_of(space: EmbeddingSpace) -> str:
    """The value of REGRAPH_EMBEDDER for an embedder of `space`, or of its kind."""
    if space.model.startswith(BUILT_IN):
        return "hash"
    return space.model.rpartition("@")[0] or space.model


class _PromptedEmbedder:
    """An embedder whose queries and documents have prompts of their own."""

    _prompts: Prompts
    _space: EmbeddingSpace

    @property
    def space(self) -> EmbeddingSpace:
        """See `Embedder`; the model's digest or revision is part of its name."""
        return self._space

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        return self._embed(texts, self._prompts.document)

    def embed_queries(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        return self._embed(texts, self._prompts.query)

    def _embed(self, texts: Sequence[str], prompt: str) -> list[bytes]:
        found: list[bytes] = []
        for batch in batches(texts):
            # models differ in what they make of a text without a word, or fail on it
            worded = [number for number, text in enumerate(batch) if words(text)]
            vectors = np.zeros((len(batch), self._space.dimension))
            vectors[:, 0] = 1
            if worded:
                answer = self._ask([batch[number] for number in worded], prompt)
                vectors[worded] = _directions(answer, len(worded), self._space)
            found += packed(vectors)
        return found

    def _ask(self, texts: Sequence[str], prompt: str) -> Vectors:
        raise NotImplementedError


class OllamaEmbedder(_PromptedEmbedder):
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
            width = len(self._ask(["dimension"], "")[0])
        # Ollama does not tell what prompts a model wants
        self._prompts = Prompts()
        self._space = EmbeddingSpace(f"ollama:{model}@{digest[:SHOWN]}", width)

    def _embed(self, texts: Sequence[str], prompt: str) -> list[bytes]:
        with self._server.failures():
            return super()._embed(texts, prompt)

    def _ask(self, texts: Sequence[str], prompt: str) -> Vectors:
        from regraph_kg.llm.connection import Refused  # noqa: PLC0415

        try:
            return self._server.embed([prompt + text for text in texts])
        except Refused as refused:
            if refused.status != HTTPStatus.BAD_REQUEST or len(max(texts, key=len)) < SHORT:
                raise
        # the server does not say which of them is too long
        if len(texts) > 1:
            return [self._ask([text], prompt)[0] for text in texts]
        return [_mean(self._ask(_halves(texts[0]), prompt))]


class SentenceTransformerEmbedder(_PromptedEmbedder):
    """A sentence-transformers model that lies on this machine; nothing is downloaded.

    Longer texts than the model holds are treated as `OllamaEmbedder` does.
    """

    def __init__(self, model: str, *, device: str = "cpu") -> None:
        """Load `model`, a name in the Hugging Face cache or a folder, on `device`.

        Raises `ModelError` without the extra `embed`, for a model that is not here, and for a
        device that is not.
        """
        try:
            import sentence_transformers as library  # noqa: PLC0415 (an extra, and 5 to 13 s)
        except ImportError:
            raise ModelError(
                f"embedder sentence-transformers:{model} needs a package that is not installed:"
                " pip install 'sentence-transformers>=5'"
            ) from None
        try:
            self._model: Any = library.SentenceTransformer(
                model, local_files_only=True, device=device
            )
            self._prompts = self._declared()
            width = len(self._ask(["dimension"], "")[0])
            version = _revision(model, self._model)
        except (OSError, ValueError, RuntimeError, AssertionError) as error:
            message = " ".join(str(error).split())[:200]
            raise ModelError(
                f"embedder sentence-transformers:{model} cannot be loaded on {device} ({message}):"
                f" give a folder, or get it once with: hf download {model}"
            ) from None
        name = f"sentence-transformers:{model}@{version[:SHOWN]}"
        self._space = EmbeddingSpace(name, width, self._prompts.as_json())

    def _declared(self) -> Prompts:
        """The model's own prompts, under the names that its library knows."""
        declared: dict[str, str] = self._model.prompts
        rest = declared.get(self._model.default_prompt_name or "", "")
        named = (declared.get(name) for name in ("document", "passage", "corpus"))
        return Prompts(declared.get("query") or rest, next(filter(None, named), rest))

    def _ask(self, texts: Sequence[str], prompt: str) -> Vectors:
        vectors = self._model.encode(list(texts), prompt=prompt, show_progress_bar=False).tolist()
        for number, text in enumerate(texts):
            # the library cuts without a word
            if len(text) >= SHORT and self._cuts(prompt + text):
                vectors[number] = _mean(self._ask(_halves(text), prompt))
        return cast("Vectors", vectors)

    def _cuts(self, text: str) -> bool:
        """Whether the model would read the beginning of the text only."""
        longest = self._model.max_seq_length
        tokens = self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"]
        return longest is not None and len(tokens) > longest


def _revision(model: str, loaded: Any) -> str:
    """The commit of a model in the Hugging Face cache, or the digest of a folder's files."""
    folder = Path(model)
    if not folder.is_dir():
        config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
        return getattr(config, "_commit_hash", None) or "unknown"
    digest = hashlib.sha256()
    # a README or a hidden file changes no vector
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".md" and not path.name.startswith("."):
            digest.update(f"{path.relative_to(folder)}\n".encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


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


def _mean(vectors: Vectors) -> list[float]:
    mean: list[float] = np.mean(np.asarray(vectors, dtype=np.float64), axis=0).tolist()
    return mean
