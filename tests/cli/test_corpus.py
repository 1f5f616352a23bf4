"""`regraph corpus report`: of files, of the corpus, and with fields that cannot be read."""

from pathlib import Path

import pytest

from regraph_kg.cli.corpus import read_fields
from regraph_kg.errors import BadInput
from tests.corpus.test_report import TILES, measured, step, trajectory
from tests.in_process import typed as regraph


def test_the_corpus_or_some_files_are_told(tmp_path: Path) -> None:
    every = regraph("corpus", "report")
    assert (every.code, every.out.startswith("# Corpus report\n"), every.err) == (0, True, "")
    told = [trajectory(name, step(TILES, name, measured(2.0))) for name in ("p", "q", "z")]
    path, fields = tmp_path / "mine.jsonl", tmp_path / "fields.toml"
    path.write_text("".join(one.model_dump_json(by_alias=True) + "\n" for one in told))
    fields.write_text('"one field" = ["p", "q"]\n')
    said = regraph("corpus", "report", path, "--fields", fields)
    assert "3 trajectories of 3 problems" in said.out
    assert "| cuda | the graph | 3 | 1 of 1 | 100% |" in said.out


@pytest.mark.parametrize("text", [b"p = 3", b"p = [[", b"p = [[1, 2]]", b'p = "spmv"', b"\xff"])
def test_fields_that_are_none_are_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "fields.toml"
    path.write_bytes(text)
    with pytest.raises(BadInput, match=r"give lines as FIELD = \[\"PROBLEM\", \.\.\]"):
        read_fields(path)
    with pytest.raises(BadInput, match="give another one with --fields"):
        read_fields(tmp_path / "absent")


def test_a_problem_is_of_one_field_and_a_corpus_need_not_have_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = tmp_path / "fields.toml"
    twice.write_text('a = ["p"]\nb = ["p"]\n')
    with pytest.raises(BadInput, match="p is in a and in b"):
        read_fields(twice)
    own = tmp_path / "own"
    own.mkdir()
    (own / "techniques.json").write_text("[]")
    monkeypatch.setenv("REGRAPH_CORPUS", str(own))
    path = tmp_path / "mine.jsonl"
    path.write_text(trajectory("p", step(TILES, "a")).model_dump_json(by_alias=True) + "\n")
    assert regraph("corpus", "report", path).code == 0
