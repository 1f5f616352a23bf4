"""`regraph collect` from a real small model's answers: whatever they are, each is paid for once."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from regraph_kg.collect.conversation import PATIENCE, REPAIRS
from tests.small_model.conftest import MODEL, Desk

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

WORDS = ("--trajectories", "3", "--steps", "1")
RULES = ("--min-speedup", "0", "--json")


def collected(desk: Desk, output: str) -> dict[str, Any]:
    done = desk.run("collect", "reduction", *WORDS, *RULES, "--output", output)
    assert done.returncode in (0, 1), done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if summary["kept"] else 1)
    return summary


def replies(desk: Desk, output: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(desk.folder / f"{output}.journal")) as journal:
        rows = journal.execute("SELECT value FROM entry WHERE key LIKE 'reply:%' ORDER BY rowid")
        return [json.loads(value) for (value,) in rows]


def test_a_real_model_s_answers_are_kept_counted_and_asked_for_once(desk: Desk) -> None:
    """Another collection has the same answers, of which no two are alike: seeds go with them."""
    first = collected(desk, "first.jsonl")
    said = replies(desk, "first.jsonl")
    assert first["collected"] == 3
    assert len(first["kept"]) + len(first["left_out"]) == 3
    # Each trajectory asks PATIENCE times, with REPAIRS calls more, at most.
    assert 3 <= first["calls"] == len(said) <= 3 * PATIENCE * (REPAIRS + 1)
    assert first["tokens"] == sum(one["prompt_tokens"] + one["output_tokens"] for one in said)
    assert all(one["model"].startswith(f"ollama:{MODEL}@") for one in said)
    assert all(one["output_tokens"] > 0 for one in said)

    again = collected(desk, "first.jsonl")
    assert (again["calls"], again["tokens"]) == (0, 0)
    assert (again["kept"], again["left_out"]) == (first["kept"], first["left_out"])

    collected(desk, "second.jsonl")
    texts = [one["text"] for one in said]
    assert [reply["text"] for reply in replies(desk, "second.jsonl")] == texts
    assert len(set(texts)) == len(texts)
