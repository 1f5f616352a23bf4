"""Ray on this host: its library, the cluster's token, a node that runs until Ctrl-C.

Whoever has the token can run code on every host of the cluster, as Ray does not confine what it
runs: the file is readable by its owner only, and is made by the head's host and copied to the
others. Ray then asks for it at every connection (RAY_AUTH_MODE=token, Ray 2.52 or newer). A head
listens on every interface, whatever it is told (seen with Ray 2.60).

Not covered: encryption (Ray's TLS, a VPN or ssh tunnels do that); processes of Ray that are left
when this program is killed with SIGKILL.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from regraph_kg.errors import BadInput, ToolError

_ANSWER_SECONDS = 10.0
_END_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class RayNode:
    """The part of this host in a cluster: its head, or a member of the one at `join`."""

    join: str | None = None
    """HOST:PORT of the head; None: this is the head."""
    port: int = 6379
    """Where a head listens, on every interface: Ray does not let it be fewer."""
    judges: bool = True
    """Whether its devices judge; a host that only asks does not."""

    def command(self) -> list[str]:
        """The command that starts the node's processes and stays until they end."""
        if self.join is None:
            part = ["--head", f"--port={self.port}", "--include-dashboard=false"]
        else:
            host, port = split(self.join)
            part = [f"--address={host}:{port}"]
        return [
            *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *part),
            *([] if self.judges else ["--num-cpus=0", "--num-gpus=0"]),
            "--disable-usage-stats",
        ]


@dataclass(frozen=True, slots=True)
class Member:
    """A host of the cluster."""

    name: str
    address: str
    cpus: int
    """As Ray counts them; 0 where it does not judge."""
    gpus: int


def split(address: str) -> tuple[str, int]:
    """Host and port. Raises `BadInput`."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise BadInput(f"{address}: not HOST:PORT, e.g. 10.0.0.1:6379")
    return host, int(port)


def make_token(file: Path) -> None:
    """A secret in a file of ours, unless there is one. Raises `ToolError`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as opened:
                opened.write(secrets.token_hex(32))
        if file.stat().st_mode & 0o077:
            raise ToolError(f"{file}: others may read it; chmod 600 it, or delete it and the rest")
    except OSError as error:
        raise ToolError(f"{file}: {error.strerror}; choose another file with --token") from None


def environment(token: Path | None) -> dict[str, str]:
    """Environment variables for Ray: with the cluster's token, without statistics to its makers."""
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0"}
    if token is None or "RAY_AUTH_MODE" in os.environ:
        return quiet
    return quiet | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}


def library() -> Any:
    """Ray. Raises `ToolError` where it is not installed."""
    try:
        ray = import_module("ray")
        import_module("ray.util.scheduling_strategies")
    except ImportError:
        raise ToolError("Ray: not installed; pip install ray") from None
    return ray


def connect(address: str, token: Path | None) -> Any:
    """Ray, connected to the cluster at "auto" (of this host), HOST:PORT or ray://HOST:PORT.

    Raises `ToolError` where nothing answers, or does not let us in.
    """
    os.environ.update(environment(token))
    ray = library()
    try:
        if address != "auto":  # where nobody listens Ray would try for minutes
            socket.create_connection(split(address), _ANSWER_SECONDS).close()
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        line = str(error).strip().partition("\n")[0]
        raise ToolError(
            f"Ray: no cluster at {address}: {line[:300]}; start one with `regraph worker --head`"
        ) from None
    return ray


def members(ray: Any) -> list[Member]:
    """The hosts that are there now."""
    return [
        Member(
            node["NodeManagerHostname"],
            node["NodeManagerAddress"],
            int(node["Resources"].get("CPU", 0)),
            int(node["Resources"].get("GPU", 0)),
        )
        for node in ray.nodes()
        if node["Alive"]
    ]


def serve(node: RayNode, token: Path) -> int:
    """Run the node until Ctrl-C, SIGTERM or its end; its exit code, 0 after Ctrl-C."""
    library()
    if not token.exists():
        raise BadInput(f"{token}: not there; copy it from the head's host (regraph worker --head)")
    process = subprocess.Popen(
        node.command(),
        env=os.environ | environment(token),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches us; we end it
    )
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop Ray and its processes; by force where that takes too long."""
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
