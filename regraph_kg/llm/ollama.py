"""OllamaModel: a model behind an Ollama server.

Covers what a local server does in silence: cut a prompt, cut an answer, clamp a window, think
unasked.
"""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

from pydantic import BaseModel

from regraph_kg.errors import ModelError
from regraph_kg.llm.completion import bounded_schema, full_answer, messages
from regraph_kg.llm.server import OllamaServer, Refused
from regraph_kg.models.prompt import Prompt, Reply

SMALLEST_WINDOW = 4096
"""Tokens. Windows are powers of two from here on: each change of size reloads the model."""
BYTES_PER_TOKEN = 3
"""Code has more; where a tokenizer has fewer, the server refuses and the window is doubled."""
TEMPLATE_TOKENS = 256
"""Room for what the chat template adds to a prompt."""


class OllamaModel:
    """A model behind an Ollama server.

    A prompt gets a window that it fits in, and is refused rather than cut. An answer cut at
    `max_tokens` is a Reply that finished "length"; asked again with its seed it would be cut again.
    One that says a token over and over is cut by the server itself, which then counts nothing: a
    "length" too. An empty answer is the model's failure, not ours: a Reply without text. Answers
    that end by themselves obey their schema, but for ranges of numbers and uniqueness of items.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        timeout: float,
        temperature: float,
        max_tokens: int,
        patience: float,
    ) -> None:
        """Find the server and the model; `timeout` is the longest silence in seconds.

        A server that is lost later is waited for `patience` seconds. Raises `ModelError` (no
        server, unknown model), `BadInput` for a malformed URL.
        """
        self._server = OllamaServer(url, model, timeout=timeout, patience=patience)
        self._temperature = temperature
        self._max_tokens = max_tokens
        with self._server.checked():
            version = self._server.version()
            digest = self._server.describe()
        self.name = (
            f"ollama:{model}@{digest[:12]}"
            f" server={version} temperature={temperature:g} max_tokens={max_tokens}"
        )

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops the server's work at once."""
        with self._server.checked():
            answer = self._chat(prompt)
        cut = answer.done_reason == "length" or answer.done is False
        if answer.done_reason != "stop" and not cut:
            raise ModelError(
                f"{self._server.model} ended its answer with {answer.done_reason!r}, not by itself:"
                " see the server's log"
            )
        text = answer.message.content or ""
        if self._begins(prompt):
            text = full_answer(prompt, text, ended=not cut)
        if answer.message.thinking and not text:
            raise ModelError(
                f"{self._server.model} thought and said nothing although told not to think:"
                " update Ollama or use another model"
            )
        return Reply(
            text=text,
            finish="length" if cut else "stop",
            prompt_tokens=answer.prompt_eval_count,
            output_tokens=answer.eval_count,
            seconds=answer.total_duration / 1e9,
            model=self.name,
        )

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """See `LanguageModel`; a closed connection stops the server's work on it at once."""
        self._server.close()

    def _chat(self, prompt: Prompt) -> "_Chat":
        """The answer in the smallest window that the server takes."""
        window = self._window(prompt)
        while True:
            try:
                return self._server.patiently(partial(self._ask, self._request(prompt, window)))
            except Refused as refused:
                if refused.status != HTTPStatus.BAD_REQUEST or window >= self._server.ceiling:
                    raise
            window = min(2 * window, self._server.ceiling)

    def _ask(self, body: Mapping[str, object]) -> "_Chat":
        return _Chat.model_validate_json(self._server.post("/api/chat", body))

    def _begins(self, prompt: Prompt) -> bool:
        return bool(prompt.begun) and self._server.goes_on

    def _window(self, prompt: Prompt) -> int:
        size = len(prompt.system.encode()) + len(prompt.user.encode())
        need = size // BYTES_PER_TOKEN + TEMPLATE_TOKENS + self._max_tokens
        return min(max(SMALLEST_WINDOW, 1 << (need - 1).bit_length()), self._server.ceiling)

    def _request(self, prompt: Prompt, window: int) -> dict[str, object]:
        schema = prompt.answer_schema
        return {
            "model": self._server.model,
            "messages": messages(prompt, begun=self._begins(prompt)),
            "stream": False,
            "think": False,  # unset means on
            "truncate": False,  # refuse a prompt that does not fit, do not cut it
            "shift": False,  # end an answer at the window's end, do not slide past it
            "keep_alive": "10m",
            "options": {
                "num_ctx": window,
                "num_predict": self._max_tokens,
                "temperature": self._temperature if schema is None else 0.0,
                "seed": prompt.seed % 2**31,  # -1 would mean a random one
                **({"stop": list(prompt.stop)} if self._begins(prompt) else {}),
            },
            **({} if schema is None else {"format": bounded_schema(schema)}),
        }


class _Message(BaseModel):
    content: str | None = None
    thinking: str | None = None


class _Chat(BaseModel):
    """Answer of /api/chat; the server leaves out what is zero."""

    message: _Message
    done: bool | None = None
    done_reason: str | None = None
    prompt_eval_count: int = 0
    eval_count: int = 0
    total_duration: int = 0
