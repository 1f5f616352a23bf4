"""Relabelling beside the labelled set: wrong and missed merges, and limits on both."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus.tools.relabel_check import main, read_labelled, report
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary

CORPUS = Path(__file__).parents[2] / "corpus"


def line(label: str, technique: str | None, **fields: Any) -> str:
    usual = {"target": "cuda", "kind": "synonym", "split": "dev"}
    return json.dumps({"label": label, "technique": technique} | usual | fields)


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRAPH_CORPUS", str(CORPUS))


def counted(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, dict[str, Any]]:
    code = main([*map(str, words)])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


@pytest.mark.slow
def test_no_name_of_the_labelled_set_is_merged_wrongly() -> None:
    settings = Settings(corpus=CORPUS)
    cascade = open_cascade(settings, Vocabulary(read_vocabulary(settings)))
    lines = read_labelled(CORPUS / "relabel")
    found = report(lines, [cascade.resolve(one.label, one.target) for one in lines])
    assert [error for error in found["errors"] if error["result"] == "wrong"] == []
    assert found["right"] / found["total"] > 0.42


@pytest.mark.slow
def test_a_capable_model_is_right_of_nearly_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = counted(capsys, "--relabel", "model", "--model", "recorded", "--split", "test")
    assert (code, found["wrong"]) == (0, 0)
    # 29 names have no recorded answer, and count as missed
    assert found["right"] + 29 >= 0.97 * found["total"]


def test_errors_are_counted_apart_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "labels.jsonl").write_text(
        "\n".join(
            [
                line("smem tiling", "cuda/shared-memory-tiling"),
                line("smem tiling!", None, kind="new"),
                line("odd trick", "cuda/fast-math"),
                line("serial code", "cuda/start"),
                line("left out", None, split="test"),
            ]
        )
    )
    code, found = counted(capsys, "--labels", tmp_path, "--split", "dev")
    assert (code, found["right"], found["wrong"], found["missed"]) == (1, 2, 1, 1)
    assert found["stages"]["alias"] == {"right": 1, "wrong": 1, "missed": 0}
    told = [(error["label"], error["taken_for"], error["result"]) for error in found["errors"]]
    assert told[0] == ("smem tiling!", "cuda/shared-memory-tiling", "wrong")
    assert (told[1][0], told[1][2]) == ("odd trick", "missed")


def test_names_that_are_put_together_are_pairs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"target": "cuda", "split": "dev"}
    names = (("smem tiling", "a"), ("Shared-memory tiling", "a"), ("odd trick", "a"))
    rows = [json.dumps(usual | {"name": name, "cluster": one}) for name, one in names]
    (tmp_path / "clusters.cuda.jsonl").write_text("\n".join(rows))
    pair = {"a": {"name": "smem tiling"}, "b": {"name": "Shared-memory tiling"}, "same": False}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(usual | pair))
    _, found = counted(capsys, "--labels", tmp_path, "--clusters", "shipped")
    assert (found["names"], found["right"], found["wrong"], found["missed"]) == (3, 1, 1, 2)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        line("x", "cuda/Bad"),
        line("x" * 10_000, None),
        line("x\x00y", None),
    ],
)
def test_a_bad_labelled_set_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text is not None:
        (tmp_path / "labels.jsonl").write_text(text)
    assert main(["--labels", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
