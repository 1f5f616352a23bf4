"""A page served to this machine's browser while it changes.

It listens on a free port of the loopback interface, at an address with a secret that another user
of the machine cannot guess. The Host header turns away a foreign web page that reaches the port
(DNS rebinding). It answers only GET of that one address.
"""

import hmac
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from regraph_kg.errors import RegraphError

HOST = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@contextmanager
def served(page: Callable[[], str]) -> Iterator[str]:
    """Serve the result of `page`, called anew for each request, one at a time; yield the address.

    A `RegraphError` of it is served as text.
    """
    secret, lock = secrets.token_urlsafe(16), Lock()

    class Handler(_Handler):
        path_of_page = f"/{secret}/"

        def page(self) -> str:
            with lock:
                return page()

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_address[1]}/{secret}/"
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers a browser without output on the terminal."""

    path_of_page: str
    server_version, sys_version = "regraph", ""

    def page(self) -> str:
        """The page as it is now."""
        raise NotImplementedError

    def do_GET(self) -> None:
        """Serve the page at its secret address, for a Host header of this machine."""
        port = self.server.server_address[1]  # type: ignore[index]
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return self._answer(HTTPStatus.FORBIDDEN, "text/plain", "this host is not served here")
        authorized = hmac.compare_digest(self.path.encode(), self.path_of_page.encode())
        if not authorized:
            return self._answer(HTTPStatus.NOT_FOUND, "text/plain", "no such page")
        try:
            return self._answer(HTTPStatus.OK, "text/html", self.page())
        except RegraphError as error:
            return self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", str(error))

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """The address holds a secret, and a terminal may be shown around."""
