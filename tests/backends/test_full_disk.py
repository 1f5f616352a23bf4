"""An embedded store that fails says where it is, whether there is room, and where its log is."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from regraph_kg.backends import bolt

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(
    ("free", "said"),
    [(2**20, "no room on the disk of"), (2**40, "failed while it read or wrote")],
)
def test_a_failure_of_its_own_names_folder_and_log(
    free: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(2**40, 0, free))
    told = bolt._embedded_failure(tmp_path)
    assert told.startswith(said)
    assert str(tmp_path) in told
    assert f"{tmp_path}/server.log says more" in told


def test_a_folder_that_is_gone_is_named_too(tmp_path: Path) -> None:
    assert "server.log" in bolt._embedded_failure(tmp_path / "gone")
