"""OllamaModel: a model behind an Ollama server.

Covers what a local server does in silence: cut a prompt, cut an answer, clamp a window, think
unasked.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from regraph_kg.errors import ModelError
from regraph_kg.llm.completion import bounded_schema, full_answer, messages
from regraph_kg.llm.connections import is_transient
from regraph_kg.llm.server import OllamaServer
from regraph_kg.models.prompt import Prompt, Reply

if TYPE_CHECKING:  # at run time they cost 0.6 s, which only a live model is worth
    import httpx
    import ollama

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
        with self._server.failures():
            version = self._server.version()
            digest = self._server.describe()
        self.name = (
            f"ollama:{model}@{digest[:12]}"
            f" server={version} temperature={temperature:g} max_tokens={max_tokens}"
        )

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops the server's work at once."""
        with self._server.failures():
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
            prompt_tokens=answer.prompt_eval_count or 0,  # the server leaves out what is zero
            output_tokens=answer.eval_count or 0,
            seconds=(answer.total_duration or 0) / 1e9,
            model=self.name,
        )

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """See `LanguageModel`; a closed connection stops the server's work on it at once."""
        self._server.close()

    def _chat(self, prompt: Prompt) -> "ollama.ChatResponse":
        import ollama  # noqa: PLC0415

        window = self._window(prompt)
        response = self._post(self._request(prompt, window))
        while response.status_code == HTTPStatus.BAD_REQUEST and window < self._server.ceiling:
            window = min(2 * window, self._server.ceiling)
            response = self._post(self._request(prompt, window))
        if response.is_error:
            raise ollama.ResponseError(response.text, response.status_code)
        return ollama.ChatResponse.model_validate_json(response.content)

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

    def _post(self, body: Mapping[str, object]) -> "httpx.Response":
        """The server's answer; raises `ollama.ResponseError` for one that may differ later."""
        import ollama  # noqa: PLC0415

        def post() -> "httpx.Response":
            response = self._server.http.post("/api/chat", json=body)
            if is_transient(response.status_code):
                raise ollama.ResponseError(response.text, response.status_code)
            return response

        return self._server.patiently(post)
