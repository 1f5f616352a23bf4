"""A real `regraph mcp --http` process, and agents that visit it."""

import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.agents.conftest import Project
from tests.agents.program import REGRAPH

_LONGEST = 300.0  # seconds that an agent waits for an answer


@dataclass(frozen=True)
class Server:
    url: str
    token_file: Path
    process: "subprocess.Popen[str]"

    @property
    def header(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token_file.read_text()}"}


@contextmanager
def serving(project: Project, *words: str) -> Iterator[Server]:
    command = [REGRAPH, "mcp", "--http", "--root", str(project.folder), *words]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, **project.env}
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.match(r"(http://127\.0\.0\.1:\d+/mcp);.*TOKEN is in (\S+);", said)
        assert found, said
        try:
            yield Server(found[1], Path(found[2]), process)
        finally:
            process.kill()


@asynccontextmanager
async def visiting(server: Server) -> AsyncIterator[Client]:
    """The SDK's own client, connected to the server."""
    async with (
        httpx2.AsyncClient(headers=server.header, timeout=_LONGEST) as web,
        Client(streamable_http_client(server.url, http_client=web)) as client,
    ):
        yield client
