"""Connection: the one way to a live model's server; its key, its patience, its end, its failures.

Clients of others send and parse (the package `ollama`, httpx). They are opened with
`client_options()`, so that each of their calls obeys what is said here. A server that sends a byte
now and then for ever is not noticed: the timeout is of silence.
"""

import json
import logging
import re
import socket
import threading
import time
import weakref
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import ValidationError

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.model import AskOptions

if TYPE_CHECKING:  # at run time it costs 0.3 s, which only a live model is worth
    import httpx

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_SECONDS = 10
SHORTEST, LONGEST = 1 / 60, 1 / 6  # shares of the patience: first wait, longest; each doubles
LONGEST_REASON = 200
LOCAL = ("localhost", "127.0.0.1", "[::1]")
TOO_LONG = ("exceed_context_size", "exceeds the available context", "context_length_exceeded")
"""Words of a refused overlong prompt, at any status: llama.cpp says 500 as well as 400."""
TRANSIENT = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


@dataclass(frozen=True, slots=True)
class ServerKind:
    """The words for a kind of server in messages."""

    name: str
    start: str  # the remedy where none answers
    setting: str  # the setting that has its URL


class Refused(Exception):
    """A server's answer with another status than 200, or an error in place of an answer."""

    def __init__(self, status: int, text: str, wait: float = 0.0) -> None:
        """`wait`: seconds after which the server wants to be asked again."""
        super().__init__(text)
        self.status = status
        self.text = text
        self.wait = wait
        self.too_long = any(words in text for words in TOO_LONG)

    @property
    def message(self) -> str:
        """The server's own message in one line, else all of its answer."""
        message: Any = self.text
        with suppress(ValueError, RecursionError):
            body = json.loads(self.text)
            while isinstance(body, dict) and (
                inner := body.get("error") or body.get("message") or body.get("detail")
            ):
                message = body = inner
        return " ".join(str(message).split())[:LONGEST_REASON]


class Broken(Exception):
    """An answer that is no JSON object: cut off on the way, or not of such a server."""


class Connection:
    """The way to one server. Ask inside `failures()`; safe for many threads at once."""

    def __init__(self, kind: ServerKind, url: str, options: AskOptions, key: str = "") -> None:
        """Nothing is asked yet. `BadInput` for a malformed URL."""
        url = url if "://" in url else f"http://{url}"
        self.kind = kind
        self.place = re.sub(r"//[^/@]*@", "//", url)  # the URL for messages: without a password
        self._key = key
        login = _login(url, self.place, kind)
        self._authorization = login or (f"Bearer {key}" if key else "")
        self._timeout = options.timeout
        self._patience = options.patience
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def client_options(self) -> dict[str, Any]:
        """The arguments for an `httpx.Client`, and for clients that hand theirs on to one."""
        import httpx  # noqa: PLC0415 (only a live model needs it)

        return {
            "auth": self._sign,
            "timeout": httpx.Timeout(self._timeout, connect=CONNECT_SECONDS),
            # no idle connection: nothing to close, none that a restarted server has forgotten
            "limits": httpx.Limits(max_keepalive_connections=0),
            "event_hooks": {"response": [_check]},
            # a redirect would carry prompt and key to an address that the user never named
            "follow_redirects": False,
            # a proxy of the environment cannot reach a server on this machine
            "mounts": {f"all://{host}": None for host in LOCAL},
        }

    def patiently(self, call: Callable[[], T]) -> T:
        """Ask, and ask again while the server is lost: one that was killed may come back.

        Lost are refused and broken connections, answers of 408, 429 and 5xx, and broken answers.
        A wait that the server asks for (Retry-After) is kept if patience lasts so long. No silence
        is asked again. Raises what the last call raised, `ModelError` once closed.
        """
        pause = SHORTEST * self._patience
        first: float | None = None
        while True:
            self._check_open()
            try:
                return call()
            except Exception as error:
                if not _is_lost(error):
                    raise
                # counted from the end of the first call: a model may take minutes before it is lost
                now = time.monotonic()
                first = now if first is None else first
                refused = error if isinstance(error, Refused) else None
                wait = max(pause, refused.wait if refused else 0.0)
                if self._closed.is_set() or now - first + wait > self._patience:
                    raise
                why = self.safe(refused.message if refused else type(error).__name__)
                log.warning("lost %s (%s), trying again in %.2g s", self.place, why, wait)
            # an event, not a sleep: `close` ends the wait
            self._closed.wait(wait)
            pause = min(2 * pause, LONGEST * self._patience)

    @contextmanager
    def failures(self, refusal: Callable[[Refused, str], ModelError]) -> Iterator[None]:
        """Turn every failure of the server into one line; `refusal` words a refused request.

        A failure that `close` caused is told as ours.
        """
        import httpx  # noqa: PLC0415 (loaded already, by the client)

        failures = (httpx.HTTPError, ConnectionError, ValidationError, Broken, Refused)
        try:
            yield
        except failures as error:
            self._check_open()
            if isinstance(error, Refused):
                raise refusal(error, self.safe(error.message)) from None
            raise ModelError(self._failure(error)) from None

    def close(self) -> None:
        """End every call in flight and every wait, in all threads; nothing can be asked any more.

        A call that is still connecting ends when it is connected, or after CONNECT_SECONDS.
        """
        self._closed.set()
        with self._lock:
            for opened in self._sockets:
                _end(opened)

    def failed(self, model: str, refused: Refused, message: str) -> ModelError:
        """The error of a request that the server took and failed on."""
        return ModelError(
            f"{self.place} failed on {model} ({refused.status}: {message}): see its log"
        )

    def safe(self, text: str) -> str:
        """A server's words without our key, which it may say back."""
        return text.replace(self._key, "...") if self._key else text

    def _failure(self, error: Exception) -> str:
        import httpx  # noqa: PLC0415 (loaded already, by the client)

        kind = self.kind
        match error:
            # the builtin one is the word of the package ollama for httpx's
            case httpx.ConnectError() | httpx.ConnectTimeout() | ConnectionError():
                return f"no {kind.name} answers at {self.place}: {kind.start} or set {kind.setting}"
            case httpx.TimeoutException():
                return (
                    f"{self.place} gave no answer within {self._timeout:g} s: use a smaller model"
                    " or raise REGRAPH_MODEL_TIMEOUT_SECONDS"
                )
            case httpx.HTTPError():
                return f"the {kind.name} at {self.place} went away in mid-answer: start it again"
        return (
            f"the answer of {self.place} came broken: see its log, or set {kind.setting}"
            f" if it is no {kind.name}"
        )

    def _sign(self, request: "httpx.Request") -> "httpx.Request":
        """Sign and watch a request of any client; what httpx calls for authentication."""
        # the package ollama adds OLLAMA_API_KEY, which is of an account elsewhere
        request.headers.pop("Authorization", None)
        if self._authorization:
            request.headers["Authorization"] = self._authorization
        request.extensions["trace"] = self._connected
        return request

    def _connected(self, event: str, info: dict[str, Any]) -> None:
        """Keep each socket that is opened (httpx's "trace" extension), for `close`."""
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.add(opened)
            if self._closed.is_set():
                _end(opened)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ModelError(f"the connection to {self.place} was closed on our side")


def _login(url: str, place: str, kind: ServerKind) -> str:
    """The header for a URL's login, which no client's log gets. `BadInput` for what is no URL."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(f"{place} is not a http:// URL: set {kind.setting}")
    return "" if login == ":" else f"Basic {b64encode(login.encode()).decode()}"


def _check(response: "httpx.Response") -> None:
    """Raise `Refused` or `Broken` for what is no answer; a hook, so that all clients obey it."""
    response.read()
    text = response.text
    if response.status_code != HTTPStatus.OK:
        wait = _seconds(response.headers.get("retry-after", ""))
        raise Refused(response.status_code, text, wait)
    if text.startswith("error:"):  # llama.cpp's way, where an answer would have been streamed
        text = text.removeprefix("error:").partition("\n")[0]
        raise Refused(HTTPStatus.INTERNAL_SERVER_ERROR, text)
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):  # bytes that are no text are a ValueError, too
        raise Broken("no JSON") from None
    if not isinstance(body, dict):
        raise Broken("no JSON object")
    if error := _error_in(body):  # some servers send it with status 200
        raise Refused(_status_of(error, body), json.dumps({"error": error}))


def _error_in(body: dict[str, Any]) -> Any:
    """What a server says in place of an answer; None where it answers."""
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and first.get("error"):  # of a gateway whose own server failed
        return first["error"]
    # a message that is no text is Ollama's answer
    answered = "choices" in body or isinstance(body.get("message"), dict)
    names = ("error",) if answered else ("error", "errors", "detail", "message", "msg")
    said = (body.get(name) for name in names)
    return next((one[0] if isinstance(one, list) else one for one in said if one), None)


def _status_of(error: Any, body: dict[str, Any]) -> int:
    """The status that an error names itself; 500, which is waited for, where it names none."""
    for part in (error, body):
        for name in ("code", "status", "status_code") if isinstance(part, dict) else ():
            with suppress(ValueError, TypeError, KeyError):
                status = HTTPStatus(int(part[name]))
                if status >= HTTPStatus.BAD_REQUEST:
                    return status
    return HTTPStatus.INTERNAL_SERVER_ERROR


def _seconds(retry_after: str) -> float:
    """The wait of a Retry-After header; 0 for a date, which no model's server is known to send."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return 0.0


def _is_lost(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    import httpx  # noqa: PLC0415 (loaded already, by the client)

    broken = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
    if isinstance(error, (*broken, ConnectionError, Broken, ValidationError)):
        return True
    # a busy server, one that loads, or a lost runner; a prompt that is too long stays so
    return (
        isinstance(error, Refused)
        and not error.too_long
        and (error.status in TRANSIENT or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR)
    )


def _end(connection: socket.socket) -> None:
    """Shut down a connection: closing alone leaves a thread waiting in its read."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
