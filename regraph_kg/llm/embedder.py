"""Embedder: turns a text into a unit vector; built in, by Ollama, by sentence-transformers.

Not here: which of them a graph's vectors are from, and how the nearest ones are found
(backends/vectors.py); the built-in one (ngrams.py).
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from pydantic import BaseModel

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.ngrams import HASHED, HashEmbedder, batches, packed, words
from regraph_kg.llm.server import OllamaServer, Refused
from regraph_kg.models.graph import EmbeddedKind, EmbeddingSpace, Vector

HALVED = 32
"""Characters below which a text that is refused is not refused for its length."""
BUILT_IN = HASHED.model.rstrip("0123456789")
"""Name without its version: a graph may hold vectors of an older one."""
SHOWN = 12
"""Digits of a digest or a revision in the name of a space."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prefixes of a query and of a document.

    None: what the model declares.
    """

    query: str | None = None
    document: str | None = None

    def as_json(self) -> str:
        """The prompts as JSON, part of a space's key; "" where there are none."""
        prompts = {"query": self.query or "", "document": self.document or ""}
        return json.dumps(prompts, ensure_ascii=False) if any(prompts.values()) else ""


_NONE = Prompts()


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
        return self._embed(texts, self._prompts.document or "")

    def embed_queries(self, texts: Sequence[str]) -> list[bytes]:
        """See `Embedder`."""
        return self._embed(texts, self._prompts.query or "")

    def _embed(self, texts: Sequence[str], prompt: str) -> list[bytes]:
        ask = partial(self._ask, prompt=prompt)
        return [vector for batch in batches(texts) for vector in _worded(batch, ask, self._space)]

    def _ask(self, texts: Sequence[str], prompt: str) -> Sequence[Sequence[float]]:
        raise NotImplementedError


class OllamaEmbedder(_PromptedEmbedder):
    """An embedding model behind an Ollama server.

    Of a text that the model cannot hold the vector is the mean of its halves': nothing is cut.
    """

    def __init__(
        self, url: str, model: str, *, timeout: float, patience: float, prompts: Prompts = _NONE
    ) -> None:
        """Find server, model and dimension; `timeout` is the longest silence in seconds.

        Ollama does not tell what prompts a model wants: there are those that are given. Raises
        `ModelError` (no server, unknown model, one that does not embed), `BadInput` for a malformed
        URL.
        """
        self._server = OllamaServer(
            url, model, timeout=timeout, patience=patience, sends="a text to embed"
        )
        with self._server.checked():
            self._server.version()
            digest = self._server.describe()
            width = len(self._ask(["dimension"], "")[0])
        self._prompts = prompts
        self._space = EmbeddingSpace(f"ollama:{model}@{digest[:SHOWN]}", width, prompts.as_json())

    def _embed(self, texts: Sequence[str], prompt: str) -> list[bytes]:
        with self._server.checked():
            return super()._embed(texts, prompt)

    def _ask(self, texts: Sequence[str], prompt: str) -> Sequence[Sequence[float]]:
        body = {
            "model": self._server.model,
            "input": [prompt + text for text in texts],
            "truncate": False,
            "keep_alive": "10m",
        }
        try:
            answer = self._server.patiently(lambda: self._server.post("/api/embed", body))
            return _Embedded.model_validate_json(answer).embeddings
        except Refused as refused:
            if refused.status != HTTPStatus.BAD_REQUEST or len(max(texts, key=len)) < HALVED:
                raise
        if len(texts) > 1:
            return [self._ask([text], prompt)[0] for text in texts]
        return [_mean(self._ask(_halves(texts[0]), prompt))]


class _Embedded(BaseModel):
    embeddings: list[list[float]]


class SentenceTransformerEmbedder(_PromptedEmbedder):
    """A sentence-transformers model that lies on this machine; nothing is downloaded.

    Longer texts than the model holds are treated as `OllamaEmbedder` does.
    """

    def __init__(self, model: str, *, device: str = "cpu", prompts: Prompts = _NONE) -> None:
        """Load `model`, a name in the Hugging Face cache or a folder, on `device`.

        Raises `ModelError` without the extra `embed`, for a model that is not here, and for a
        device that is not.
        """
        try:
            library = import_module("sentence_transformers")  # 5 to 13 s
        except ImportError:
            raise ModelError(
                f"embedder sentence-transformers:{model} needs a package that is not installed:"
                " pip install 'sentence-transformers>=5'"
            ) from None
        try:
            self._model: Any = library.SentenceTransformer(
                model, local_files_only=True, device=device
            )
            self._prompts = self._declared(prompts)
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

    def _declared(self, chosen: Prompts) -> Prompts:
        """The prompts that are given, else the model's, under the names that its library knows."""
        declared: dict[str, str] = self._model.prompts
        rest = declared.get(self._model.default_prompt_name or "", "")
        query = declared.get("query") or rest
        named = (declared.get(name) for name in ("document", "passage", "corpus"))
        document = next(filter(None, named), rest)
        return Prompts(
            query if chosen.query is None else chosen.query,
            document if chosen.document is None else chosen.document,
        )

    def _ask(self, texts: Sequence[str], prompt: str) -> Sequence[Sequence[float]]:
        vectors = self._model.encode(list(texts), prompt=prompt, show_progress_bar=False).tolist()
        for number, text in enumerate(texts):
            if len(text) >= HALVED and self._cuts(prompt + text):
                vectors[number] = _mean(self._ask(_halves(text), prompt))
        return cast("Sequence[Sequence[float]]", vectors)

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
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".md" and not path.name.startswith("."):
            digest.update(f"{path.relative_to(folder)}\n".encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Serving:
    """Server, device and prompts for embedders."""

    ollama_url: str
    timeout: float
    """Longest silence of a server, in seconds."""
    patience: float
    """A lost server is waited for so many seconds."""
    device: str = "cpu"
    """Device of sentence-transformers."""
    prompts: Prompts = _NONE


def open_embedder(spec: str, serving: Serving) -> Embedder:
    """The embedder that `spec` names; raises `BadInput` for a spec that is none."""
    kind, _, name = spec.partition(":")
    if spec == "hash":
        return HashEmbedder()
    if kind == "ollama" and name:
        return OllamaEmbedder(
            serving.ollama_url,
            name,
            timeout=serving.timeout,
            patience=serving.patience,
            prompts=serving.prompts,
        )
    if kind == "sentence-transformers" and name:
        return SentenceTransformerEmbedder(name, device=serving.device, prompts=serving.prompts)
    raise BadInput(
        f'embedder {spec!r}: know "hash", "ollama:NAME" and "sentence-transformers:NAME"'
        " (REGRAPH_EMBEDDER)"
    )


def spec_of(space: EmbeddingSpace) -> str:
    """The value of REGRAPH_EMBEDDER for an embedder of `space`, or of its kind."""
    if space.model.startswith(BUILT_IN):
        return "hash"
    return space.model.rpartition("@")[0] or space.model


def _worded(
    texts: Sequence[str],
    ask: Callable[[Sequence[str]], Sequence[Sequence[float]]],
    space: EmbeddingSpace,
) -> list[bytes]:
    """Unit vectors of `ask`, which never sees a text without words."""
    worded = [number for number, text in enumerate(texts) if words(text)]
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
    return packed(vectors)


def _halves(text: str) -> list[str]:
    """Two parts of a text, cut at a blank if one is near."""
    middle = text.rfind(" ", len(text) // 4, len(text) // 2)
    middle = len(text) // 2 if middle < 0 else middle
    return [half for half in (text[:middle], text[middle:]) if words(half)]


def _mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    mean: list[float] = np.mean(np.asarray(vectors, dtype=np.float64), axis=0).tolist()
    return mean
