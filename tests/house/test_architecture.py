"""The direction rules of docs/dev/architecture.md hold, and each one can fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("regraph_kg", "adopt", "collect", "ingest", "search", "evaluation", "cypher", "corpus")

VIOLATIONS = {
    "Data flows one way": ("regraph_kg/models/base.py", "import regraph_kg.graph"),
    "Only wiring names a backend": ("regraph_kg/cli/store.py", "import regraph_kg.backends.bolt"),
    "Query text is read in one place": ("regraph_kg/backends/bolt.py", "import regraph_kg.cypher"),
    "What ships is found in one place": (
        "regraph_kg/wiring/problems.py",
        "import regraph_kg.corpus",
    ),
    "The neo4j driver stays behind the bolt backend": ("ingest/plan.py", "import neo4j"),
    "The judge runs alone: no database driver, no JVM, no model client, no settings": (
        "evaluation/problem/problem.py",
        "import regraph_kg.settings",
    ),
    "The search decides; it touches no device, process or network": (
        "search/propose.py",
        "import subprocess",
    ),
    "What runs confined is standard library only": (
        "evaluation/confined/worker.py",
        "import numpy",
    ),
    "Inside search: methods over the parts that all of them share": (
        "search/propose.py",
        "import regraph_kg.search.methods.mcgs",
    ),
    "Methods do not know each other": (
        "search/methods/rag.py",
        "import regraph_kg.search.methods.cot",
    ),
    "Inside evaluation: one story over rooms": (
        "evaluation/verify/verify.py",
        "import regraph_kg.evaluation.evaluate",
    ),
    "Inside wiring: what needs several parts stands above what opens one": (
        "regraph_kg/wiring/stores.py",
        "import regraph_kg.wiring.names",
    ),
    "Inside runs: a story knows what it is made of": (
        "regraph_kg/runs/choice.py",
        "import regraph_kg.runs.ingest",
    ),
    "Inside backends: stores and their upkeep over one arithmetic, over Bolt": (
        "regraph_kg/backends/merge.py",
        "import regraph_kg.backends.export",
    ),
    "Inside llm: kinds of models know the seam, not each other": (
        "regraph_kg/llm/ollama.py",
        "import regraph_kg.llm.scripted",
    ),
    "Inside collect: sources know the seam, not each other": (
        "collect/steps.py",
        "import regraph_kg.collect.build",
    ),
    "Inside ingest: one story module over independent parts": (
        "ingest/read.py",
        "import regraph_kg.ingest.plan",
    ),
    "Inside relabel: stages know the contract, not each other": (
        "ingest/relabel/lexical.py",
        "import regraph_kg.ingest.relabel.sorting",
    ),
}


def lint(tree: Path) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=tree,
        env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def broken(report: str) -> set[str]:
    return {
        line.partition(" BROKEN")[0].strip() for line in report.splitlines() if " BROKEN" in line
    }


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in PACKAGES:
        shutil.copytree(
            ROOT / name,
            tmp_path / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_rule_is_kept(tree: Path) -> None:
    report = lint(tree)
    assert f"Contracts: {len(VIOLATIONS)} kept, 0 broken." in report, report


@pytest.mark.slow
@pytest.mark.parametrize("rule", VIOLATIONS)
def test_a_planted_violation_breaks_its_rule(rule: str, tree: Path) -> None:
    path, line = VIOLATIONS[rule]
    with (tree / path).open("a") as file:
        file.write(f"\n{line}\n")
    report = lint(tree)
    assert rule in broken(report), report
