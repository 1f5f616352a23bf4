"""`regraph docs`: the documents that messages name, wherever regraph is installed."""

import difflib
import pydoc
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated

import typer

from regraph_kg.errors import BadInput


def docs(
    name: Annotated[
        str | None, typer.Argument(help="A document.", show_default="a list of them")
    ] = None,
) -> None:
    """Read a document: how problems are described, what the judge covers, every setting."""
    folder = files("regraph_kg") / "docs"
    users, developers = _documents(folder), _documents(folder / "dev")
    found = users | developers
    if name is None:
        _list(users)
        typer.echo("\nFor developers:\n")
        _list(developers)
        return
    key = name.removesuffix(".md").removeprefix("dev/")
    if key not in found:
        near = difflib.get_close_matches(key, found, 1) or ["problems"]
        raise BadInput(f"no document {name!r}; did you mean regraph docs {near[0]}?")
    pydoc.pager(found[key].read_text(encoding="utf-8"))  # plain text where there is no terminal


def _documents(folder: Traversable) -> dict[str, Traversable]:
    """The documents that lie in a folder, by name."""
    pages = (one for one in folder.iterdir() if one.name.endswith(".md"))
    return {one.name.removesuffix(".md"): one for one in pages}


def _list(documents: dict[str, Traversable]) -> None:
    """A line a document: its name and its title."""
    width = max(map(len, documents), default=0)
    for key in sorted(documents, key=str.lower):
        title = documents[key].read_text(encoding="utf-8").partition("\n")[0]
        typer.echo(f"{key:<{width}}  {title.lstrip('# ')}")
