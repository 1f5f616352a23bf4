"""Targets are values: who else names one in code would have to change for a new one."""

import ast
from pathlib import Path
from typing import get_args

from regraph_kg.models.target import TARGETS, Target

ROOT = Path(__file__).parents[2]
STAGES = ("regraph_kg", "adopt", "collect", "ingest", "search", "evaluation")
NAMED = {
    "regraph_kg/models/target.py": "the values themselves",
    "evaluation/worker/spawn.py": "a field of what a confined worker is told",
    "evaluation/confined/worker.py": "flavours of confinement",
    "evaluation/confined/seccomp.py": "flavours of confinement",
    "evaluation/confined/calls.py": "flavours of confinement",
    "evaluation/confined/probe.py": "flavours of confinement",
}
"""Files that may name a target, and why."""


def names_a_target(tree: ast.Module) -> bool:
    """Whether a string of the code is a target's name."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and text in TARGETS for text in texts)


def test_only_these_files_name_a_target() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for stage in STAGES
        for path in (ROOT / stage).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
        and names_a_target(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == NAMED.keys()


def test_every_name_has_its_value_and_its_prompt() -> None:
    assert tuple(TARGETS) == get_args(Target)
    for name, target in TARGETS.items():
        assert target.name == name
        assert (ROOT / "search" / "prompts" / f"{target.prompt}.txt").is_file()
