"""`regraph docs`: documents, and the settings in force.

Documents are files, but for the schema of trajectories, which is made when it is shown.
"""

import difflib
import json
import pydoc
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated

import typer

from regraph_kg.cli.parameters import Json, argument, option, print_json
from regraph_kg.cli.tables import print_aligned
from regraph_kg.errors import BadInput
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import SENT_TO, Settings, read_settings, setting_names, without_login
from regraph_kg.wiring.shipped import corpus_folder

SCHEMA = "trajectory-schema"


def docs(
    name: Annotated[str | None, argument("A document.", show_default="a list of them")] = None,
    settings: Annotated[bool, option("Every setting: its value, and who set it.")] = False,
    as_json: Json = False,
) -> None:
    """Read a document: how problems are described, what the judge covers, every setting.

    --settings shows no passwords and keys. The strongest first: options of a command, the
    environment (REGRAPH_..), regraph.toml of this folder, regraph.toml of your configuration
    folder, the default.
    """
    if as_json and not settings:
        raise BadInput("--json is for --settings")
    if settings:
        used = read_settings()
        rows = {name: (_value(used, name), used.place(name)) for name in setting_names()}
        if as_json:
            told = {name: {"value": text, "from": where} for name, (text, where) in rows.items()}
            print_json(told)
        else:
            print_aligned([(name, *cells) for name, cells in rows.items()])
    elif name is None:
        made = {SCHEMA: "The JSON Schema of a line of a trajectory file"}
        print_aligned(sorted((_titles(_documents()) | made).items()))
        typer.echo("\nFor developers:\n")
        print_aligned(sorted(_titles(_documents("dev")).items()))
    else:
        _show(name)


def _show(name: str) -> None:
    """Show a document in a pager, or as plain text without a terminal."""
    key = name.removesuffix(".md").removeprefix("dev/")
    pages = _documents("dev") | _documents() | {SCHEMA: trajectory_schema()}
    if key not in pages:
        near = difflib.get_close_matches(key, pages, 1) or ["problems"]
        raise BadInput(f"no document {name!r}; did you mean regraph docs {near[0]}?")
    pydoc.pager(pages[key])


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


def _value(settings: Settings, name: str) -> str:
    """A setting as text, without secrets and without logins in addresses."""
    if name == "corpus":
        return str(corpus_folder(settings))  # the shipped corpus has a path, too
    value = getattr(settings, name)
    if name in SENT_TO:
        return "(set)" if value else ""
    return "" if value is None else without_login(str(value))


def trajectory_schema() -> str:
    """The JSON Schema of one line of Trajectory JSONL, version 1; docs/trajectory.schema.json."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(head | Trajectory.model_json_schema(by_alias=True), indent=2)
