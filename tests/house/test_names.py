"""One word, one thing: no public class and no public type has its name twice."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
STAGES = ("regraph_kg", "adopt", "collect", "ingest", "search", "evaluation")


def defined(tree: ast.Module) -> list[str]:
    """Public classes and types that a module defines."""
    found = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            found += [name] if name[0].isupper() and not name.isupper() else []
    return [name for name in found if not name.startswith("_")]


def test_no_public_class_has_its_name_twice() -> None:
    places = defaultdict(list)
    for stage in STAGES:
        for path in sorted((ROOT / stage).rglob("*.py")):
            if any(parent.is_symlink() for parent in path.parents):
                continue
            for name in defined(ast.parse(path.read_text(encoding="utf-8"))):
                places[name].append(path.relative_to(ROOT).as_posix())
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert not twice
