"""LanguageModel: the one seam to whatever writes code; recorded answers and Ollama behind it.

Covers what a local server does wrong in silence: a context cut without a word, an answer cut in the
middle, a prompt cache that hides tokens. Not here: what a prompt says, and whether an answer is code.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from pydantic import ValidationError

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.models.base import Target
from regraph_kg.models.prompt import Prompt, PromptKey, RecordedAnswer, Reply

if TYPE_CHECKING:  # at run time they cost 0.6 s, which only a live model is worth
    import httpx
    import ollama

log = logging.getLogger(__name__)


class LanguageModel(Protocol):
    """Answers prompts. Raises `ModelError` when the model or its server fails."""

    @property
    def name(self) -> str:
        """Name, digest and options: what makes two runs comparable."""

    def complete(self, prompt: Prompt) -> Reply:
        """One answer to `prompt`; a miss of a recorded model is a Reply too ("unrecorded")."""


class ScriptedModel:
    """Answers that were written down before, each under the key of its prompt."""

    def __init__(self, name: str, answers: Mapping[PromptKey, str]) -> None:
        self.name = name
        self._answers = answers

    @classmethod
    def read(cls, folder: Path, problem: str, target: Target) -> Self:
        """The answers of `folder`/<problem>.<target>.jsonl, one `RecordedAnswer` a line.

        Raises `BadInput` for a missing file, a bad line, or two answers under one key.
        """
        path = folder / f"{problem}.{target}.jsonl"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            there = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl"))) or "none"
            raise BadInput(
                f"no recorded answers for {problem}.{target} in {folder} (there: {there});"
                " use a live model: --model ollama:NAME"
            ) from None
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; recorded answers must be readable") from None
        name = f"recorded:{hashlib.sha256(content).hexdigest()[:12]}"
        return cls(name, _recorded(path, content, problem, target))

    def complete(self, prompt: Prompt) -> Reply:
        """The recorded answer, or a Reply that finished "unrecorded"; never raises."""
        text = self._answers.get(prompt.key)
        if text is None:
            return Reply(text="", finish="unrecorded", model=self.name)
        return Reply(text=text, finish="stop", model=self.name)


def _recorded(path: Path, content: bytes, problem: str, target: Target) -> dict[PromptKey, str]:
    answers: dict[PromptKey, str] = {}
    lines: dict[PromptKey, int] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            answer = RecordedAnswer.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "line"
            raise BadInput(f"{path}:{number}: {field}: {first['msg']}") from None
        key = answer.key(problem, target)
        if key in lines:
            raise BadInput(
                f"{path}:{number}: same path, attempt and repair as line {lines[key]};"
                " remove one of the two"
            )
        answers[key] = answer.text
        lines[key] = number
    return answers


SMALLEST_WINDOW = 4096
"""Tokens. Windows are powers of two from here on: each change of size reloads the model."""
ASSUMED_CEILING = 32_768
"""Tokens a model is taken to hold when its server does not say."""
BYTES_PER_TOKEN = 3
"""Code has more; where a tokenizer has fewer, the server refuses and the window is doubled."""
TEMPLATE_TOKENS = 256
"""Room for what the chat template adds to a prompt."""
TRUNCATE_SINCE = (0, 12)
"""First Ollama version that obeys `truncate: false` and `shift: false`."""
CONNECT_SECONDS = 10
PAUSES = (0.5, 1.0, 2.0)
"""Seconds before each new try after a lost connection."""


class OllamaModel:
    """A model behind an Ollama server (models.md section 2 has the measurements).

    Every prompt gets a window it fits in and is refused rather than cut; an answer cut by
    `max_tokens` is a Reply that finished "length" and is not asked for again: the same seed would be
    cut again. An empty answer is the model's failure, not ours: a Reply with no text.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        timeout: float,
        temperature: float,
        max_tokens: int,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        """Find the server and the model; `timeout` is the longest silence in seconds.

        Raises `ModelError` (no server, unknown model), `BadInput` for a malformed URL.
        """
        self._url = url if "://" in url else f"http://{url}"
        self._model = model
        self._timeout = timeout
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._pauses = pauses
        with self._failures():
            self._http = self._connect()
            version = self._version()
            digest, self._ceiling = self._describe()
        self.name = (
            f"ollama:{model}@{digest[:12]}"
            f" server={version} temperature={temperature:g} max_tokens={max_tokens}"
        )

    def complete(self, prompt: Prompt) -> Reply:
        """One answer; Ctrl-C closes the connection, which stops the server's work at once."""
        with self._failures():
            answer = self._chat(prompt)
        if answer.done_reason not in ("stop", "length"):
            raise ModelError(
                f"{self._model} ended its answer with {answer.done_reason!r}, not by itself:"
                " see the server's log"
            )
        text = answer.message.content or ""
        if answer.message.thinking and not text:
            raise ModelError(
                f"{self._model} thought and said nothing although told not to think:"
                " update Ollama or use another model"
            )
        return Reply(
            text=text,
            finish="length" if answer.done_reason == "length" else "stop",
            prompt_tokens=answer.prompt_eval_count or 0,  # the server leaves out what is zero
            output_tokens=answer.eval_count or 0,
            seconds=(answer.total_duration or 0) / 1e9,
            model=self.name,
        )

    def _chat(self, prompt: Prompt) -> "ollama.ChatResponse":
        import ollama  # noqa: PLC0415

        window = self._window(prompt)
        response = self._post(self._request(prompt, window))
        while response.status_code == 400 and window < self._ceiling:  # it did not fit
            window = min(2 * window, self._ceiling)
            response = self._post(self._request(prompt, window))
        if response.is_error:
            raise ollama.ResponseError(response.text, response.status_code)
        return ollama.ChatResponse.model_validate_json(response.content)

    def _window(self, prompt: Prompt) -> int:
        size = len(prompt.system.encode()) + len(prompt.user.encode())
        need = size // BYTES_PER_TOKEN + TEMPLATE_TOKENS + self._max_tokens
        return min(max(SMALLEST_WINDOW, 1 << (need - 1).bit_length()), self._ceiling)

    def _request(self, prompt: Prompt, window: int) -> dict[str, object]:
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "stream": False,
            "think": False,  # unset means on
            "truncate": False,  # refuse a prompt that does not fit, do not cut it
            "shift": False,  # end an answer at the window's end, do not slide past it
            "keep_alive": "10m",
            "options": {
                "num_ctx": window,
                "num_predict": self._max_tokens,
                "temperature": self._temperature,
                "seed": prompt.seed % 2**31,  # -1 would mean a random one
            },
        }

    def _post(self, body: Mapping[str, object]) -> "httpx.Response":
        """Ask, and ask again after a lost connection: a server that was killed may come back."""
        import httpx  # noqa: PLC0415

        for pause in self._pauses:
            try:
                return self._http.post("/api/chat", json=body)
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                log.warning("lost Ollama (%s), trying again in %g s", error, pause)
                time.sleep(pause)
        return self._http.post("/api/chat", json=body)

    def _connect(self) -> "httpx.Client":
        import httpx  # noqa: PLC0415

        return httpx.Client(base_url=self._url, **self._transport())

    def _transport(self) -> dict[str, object]: ...
