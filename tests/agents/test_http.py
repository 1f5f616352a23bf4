"""`regraph mcp --http`: a token, this machine only, the end of it."""

import asyncio
import os
import signal
import stat
import subprocess
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.agents.conftest import Project
from tests.agents.program import REGRAPH, call
from tests.agents.served import Server, serving, visiting
from tests.ingest.trajectories import row


def test_whoever_has_the_token_is_served_and_nobody_else(project: Project) -> None:
    project.ingest(row(1, "Memory coalescing"))
    with serving(project) as server:
        assert stat.S_IMODE(server.token_file.stat().st_mode) == 0o600
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer \xe9"}):
            raw = {name: value.encode("latin-1") for name, value in header.items()}
            assert posted(server, raw) == 401
        own = {
            **server.header,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        # a page of the web that calls it by another name
        assert posted(server, {**own, "Host": "example.org"}) == 421
        assert posted(server, {**own, "Origin": "http://example.org"}) == 403
        body = b'{"jsonrpc": "2.0", "x": "' + b"x" * (5 * 2**20) + b'"}'
        assert posted(server, own, body) == 413

        async def story() -> list[str]:
            async with visiting(server) as client:
                found = await call(client, "next_techniques", code="int x;", target="cuda")
                return [one["technique"] for one in found["steps"]]

        assert asyncio.run(story()) == ["cuda/memory-coalescing"]
        ended_by(server, signal.SIGINT)


def posted(server: Server, header: Mapping[Any, Any], body: bytes = b"{}") -> int:
    return httpx2.post(server.url, headers=header, content=body).status_code


def ended_by(server: Server, sign: signal.Signals) -> None:
    """At its end the token is gone."""
    server.process.send_signal(sign)
    server.process.wait(20)
    assert not server.token_file.exists()
    assert server.process.returncode == 0


def test_a_port_that_is_taken_is_one_line(project: Project) -> None:
    with serving(project) as server:
        port = server.url.split(":")[2].split("/")[0]
        done = subprocess.run(
            [REGRAPH, "mcp", "--http", "--port", port, "--root", str(project.folder)],
            capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, **project.env},
        )  # fmt: skip
        assert done.returncode == 3
        assert f"port {port} is taken" in done.stderr.splitlines()[-1]
        ended_by(server, signal.SIGTERM)
