"""docs/dev/graph.md names the labels, relationships and properties that a graph has."""

import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.cli import app
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import FreeChoice, FreeRun
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.stores import cypher, environment

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "dev" / "graph.md").read_text(encoding="utf-8")
TILES = "Tiles in shared memory"
"""A name that relabelling recognizes, and logs."""
ABSENT = {
    *("next_model", "next_dimension", "next_prompts", "restoring", "embedding_2"),
    *("embedding_slot", "embedding_prompts", "code_embedding_2"),
}
"""Only there while something is under way, or after it."""
NO_FAILURES = (Outcome.PASSED, Outcome.DECLINED, Outcome.UNCHANGED, Outcome.UNSTABLE_TIMING)
FAILED = {f"failed_{one}" for one in Outcome if one not in NO_FAILURES}


def told() -> dict[str, set[str]]:
    """Label or relationship -> its properties, by the tables of section 1."""
    section = TEXT.partition("## 1. Data model")[2].partition("\n## ")[0]
    found: dict[str, set[str]] = {}
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        cells = re.findall(r"^\| (`.*?) \|", part, re.MULTILINE)
        names = {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}
        if names:
            found[part.split("\n")[0]] = names
    for name in ("NEXT", "Share"):
        found[name] = (found[name] - {"failed_..."}) | FAILED
    return found


def trajectory(problem: str, *more: object, learned: bool = False) -> str:
    """A line with all that a trajectory may hold; `more` steps."""
    measured = {"device": "d", "toolchain": "t", "evaluator": "1", "run": "r", "outcome": "passed"}
    seconds = {"seconds": 1.0, "before_seconds": 2.0, "serial_seconds": 2.0}
    roofline = {"roofline": {"memory": 0.5, "compute": 0.1}}
    step = {
        "label": TILES,
        "also": ["cuda/loop-unrolling"],
        "reasoning": f"why {problem}",
        "detail": "how",
        "code": f"code of {problem}",
        "measurements": [measured | seconds | roofline],
    }
    failures = [
        {"after_step": 0, "label": "Loop unrolling", "outcome": outcome, "code": f"x {outcome}"}
        | {"diagnosis": "why", "code_hash": "h", "device": "d"}
        for outcome in Outcome
        if outcome not in (Outcome.PASSED, Outcome.UNSTABLE_TIMING)
    ]
    source = {
        "learned": learned,
        "model": "m",
        "run": "r",
        "prompt_hash": "p",
        "created": "c",
        "licence": "l",
    }
    content = {
        "schema": 1,
        "target": "cuda",
        "problem": problem,
        "serial": "a",
        "ref": problem,
        "x_own": "kept",
        "source": source,
        "steps": [step, *more],
        "failures": failures,
    }
    return json.dumps(content)


def test_labels_relationships_and_properties_are_those_of_a_graph(
    embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CORPUS", str(ROOT / "corpus"))
    lines = [trajectory(f"p{number}") for number in range(6)]
    lines.append(trajectory("q", {"label": "Loop unrolling", "code": "z"}, learned=True))
    (tmp_path / "steps.jsonl").write_text("\n".join(lines) + "\n")
    file, technique = str(tmp_path / "steps.jsonl"), "cuda/shared-memory-tiling"
    diffs = tmp_path / "diffs.jsonl"
    diffs.write_text("".join(f"{trajectory(f'd{number}')}\n" for number in range(6)))
    for command in (
        ["ingest", file],
        ["ingest", str(diffs), "--disclose", "diff"],
        ["graph", "update", "--bound", "2"],
        ["techniques", "mend", "keep", technique, "--alias", TILES, "--why", "right"],
        ["techniques", "mend", "undo", "1", "--why", "wrong"],
    ):
        monkeypatch.setattr(sys, "argv", ["regraph", *command])
        with pytest.raises(SystemExit) as ended:
            app.main()
        assert not ended.value.code, command
    chose = {"device": "d", "problem": "p", "choice": FreeChoice()}
    with closing(open_store(embedded_settings)) as store:
        store.add_free_runs([FreeRun(run="r", model="m", target="cuda", **chose)])  # type: ignore[arg-type]
    kinds = {
        "MATCH (n) RETURN labels(n)[0] AS kind, collect(keys(n)) AS names",
        "MATCH ()-[r]->() RETURN type(r) AS kind, collect(keys(r)) AS names",
    }
    found = {
        row["kind"]: {name for names in row["names"] for name in names}
        for statement in kinds
        for row in cypher(embedded_settings, statement)
    }
    assert found.keys() == told().keys()
    for kind, names in told().items():
        assert names ^ found[kind] <= ABSENT, kind
