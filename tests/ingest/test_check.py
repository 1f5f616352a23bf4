"""`regraph dev relabel-check`: wrong and missed merges beside a labelled set, and when it fails."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.ingest import check
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary
from tests.in_process import Ended, typed

CORPUS = Path(__file__).parents[2] / "corpus"


def line(label: str, technique: str | None, **fields: Any) -> str:
    usual = {"target": "cuda", "kind": "synonym", "split": "dev"}
    return json.dumps({"label": label, "technique": technique} | usual | fields)


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRAPH_CORPUS", str(CORPUS))


def run(*words: str | Path) -> Ended:
    return typed("dev", "relabel-check", *words)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["exact", "lexical"])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_wrong_merges_of_the_labelled_set_stay_under_half_a_percent(
    level: RelabelLevel, split: check.Split
) -> None:
    settings = Settings(corpus=CORPUS)
    cascade = open_cascade(settings, Vocabulary(read_vocabulary(settings)), level)
    lines = check.read_labelled(CORPUS / "relabel", split)
    found = [check.judge(line, cascade.resolve(line.label, line.target)) for line in lines]
    assert [one.line.label for one in found if one.result == "wrong"] == []
    spelled = [one for one in found if one.line.kind == "spelling"]
    assert check.tally(spelled).missed <= (len(spelled) if level == "exact" else 0)
    assert check.tally(found).right / len(found) > 0.42


@pytest.mark.slow
def test_a_capable_model_is_right_of_nearly_all() -> None:
    words = ("--relabel", "model", "--model", "recorded", "--split", "test", "--json")
    code, out, _ = run(*words)
    found = json.loads(out)["model"]
    assert (code, found["wrong"]) == (0, 0)
    assert found["right"] / found["total"] >= 0.97


@pytest.mark.timing
def test_a_label_is_resolved_in_microseconds_after_its_first_appearance() -> None:
    settings = Settings(corpus=CORPUS)
    cascade = open_cascade(settings, Vocabulary(read_vocabulary(settings)), "lexical")
    labels = [one for one in check.read_labelled(CORPUS / "relabel", "dev")]
    started, times = time.perf_counter(), 100
    for _ in range(times):
        for label in labels:
            cascade.resolve(label.label, label.target)
    assert (time.perf_counter() - started) / (times * len(labels)) < 50e-6


def test_errors_are_counted_apart_and_listed(tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(
        "\n".join(
            [
                line("smem tiling", "cuda/shared-memory-tiling"),
                line("smem tiling!", None, kind="new"),
                line("odd \x9btrick", "cuda/fast-math"),
                line("serial code", "cuda/start"),
                line("left out", None, split="test"),
            ]
        )
    )
    words = ("--labels", tmp_path, "--split", "dev", "--verbose")
    code, out, _ = run(*words)
    assert code == 1
    assert "wrong merges: 1\n  smem tiling!: cuda/shared-memory-tiling (alias), not new" in out
    assert "missed merges: 1\n  odd \ufffdtrick: new (new), not cuda/fast-math" in out
    code, out, _ = run(*words, "--json")
    found = json.loads(out)["lexical"]
    assert (code, found["right"], found["wrong"], found["missed"]) == (1, 2, 1, 1)
    assert found["stages"]["alias"] == {"right": 1, "wrong": 1, "missed": 0}
    assert [one["result"] for one in found["errors"]] == ["wrong", "missed"]


def test_the_levels_up_to_the_asked_one_are_run() -> None:
    code, out, _ = run("--relabel", "lexical", "--split", "test")
    assert code == 0
    totals = [row.split()[0] for row in out.splitlines() if " all " in row]
    assert totals == ["exact", "lexical"]


def test_a_model_is_asked_by_file(tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(line("Wobble the frobs", None))
    words = ("--labels", tmp_path, "--relabel", "model", "--model", f"batch:{tmp_path / 'asked'}")
    code, _, err = run(*words)
    assert (code, "1 prompt pending" in err) == (5, True)


def test_the_vocabulary_s_own_aliases_are_names_that_a_model_is_asked_about(tmp_path: Path) -> None:
    alias, owner = "wmma", "cuda/tensor-cores"
    words = ("--aliases", "--relabel", "model", "--model", f"batch:{tmp_path}")
    code, _, err = run(*words)
    pending = [json.loads(line) for line in (tmp_path / "pending.jsonl").read_text().splitlines()]
    prompts = [one["body"]["messages"][1]["content"] for one in pending]
    (asked,) = [prompt for prompt in prompts if f'["{alias}"]' in prompt]
    known, _, names = asked.partition("The names")
    assert code == 5, err
    (said,) = [line for line in known.splitlines() if line.startswith(f"- {owner}:")]
    assert said.endswith("Also called: -")
    assert alias in names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no labels"),
        ("{", "labels.jsonl:1: line: Invalid JSON"),
        (line("x", "cuda/Bad"), "labels.jsonl:1: technique: String should match"),
        (line("x" * 10_000, None), "labels.jsonl:1: label: String should have at most"),
        (line("x\x00y", None), "labels.jsonl:1: label: String should match"),
    ],
)
def test_a_bad_labelled_set_is_bad_input(
    tmp_path: Path,
    text: str | None,
    said: str,
) -> None:
    if text is not None:
        (tmp_path / "labels.jsonl").write_text(text)
    code, _, err = run("--labels", tmp_path)
    assert (code, said in err, len(err.splitlines())) == (2, True, 1)
