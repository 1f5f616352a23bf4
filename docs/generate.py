"""Writes what the documentation derives from the code: modules.md, cli.md, trajectory.schema.json.

Run `python docs/generate.py` after a change; a test fails while they differ.
"""

import ast
from pathlib import Path

import typer.main
from typer.cli import get_docs_for_click

from regraph_kg.cli.app import app
from regraph_kg.cli.graph import trajectory_schema

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
    return get_docs_for_click(obj=command, ctx=context, name="regraph")


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    return {
        ROOT / "docs" / "modules.md": modules(),
        ROOT / "docs" / "cli.md": commands(),
        ROOT / "docs" / "trajectory.schema.json": trajectory_schema(),
    }


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text.rstrip() + "\n", encoding="utf-8")
