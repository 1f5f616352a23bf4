"""`regraph worker`: lend this host's devices to other hosts, or start a cluster of such hosts."""

from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.errors import BadInput, ToolError

app = typer.Typer(
    help="Judges on several hosts, by way of Ray: lend this host's devices, or start a cluster.",
    invoke_without_command=True,
)
Token = Annotated[
    Path | None,
    typer.Option(help="File with the cluster's token.", show_default="worker-token in the data"),
]
_OPEN = (
    "warning: {host} can be reached from outside, and nothing that Ray sends is encrypted;"
    " whoever has the token can run code here. Use a private network, a VPN or ssh tunnels."
)


@app.callback()
def worker(
    context: typer.Context,
    head: Annotated[bool, typer.Option("--head", help="Start a cluster here.")] = False,
    join: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Join the cluster of this head.")
    ] = None,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where the head listens; loopback unless given."),
    ] = "127.0.0.1:6379",
    judge: Annotated[
        bool, typer.Option("--judge/--ask-only", help="Whether this host's devices judge.")
    ] = True,
    token: Token = None,
) -> None:
    """Run until Ctrl-C as the head of a cluster (--head) or as a part of one (--join HOST:PORT).

    The head makes a token, which the other hosts need: copy its file to them. Ends with exit code
    0 at Ctrl-C, 3 where Ray is not installed or ends by itself.
    """
    if context.invoked_subcommand:
        return
    from regraph_kg.evaluation import cluster  # noqa: PLC0415 (heavy)

    if head == (join is not None):
        raise BadInput("worker: give --head, or --join HOST:PORT (see regraph worker --help)")
    address = join or listen
    host, _ = cluster.split(address)
    node = cluster.Node(address, head=head, judges=judge)
    file = token or _token()
    cluster.library()
    if head:
        cluster.make_token(file)
        if not cluster.is_loopback(host):
            typer.echo(_OPEN.format(host=host), err=True)
        typer.echo(f"head at {address}; its token is in {file}; Ctrl-C ends it")
    else:
        typer.echo(f"joining {address}; Ctrl-C leaves it")
    code = cluster.serve(node, file)
    if code:
        raise ToolError(f"Ray: ended with exit code {code}; its logs are in /tmp/ray")


@app.command()
def status(
    address: Annotated[
        str, typer.Argument(help='HOST:PORT of the head; "auto": of here.')
    ] = "auto",
    token: Token = None,
) -> None:
    """List the hosts of the cluster. Exit code 0: some host judges; 1: none does."""
    from regraph_kg.evaluation import cluster  # noqa: PLC0415 (heavy)

    ray = cluster.connect(address, token or _token())
    try:
        hosts = cluster.members(ray)
    finally:
        ray.shutdown()
    for member in hosts:
        devices = f"{member.cpus} CPUs, {member.gpus} GPUs" if member.cpus else "does not judge"
        typer.echo(f"{member.name} ({member.address}): {devices}")
    if not any(member.cpus for member in hosts):
        raise typer.Exit(1)


def _token() -> Path:
    """The token's usual place; none where it has not been made."""
    from regraph_kg.settings import read_settings  # noqa: PLC0415 (heavy)

    return read_settings().data_dir / "worker-token"
