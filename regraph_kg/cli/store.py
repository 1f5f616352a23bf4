"""`regraph store`: start, look at and stop the embedded graph store."""

import time
from dataclasses import dataclass

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import Json, tell
from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings, read_settings, without_login

app = typer.Typer(
    help="The embedded graph store: a local process that commands start when they need it.",
    no_args_is_help=True,
)


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Whether the store runs, or the server answers."""

    store: str
    """"embedded", or the server's URI."""
    runs: bool
    since: str | None = None
    where: str = ""
    """In words."""


ANSWERS = {"store status": StoreStatus}


@app.command()
def start() -> None:
    """Start the store, or say that it runs.

    It listens on localhost only, and ends by itself when unused (REGRAPH_STORE_IDLE_SECONDS).
    """
    settings = _embedded_settings()
    known = wiring.find_embedded(settings)
    begin = time.monotonic()
    state = known or wiring.start_embedded(settings)
    verb = "runs already" if known else f"started in {time.monotonic() - begin:.1f} s"
    typer.echo(f"embedded store: {verb}; {state.where}")


@app.command()
def status(as_json: Json = False) -> None:
    """Say whether the store runs, and where. Exit code 0: it runs; 1: it does not.

    Works for a Neo4j server (REGRAPH_STORE) too: it is asked whether it answers and is ours.
    """
    settings = read_settings()
    if settings.store != "embedded":
        wiring.open_store(settings).close()
        found = StoreStatus(without_login(settings.store), runs=True)
        said = f"{settings.store}: answers"
    elif state := wiring.find_embedded(settings):
        found = StoreStatus("embedded", runs=True, since=state.started, where=state.where)
        said = f"embedded store: running since {state.started}; {state.where}"
    else:
        data = wiring.embedded_folder(settings)
        found = StoreStatus("embedded", runs=False, where=f"data in {data}")
        said = f"embedded store: not running; data in {data}"
    if as_json:
        tell(StoreStatus, found)
    else:
        typer.echo(said)
    if not found.runs:
        raise typer.Exit(1)


@app.command()
def stop() -> None:
    """End the store; its data stays, and the next command that needs it starts it again."""
    state = wiring.stop_embedded(_embedded_settings())
    outcome = f"stopped (process {state.pid})" if state else "was not running"
    typer.echo(f"embedded store: {outcome}")


def _embedded_settings() -> Settings:
    settings = read_settings()
    if settings.store != "embedded":
        raise BadInput(
            "store: REGRAPH_STORE names a server; start and stop are for the embedded store only"
        )
    return settings
