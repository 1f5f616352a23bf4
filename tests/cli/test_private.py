"""What holds a user's code is for that user alone, whatever the umask says."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraph_kg.errors import AnswersPending
from regraph_kg.llm.by_file import BatchModel
from regraph_kg.llm.model import AskOptions
from regraph_kg.models.prompt import DecisionKey, Prompt
from regraph_kg.private import make_folder
from regraph_kg.search.trace import Trace
from tests.search.toy import SEAL, header


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """A umask that lets everybody read and write."""
    was = os.umask(0)
    yield
    os.umask(was)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_trace_and_its_folder_are_private(tmp_path: Path) -> None:
    with Trace.create(tmp_path / "runs", header(), SEAL) as trace:
        assert (mode(trace.path), mode(tmp_path / "runs")) == (0o600, 0o700)


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir(mode=0o755)
    make_folder(tmp_path / "shared")
    assert mode(tmp_path / "shared") == 0o755


def test_prompts_that_wait_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "batch"
    model = BatchModel(folder, "qwen", AskOptions(0.7, 300, timeout=5, patience=0))
    model.complete(Prompt(key=DecisionKey(kind="relabel", subject="x"), system="", user="x"))
    with pytest.raises(AnswersPending):
        model.finish()
    assert mode(folder) == 0o700
    assert {path.name: mode(path) for path in folder.iterdir()} == {
        name: 0o600 for name in ("pending.jsonl", ".lock")
    }
