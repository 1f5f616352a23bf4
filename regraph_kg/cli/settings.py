"""`regraph settings`: every setting, its value, and where that came from."""

from typing import Annotated, Literal

import typer

from regraph_kg import wiring
from regraph_kg.cli.answers import tell
from regraph_kg.settings import (
    FILE,
    SENT_TO,
    Settings,
    read_settings,
    setting_names,
    user_file,
    variable,
    without_login,
)

ANSWERS = {"settings": dict[str, dict[Literal["value", "from"], str]]}
"""By a setting's name."""


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show every setting: name, value, and who set it. Passwords and keys are not shown.

    The strongest first: options of a command, the environment (REGRAPH_..), regraph.toml of this
    folder, regraph.toml of your configuration folder, the default.
    """
    found = read_settings()
    rows = {name: (_value(found, name), _origin(found, name)) for name in setting_names()}
    if as_json:
        plain = {name: {"value": value, "from": where} for name, (value, where) in rows.items()}
        tell(ANSWERS["settings"], plain)
        return
    width = max(map(len, rows))
    wide = max(len(value) for value, _ in rows.values())
    for name, (value, where) in rows.items():
        typer.echo(f"{name:<{width}}  {value:<{wide}}  {where}")


def _value(found: Settings, name: str) -> str:
    """As text: no secret, and no login that an address may hold."""
    if name == "corpus":
        return str(wiring.corpus_folder(found))  # the shipped one has a place, too
    value = getattr(found, name)
    if name in SENT_TO:
        return "(set)" if value else ""
    return "" if value is None else without_login(str(value))


def _origin(found: Settings, name: str) -> str:
    origin = found.origin(name)
    places = {"environment": variable(name), "folder": FILE, "user": str(user_file())}
    return places.get(origin, origin)
