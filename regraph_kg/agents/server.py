"""The server that agents connect to: tools, and a prompt that says how to go about.

Agents come over the standard streams, or over HTTP on this machine with a token.
"""

import hmac
import inspect
import secrets
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from regraph_kg.agents.folder import LONGEST_CODE, ProjectFolder
from regraph_kg.agents.tools import Tools
from regraph_kg.errors import ToolError
from regraph_kg.models.target import TARGETS, USUAL
from regraph_kg.private import make_folder, opener
from regraph_kg.settings import Settings

LONGEST_MESSAGE = 4 * LONGEST_CODE  # bytes of one message: two codes, escaped within reason
HOST = "127.0.0.1"

INSTRUCTIONS = """Makes C++ functions fast with OpenMP or CUDA. Ask next_techniques what to try, \
apply one technique at a time, and have evaluate judge each version: only its verdict counts. \
Code and problems come from the project's folder, or are sent as text."""

OPTIMIZE = files(__package__) / "optimize.txt"  # the words of the prompt


def build(settings: Settings, root: Path, judge_seconds: float) -> MCPServer[None]:
    """The server for the folder `root`; `BadInput` where that is none."""
    tools = Tools(settings, ProjectFolder(root, settings), judge_seconds)

    @asynccontextmanager
    async def living(_: MCPServer[None]) -> AsyncIterator[None]:
        try:
            yield None
        finally:
            # the candidate of an agent that is gone must not run on
            tools.close()

    server = MCPServer[None](
        name="regraph",
        instructions=INSTRUCTIONS,
        version=version("regraph-kg"),
        lifespan=living,
        log_level="WARNING",
    )
    # a docstring is written for agents: it is all that they read
    for tool in tools.offered():
        server.add_tool(tool, description=inspect.getdoc(tool))

    @server.prompt()
    def optimize_this_function(problem: str, target: str = USUAL) -> str:
        """Optimize a function with the graph, step by step, each step judged."""
        if target not in TARGETS:
            names = ", ".join(TARGETS)
            raise MCPError(INVALID_PARAMS, f"target {target[:100]!r}: none of {names}")
        words = OPTIMIZE.read_text(encoding="utf-8")
        return words.strip().format(problem=problem, target=target)

    return server


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
        _with_token(app, token), log_level="warning", timeout_graceful_shutdown=2
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


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = dict(scope["headers"]).get(b"authorization", b"")
            # compared in constant time: another user of this machine may measure it
            if not hmac.compare_digest(header, f"Bearer {token}".encode()):
                refused = PlainTextResponse("the token is missing, or another one\n", 401)
                await refused(scope, receive, send)
                return
        await app(scope, receive, send)

    return guarded
