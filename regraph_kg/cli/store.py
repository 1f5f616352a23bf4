"""`regraph store`: start, look at and stop the embedded graph store."""

import time

import typer

from regraph_kg import wiring
from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings, read_settings

app = typer.Typer(
    help="The embedded graph store: a local process that commands start when they need it.",
    no_args_is_help=True,
)


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
def status() -> None:
    """Say whether the store runs, and where. Exit code 0: it runs; 1: it does not.

    Works for a Neo4j server (REGRAPH_STORE) too: it is asked whether it answers and is ours.
    """
    settings = read_settings()
    if settings.store != "embedded":
        wiring.open_store(settings).close()
        typer.echo(f"{settings.store}: answers")
        return
    state = wiring.find_embedded(settings)
    if state is None:
        typer.echo(f"embedded store: not running; data in {wiring.embedded_folder(settings)}")
        raise typer.Exit(1)
    typer.echo(f"embedded store: running since {state.started}; {state.where}")


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
