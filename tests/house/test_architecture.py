"""The direction rules of docs/dev/architecture.md hold, and each one can fail.

The graph of imports is built once. Each rule is then checked on a copy with one import too many.
"""

import copy
from pathlib import Path

import grimp
import importlinter.cli  # noqa: F401  (it gives importlinter its settings)
import pytest
from importlinter.application import use_cases
from importlinter.application.user_options import UserOptions
from importlinter.configuration import settings

ROOT = Path(__file__).parents[2]
PACKAGE = "regraph_kg"

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
"""A contract's id in pyproject.toml -> an import that breaks it, of module and module."""
OUTSIDE = ("neo4j", "subprocess", "numpy")
"""Modules above that are not ours."""


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, include_external_packages=True, cache_dir=None)


@pytest.fixture(scope="module")
def options() -> UserOptions:
    given = use_cases.read_user_options(str(ROOT / "pyproject.toml"))
    use_cases._register_built_in_contract_types()
    return given


class Built:
    """A graph that is there already, where import-linter would build one."""

    def __init__(self, graph: grimp.ImportGraph) -> None:
        self._graph = graph

    def build(self, **_: object) -> grimp.ImportGraph:
        return self._graph


def broken(
    graph: grimp.ImportGraph,
    options: UserOptions,
    monkeypatch: pytest.MonkeyPatch,
    rules: tuple[str, ...] = (),
) -> list[str]:
    """Names of the broken rules among those with these ids, or of all."""
    monkeypatch.setattr(settings, "GRAPH_BUILDER", Built(graph))
    report = use_cases.create_report(options, limit_to_contracts=rules)
    assert not report.could_not_run
    return [
        contract.name for contract, check in report.get_contracts_and_checks() if not check.kept
    ]


def test_every_rule_is_kept(
    imports: grimp.ImportGraph, options: UserOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broken(imports, options, monkeypatch) == []
    assert {contract["id"] for contract in options.contracts_options} == set(VIOLATIONS)


@pytest.mark.parametrize("rule", VIOLATIONS)
def test_a_planted_violation_breaks_its_rule(
    rule: str, imports: grimp.ImportGraph, options: UserOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer, imported = VIOLATIONS[rule]
    if imported not in OUTSIDE:
        imported = f"{PACKAGE}.{imported}"
    planted = copy.deepcopy(imports)
    assert imported in OUTSIDE or {f"{PACKAGE}.{importer}", imported} <= planted.modules
    planted.add_module(imported, is_squashed=imported in OUTSIDE)
    planted.add_import(importer=f"{PACKAGE}.{importer}", imported=imported)
    assert broken(planted, options, monkeypatch, (rule,)) != []
