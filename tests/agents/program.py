"""An agent's program: the SDK's own client, on a real `regraph mcp` process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

T = TypeVar("T")
REGRAPH = str(Path(sys.executable).parent / "regraph")


@asynccontextmanager
async def connected(root: Path, env: Mapping[str, str], *words: str) -> AsyncIterator[Client]:
    """A client of a server for the folder `root`, by stdio."""
    server = StdioServerParameters(
        command=REGRAPH, args=["mcp", "--root", str(root), *words], env={**os.environ, **env}
    )
    async with Client(stdio_client(server)) as client:
        yield client


def ask(
    root: Path, env: Mapping[str, str], story: Callable[[Client], Awaitable[T]], *words: str
) -> T:
    """What comes of a story with a server of its own."""

    async def tell() -> T:
        async with connected(root, env, *words) as client:
            return await story(client)

    return asyncio.run(tell())


async def call(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool says; fails where that is an error."""
    done = await client.call_tool(tool, given)
    assert not done.is_error, done.content
    assert done.structured_content is not None
    return done.structured_content


async def refusal(client: Client, tool: str, **given: Any) -> str:
    """Why a tool refuses."""
    done = await client.call_tool(tool, given)
    assert done.is_error, done.structured_content
    (said,) = done.content
    return str(said.text)  # type: ignore[union-attr]
