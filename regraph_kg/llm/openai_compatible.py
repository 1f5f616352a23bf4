"""OpenAICompatibleModel: a model behind /v1/chat/completions (vLLM, llama.cpp, LM Studio).

The interface has no option to refuse an overlong prompt and does not name a model's weights;
docs/models.md lists each server's own behaviour.
"""

import hashlib
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.completion import (
    Completion,
    Message,
    TokenUsage,
    bounded_schema,
    full_answer,
    request,
)
from regraph_kg.llm.connections import CONNECT_SECONDS, Connections, is_transient
from regraph_kg.models.prompt import Prompt, Reply

if TYPE_CHECKING:  # at run time it costs 0.8 s, which only a live model is worth
    import openai

log = logging.getLogger(__name__)

BYTES_PER_TOKEN = 8
"""Bytes other than blanks: no tokenizer has so many in a token on the average of a prompt."""
TOO_LONG = ("exceed_context_size_error", "context_length_exceeded")
"""Error codes of a refused overlong prompt, at any status."""
FORMAT = "response_format"
"""A refusal that names it is of the form in which the schema was sent, not of the prompt."""
OLLAMA = "fp_ollama"
START_OF_THOUGHT, END_OF_THOUGHT = "<think>", "</think>"
REFUSED = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
CONNECT_TIMEOUT = "ConnectTimeout"
"""Name of the exception in httpx and in its successor, which the client uses."""
MOST_NAMED = 8
GO_ON = ("llamacpp", "regraph")
"""Servers, as they list their models, that go on from an answer that is begun."""
NO_KEY = "none"
"""Sent where no key is set: the client insists on one, servers without keys ignore it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's URL, up to and including "/v1", and its key; an empty key is none."""

    url: str
    key: SecretStr


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible server.

    An answer cut at `max_tokens` or by the server is a Reply that finished "length". A thought is
    no part of an answer. A server that refuses an overlong prompt is a `ModelError`; one that cuts
    it is found out only where it counts too few tokens for all of the prompt to be among them.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        timeout: float,
        temperature: float,
        max_tokens: int,
        patience: float,
    ) -> None:
        """Find the server and the model; `timeout` is the longest silence in seconds.

        A server that is lost later is waited for `patience` seconds. Raises `ModelError` (no
        server, unknown model, key refused), `BadInput` for a malformed URL or key.
        """
        url, self._place = _checked(endpoint.url)
        self._key = endpoint.key
        self._model = model
        self._timeout = timeout
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._warned = False
        self._older_form = False
        self._connections = Connections(self._place, patience)
        self._client = self._opened(url)
        with self._failures():
            served = self._served()
        self._goes_on = served.owned_by in GO_ON
        digest = hashlib.sha256(served.model_dump_json().encode()).hexdigest()[:12]
        self.name = f"openai:{model}@{digest} temperature={temperature:g} max_tokens={max_tokens}"

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops most servers' work at once."""
        with self._failures():
            completion, seconds = self._connections.patiently(lambda: self._ask(prompt), self._lost)
        self._notice_ollama(completion)
        usage = completion.usage or TokenUsage()
        self._check_whole(prompt, usage.prompt_tokens)
        text, finish = self._text_and_end(completion)
        if self._goes_on and prompt.begun:
            text = full_answer(prompt, text, ended=finish == "stop")
        return Reply(
            text=text,
            finish=finish,
            prompt_tokens=usage.prompt_tokens or 0,
            output_tokens=usage.completion_tokens or 0,
            seconds=seconds,
            model=self.name,
        )

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """See `LanguageModel`."""
        self._connections.close()

    def _opened(self, url: str) -> "openai.OpenAI":
        import openai  # noqa: PLC0415

        key = self._key.get_secret_value().strip() or NO_KEY
        if not (key.isascii() and key.isprintable()):
            raise BadInput(
                "the key for the model's server is no plain text: set REGRAPH_OPENAI_KEY"
            )
        client = openai.OpenAI(
            base_url=url,
            api_key=key,
            max_retries=0,  # ours are told, and end when closed
            http_client=openai.DefaultHttpxClient(
                **self._connections.options(),
                timeout=openai.Timeout(self._timeout, connect=CONNECT_SECONDS),
                # no idle connection: nothing to close, none that a restarted server has forgotten
                headers={"Connection": "close"},
                follow_redirects=False,
            ),
        )
        # an account elsewhere, which the environment may name, is nothing to this server
        client.organization = client.project = None
        return client

    def _served(self) -> "_Model":
        """The server's description of the model, without its weights."""
        listed = self._client.models.with_raw_response.list()
        models = _Models.model_validate_json(listed.content).data or []
        names = (self._model, f"{self._model}:latest")
        match = next((model for model in models if model.id in names), None)
        if match is None:
            there = ", ".join(model.id for model in models[:MOST_NAMED]) or "none"
            raise ModelError(
                f"{self._place} has no model {self._model} (there: {there}):"
                " name one of them, or start the server with it"
            )
        return match

    def _ask(self, prompt: Prompt) -> tuple[Completion, float]:
        """The server's answer, and how many seconds it took.

        A server that does not know the form in which a schema is sent is asked in the older one.
        """
        import openai  # noqa: PLC0415

        if prompt.answer_schema is not None:
            schema = bounded_schema(prompt.answer_schema)
            prompt = prompt.model_copy(update={"answer_schema": schema})
        older = self._older_form
        try:
            return self._post(prompt, older)
        except openai.APIStatusError as error:
            if older or prompt.answer_schema is None or FORMAT not in error.response.text:
                raise
        answered = self._post(prompt, older=True)
        self._older_form = True
        return answered

    def _post(self, prompt: Prompt, older: bool) -> tuple[Completion, float]:
        body: Any = request(
            prompt,
            self._model,
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            begun=self._goes_on,
        )
        if older and prompt.answer_schema is not None:
            body[FORMAT] = {"type": "json_object", "schema": prompt.answer_schema}
        started = time.perf_counter()
        answer = self._client.chat.completions.with_raw_response.create(
            **body, extra_body={"chat_template_kwargs": {"enable_thinking": False}}
        )
        seconds = time.perf_counter() - started
        return Completion.model_validate_json(answer.content), seconds

    def _text_and_end(self, completion: Completion) -> tuple[str, Literal["stop", "length"]]:
        """The answer without what was thought before, and how it ended."""
        if not completion.choices:
            raise ModelError(f"{self._model} answered without a choice: see the server's log")
        choice = completion.choices[0]
        finish = choice.finish_reason or "length"  # Ollama: a server that cuts a repetition
        if finish not in ("stop", "length"):
            raise ModelError(
                f"{self._model} ended its answer with {finish!r}, not by itself:"
                " see the server's log"
            )
        text, thought = _without_thought(choice.message)
        if finish == "stop" and thought and not text.strip():
            raise ModelError(
                f"{self._model} thought and said nothing although told not to think:"
                " start its server with thinking off, or use another model"
            )
        return text, "stop" if finish == "stop" else "length"

    def _check_whole(self, prompt: Prompt, counted: int | None) -> None:
        """Raise `ModelError` for a prompt that cannot have been read whole."""
        size = len("".join(f"{prompt.system} {prompt.user}".split()).encode())
        if counted and counted * BYTES_PER_TOKEN < size:
            raise ModelError(
                f"{self._place} read {counted} tokens of a prompt of {size} bytes: it was cut;"
                " start the server with a longer context, or shorten it"
            )

    def _notice_ollama(self, completion: Completion) -> None:
        if completion.fingerprint == OLLAMA and not self._warned:
            self._warned = True
            log.warning(
                "%s is Ollama, which cuts overlong prompts there without a word: use"
                " --model ollama:%s",
                self._place,
                self._model,
            )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Turn every failure of the server into one line."""
        import openai  # noqa: PLC0415

        try:
            with self._connections.own():
                yield
        except openai.APITimeoutError as error:
            raise ModelError(self._silence(error)) from None
        except openai.APIConnectionError as error:
            raise ModelError(self._lost_line(error)) from None
        except openai.APIStatusError as error:
            raise ModelError(self._refusal(error)) from None
        except ValidationError:
            raise ModelError(
                f"what answers at {self._place} is no OpenAI-compatible server: set"
                " REGRAPH_OPENAI_URL"
            ) from None

    def _lost(self, error: BaseException) -> str | None:
        """Why the same call may succeed later; None if it will not."""
        import openai  # noqa: PLC0415

        if isinstance(error, openai.APIConnectionError):
            cause = type(error.__cause__).__name__
            silent = isinstance(error, openai.APITimeoutError) and cause != CONNECT_TIMEOUT
            return None if silent else cause
        if isinstance(error, openai.APIStatusError) and is_transient(error.status_code):
            return None if _too_long(error) else f"{error.status_code}: {self._text(error)}"
        return None

    def _silence(self, error: "openai.APITimeoutError") -> str:
        if type(error.__cause__).__name__ == CONNECT_TIMEOUT:
            return self._absence()
        return (
            f"{self._model} gave no answer within {self._timeout:g} s: use a smaller model"
            " or raise REGRAPH_MODEL_TIMEOUT_SECONDS"
        )

    def _lost_line(self, error: "openai.APIConnectionError") -> str:
        if type(error.__cause__).__name__ == "ConnectError":
            return self._absence()
        return f"the server at {self._place} went away in mid-answer: start it again"

    def _absence(self) -> str:
        return f"no server answers at {self._place}: start it or set REGRAPH_OPENAI_URL"

    def _refusal(self, error: "openai.APIStatusError") -> str:
        message = self._text(error)
        status = error.status_code
        if status in REFUSED or _too_long(error):
            return (
                f"{self._place} refused the prompt for {self._model}, with {self._max_tokens}"
                f" tokens for the answer ({status}: {message}): if it is too long, start the server"
                " with a longer context, or shorten it"
            )
        match status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                return f"{self._place} lets nobody in with this key: set REGRAPH_OPENAI_KEY"
            case HTTPStatus.NOT_FOUND:
                return (
                    f"{self._place} has no model {self._model}, or is no OpenAI-compatible server"
                    f" ({message}): set REGRAPH_OPENAI_URL, which usually ends in /v1"
                )
        return f"{self._place} failed on {self._model} ({status}: {message}): see its log"

    def _text(self, error: "openai.APIStatusError") -> str:
        """The server's message in one line, without the key."""
        text = " ".join(error.response.text.split())[:200]
        key = self._key.get_secret_value().strip()
        return text.replace(key, "...") if key else text


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


def _checked(url: str) -> tuple[str, str]:
    """The URL to ask, and the same for messages, without a password."""
    url = url if "://" in url else f"http://{url}"
    place = re.sub(r"//[^/@]*@", "//", url)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(f"{place} is not a http:// URL: set REGRAPH_OPENAI_URL")
    return url, place


def _without_thought(message: Message) -> tuple[str, str]:
    """Text and thought: servers without a parser of thoughts leave them in the text."""
    text, thought = message.content or "", message.reasoning or message.reasoning_content or ""
    if END_OF_THOUGHT in text:
        inside, _, text = text.rpartition(END_OF_THOUGHT)
        return text, thought or inside
    if text.lstrip().startswith(START_OF_THOUGHT):
        return "", text
    return text, thought


def _too_long(error: "openai.APIStatusError") -> bool:
    return error.type in TOO_LONG or error.code in TOO_LONG
