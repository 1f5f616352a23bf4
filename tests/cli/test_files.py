"""How files are written, opened, locked and split into lines."""

import os
import stat
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from pydantic import BaseModel

from regraph_kg import atomic, jsonl, locks, regular
from regraph_kg.errors import BadInput


class Row(BaseModel):
    number: int


def test_a_file_is_replaced_whole_or_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 60)
    atomic.write(path, "before", synced=True)
    with pytest.raises(TypeError), atomic.replacing(path) as file:
        file.writelines([b"half", 1])  # type: ignore[list-item]
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "before"
    atomic.write(path, b"after")
    assert path.read_bytes() == b"after"


@pytest.mark.parametrize(("asked", "umask", "has"), [(0o600, 0, 0o600), (0o666, 0o027, 0o640)])
def test_a_file_has_the_mode_that_was_asked_for_less_the_umask(
    tmp_path: Path, asked: int, umask: int, has: int
) -> None:
    was = os.umask(umask)
    try:
        atomic.write(tmp_path / "file", "", mode=asked)
    finally:
        os.umask(was)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == has


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("kept")
    (tmp_path / "link").symlink_to("other")
    atomic.write(tmp_path / "link", "new")
    assert (tmp_path / "other").read_text() == "kept"
    assert (tmp_path / "link").read_text() == "new"


@pytest.mark.parametrize("target", ["/dev/null", "pipe", "/proc/self/fd/{}"])
def test_no_file_takes_the_place_of_a_standard_stream(tmp_path: Path, target: str) -> None:
    """As /dev/stdout it is a link: to a device, a pipe, or the file that a shell sends it to."""
    os.mkfifo(tmp_path / "pipe")
    link = tmp_path / "link"
    with open(tmp_path / "stream", "wb") as stream:
        link.symlink_to(target.format(stream.fileno()))
        with pytest.raises(OSError, match="regular file"):
            atomic.write(link, "new")
    assert link.is_symlink()


def test_only_regular_files_of_the_right_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\nb")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert regular.read_bytes(tmp_path / "file", 4) == b"a\r\nb"
    assert regular.read_text(tmp_path / "file", 4) == "a\nb"
    with pytest.raises(OSError, match="larger than"):
        regular.read_bytes(tmp_path / "file", 3)
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match="no regular file"):
            regular.read_bytes(tmp_path / name, 4)
    with pytest.raises(IsADirectoryError):
        regular.read_bytes(tmp_path, 4)


def test_a_lock_ends_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    assert not locks.is_held(path)
    hold = "import sys; from regraph_kg import locks; f = open(sys.argv[1]); print(locks.take(f))"
    wait = "; sys.stdout.flush(); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold + wait, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        with path.open("rb") as file:
            assert locks.is_held(path)
            assert not locks.take(file, seconds=0.1)
            holder.kill()
            holder.wait()
            assert locks.take(file, shared=True)
            with path.open("rb") as other:
                assert locks.take(other, shared=True)
                assert not locks.take(other)


def test_lines_end_with_a_newline_only_and_a_torn_one_is_told(tmp_path: Path) -> None:
    lines = list(jsonl.raw_lines(BytesIO("a\u2028\x0c\n\nbcd".encode()), 10))
    assert [(line.number, line.start, line.content, line.whole) for line in lines] == [
        (1, 0, "a\u2028\x0c".encode(), True),
        (2, 6, b"", True),
        (3, 7, b"bcd", False),
    ]
    for too_long, read in ((b"abcdef\n", b"abcd"), (b"abc\n", b"abc\n")):
        long = list(jsonl.raw_lines(BytesIO(b"ab\n" + too_long + b"ab\n"), 3))
        assert [(one.content, one.whole) for one in long] == [(b"ab", True), (read, False)]


def test_a_bad_line_is_named_by_its_number_and_field() -> None:
    path = Path("rows.jsonl")
    good = jsonl.parsed(path, [b'{"number": 1}', b" \r", b'{"number": 2}'], Row)
    assert [(number, row.number) for number, row in good] == [(1, 1), (3, 2)]
    for line, why in ((b'{"number": "x"}', "number: "), (b"\xff", "line: Invalid JSON")):
        with pytest.raises(BadInput, match=rf"rows\.jsonl:2: {why}.*; mend the line"):
            list(jsonl.parsed(path, [b"", line], Row))
