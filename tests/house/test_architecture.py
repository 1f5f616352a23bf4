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
    "layers": ("models.base", "graph"),
    "backends": ("cli.ingest", "backends.bolt"),
    "queries": ("backends.bolt", "cypher"),
    "corpus": ("wiring.problems", "corpus"),
    "driver": ("ingest.plan", "neo4j"),
    "judge": ("evaluation.problem.problem", "settings"),
    "search": ("search.sample", "subprocess"),
    "confined": ("evaluation.confined.worker", "numpy"),
    "inside-search": ("search.sample", "search.methods.mcgs"),
    "methods": ("search.methods.fsr", "search.methods.samples"),
    "inside-evaluation": ("evaluation.verify.verify", "evaluation.evaluate"),
    "inside-wiring": ("wiring.stores", "wiring.names"),
    "inside-runs": ("runs.choice", "runs.ingest"),
    "inside-backends": ("backends.write", "backends.store"),
    "inside-llm": ("llm.ollama", "llm.scripted"),
    "inside-collect": ("collect.judged_steps", "collect.openevolve"),
    "inside-ingest": ("ingest.read", "ingest.plan"),
    "inside-relabel": ("ingest.relabel.lexical", "ingest.relabel.model"),
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
