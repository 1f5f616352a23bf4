"""OpenAICompatibleModel: a model behind /v1/chat/completions (vLLM, llama.cpp, LM Studio).

The interface has no option to refuse an overlong prompt and does not name a model's weights;
docs/models.md lists each server's own behaviour. httpx alone: docs/dev/decisions/0037 says why.
"""

import hashlib
import logging
import time
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, SecretStr

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.completion import Completion, TokenUsage, full_answer, question
from regraph_kg.llm.connection import LOCAL, Connection, Refused, ServerKind
from regraph_kg.llm.model import AskOptions, LanguageModel
from regraph_kg.models.prompt import Prompt, Reply

log = logging.getLogger(__name__)

KIND = ServerKind("OpenAI-compatible server", "start it", "REGRAPH_OPENAI_URL")
BYTES_PER_TOKEN = 8  # bytes other than blanks: no tokenizer has so many a token on average
OLLAMA = "library"  # the owner of Ollama's own models in its list
GO_ON = ("llamacpp", "regraph")  # servers that go on from an answer that is begun
REFUSED = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
MOST_NAMED = 8
NO_KEY = "none"  # sent where no key is set: some servers insist on one, others ignore it


class OpenAICompatibleModel(LanguageModel):
    """A model behind an OpenAI-compatible server.

    An answer cut at `max_tokens` or by the server is a Reply that finished "length". A thought is
    no part of an answer. A server that refuses an overlong prompt is a `ModelError`; one that cuts
    it is found out only where it counts too few tokens for all of the prompt to be among them.
    """

    def __init__(self, url: str, key: SecretStr, model: str, options: AskOptions) -> None:
        """`url` ends in "/v1"; "" is no `key`. `ModelError` without server or model, `BadInput`."""
        plain_key = key.get_secret_value().strip() or NO_KEY
        if not (plain_key.isascii() and plain_key.isprintable()):
            raise BadInput(
                "the key for the model's server is no plain text: set REGRAPH_OPENAI_KEY"
            )
        self._connection = Connection(KIND, url, options, plain_key)
        self._place = self._connection.place
        parts = urlsplit(self._place)
        local = (parts.hostname or "").strip("[]") in {host.strip("[]") for host in LOCAL}
        # no refusal: a server of the same rack is often asked so
        if plain_key != NO_KEY and parts.scheme == "http" and not local:
            log.warning(
                "the key goes to %s where anybody on the way can read it: use https", self._place
            )
        self._http = httpx.Client(base_url=self._place, **self._connection.client_options())
        self._model = model
        self._options = options
        with self._connection.failures(self._refusal):
            served = self._served()
        self._goes_on = served.owned_by in GO_ON
        # nothing else tells two files of weights under one name apart
        digest = hashlib.sha256(served.model_dump_json().encode()).hexdigest()[:12]
        self.name = f"openai:{model}@{digest} {options}"

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops most servers' work at once."""
        with self._connection.failures(self._refusal):
            completion, seconds = self._connection.patiently(lambda: self._ask(prompt))
        choice, usage = completion.choices[0], completion.usage or TokenUsage()
        self._check_whole(prompt, usage.prompt_tokens)
        text, thought = choice.message.without_thought()
        if choice.finish == "stop" and thought and not text.strip():
            raise ModelError(
                f"{self._model} thought and said nothing although told not to think:"
                " start its server with thinking off, or use another model"
            )
        if self._goes_on and prompt.begun:
            text = full_answer(prompt, text, ended=choice.finish == "stop")
        return Reply(
            text=text,
            finish=choice.finish,
            prompt_tokens=usage.prompt_tokens or 0,
            output_tokens=usage.completion_tokens or 0,
            seconds=seconds,
            model=self.name,
        )

    def close(self) -> None:
        self._connection.close()

    def _served(self) -> "_Model":
        """The server's description of the model, without its weights."""
        # asked before any prompt: llama-cpp-python answers for an unknown model with another one
        models = _Models.model_validate_json(self._http.get("models").content).data or []
        # Ollama lists a model with its tag
        names = (self._model, f"{self._model}:latest")
        match = next((model for model in models if model.id in names), None)
        if match is None:
            there = ", ".join(model.id for model in models[:MOST_NAMED]) or "none"
            raise ModelError(
                f"{self._place} has no model {self._model} (there: {there}):"
                " name one of them, or start the server with it"
            )
        if match.owned_by == OLLAMA:
            log.warning(
                "%s is Ollama, which cuts overlong prompts there without a word: use"
                " --model ollama:%s",
                self._place,
                self._model,
            )
        return match

    def _ask(self, prompt: Prompt) -> tuple[Completion, float]:
        """The server's answer, and how many seconds it took."""
        body = question(prompt, self._model, self._options, begun=self._goes_on)
        # vLLM and llama.cpp hand it to the template; others ignore it
        body["chat_template_kwargs"] = {"enable_thinking": False}
        started = time.perf_counter()
        answer = self._http.post("chat/completions", json=body)
        return Completion.model_validate_json(answer.content), time.perf_counter() - started

    def _check_whole(self, prompt: Prompt, counted: int | None) -> None:
        """Raise `ModelError` for a prompt that cannot have been read whole."""
        size = len("".join(f"{prompt.system} {prompt.user}".split()).encode())
        if counted and counted * BYTES_PER_TOKEN < size:
            raise ModelError(
                f"{self._place} read {counted} tokens of a prompt of {size} bytes: it was"
                " cut; start the server with a longer context, or shorten it"
            )

    def _refusal(self, refused: Refused, message: str) -> ModelError:
        place, status = self._place, refused.status
        if status in REFUSED or refused.too_long:
            return ModelError(
                f"{place} refused the prompt for {self._model}, with {self._options.max_tokens}"
                f" tokens for the answer ({status}: {message}): if it is too long, start the server"
                " with a longer context, or shorten it"
            )
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return ModelError(f"{place} lets nobody in with this key: set REGRAPH_OPENAI_KEY")
            case HTTPStatus.NOT_FOUND:
                return ModelError(
                    f"{place} has no model {self._model}, or is no OpenAI-compatible server"
                    f" ({message}): set REGRAPH_OPENAI_URL, which usually ends in /v1"
                )
        return self._connection.failed(self._model, refused, message)


class _Facts(BaseModel):
    """Facts of llama.cpp about the file that it serves."""

    n_params: int | None = None
    n_vocab: int | None = None
    n_embd: int | None = None
    size: int | None = None


class _Model(BaseModel):
    """Fields of a model that survive a restart of its server."""

    id: str
    owned_by: str | None = None
    root: str | None = None
    meta: _Facts | None = None


class _Models(BaseModel):
    """Answer of /v1/models."""

    data: list[_Model] | None
