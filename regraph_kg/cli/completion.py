"""Shell completion of problems, runs and techniques. It reads files alone, never a store.

`regraph --install-completion` installs it. A failure completes nothing.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from regraph_kg.errors import RegraphError
from regraph_kg.settings import read_settings
from regraph_kg.wiring.shipped import corpus_folder, problem_names


def complete_problem(incomplete: str) -> list[str]:
    """Problems of this folder and of the corpus."""
    try:
        return _begun(problem_names(read_settings()), incomplete)
    except (RegraphError, OSError):
        return []


def complete_run(incomplete: str) -> list[str]:
    """Traces below `runs/`, the newest first, and other traces by their paths."""
    near, beside = sorted(Path("runs").glob("*.jsonl"), reverse=True), Path(".").glob("*.jsonl")
    typed = Path(incomplete).parent
    elsewhere = typed.glob("*.jsonl") if "/" in incomplete else ()
    names = [trace.stem for trace in near]
    paths = map(str, (*near, *beside, *elsewhere))
    return _begun(dict.fromkeys([*names, *paths]), incomplete)


def complete_technique(incomplete: str) -> list[str]:
    """Ids of the vocabulary."""
    try:
        text = (corpus_folder(read_settings()) / "techniques.json").read_bytes()
        return _begun((load["id"] for load in json.loads(text)), incomplete)
    except (RegraphError, OSError, ValueError):
        return []


def _begun(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
