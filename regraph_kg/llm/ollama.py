"""OllamaModel: a model behind an Ollama server.

Covers what a local server does in silence: cut a prompt, cut an answer, clamp a window, think
unasked.
"""

from http import HTTPStatus

import ollama

from regraph_kg.errors import ModelError
from regraph_kg.llm.completion import bounded_schema, full_answer, messages
from regraph_kg.llm.connection import Refused
from regraph_kg.llm.model import AskOptions
from regraph_kg.llm.ollama_server import KEEP_ALIVE, OllamaServer
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

    def __init__(self, url: str, model: str, options: AskOptions) -> None:
        """Find the server and the model; a server that is lost later is waited for.

        Raises `ModelError` (no
        server, unknown model), `BadInput` for a malformed URL.
        """
        self._server = OllamaServer(url, model, options)
        self._options = options
        with self._server.failures():
            version, digest = self._server.describe()
        self.name = f"ollama:{model}@{digest[:12]} server={version} {options}"

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops the server's work at once."""
        with self._server.failures():
            answer = self._chat(prompt)
        # a server that stops a model's repetitions says done: false, and gives no reason
        cut = answer.done_reason == "length" or answer.done is False
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
            prompt_tokens=answer.prompt_eval_count or 0,
            output_tokens=answer.eval_count or 0,
            seconds=(answer.total_duration or 0) / 1e9,
            model=self.name,
        )

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """See `LanguageModel`; a closed connection stops the server's work on it at once."""
        self._server.connection.close()

    def _chat(self, prompt: Prompt) -> ollama.ChatResponse:
        """The answer in the smallest window that the server takes."""
        size = len(prompt.system.encode()) + len(prompt.user.encode())
        need = size // BYTES_PER_TOKEN + TEMPLATE_TOKENS + self._options.max_tokens
        ceiling = self._server.ceiling
        window = min(max(SMALLEST_WINDOW, 1 << (need - 1).bit_length()), ceiling)
        while True:
            try:
                return self._server.chat(self._request(prompt, window))
            except Refused as refused:
                if refused.status != HTTPStatus.BAD_REQUEST or window >= ceiling:
                    raise
            window = min(2 * window, ceiling)

    def _begins(self, prompt: Prompt) -> bool:
        return bool(prompt.begun) and self._server.goes_on

    def _request(self, prompt: Prompt, window: int) -> dict[str, object]:
        schema = prompt.answer_schema
        return {
            "model": self._server.model,
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
            **({} if schema is None else {"format": bounded_schema(schema)}),
        }
