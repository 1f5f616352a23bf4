"""A batch folder under several processes, kills, full disks and large files."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regraph_kg import atomic
from regraph_kg.errors import BadInput, ToolError
from tests.llm.batch_folder import ask, asked, end, open_model, pending, put, said

ROOT = Path(__file__).parents[2]


def test_runs_that_share_a_folder_add_to_one_file(tmp_path: Path) -> None:
    first, second = open_model(tmp_path), open_model(tmp_path)
    first.complete(ask("one"))
    second.complete(ask("one"))
    second.complete(ask("two"))
    assert end(first).startswith("1 prompt pending")
    assert end(second).startswith("2 prompts pending")
    assert len(pending(tmp_path)) == 2


WRITER = """
import sys
from pathlib import Path
from regraph_kg.errors import AnswersPending
from regraph_kg.llm.batch import BatchModel
from regraph_kg.models.prompt import DecisionKey, Prompt
folder, first, count, rounds = Path(sys.argv[1]), *map(int, sys.argv[2:])
for _ in range(rounds):
    model = BatchModel(folder, "qwen", temperature=0, max_tokens=9)
    for number in range(first, first + count):
        key = DecisionKey(kind="relabel", subject=str(number))
        model.complete(Prompt(key=key, system="", user=f"{number} " + "x" * 1000))
    print("noted", flush=True)
    try:
        model.finish()
    except AnswersPending:
        pass
"""


def start_writer(folder: Path, *numbers: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(folder), *map(str, numbers)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_processes_that_share_a_folder_lose_nothing(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 100, 5) for first in (0, 50, 100)]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    users = [line["body"]["messages"][1]["content"] for line in pending(tmp_path)]
    assert sorted(int(user.split()[0]) for user in users) == list(range(200))


def test_a_killed_run_leaves_whole_files(tmp_path: Path) -> None:
    """Killed somewhere in its rounds of noting and publishing."""
    asked(tmp_path, ask())
    for rounds in range(1, 6):
        writer = start_writer(tmp_path, 0, 200, 100)
        assert writer.stdout is not None
        for _ in range(rounds):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=60)
        assert len(pending(tmp_path)) in (1, 201)
    names = {path.name for path in tmp_path.iterdir() if not path.match(atomic.DRAFTS)}
    assert names <= {"pending.jsonl", "asked.txt", ".lock"}
    model = open_model(tmp_path)
    model.complete(ask("another"))
    end(model)
    assert not (tmp_path / ".pending.jsonl").exists()


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """A disk on which no file may grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_while_publishing_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    asked(tmp_path, *(ask(f"old {number} " + "x" * 300) for number in range(3)))
    model = open_model(tmp_path)
    model.complete(ask())
    before = (tmp_path / "pending.jsonl").read_bytes()
    with room_for(1000), pytest.raises(ToolError, match="File too large"):
        model.finish()
    assert (tmp_path / "pending.jsonl").read_bytes() == before
    end(model)
    assert len(pending(tmp_path)) == 4


@pytest.mark.parametrize("below", ["", "batch"])
def test_a_folder_that_cannot_be_made_is_told_at_once(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match="give another folder"):
        open_model(tmp_path / "file" / below)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_only_be_read_serves_its_answers(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    put(tmp_path, said(request, "x"))
    tmp_path.chmod(0o500)
    try:
        model = open_model(tmp_path)
        assert model.complete(ask()).text == "x"
        model.finish()
        model.complete(ask("another"))
        with pytest.raises(ToolError):
            model.finish()
    finally:
        tmp_path.chmod(0o700)


def test_a_foreign_line_in_the_pending_file_is_named(tmp_path: Path) -> None:
    asked(tmp_path, ask())
    with (tmp_path / "pending.jsonl").open("a") as file:
        file.write("hello\n")
    model = open_model(tmp_path)
    model.complete(ask("another"))
    with pytest.raises(BadInput, match=r"pending\.jsonl:2: not a request of ours; remove"):
        model.finish()
