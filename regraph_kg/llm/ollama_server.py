"""OllamaServer: the package `ollama` for one model, and what that server knows of the model.

Not here: what is asked of it (ollama.py, embedder.py).
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus

import ollama
from pydantic import BaseModel

from regraph_kg.errors import ModelError
from regraph_kg.llm.connection import Connection, Refused, ServerKind
from regraph_kg.llm.model import AskOptions

log = logging.getLogger(__name__)

KIND = ServerKind("Ollama", "start it (ollama serve)", "REGRAPH_OLLAMA_URL")
TRUNCATE_SINCE = (0, 12)
"""First Ollama version that obeys `truncate: false` and `shift: false`."""
GO_ON = ("$last", ".Response")
"""Marks of Ollama's templates that leave the assistant's last message open."""
ASSUMED_CEILING = 32_768
"""Tokens a model is taken to hold when its server does not say."""
KEEP_ALIVE = "10m"
"""How long the server keeps the model: a judge may take minutes between two prompts."""


class _Version(BaseModel):
    version: str


class _Client(ollama.Client):
    """The client, and two questions that it has no words for."""

    def version(self) -> str:
        """The server's version."""
        return self._request(_Version, "GET", "/api/version").version

    def ask(self, body: Mapping[str, object]) -> ollama.ChatResponse:
        """A chat as `chat` asks it, which cannot send `truncate` and `shift` (0.6.3)."""
        return self._request(ollama.ChatResponse, "POST", "/api/chat", json=body)


class OllamaServer:
    """An Ollama server, and its description of one model."""

    ceiling: int
    """Tokens that the model holds."""
    goes_on: bool
    """Whether the model's template goes on from an answer that is begun."""

    def __init__(
        self, url: str, model: str, options: AskOptions, sends: str = "the prompt"
    ) -> None:
        """Nothing is asked yet; `sends` is what a message calls a text that may not fit."""
        self.model = model
        self.connection = Connection(KIND, url, options)
        self._sends = sends
        self._client = _Client(self.connection.place, **self.connection.client_options())

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turn every failure of the server into one line in Ollama's words."""
        with self.connection.failures(self._refusal):
            yield

    def describe(self) -> tuple[str, str]:
        """The server's version and the model's digest; `ceiling` and `goes_on` are known then.

        A version that is too old to refuse an overlong text is warned of.
        """
        try:
            version = self._client.version()
        except Refused as refused:  # any Ollama answers this
            place = self.connection.place
            raise ModelError(
                f"what answers at {place} is not Ollama ({refused.status}): set {KIND.setting}"
            ) from None
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < TRUNCATE_SINCE:
            log.warning(
                "Ollama %s at %s cuts overlong prompts without a word: update it to %d.%d or newer",
                version,
                self.connection.place,
                *TRUNCATE_SINCE,
            )
        shown = self._client.show(self.model)
        self.goes_on = any(mark in (shown.template or "") for mark in GO_ON)
        facts = shown.modelinfo or {}
        ceiling = facts.get(f"{facts.get('general.architecture')}.context_length")
        self.ceiling = int(ceiling or ASSUMED_CEILING)
        # the list has every name with its tag, a user leaves out the usual one
        tagged = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        listed = self._client.list().models
        digest = next((one.digest for one in listed if one.model == tagged), None)
        return version, digest or "unknown"

    def chat(self, body: Mapping[str, object]) -> ollama.ChatResponse:
        """The answer of /api/chat; a lost server is waited for. Raises `Refused`."""
        # the whole answer at once: a half one is of no use to a search
        return self.connection.patiently(lambda: self._client.ask(body))

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text, none of them cut; waits as `chat` does. Raises `Refused`."""
        # an embedding of a long ingest must not end it where the server is only restarted
        answer = self.connection.patiently(
            lambda: self._client.embed(self.model, texts, truncate=False, keep_alive=KEEP_ALIVE)
        )
        return answer.embeddings

    def _refusal(self, refused: Refused, message: str) -> ModelError:
        match refused.status:
            case HTTPStatus.NOT_FOUND:
                return ModelError(
                    f"Ollama at {self.connection.place} has no model {self.model}:"
                    f" ollama pull {self.model}"
                )
            case HTTPStatus.BAD_REQUEST:
                return ModelError(
                    f"{self._sends} does not fit {self.model}, which holds {self.ceiling} tokens"
                    f" ({message}): shorten it or use another model"
                )
        return self.connection.failed(self.model, refused, message)
