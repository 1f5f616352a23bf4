"""`regraph worker`: a real head with its token, and what is refused before anything starts."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regraph_kg.cli.app import app
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.hosts.ray_cluster import RayNode, make_token, serve, split

from ...requirement import require

STARTED_SECONDS = 120.0
MAIN = "from regraph_kg.cli.app import app; app()"


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def status_of(port: int, options: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """What `regraph worker --status` says once the head is up: it listens before it answers."""
    command = [
        sys.executable,
        "-c",
        MAIN,
        "worker",
        "--status",
        "--join",
        f"127.0.0.1:{port}",
        *options,
    ]
    end = time.monotonic() + STARTED_SECONDS
    while True:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.stdout or time.monotonic() > end:
            return told
        time.sleep(0.5)


@pytest.mark.slow
def test_a_head_makes_a_token_lists_its_hosts_and_ends_wholly(tmp_path: Path) -> None:
    if not find_spec("ray"):
        require("ray", "Ray is not installed")
    port, token = free_port(), tmp_path / "token"
    options = ["--token", str(token)]
    words = ["worker", "--head", "--ask-only", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-c", MAIN, *words, *options],
        stdout=subprocess.PIPE,
        text=True,
    ) as head:
        assert head.stdout is not None
        assert str(token) in head.stdout.readline()
        told = status_of(port, options)
        assert "does not judge" in told.stdout, told.stderr
        assert told.returncode == 1
        assert token.stat().st_mode & 0o777 == 0o600
        head.send_signal(signal.SIGTERM)
        assert head.wait(STARTED_SECONDS) == 0
    assert not listens(port)


def test_one_of_head_and_join_must_be_given() -> None:
    for words in ([], ["--head", "--join", "a:1"]):
        assert isinstance(CliRunner().invoke(app, ["worker", *words]).exception, BadInput)


def test_without_the_token_no_node_is_started(tmp_path: Path) -> None:
    if not find_spec("ray"):
        require("ray", "Ray is not installed")
    with pytest.raises(BadInput, match="copy it from the head"):
        serve(RayNode("10.0.0.1:6379"), tmp_path / "none")


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "token"
    make_token(file)
    first = file.read_text()
    make_token(file)
    assert file.read_text() == first
    assert len(first) == 64
    os.chmod(file, 0o644)
    with pytest.raises(ToolError, match="others may read it"):
        make_token(file)


@pytest.mark.parametrize("address", ["host", "host:", ":1", "host:port"])
def test_an_address_needs_host_and_port(address: str) -> None:
    with pytest.raises(BadInput, match="HOST:PORT"):
        split(address)
    assert split("ray://a.b:10") == ("a.b", 10)


def test_a_node_that_only_asks_lends_nothing() -> None:
    assert {"--num-cpus=0", "--num-gpus=0"} <= set(RayNode("a:1", judges=False).command())
    assert "--address=a:1" in RayNode("a:1").command()
    assert {"--head", "--port=6379"} <= set(RayNode().command())
