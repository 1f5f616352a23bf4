"""`regraph settings`: every setting, its value, and where that came from."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regraph_kg.settings import Settings


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show every setting: name, value, and who set it. Passwords and keys are not shown.

    The strongest first: options of a command, the environment (REGRAPH_..), regraph.toml of this
    folder, regraph.toml of your configuration folder, the default.
    """
    from regraph_kg.settings import read_settings, setting_names  # noqa: PLC0415 (heavy)

    found = read_settings()
    rows = {name: (_value(found, name), _origin(found, name)) for name in setting_names()}
    if as_json:
        plain = {name: {"value": value, "from": where} for name, (value, where) in rows.items()}
        typer.echo(json.dumps(plain, indent=2))
        return
    width = max(map(len, rows))
    wide = max(len(value) for value, _ in rows.values())
    for name, (value, where) in rows.items():
        typer.echo(f"{name:<{width}}  {value:<{wide}}  {where}")


def _value(found: "Settings", name: str) -> str:
    """As text: no secret, and no login that an address may hold."""
    from regraph_kg import wiring  # noqa: PLC0415 (heavy)
    from regraph_kg.settings import SENT_TO, without_login  # noqa: PLC0415 (heavy)

    if name == "corpus":
        return str(wiring.corpus_folder(found))  # the shipped one has a place, too
    value = getattr(found, name)
    if name in SENT_TO:
        return "(set)" if value else ""
    return "" if value is None else without_login(str(value))


def _origin(found: "Settings", name: str) -> str:
    from regraph_kg.settings import FILE, user_file, variable  # noqa: PLC0415 (heavy)

    origin = found.origin(name)
    places = {"environment": variable(name), "folder": FILE, "user": str(user_file())}
    return places.get(origin, origin)
