"""`regraph docs`: documents, the settings in force, and the schemas of JSON answers.

Some documents are files. Others are generated from the package when they are shown (`MADE`);
docs/generate.py writes them as files for the site.
"""

import difflib
import json
import pydoc
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Annotated, Any, Literal

import typer
import typer.main
from typer.cli import get_docs_for_click

from regraph_kg.cli.answers import answers_of, schema_of, tell
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.cli.tables import print_aligned
from regraph_kg.errors import BadInput
from regraph_kg.models.trajectory import Trajectory
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
from regraph_kg.wiring.shipped import corpus_folder

ANSWERS = {"docs": dict[str, dict[Literal["value", "from"], str]]}
"""With --settings, by name of a setting."""
TRAJECTORY = "trajectory"


def docs(
    name: Annotated[str | None, argument("A document.", show_default="a list of them")] = None,
    settings: Annotated[bool, option("Every setting: its value, and who set it.")] = False,
    schema: Annotated[
        str | None,
        option(
            "The JSON Schema of what COMMAND prints with --json, or of a trajectory.",
            metavar="COMMAND",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read a document: how problems are described, what the judge covers, every setting.

    --settings shows no passwords and keys. The strongest first: options of a command, the
    environment (REGRAPH_..), regraph.toml of this folder, regraph.toml of your configuration
    folder, the default.

    --schema takes a command's words as one ("graph stats"), or "trajectory". Its `$id` ends with a
    version, which rises when a field goes or changes its meaning; new fields may come at any time.
    """
    if as_json and not settings:
        raise BadInput("--json is for --settings")
    if settings:
        _show_settings(as_json=as_json)
    elif schema is not None:
        typer.echo(json.dumps(_schema(schema), indent=2))
    elif name is None:
        _list()
    else:
        _show(name)


def _show(name: str) -> None:
    """Show a document in a pager, or as plain text without a terminal."""
    key = name.removesuffix(".md").removeprefix("dev/")
    pages = _documents("dev") | _documents()
    if key in MADE:
        pydoc.pager(MADE[key][1]())
    elif key in pages:
        pydoc.pager(pages[key])
    else:
        near = difflib.get_close_matches(key, [*pages, *MADE], 1) or ["problems"]
        raise BadInput(f"no document {name!r}; did you mean regraph docs {near[0]}?")


def _list() -> None:
    made = {page: title for page, (title, _) in MADE.items()}
    print_aligned(sorted((_titles(_documents()) | made).items()))
    typer.echo("\nFor developers:\n")
    print_aligned(sorted(_titles(_documents("dev")).items()))


def _titles(pages: Mapping[str, str]) -> dict[str, str]:
    return {name: text.partition("\n")[0].lstrip("# ") for name, text in pages.items()}


def _documents(folder: str = "") -> dict[str, str]:
    """The users' documents, or those of a folder, by name."""
    pages = (files("regraph_kg") / "docs" / folder).iterdir()
    return {
        page.name.removesuffix(".md"): page.read_text(encoding="utf-8")
        for page in pages
        if page.name.endswith(".md")
    }


def _schema(command: str) -> dict[str, Any]:
    from regraph_kg.cli.app import COMMANDS  # noqa: PLC0415 (it loads this module)

    if command == TRAJECTORY:
        return trajectory_schema()
    group = command.split(" ", maxsplit=1)[0]
    types = answers_of(group) if group in COMMANDS else {}
    if command not in types:
        names = sorted(types) or [*sorted(filter(answers_of, COMMANDS)), TRAJECTORY]
        raise BadInput(f"no schema of {command!r}; there are: {', '.join(names)}")
    return schema_of(command, types[command])


def trajectory_schema() -> dict[str, Any]:
    """The JSON Schema of one line of Trajectory JSONL, version 1; docs/trajectory.schema.json."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | Trajectory.model_json_schema(by_alias=True)


def _show_settings(*, as_json: bool) -> None:
    settings = read_settings()
    rows = {name: (_value(settings, name), _origin(settings, name)) for name in setting_names()}
    if as_json:
        plain = {name: {"value": value, "from": where} for name, (value, where) in rows.items()}
        tell(ANSWERS["docs"], plain)
    else:
        print_aligned([(name, *cells) for name, cells in rows.items()])


def _value(settings: Settings, name: str) -> str:
    """A setting as text, without secrets and without logins in addresses."""
    if name == "corpus":
        return str(corpus_folder(settings))  # the shipped corpus has a path, too
    value = getattr(settings, name)
    if name in SENT_TO:
        return "(set)" if value else ""
    return "" if value is None else without_login(str(value))


def _origin(settings: Settings, name: str) -> str:
    origin = settings.origin(name)
    places = {"environment": variable(name), "folder": FILE, "user": str(user_file())}
    return places.get(origin, origin)


def commands() -> str:
    """The command reference, from the help texts."""
    from regraph_kg.cli.app import app  # noqa: PLC0415 (it loads this module)

    command: Any = typer.main.get_command(app)
    context: Any = command.make_context("regraph", [], resilient_parsing=True)
    return get_docs_for_click(obj=command, ctx=context, name="regraph")


def troubleshooting() -> str:
    page = files("regraph_kg.cli") / "troubleshooting.txt"
    return page.read_text(encoding="utf-8")


MADE: dict[str, tuple[str, Callable[[], str]]] = {
    "cli": ("Every command and option", commands),
    "troubleshooting": ("What a message means, and what to do", troubleshooting),
}
"""Generated documents: title and generator."""
