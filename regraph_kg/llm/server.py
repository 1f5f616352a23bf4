"""ModelServer: the HTTP client of every live model, its patience, its end, and its failures' words.

Not here: what is asked of a server (ollama.py, openai_compatible.py, embedder.py). A server that
sends a byte now and then for ever is not noticed: the timeout is of silence.
"""

import json
import logging
import re
import socket
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, Field, ValidationError

from regraph_kg.errors import BadInput, ModelError

if TYPE_CHECKING:  # at run time it costs 0.3 s, which only a live model is worth
    import httpx
    import tenacity

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_SECONDS = 10
SHORTEST, LONGEST = 1 / 60, 1 / 6
"""Shares of the patience: the first wait and the longest; each wait doubles."""
LONGEST_REASON = 200
LOCAL = ("localhost", "127.0.0.1", "[::1]")
TOO_LONG = ("exceed_context_size_error", "context_length_exceeded")
"""Codes of a refused overlong prompt, at any status."""
TRUNCATE_SINCE = (0, 12)
"""First Ollama version that obeys `truncate: false` and `shift: false`."""
GO_ON = ("$last", ".Response")
"""Marks of Ollama's templates that leave the assistant's last message open."""
ASSUMED_CEILING = 32_768
"""Tokens a model is taken to hold when its server does not say."""


@dataclass(frozen=True, slots=True)
class ServerKind:
    """The words for a kind of server in messages."""

    name: str
    what: str
    """After "what answers is"."""
    start: str
    setting: str
    """The setting that has its URL."""


OLLAMA = ServerKind("Ollama", "not Ollama", "start it (ollama serve)", "REGRAPH_OLLAMA_URL")


class Refused(Exception):
    """A server's answer with another status than 200."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.too_long = any(code in text for code in TOO_LONG)

    @property
    def message(self) -> str:
        """The server's own message in one line, else all of its answer."""
        message: Any = self.text
        with suppress(ValueError, RecursionError):
            body = json.loads(self.text)
            while isinstance(body, dict) and (inner := body.get("error") or body.get("message")):
                message = body = inner
        return " ".join(str(message).split())[:LONGEST_REASON]

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later.

        A server starts a crashed runner anew, one that is busy or loads its model is ready later.
        """
        busy = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
        failed = self.status in busy or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        return failed and not self.too_long


class ModelServer:
    """The server of one model. Use it inside `failures()`; safe for many threads at once."""

    def __init__(
        self,
        kind: ServerKind,
        url: str,
        model: str,
        *,
        timeout: float,
        patience: float,
        key: str = "",
    ) -> None:
        """Nothing is asked yet; `timeout` is the longest silence in seconds.

        A server that is lost is waited for `patience` seconds in all, counted from its first
        failure; 0 is one try. `BadInput` for a malformed URL.
        """
        import httpx  # noqa: PLC0415

        url = url if "://" in url else f"http://{url}"
        self.kind = kind
        self.model = model
        self.place = re.sub(r"//[^/@]*@", "//", url)
        """The URL for messages: without a password."""
        self._key = key
        self._timeout = timeout
        self._patience = patience
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._http = httpx.Client(
            base_url=self.place,
            auth=_login(url, self.place, kind),
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout, connect=CONNECT_SECONDS),
            # no idle connection: nothing to close, none that a restarted server has forgotten
            limits=httpx.Limits(max_keepalive_connections=0),
            event_hooks={"request": [self._watch]},
            # a proxy of the environment cannot reach a server on this machine
            mounts={f"all://{host}": None for host in LOCAL},
        )

    def get(self, path: str) -> bytes:
        """The answer at `path`, asked once. Raises `Refused`."""
        return self._content(self._http.get(path))

    def post(self, path: str, body: Mapping[str, object]) -> bytes:
        """The answer to `body`, asked once. Raises `Refused`."""
        return self._content(self._http.post(path, json=body))

    def patiently(self, call: Callable[[], T]) -> T:
        """Ask, and ask again while the server is lost: one that was killed may come back.

        A crashed runner is started anew by its server, a busy one has room later: so are answers
        of 429 and 5xx; no other answer is asked for again, and no silence. Raises what the last
        call raised, `ModelError` once closed.
        """
        import tenacity  # noqa: PLC0415 (only a live model needs it)

        first: list[float] = []

        def spent(state: "tenacity.RetryCallState") -> bool:
            now = state.outcome_timestamp or 0.0
            first.append(now)
            return self._closed.is_set() or now - first[0] + state.upcoming_sleep > self._patience

        def warn(state: "tenacity.RetryCallState") -> None:
            failure = state.outcome.exception() if state.outcome else None
            why = failure.message if isinstance(failure, Refused) else type(failure).__name__
            wait = state.upcoming_sleep
            log.warning("lost %s (%s), trying again in %.2g s", self.place, self._safe(why), wait)

        answer: T = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_lost),
            stop=spent,
            wait=tenacity.wait_exponential(
                multiplier=SHORTEST * self._patience, max=LONGEST * self._patience
            ),
            sleep=tenacity.sleep_using_event(self._closed),
            before_sleep=warn,
            reraise=True,
        )(self._unless_closed, call)
        return answer

    @contextmanager
    def failures(self, refusal: Callable[[Refused, str], ModelError]) -> Iterator[None]:
        """Turn every failure of the server into one line; `refusal` words a refused request.

        A failure that `close` caused is told as ours.
        """
        import httpx  # noqa: PLC0415

        try:
            yield
        except (httpx.HTTPError, Refused, ValidationError) as error:
            self._check_open()
            if isinstance(error, Refused):
                raise refusal(error, self._safe(error.message)) from None
            raise ModelError(self._failure(error)) from None

    def close(self) -> None:
        """End every call in flight and every wait, in all threads; nothing can be asked any more.

        A call that is still connecting ends when it is connected, or after CONNECT_SECONDS.
        """
        self._closed.set()
        with self._lock:
            for socket in self._sockets:
                _end(socket)

    def failed(self, refused: Refused, message: str) -> ModelError:
        """The error of a request that the server took and failed on."""
        return ModelError(
            f"{self.place} failed on {self.model} ({refused.status}: {message}): see its log"
        )

    def _failure(self, error: "httpx.HTTPError | ValidationError") -> str:
        import httpx  # noqa: PLC0415

        kind = self.kind
        match error:
            case httpx.ConnectError() | httpx.ConnectTimeout():
                return f"no {kind.name} answers at {self.place}: {kind.start} or set {kind.setting}"
            case httpx.TimeoutException():
                return (
                    f"{self.model} gave no answer within {self._timeout:g} s: use a smaller model"
                    " or raise REGRAPH_MODEL_TIMEOUT_SECONDS"
                )
            case httpx.HTTPError():
                return f"the {kind.name} at {self.place} went away in mid-answer: start it again"
        return f"what answers at {self.place} is {kind.what}: set {kind.setting}"

    def _safe(self, text: str) -> str:
        """A server's words without our key."""
        return text.replace(self._key, "...") if self._key else text

    def _content(self, response: "httpx.Response") -> bytes:
        if response.status_code != HTTPStatus.OK:
            raise Refused(response.status_code, response.text)
        return response.content

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ModelError(f"the connection to {self.place} was closed on our side")

    def _unless_closed(self, call: Callable[[], T]) -> T:
        self._check_open()
        return call()

    def _watch(self, request: "httpx.Request") -> None:
        """Trace the connection of each request (httpx's "trace" extension)."""
        request.extensions["trace"] = self._connected

    def _connected(self, event: str, info: dict[str, Any]) -> None:
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.add(opened)
            if self._closed.is_set():
                _end(opened)


class OllamaServer(ModelServer):
    """An Ollama server, and its description of one model."""

    ceiling: int
    """Tokens that the model holds."""
    goes_on: bool
    """Whether the model's template goes on from an answer that is begun."""

    def __init__(
        self, url: str, model: str, *, timeout: float, patience: float, sends: str = "the prompt"
    ) -> None:
        """As `ModelServer`; `sends` is what a message calls the text that a model may not hold."""
        super().__init__(OLLAMA, url, model, timeout=timeout, patience=patience)
        self._sends = sends

    @contextmanager
    def checked(self) -> Iterator[None]:
        """`failures` in Ollama's words."""
        with self.failures(self._refusal):
            yield

    def version(self) -> str:
        """The server's version; a warning where it is too old to refuse an overlong text."""
        answer: bytes | str
        try:
            answer = self.get("/api/version")
        except Refused as refused:  # by a server of another kind
            answer = refused.text
        version = _Version.model_validate_json(answer).version
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
        shown = _Shown.model_validate_json(self.post("/api/show", {"model": self.model}))
        self.goes_on = any(mark in (shown.template or "") for mark in GO_ON)
        facts = shown.facts or {}
        ceiling = facts.get(f"{facts.get('general.architecture')}.context_length")
        self.ceiling = int(ceiling or ASSUMED_CEILING)
        tagged = self.model if ":" in self.model.rpartition("/")[2] else f"{self.model}:latest"
        listed = _Listed.model_validate_json(self.get("/api/tags")).models
        return next((model.digest for model in listed if model.model == tagged), None) or "unknown"

    def _refusal(self, refused: Refused, message: str) -> ModelError:
        match refused.status:
            case HTTPStatus.NOT_FOUND:
                return ModelError(
                    f"Ollama at {self.place} has no model {self.model}: ollama pull {self.model}"
                )
            case HTTPStatus.BAD_REQUEST:
                return ModelError(
                    f"{self._sends} does not fit {self.model}, which holds {self.ceiling} tokens"
                    f" ({message}): shorten it or use another model"
                )
        return self.failed(refused, message)


class _Version(BaseModel):
    version: str


class _Shown(BaseModel):
    template: str | None = None
    facts: dict[str, Any] | None = Field(default=None, alias="model_info")


class _Tagged(BaseModel):
    model: str | None = None
    digest: str | None = None


class _Listed(BaseModel):
    models: list[_Tagged]


def _login(url: str, place: str, kind: ServerKind) -> tuple[str, str] | None:
    """User and password of a URL, which stay out of the client's log. `BadInput` for no URL."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        login = (unquote(parts.username or ""), unquote(parts.password or ""))
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(f"{place} is not a http:// URL: set {kind.setting}")
    return login if any(login) else None


def _is_lost(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    import httpx  # noqa: PLC0415

    broken = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
    return isinstance(error, broken) or (isinstance(error, Refused) and error.is_transient)


def _end(connection: socket.socket) -> None:
    """Shut down a connection: closing alone leaves a thread waiting in its read."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
