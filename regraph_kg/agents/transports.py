"""How agents connect: over the standard streams, or over HTTP on this machine with a token.

Messages are bounded before they are read whole: a longer one ends the connection.
"""

import asyncio
import hmac
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from regraph_kg.agents.folder import LONGEST_CODE
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.private import make_folder, opener

LONGEST_MESSAGE = 4 * LONGEST_CODE
"""Bytes of one message: two codes, whatever they are escaped to, within reason."""
HOST = "127.0.0.1"
_TOKEN_BYTES = 32


class BoundedLines:
    """Lines of a stream as they come; `too_long` says that one was not read to its end."""

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream, self._longest = stream, longest
        self.too_long = False

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await asyncio.to_thread(self._stream.readline, self._longest + 1):
            if len(line) > self._longest:
                self.too_long = True
                return
            yield line.decode("utf-8", "replace")


async def serve_stdio(server: MCPServer[None]) -> None:
    """Serve one agent until it leaves; `BadInput` where it sent a message that is too long."""
    requests = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # what the judge starts must not read what agents say
    lines: Any = BoundedLines(requests, LONGEST_MESSAGE)
    low = server._lowlevel_server
    async with stdio_server(stdin=lines) as (reads, writes):
        await low.run(reads, writes, low.create_initialization_options())
    if lines.too_long:
        raise BadInput(
            f"the agent sent a message longer than {LONGEST_MESSAGE} bytes, which was not read:"
            " it must name large files, not send them"
        )


async def serve_http(
    server: MCPServer[None], port: int, folder: Path, tell: Callable[[str], None]
) -> None:
    """Serve agents on this machine until Ctrl-C; `tell` hears where, once it listens.

    The token lies in a file of `folder`, for this user alone, as long as it serves. `ToolError`
    where the port is taken.
    """
    app = server.streamable_http_app(host=HOST, max_request_body_size=LONGEST_MESSAGE)
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    config = uvicorn.Config(
        _WithToken(app, token),
        host=HOST,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=2,
    )
    try:
        listening = config.bind_socket()
    except (OSError, SystemExit):
        raise ToolError(f"port {port} is taken; give another --port, or 0 for any") from None
    used = listening.getsockname()[1]
    url = f"http://{HOST}:{used}/mcp"
    make_folder(folder)
    token_file = folder / f"mcp-token-{used}"
    token_file.unlink(missing_ok=True)
    with open(token_file, "x", encoding="utf-8", opener=opener) as file:
        file.write(token)
    line = f"{url}; header: Authorization: Bearer TOKEN; TOKEN is in {token_file}; Ctrl-C ends it"
    try:
        await _Server(config, lambda: tell(line)).serve([listening])
    finally:
        with suppress(OSError):
            token_file.unlink()
        listening.close()


class _Server(uvicorn.Server):
    """A server that returns on a signal, so that its caller can clean up."""

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals like the parent, which also raises them again and so ends the program."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start like the parent; then announce that it listens."""
        await super().startup(sockets)
        self._begun()


class _WithToken:
    """The app behind a token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._header = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(header, self._header):
                refused = PlainTextResponse("the token is missing, or another one\n", 401)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)
