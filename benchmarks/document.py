"""Writes docs/benchmarks.md from benchmarks/results/*.json: no figure in it is typed by hand."""

import ast
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"

INTRODUCTION = """\
# Benchmarks

Made by `benchmarks/document.py` from `benchmarks/results/*.json`; `make bench` measures anew.
Compare figures of one table; those of two machines say little about each other.
"""

TITLES = {
    "graph": "The graph: ingest and neighbourhood",
    "search_overhead": "The search: its own time per rollout",
    "judge": "The judge: source to verdict",
}

COLUMNS = {
    "graph": {
        "store": "{store}",
        "examples": "{examples:,}",
        "ingest, examples/s": "{ingest_per_second:,}",
        "bare UNWIND CREATE, examples/s": "{bare_create_per_second:,}",
        "neighbourhood p50 / p99, ms": "{neighbourhood_p50_ms:.2f} / {neighbourhood_p99_ms:.2f}",
        "one problem left out p50 / p99, ms": "{neighbourhood_less_one_problem_p50_ms:.2f}"
        " / {neighbourhood_less_one_problem_p99_ms:.2f}",
        "bare RETURN 1 p50 / p99, ms": "{bare_return_p50_ms:.2f} / {bare_return_p99_ms:.2f}",
    },
    "search_overhead": {
        "rollouts": "{rollouts:,}",
        "mean, ms": "{mean:.3f}",
        "p50, ms": "{p50:.3f}",
        "p99, ms": "{p99:.3f}",
        "limit, ms": "{limit:.1f}",
    },
    "judge": {
        "target": "{target}",
        "problem": "{problem}",
        "outcome": "{outcome}",
        "cold, s": "{cold_s:.2f}",
        "warm, s": "{warm_s:.2f}",
        "of it compile / verify / time, s": "{warm_compile_s:.2f} / {warm_verify_s:.2f}"
        " / {warm_time_s:.2f}",
        "seen, s": "{seen_s:.2f}",
        "bare compile, s": "{bare_compile_s:.2f}",
        "toolchain": "{toolchain}",
    },
}
"""Heading -> what a cell shows of a row."""


def document() -> str:
    """The text of docs/benchmarks.md."""
    return "\n".join([INTRODUCTION, *(section(name) for name in TITLES)])


def section(name: str) -> str:
    """What a benchmark measures, and what it gave on each machine."""
    source = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(source)) or ""
    results = [
        result_text(name, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(RESULTS.glob(f"{name}-*.json"))
    ]
    return "\n".join([f"## {TITLES[name]}\n", about, "", *(results or ["Not measured yet.\n"])])


def result_text(name: str, result: dict[str, Any]) -> str:
    """One machine's figures as a table, with their circumstances."""
    machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
    figures, columns = result["figures"], COLUMNS[name]
    lines = [
        f"`{result['command']}`, {result['date']}, {result['seconds']} s; {machine}.",
        "",
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
    ]
    for row in figures.get("rows", [figures]):
        lines.append(f"| {' | '.join(cell.format(**row) for cell in columns.values())} |")
    lines += ["", *(f"Not measured: {reason}\n" for reason in figures.get("not_measured", []))]
    return "\n".join(lines)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
