"""Names of techniques sorted by a real small model, as the labelled set counts them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.small_model.conftest import Desk

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

LABELS = Path(__file__).parents[2] / "corpus" / "relabel"
NAMES = ("Hardware async copy of tiles into smem", "Bind threads with sched_setaffinity")
"""One of each target, so that each is asked about alone; no other stage knows them."""
SHOWN = 11  # answers to choose from: the ten nearest techniques, and that it is a new one


def labelled() -> list[dict[str, Any]]:
    texts = (file.read_text(encoding="utf-8") for file in sorted(LABELS.glob("labels.*.jsonl")))
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return [line for line in lines if line["label"] in NAMES]


def checked(desk: Desk) -> dict[str, Any]:
    words = ("--labels", str(desk.folder / "labels"), "--relabel", "model")
    done = subprocess.run(
        [sys.executable, "-m", "corpus.tools.relabel_check", *words],
        cwd=LABELS.parents[1],
        env=desk.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if found["wrong"] else 0)
    return found


def test_a_real_model_knows_names_that_no_other_stage_knows(desk: Desk) -> None:
    """Guessing would be right of both once in 121 times, and the answers are the same again."""
    (desk.folder / "labels").mkdir()
    lines = labelled()
    assert sorted(line["label"] for line in lines) == sorted(NAMES)
    text = "\n".join(map(json.dumps, lines))
    (desk.folder / "labels" / "labels.jsonl").write_text(text)
    found = checked(desk)
    assert found["stages"] == {"model": {"right": len(NAMES), "wrong": 0, "missed": 0}}
    assert checked(desk) == found


def test_what_a_real_model_says_of_many_names_at_once_is_counted_name_by_name(desk: Desk) -> None:
    """A small model is wrong of most."""
    (desk.folder / "labels").mkdir()
    lines = [
        line
        for line in map(
            json.loads, (LABELS / "labels.openmp.jsonl").read_text(encoding="utf-8").splitlines()
        )
        if (line["kind"], line["split"]) == ("synonym", "dev") and line["label"].isascii()
    ][::8]
    text = "\n".join(map(json.dumps, lines))
    (desk.folder / "labels" / "labels.jsonl").write_text(text)
    found = checked(desk)
    assert found["right"] + found["wrong"] + found["missed"] == found["total"] == len(lines)
    assert "model" in found["stages"]
