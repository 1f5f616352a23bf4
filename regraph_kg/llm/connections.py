"""Connections: the common part of both clients: an end from another thread, and patience.

Not here: what is asked of a server and which of its failures are which (server.py,
openai_compatible.py). A server that sends a byte now and then for ever is not noticed: the timeout
is of silence.
"""

import logging
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any, TypeVar

from regraph_kg.errors import ModelError

log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_SECONDS = 10
SHORTEST, LONGEST = 1 / 60, 1 / 6
"""Shares of the patience: the first wait and the longest; each wait doubles."""
LONGEST_REASON = 200
LOCAL = ("localhost", "127.0.0.1", "[::1]")


def is_transient(status: int) -> bool:
    """Whether a call with this status may succeed later.

    A server starts a crashed runner anew, one that is busy or loads its model is ready later.
    """
    return status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or (
        status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )


class Connections:
    """The open connections of one client. Safe for many threads at once."""

    def __init__(self, server: str, patience: float) -> None:
        """`server` is what messages call it.

        One that is lost is waited for `patience` seconds in all, counted from its first failure; 0
        is one try.
        """
        self._server = server
        self._patience = patience
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed.is_set()

    def options(self) -> dict[str, Any]:
        """Options of a client of httpx (or of httpx2, its successor)."""
        return {
            "event_hooks": {"request": [self._watch]},
            # a proxy of the environment cannot reach a server on this machine
            "mounts": {f"all://{host}": None for host in LOCAL},
        }

    def patiently(self, call: Callable[[], T], lost: Callable[[BaseException], str | None]) -> T:
        """Ask, and ask again while the server is lost: one that was killed may come back.

        `lost` says why a failure may be gone later; None where it will not be. Raises what the last
        call raised, `ModelError` once closed.
        """
        import tenacity  # noqa: PLC0415 (only a live model needs it)

        first: list[float] = []

        def spent(state: tenacity.RetryCallState) -> bool:
            now = state.outcome_timestamp or 0.0
            first.append(now)
            return self.closed or now - first[0] + state.upcoming_sleep > self._patience

        def tell(state: tenacity.RetryCallState) -> None:
            failure = state.outcome.exception() if state.outcome else None
            why = "" if failure is None else " ".join(str(lost(failure)).split())[:LONGEST_REASON]
            wait = state.upcoming_sleep
            log.warning("lost %s (%s), trying again in %.2g s", self._server, why, wait)

        self.check()
        answer: T = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda failure: lost(failure) is not None),
            stop=spent,
            wait=tenacity.wait_exponential(
                multiplier=SHORTEST * self._patience, max=LONGEST * self._patience
            ),
            sleep=tenacity.sleep_using_event(self._closed),
            before_sleep=tell,
            reraise=True,
        )(self._unless_closed, call)
        return answer

    @contextmanager
    def own(self) -> Iterator[None]:
        """Report a failure that `close` caused as ours, not as the server's."""
        try:
            yield
        except Exception:
            self.check()
            raise

    def check(self) -> None:
        """Raise `ModelError` if closed."""
        if self.closed:
            raise ModelError(f"the connection to {self._server} was closed on our side")

    def close(self) -> None:
        """End every call in flight and every wait, in all threads; nothing can be asked any more.

        A call that is still connecting ends when it is connected, or after CONNECT_SECONDS.
        """
        self._closed.set()
        with self._lock:
            for socket in self._sockets:
                _end(socket)

    def _unless_closed(self, call: Callable[[], T]) -> T:
        self.check()
        return call()

    def _watch(self, request: Any) -> None:
        """Trace the connection of each request (httpx's "trace" extension)."""
        request.extensions["trace"] = self._connected

    def _connected(self, event: str, info: dict[str, Any]) -> None:
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        opened = info["return_value"].get_extra_info("socket")
        with self._lock:
            self._sockets.add(opened)
            if self.closed:
                _end(opened)


def _end(connection: socket.socket) -> None:
    """Shut down a connection: closing alone leaves a thread waiting in its read."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
