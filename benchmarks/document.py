"""Writes the measurements of docs/results.md from benchmarks/results/*.json, none typed by hand."""

import ast
import json
from pathlib import Path
from typing import Any

from benchmarks.columns import COLUMNS, SECTIONS
from regraph_kg.evaluation.evaluate import EVALUATOR

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "results.md"
RESULTS = ROOT / "benchmarks" / "results"

BEGIN, END = "<!-- begin: benchmarks/document.py -->\n", "<!-- end: benchmarks/document.py -->"
MOST_ALIKE = 0.005
"""Largest difference of two clocks that is not shown."""
FACTS = ("cpu", "cores", "gpu", "judge")
"""What is told of a machine; its result has the rest."""

TITLES = {
    "graph": "The graph: ingest and reads",
    "verdicts": "The judge: source to verdict, grade by grade",
    "throughput": "The judge: candidates a second on GPUs",
    "coverage": "The judge: how often its intervals hold",
    "aa": "The judge: the same code twice, and 5 % planted",
    "clocks": "The judge: its clock against CUPTI's",
    "judged": "The judge: exploits, bugs and honest code that pass",
    "judge_kills": "The judge: killed at random moments",
}

OF_THE_JUDGE = frozenset(("verdicts", "throughput", "coverage", "aa", "clocks", "judged"))
"""Benchmarks whose figures are the judge's: those of an older one are left out."""
OPENMP_SINCE = "4"
"""Figures taken without a GPU stand since this judge: later ones differ for GPUs only."""


def document() -> str:
    """The measurements that are current, and the names of those that are not."""
    found = {name: current(name) for name in TITLES}
    old = [f"`{name}`" for name, results in found.items() if not results]
    sections = [section(name, results) for name, results in found.items() if results]
    if old:
        sections.append(
            f"Measured with an older judge only (`benchmarks/results`): {', '.join(old)}.\n"
        )
    return "\n".join(sections)


def current(name: str) -> list[dict[str, Any]]:
    """The results of a benchmark, but those in which an older judge's figures stand."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob(f"{name}-*.json"))]
    return [one for one in found if name not in OF_THE_JUDGE or stands(one["machine"])]


def stands(machine: dict[str, str]) -> bool:
    """Whether the judge of today would have taken its figures the same way."""
    judge, gpu = machine.get("judge", "2"), machine.get("gpu", "none")
    return judge == EVALUATOR or (gpu == "none" and judge >= OPENMP_SINCE)


def section(name: str, results: list[dict[str, Any]]) -> str:
    """What a benchmark measures, and what it gave on each machine."""
    source = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    about = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    return "\n".join(
        [f"### {TITLES[name]}\n", about, "", *(result_text(name, result) for result in results)]
    )


def result_text(name: str, result: dict[str, Any]) -> str:
    """One machine's figures as tables, with their circumstances."""
    machine = ", ".join(
        f"{key} {result['machine'][key]}" for key in FACTS if key in result["machine"]
    )
    figures = result["figures"]
    lines = [f"`{result['command']}`, {result['date']}, {result['seconds']} s; {machine}.", ""]
    for columns in COLUMNS.get(name, ()):
        lines += table(columns, figures.get("rows", [figures]))
    for part, columns in SECTIONS.get(name, {}).items():
        chosen = figures.get(part, [])
        if name == "clocks":  # most kernels of one launch agree: the extremes say as much
            chosen = [row for row in chosen if abs(row["ratio"] - 1) > MOST_ALIKE]
        if chosen:
            lines += [f"`{part}`", "", *table(columns, chosen)]
    lines += [f"Not measured: {reason}\n" for reason in figures.get("not_measured", [])]
    return "\n".join(lines)


def table(columns: dict[str, str], rows: list[dict[str, Any]]) -> list[str]:
    """The lines of a table, and an empty one."""
    return [
        f"| {' | '.join(columns)} |",
        "|" + "---|" * len(columns),
        *(f"| {' | '.join(cell.format(**row) for cell in columns.values())} |" for row in rows),
        "",
    ]


def main() -> None:
    before, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    after = rest[rest.index(END) :]
    DOCUMENT.write_text(f"{before}{begin}{document()}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
