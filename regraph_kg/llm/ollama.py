"""OllamaModel: a model behind an Ollama server.

Covers what a local server does in silence: cut a prompt, cut an answer, clamp a window, think
unasked.
"""

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.models.prompt import Prompt, Reply

if TYPE_CHECKING:  # at run time they cost 0.6 s, which only a live model is worth
    import httpx
    import ollama

log = logging.getLogger(__name__)

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


class _Version(BaseModel):
    """Answer of /api/version, which the official client does not ask for."""

    version: str


class OllamaModel:
    """A model behind an Ollama server.

    A prompt gets a window that it fits in, and is refused rather than cut. An answer cut at
    `max_tokens` is a Reply that finished "length"; asked again with its seed it would be cut again.
    An empty answer is the model's failure, not ours: a Reply without text.
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
        self._place = re.sub(r"//[^/@]*@", "//", self._url)  # for messages: without a password
        self._model = model
        self._timeout = timeout
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._pauses = pauses
        with self._failures():
            self._http, client = self._clients()
            version = self._version()
            digest, self._ceiling = self._describe(client)
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
        while response.status_code == HTTPStatus.BAD_REQUEST and window < self._ceiling:
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

    def _clients(self) -> "tuple[httpx.Client, ollama.Client]":
        import httpx  # noqa: PLC0415
        import ollama  # noqa: PLC0415

        options: dict[str, Any] = {
            "timeout": httpx.Timeout(self._timeout, connect=CONNECT_SECONDS),
            # no idle connection: nothing to close, and none that a restarted server has forgotten
            "limits": httpx.Limits(max_keepalive_connections=0),
            # a proxy of the environment cannot reach a server on this machine
            "mounts": {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")},
        }
        return httpx.Client(base_url=self._url, **options), ollama.Client(self._url, **options)

    def _version(self) -> str:
        """The server's version; a warning where it is too old to refuse an overlong prompt."""
        version = _Version.model_validate_json(self._http.get("/api/version").content).version
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < TRUNCATE_SINCE:
            log.warning(
                "Ollama %s at %s cuts overlong prompts without a word: update it to %d.%d or newer",
                version,
                self._place,
                *TRUNCATE_SINCE,
            )
        return version

    def _describe(self, client: "ollama.Client") -> tuple[str, int]:
        """The model's digest, and the largest window it takes (a larger one is cut in silence)."""
        facts = client.show(self._model).modelinfo or {}
        ceiling = facts.get(f"{facts.get('general.architecture')}.context_length")
        tagged = self._model if ":" in self._model.rpartition("/")[2] else f"{self._model}:latest"
        digests = (served.digest for served in client.list().models if served.model == tagged)
        return next(digests, None) or "unknown", int(ceiling or ASSUMED_CEILING)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Every way in which the server fails, told as one line."""
        import httpx  # noqa: PLC0415
        import ollama  # noqa: PLC0415

        try:
            yield
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise BadInput(f"{self._place} is not a http:// URL: set REGRAPH_OLLAMA_URL") from None
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout):
            raise ModelError(
                f"no Ollama answers at {self._place}: start it (ollama serve)"
                " or set REGRAPH_OLLAMA_URL"
            ) from None
        except httpx.TimeoutException:
            raise ModelError(
                f"{self._model} gave no answer within {self._timeout:g} s: use a smaller model"
                " or raise REGRAPH_MODEL_TIMEOUT_SECONDS"
            ) from None
        except httpx.HTTPError as error:
            raise ModelError(
                f"Ollama at {self._place} went away in mid-answer ({error}): start it again"
            ) from None
        except ollama.ResponseError as error:
            raise ModelError(self._refusal(error)) from None
        except ValueError:
            raise ModelError(
                f"what answers at {self._place} is not Ollama: set REGRAPH_OLLAMA_URL"
            ) from None

    def _refusal(self, error: "ollama.ResponseError") -> str:
        said = " ".join(str(error.error).split())[:200]
        match error.status_code:
            case HTTPStatus.NOT_FOUND:
                return (
                    f"Ollama at {self._place} has no model {self._model}: ollama pull {self._model}"
                )
            case HTTPStatus.BAD_REQUEST:
                return (
                    f"the prompt does not fit {self._model}, which holds {self._ceiling} tokens"
                    f" ({said}): use shorter code or another model"
                )
            case status:
                failed = f"failed on {self._model} ({status}: {said})"
                return f"Ollama at {self._place} {failed}: see its log"
