"""How commands declare what is typed: its help first, then what differs from Typer's usual.

A switch that is off by default has no `--no-NAME` (app.py takes that away).
"""

from typing import Annotated, Any

import typer


def option(help: str, *names: str, **more: Any) -> Any:
    """An option; `names` where it is not called as its parameter."""
    return typer.Option(*names, help=help, **more)


def argument(help: str, **more: Any) -> Any:
    """An argument by its place."""
    return typer.Argument(help=help, **more)


Json = Annotated[bool, option("Print as JSON.", "--json")]
