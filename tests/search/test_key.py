"""The installation's key: one, secret, the user's own."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.settings import FILE, Settings, read_settings
from regraph_kg.wiring.key import trace_key


def key(folder: Path) -> bytes:
    return trace_key(Settings(data_dir=folder))


def test_it_is_made_once_for_the_user_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        first = key(tmp_path / "data")
    finally:
        os.umask(old)
    file = tmp_path / "data" / "trace-key"
    assert (len(first), key(tmp_path / "data")) == (32, first)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [*file.parent.iterdir()] == [file]
    assert key(tmp_path / "other") != first


def test_processes_that_make_it_at_once_have_the_same(tmp_path: Path) -> None:
    for turn in range(20):
        with ThreadPoolExecutor(8) as threads:
            assert len({*threads.map(key, [tmp_path / str(turn)] * 8)}) == 1
    with get_context("spawn").Pool(4) as pool:
        assert len({*pool.map(key, [tmp_path / "data"] * 8)}) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_one_that_others_may_read_proves_nothing(mode: int, tmp_path: Path) -> None:
    key(tmp_path)
    (tmp_path / "trace-key").chmod(mode)
    with pytest.raises(ToolError, match="others may read or own it; chmod 600 it"):
        key(tmp_path)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_what_is_no_key_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "trace-key").write_bytes(content)
    (tmp_path / "trace-key").chmod(0o600)
    with pytest.raises(ToolError, match="no key of 32 bytes"):
        key(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    key(tmp_path / "theirs")
    (tmp_path / "trace-key").symlink_to(tmp_path / "theirs" / "trace-key")
    with pytest.raises(ToolError, match="set REGRAPH_DATA_DIR"):
        key(tmp_path)


def test_where_it_cannot_be_kept_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="set REGRAPH_DATA_DIR to a folder of yours"):
        key(tmp_path / "file")


def test_a_folder_brings_no_key_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its data folder may hold one that a stranger knows."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.delenv("REGRAPH_DATA_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    theirs = key(tmp_path / "theirs")
    (tmp_path / FILE).write_text('data_dir = "theirs"\n')
    settings = read_settings()
    assert settings.data_dir == Path("theirs")
    assert trace_key(settings) != theirs
    assert (tmp_path / "mine" / "regraph" / "trace-key").exists()
