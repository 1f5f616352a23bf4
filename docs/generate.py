"""Writes what the documentation derives from the code: modules, commands, settings, the schema.

Run `python docs/generate.py` after a change; a test fails while they differ.
"""

import ast
import itertools
from pathlib import Path
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from regraph_kg.cli.app import app
from regraph_kg.cli.graph import trajectory_schema
from regraph_kg.settings import Settings, setting_names, variable

ROOT = Path(__file__).parents[1]
STAGES = ("regraph_kg", "ingest", "search", "evaluation")


def modules() -> str:
    """The module map: one row a file, its docstring's first line."""
    rows = ["# Modules", "", "Made by `docs/generate.py` from each file's first line.", ""]
    for stage in STAGES:
        rows += [f"## {stage}/", "", "| file | what it holds |", "|---|---|"]
        for path in sorted((ROOT / stage).rglob("*.py")):
            if any(parent.is_symlink() for parent in path.parents):
                continue
            line = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split(
                "\n"
            )
            rows.append(f"| `{path.relative_to(ROOT)}` | {line[0]} |")
        rows.append("")
    return "\n".join(rows)


def commands() -> str:
    """The command reference, from the help texts."""
    command = typer.main.get_command(app)
    context = command.make_context("regraph", [], resilient_parsing=True)
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


SETTINGS = """# Settings

Made by `docs/generate.py` from `regraph_kg/settings.py`. `regraph settings` shows the values in
force, and where each came from.

The strongest first: options of a command; the environment, in capitals after
REGRAPH_; `regraph.toml` of the
present folder; `regraph.toml` of your configuration folder, for all folders (on Linux
`~/.config/regraph/regraph.toml`); the default. In a file a setting is a line:

    store = "neo4j://host:7687"
    model = "ollama:qwen2.5-coder:7b"

A name that is no setting is refused, in the environment too; names that begin with `REGRAPH_TEST_`
belong to the test suite. A `regraph.toml` may come with a stranger's folder: no password or key
goes to an address that it names, unless it stands in the same file, and `workers` is not taken from
it (SECURITY.md).

| setting | default | what it is |
|---|---|---|"""


def settings() -> str:
    """Every setting with its default, and the words below it in the code."""
    tree = ast.parse((ROOT / "regraph_kg" / "settings.py").read_text(encoding="utf-8"))
    (body,) = (one.body for one in tree.body if getattr(one, "name", "") == "Settings")
    said = {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
    rows = [
        f"| `{name}`<br>`{variable(name)}` | {_default(name)} | {said[name]} |"
        for name in setting_names()
    ]
    return "\n".join([SETTINGS, *rows])


def _default(name: str) -> str:
    """Folders differ from machine to machine; what they are is said in words."""
    value = Settings.model_fields[name].default
    return f"`{value}`" if isinstance(value, str | int | float) else ""


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    return {
        ROOT / "docs" / "modules.md": modules(),
        ROOT / "docs" / "cli.md": commands(),
        ROOT / "docs" / "settings.md": settings(),
        ROOT / "docs" / "trajectory.schema.json": trajectory_schema(),
    }


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text.rstrip() + "\n", encoding="utf-8")
