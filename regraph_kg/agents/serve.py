"""How agents connect: over the standard streams, or over HTTP on this machine with a token."""

import hmac
import secrets
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from regraph_kg.agents.folder import LONGEST_CODE
from regraph_kg.errors import ToolError
from regraph_kg.private import make_folder, opener

LONGEST_MESSAGE = 4 * LONGEST_CODE
"""Bytes of one message: two codes, whatever they are escaped to, within reason."""
HOST = "127.0.0.1"


async def serve_http(
    server: MCPServer[None], port: int, folder: Path, tell: Callable[[str], None]
) -> None:
    """Serve agents on this machine until Ctrl-C; `tell` hears where.

    The token lies in a file of `folder`, for this user alone, as long as it serves. `ToolError`
    where the port is taken.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError:
        raise ToolError(f"port {port} is taken; give another --port, or 0 for any") from None
    used, token = listening.getsockname()[1], secrets.token_urlsafe(32)
    make_folder(folder)
    token_file = folder / f"mcp-token-{used}"
    token_file.unlink(missing_ok=True)  # of a server that was killed
    with open(token_file, "x", encoding="utf-8", opener=opener) as file:
        file.write(token)
    app = server.streamable_http_app(host=HOST, max_request_body_size=LONGEST_MESSAGE)
    config = uvicorn.Config(
        _WithToken(app, token), log_level="warning", timeout_graceful_shutdown=2
    )
    # uvicorn raises the signal that ended it once more: as Ctrl-C, so that the token's file goes
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # the port listens already: who connects now is served in a moment
    tell(
        f"http://{HOST}:{used}/mcp; header: Authorization: Bearer TOKEN; TOKEN is in {token_file};"
        " Ctrl-C ends it"
    )
    try:
        await uvicorn.Server(config).serve([listening])
    finally:
        with suppress(OSError):
            token_file.unlink()
        listening.close()


class _WithToken:
    """The app behind a token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._header = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = dict(scope["headers"]).get(b"authorization", b"")
            # compared in constant time: another user of this machine may measure it
            if not hmac.compare_digest(header, self._header):
                refused = PlainTextResponse("the token is missing, or another one\n", 401)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)
