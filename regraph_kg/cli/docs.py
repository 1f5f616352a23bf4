"""`regraph docs`: the documents that messages name, wherever regraph is installed."""

import difflib
import pydoc
from importlib.resources import files
from typing import Annotated

import typer

from regraph_kg.errors import BadInput


def docs(
    name: Annotated[
        str | None, typer.Argument(help="A document.", show_default="a list of them")
    ] = None,
) -> None:
    """Read a document: how problems are described, what the judge covers, every setting."""
    found = {
        one.name.removesuffix(".md"): one
        for one in (files("regraph_kg") / "docs").iterdir()
        if one.name.endswith(".md")
    }
    if name is None:
        width = max(map(len, found))
        for key in sorted(found, key=str.lower):
            title = found[key].read_text(encoding="utf-8").partition("\n")[0]
            typer.echo(f"{key:<{width}}  {title.lstrip('# ')}")
        return
    key = name.removesuffix(".md")
    if key not in found:
        near = difflib.get_close_matches(key, found, 1) or ["problems"]
        raise BadInput(f"no document {name!r}; did you mean regraph docs {near[0]}?")
    pydoc.pager(found[key].read_text(encoding="utf-8"))  # plain text where there is no terminal
