"""`regraph worker`: lend this host's devices to other hosts, or start a cluster of such hosts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.json_answer import answered
from regraph_kg.cli.parameters import Json, option
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.hosts import ray_cluster
from regraph_kg.settings import read_settings

ANSWERS = {"worker": Sequence[ray_cluster.Member]}

_OPEN = (
    "warning: Ray listens on every interface of this host, and what it sends is not encrypted;"
    " whoever has the token can run code here. Keep it in a private network or a VPN."
)


def worker(  # noqa: PLR0913 (a command's options)
    *,
    head: Annotated[bool, option("Start a cluster here.")] = False,
    join: Annotated[
        str | None, option("Join the cluster of this head.", metavar="HOST:PORT")
    ] = None,
    port: Annotated[int, option("Port of the head.")] = 6379,
    judge: Annotated[
        bool, option("Whether this host's devices judge.", "--judge/--ask-only")
    ] = True,
    token: Annotated[
        Path | None,
        option("File with the cluster's token.", show_default="worker-token in the data"),
    ] = None,
    status: Annotated[bool, option("Only list the hosts of this cluster, or --join's.")] = False,
    as_json: Json = False,
) -> None:
    """Judges on several hosts, by way of Ray: lend this host's devices, or start a cluster.

    Run until Ctrl-C as the head of a cluster (--head) or as a part of one (--join HOST:PORT).

    The head makes a token, which the other hosts need: copy its file to them. Ends with exit code
    0 at Ctrl-C, 3 where Ray is not installed or ends by itself. With --status 0: some host judges;
    1: none does.
    """
    if status:
        _list(join or "auto", token or _token(), as_json=as_json)
        return
    if head == (join is not None):
        raise BadInput("worker: give --head, or --join HOST:PORT (see regraph worker --help)")
    file = token or _token()
    ray_cluster.library()
    if join is None:
        ray_cluster.make_token(file)
        typer.echo(_OPEN, err=True)
        typer.echo(f"head at port {port}; its token is in {file}; Ctrl-C ends it")
    else:
        ray_cluster.split(join)
        typer.echo(f"joining {join}; Ctrl-C leaves it")
    node = ray_cluster.RayNode(join, port, judge)
    code = ray_cluster.serve(node, file)
    if code:
        raise ToolError(f"Ray: ended with exit code {code}; its logs are in /tmp/ray")


def _list(address: str, token: Path, *, as_json: bool) -> None:
    ray = ray_cluster.connect(address, token)
    try:
        hosts = ray_cluster.members(ray)
    finally:
        ray.shutdown()
    if not answered(ANSWERS["worker"], hosts, as_json):
        for member in hosts:
            devices = f"{member.cpus} CPUs, {member.gpus} GPUs" if member.cpus else "does not judge"
            typer.echo(f"{member.name} ({member.address}): {devices}")
    if not any(member.cpus for member in hosts):
        raise typer.Exit(1)


def _token() -> Path:
    """The usual file of the token; it may not exist yet."""
    return read_settings().data_dir / "worker-token"
