"""OllamaModel: a model behind an Ollama server.

Covers what a local server does in silence: cut a prompt, cut an answer, clamp a window, think
unasked.
"""

import logging
import re
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

import ollama
from pydantic import BaseModel

from regraph_kg.errors import ModelError
from regraph_kg.llm.completion import full_answer, messages
from regraph_kg.llm.connection import Connection, Refused, ServerKind
from regraph_kg.llm.model import AskOptions, LanguageModel
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.text import without_thought

log = logging.getLogger(__name__)

KIND = ServerKind("Ollama", "start it (ollama serve)", "REGRAPH_OLLAMA_URL")
TRUNCATE_SINCE = (0, 12)  # first Ollama version that obeys `truncate: false` and `shift: false`
GO_ON = ("$last", ".Response")  # marks of templates that leave the last message open
ASSUMED_CEILING = 32_768  # tokens a model is taken to hold when its server does not say
KEEP_ALIVE = "10m"  # how long the server keeps the model: a judge takes minutes between two prompts
SMALLEST_WINDOW = 4096  # tokens; windows are powers of two: each change reloads the model
BYTES_PER_TOKEN = 3  # code has more; where a tokenizer has fewer, the window is doubled
TEMPLATE_TOKENS = 256  # room for what the chat template adds to a prompt


class _Version(BaseModel):
    version: str


class _Client(ollama.Client):
    """The client, and two questions that it has no words for."""

    def version(self) -> str:
        return self._request(_Version, "GET", "/api/version").version

    def ask(self, body: Mapping[str, object]) -> ollama.ChatResponse:
        """A chat as `chat` asks it, which cannot send `truncate` and `shift` (0.6.3)."""
        return self._request(ollama.ChatResponse, "POST", "/api/chat", json=body)


class OllamaModel(LanguageModel):
    """A model behind an Ollama server.

    A prompt gets a window that it fits in, and is refused rather than cut. An answer cut at
    `max_tokens` is a Reply that finished "length"; asked again with its seed it would be cut again.
    One that says a token over and over is cut by the server itself, which then counts nothing: a
    "length" too. An empty answer is the model's failure, not ours: a Reply without text. Answers
    that end by themselves obey their schema, but for ranges of numbers and uniqueness of items.
    """

    def __init__(self, url: str, model: str, options: AskOptions) -> None:
        """Find server and model. `ModelError` where they are not there, `BadInput` for no URL."""
        self._model, self._options = model, options
        self._connection = Connection(KIND, url, options)
        self._client = _Client(self._connection.place, **self._connection.client_options())
        with self._connection.failures(self._refusal):
            version, digest = self._described()
        self.name = f"ollama:{model}@{digest[:12]} server={version} {options}"

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops the server's work at once."""
        with self._connection.failures(self._refusal):
            answer = self._chat(prompt)
        # a server that stops a model's repetitions says done: false, and gives no reason
        cut = answer.done_reason == "length" or answer.done is False
        text = without_thought(answer.message.content or "")
        if self._begins(prompt):
            text = full_answer(prompt, text, ended=not cut)
        if answer.message.thinking and not text:
            raise ModelError(
                f"{self._model} thought and said nothing although told not to think:"
                " update Ollama or use another model"
            )
        return Reply(
            text=text,
            finish="length" if cut else "stop",
            prompt_tokens=answer.prompt_eval_count or 0,
            output_tokens=answer.eval_count or 0,
            seconds=(answer.total_duration or 0) / 1e9,
            model=self.name,
        )

    def close(self) -> None:
        """See `LanguageModel`; a closed connection stops the server's work on it at once."""
        self._connection.close()

    def _described(self) -> tuple[str, str]:
        """The server's version, the model's digest; a version that cuts texts is warned of."""
        try:
            version = self._client.version()
        except Refused as refused:  # any Ollama answers this
            place = self._connection.place
            raise ModelError(
                f"what answers at {place} is not Ollama ({refused.status}): set {KIND.setting}"
            ) from None
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < TRUNCATE_SINCE:
            log.warning(
                "Ollama %s at %s cuts overlong prompts without a word: update it to %d.%d or newer",
                version,
                self._connection.place,
                *TRUNCATE_SINCE,
            )
        shown = self._client.show(self._model)
        # whether its template goes on from an answer that is begun
        self._goes_on = any(mark in (shown.template or "") for mark in GO_ON)
        facts = shown.modelinfo or {}
        ceiling = facts.get(f"{facts.get('general.architecture')}.context_length")
        self._ceiling = int(ceiling or ASSUMED_CEILING)  # tokens that it holds
        # the list has every name with its tag, a user leaves out the usual one
        tagged = self._model if ":" in self._model.rpartition("/")[2] else f"{self._model}:latest"
        listed = self._client.list().models
        digest = next((one.digest for one in listed if one.model == tagged), None)
        return version, digest or "unknown"

    def _chat(self, prompt: Prompt) -> ollama.ChatResponse:
        """The answer in the smallest window that the server takes."""
        size = len(prompt.system.encode()) + len(prompt.user.encode())
        need = size // BYTES_PER_TOKEN + TEMPLATE_TOKENS + self._options.max_tokens
        ceiling = self._ceiling
        window = min(max(SMALLEST_WINDOW, 1 << (need - 1).bit_length()), ceiling)
        while True:
            try:
                body = self._request(prompt, window)
                # the whole answer at once: a half one is of no use to a search
                return self._connection.patiently(partial(self._client.ask, body))
            except Refused as refused:
                if refused.status != HTTPStatus.BAD_REQUEST or window >= ceiling:
                    raise
            window = min(2 * window, ceiling)

    def _begins(self, prompt: Prompt) -> bool:
        return bool(prompt.begun) and self._goes_on

    def _request(self, prompt: Prompt, window: int) -> dict[str, object]:
        schema = prompt.answer_schema
        return {
            "model": self._model,
            "messages": messages(prompt, begun=self._begins(prompt)),
            "stream": False,
            "think": False,  # unset means on
            "truncate": False,  # refuse a prompt that does not fit, do not cut it
            "shift": False,  # end an answer at the window's end, do not slide past it
            "keep_alive": KEEP_ALIVE,
            "options": {
                "num_ctx": window,
                "num_predict": self._options.max_tokens,
                "temperature": self._options.temperature if schema is None else 0.0,
                "seed": prompt.seed % 2**31,  # -1 would mean a random one
                **({"stop": list(prompt.stop)} if self._begins(prompt) else {}),
            },
            **({} if schema is None else {"format": schema}),
        }

    def _refusal(self, refused: Refused, message: str) -> ModelError:
        match refused.status:
            case HTTPStatus.NOT_FOUND:
                return ModelError(
                    f"Ollama at {self._connection.place} has no model {self._model}:"
                    f" ollama pull {self._model}"
                )
            case HTTPStatus.BAD_REQUEST:
                return ModelError(
                    f"the prompt does not fit {self._model}, which holds {self._ceiling} tokens"
                    f" ({message}): shorten it or use another model"
                )
        return self._connection.failed(self._model, refused, message)
