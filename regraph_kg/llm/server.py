"""OllamaServer: connection to an Ollama server, and the only place that words its failures.

Not here: how a lost server is waited for and how calls are ended (connections.py).
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.connections import CONNECT_SECONDS, Connections, is_transient

if TYPE_CHECKING:  # at run time they cost 0.6 s, which only a live model is worth
    import httpx
    import ollama

log = logging.getLogger(__name__)

T = TypeVar("T")

TRUNCATE_SINCE = (0, 12)
"""First Ollama version that obeys `truncate: false` and `shift: false`."""
GO_ON = ("$last", ".Response")
"""Marks of templates that leave the assistant's last message open."""
ASSUMED_CEILING = 32_768
"""Tokens a model is taken to hold when its server does not say."""


class _Version(BaseModel):
    """Answer of /api/version, which the official client does not ask for."""

    version: str


class OllamaServer:
    """One model's server. Use it inside `failures()`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        timeout: float,
        patience: float,
        sends: str = "the prompt",
    ) -> None:
        """Nothing is asked yet; `timeout` is the longest silence in seconds.

        A server that is lost is waited for `patience` seconds. `sends` is what a message calls the
        text that a model may not hold.
        """
        self._url = url if "://" in url else f"http://{url}"
        self.place = re.sub(r"//[^/@]*@", "//", self._url)
        """The URL for messages: without a password."""
        self.model = model
        self._timeout = timeout
        self._connections = Connections("Ollama", patience)
        self._sends = sends
        self.ceiling = 0
        """Tokens that the model holds, once `describe` was called."""
        self.goes_on = False
        """Whether the model's template goes on from an answer that is begun, once it was called."""

    @cached_property
    def http(self) -> "httpx.Client":
        """An HTTP client for requests that the official one does not offer."""
        import httpx  # noqa: PLC0415

        return httpx.Client(base_url=self._url, **self._options())

    @cached_property
    def client(self) -> "ollama.Client":
        """The official client."""
        import ollama  # noqa: PLC0415

        options = self._options()
        hooks = {"request": [*options.pop("event_hooks")["request"], _without_key]}
        return ollama.Client(self._url, follow_redirects=False, event_hooks=hooks, **options)

    def version(self) -> str:
        """The server's version; a warning where it is too old to refuse an overlong text."""
        version = _Version.model_validate_json(self.http.get("/api/version").content).version
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < TRUNCATE_SINCE:
            log.warning(
                "Ollama %s at %s cuts overlong prompts without a word: update it to %d.%d or newer",
                version,
                self.place,
                *TRUNCATE_SINCE,
            )
        return version

    def describe(self) -> str:
        """The model's digest; `ceiling` and `goes_on` are known from then on."""
        shown = self.client.show(self.model)
        self.goes_on = any(mark in (shown.template or "") for mark in GO_ON)
        facts = shown.modelinfo or {}
        ceiling = facts.get(f"{facts.get('general.architecture')}.context_length")
        self.ceiling = int(ceiling or ASSUMED_CEILING)
        tagged = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        digests = (model.digest for model in self.client.list().models if model.model == tagged)
        return next(digests, None) or "unknown"

    def patiently(self, call: Callable[[], T]) -> T:
        """Ask, and ask again while the server is lost: one that was killed may come back.

        A runner that crashed is started anew by its server, a busy one has room later: so are
        answers of 429 and 5xx; no other answer is asked for again, and no silence.
        """
        return self._connections.patiently(call, _lost)

    def close(self) -> None:
        """End what is in flight in all threads; nothing can be asked any more."""
        self._connections.close()

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turn every failure of the server into one line."""
        import httpx  # noqa: PLC0415
        import ollama  # noqa: PLC0415

        try:
            with self._connections.own():
                yield
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise BadInput(f"{self.place} is not a http:// URL: set REGRAPH_OLLAMA_URL") from None
        except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout):
            raise ModelError(
                f"no Ollama answers at {self.place}: start it (ollama serve)"
                " or set REGRAPH_OLLAMA_URL"
            ) from None
        except httpx.TimeoutException:
            raise ModelError(
                f"{self.model} gave no answer within {self._timeout:g} s: use a smaller model"
                " or raise REGRAPH_MODEL_TIMEOUT_SECONDS"
            ) from None
        except httpx.HTTPError as error:
            raise ModelError(
                f"Ollama at {self.place} went away in mid-answer ({error}): start it again"
            ) from None
        except ollama.ResponseError as error:
            raise ModelError(self._refusal(error)) from None
        except ValueError:
            raise ModelError(
                f"what answers at {self.place} is not Ollama: set REGRAPH_OLLAMA_URL"
            ) from None

    def _options(self) -> dict[str, Any]:
        import httpx  # noqa: PLC0415

        return self._connections.options() | {
            "timeout": httpx.Timeout(self._timeout, connect=CONNECT_SECONDS),
            # no idle connection: nothing to close, and none that a restarted server has forgotten
            "limits": httpx.Limits(max_keepalive_connections=0),
        }

    def _refusal(self, error: "ollama.ResponseError") -> str:
        message = " ".join(str(error.error).split())[:200]
        match error.status_code:
            case HTTPStatus.NOT_FOUND:
                return f"Ollama at {self.place} has no model {self.model}: ollama pull {self.model}"
            case HTTPStatus.BAD_REQUEST:
                return (
                    f"{self._sends} does not fit {self.model}, which holds {self.ceiling} tokens"
                    f" ({message}): shorten it or use another model"
                )
            case status:
                failed = f"failed on {self.model} ({status}: {message})"
                return f"Ollama at {self.place} {failed}: see its log"


def _without_key(request: "httpx.Request") -> None:
    """Drop the key of an account elsewhere (OLLAMA_API_KEY), which the client takes by itself."""
    request.headers.pop("authorization", None)


def _lost(error: BaseException) -> str | None:
    """Why the same call may succeed later; None if it will not."""
    import httpx  # noqa: PLC0415
    import ollama  # noqa: PLC0415

    broken = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
    if isinstance(error, (ConnectionError, *broken)):
        return str(error) or type(error).__name__
    if isinstance(error, ollama.ResponseError) and is_transient(error.status_code):
        return f"{error.status_code}: {error.error}"
    return None
