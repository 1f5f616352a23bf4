"""`regraph docs`: the documents that messages name, wherever regraph is installed.

Some are files. Others are made when they are shown, from what the package holds (`MADE`); the site
has them as files, which docs/generate.py writes.
"""

import difflib
import pydoc
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any

import typer
import typer.main
from typer.cli import get_docs_for_click

from regraph_kg import wiring
from regraph_kg.cli.measure import read_trajectories
from regraph_kg.errors import BadInput
from regraph_kg.runs.corpus_report import corpus_report
from regraph_kg.settings import Settings


def docs(
    name: Annotated[
        str | None, typer.Argument(help="A document.", show_default="a list of them")
    ] = None,
) -> None:
    """Read a document: how problems are described, what the judge covers, every setting."""
    folder = files("regraph_kg") / "docs"
    users = _documents(folder) | {page: title for page, (title, _) in MADE.items()}
    developers = _documents(folder / "dev")
    if name is None:
        _list(users)
        typer.echo("\nFor developers:\n")
        _list(developers)
        return
    key = name.removesuffix(".md").removeprefix("dev/")
    if key not in users | developers:
        near = difflib.get_close_matches(key, users | developers, 1) or ["problems"]
        raise BadInput(f"no document {name!r}; did you mean regraph docs {near[0]}?")
    pydoc.pager(_text(key, folder))  # plain text where there is no terminal


def _text(name: str, folder: Traversable) -> str:
    """A document, of the users' or else of the developers'."""
    if name in MADE:
        return MADE[name][1]()
    page = folder / f"{name}.md"
    found = page if page.is_file() else folder / "dev" / f"{name}.md"
    return found.read_text(encoding="utf-8")


def _documents(folder: Traversable) -> dict[str, str]:
    """The titles of the documents that lie in a folder, by name."""
    pages = [page for page in folder.iterdir() if page.name.endswith(".md")]
    heads = (page.read_text(encoding="utf-8").partition("\n")[0] for page in pages)
    return {
        page.name.removesuffix(".md"): head.lstrip("# ")
        for page, head in zip(pages, heads, strict=True)
    }


def _list(titles: dict[str, str]) -> None:
    """A line a document: its name and its title."""
    width = max(map(len, titles), default=0)
    for key in sorted(titles, key=str.lower):
        typer.echo(f"{key:<{width}}  {titles[key]}")


def commands() -> str:
    """The command reference, from the help texts."""
    from regraph_kg.cli.app import app  # noqa: PLC0415 - it imports this module's command

    command: Any = typer.main.get_command(app)
    context: Any = command.make_context("regraph", [], resilient_parsing=True)
    text = get_docs_for_click(obj=command, ctx=context, name="regraph")
    return _with_panels(text, "optimize", command.get_command(context, "optimize"))


def _with_panels(text: str, name: str, command: Any) -> str:
    """The reference of a command with its options below the panels of its help."""
    before, heading, rest = text.partition(f"## `regraph {name}`\n")
    panel = None
    for option in command.params:
        if (new := getattr(option, "rich_help_panel", None)) != panel:
            panel, line = new, f"* `{option.opts[0]}"
            rest = rest.replace(line, f"\n{panel}:\n\n{line}", 1)
    return before + heading + rest


def corpus() -> str:
    """What the shipped trajectories show."""
    settings = Settings(corpus=None)
    paths = wiring.corpus_files(settings)
    trajectories = [line for path in paths for line in read_trajectories(path)]
    return corpus_report(trajectories, wiring.vocabulary(settings))


def troubleshooting() -> str:
    """What error messages mean."""
    page = files("regraph_kg.cli") / "troubleshooting.txt"
    return page.read_text(encoding="utf-8")


MADE: dict[str, tuple[str, Callable[[], str]]] = {
    "cli": ("Every command and option", commands),
    "corpus": ("What the starter corpus shows", corpus),
    "troubleshooting": ("What a message means, and what to do", troubleshooting),
}
"""Documents that are made when they are shown: their titles, and what makes them."""
