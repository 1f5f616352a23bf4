"""Changes of a user's files: patches of any bytes and names, nothing half written, the way back."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.runs import home_changes
from regraph_kg.runs.home_changes import HomeChange, patch, take_back, write

OWN = b"int a;\nint main(){}\n"
CONTENTS = {
    "form feed": b"int a;\n\x0c\nint b;\nint main(){}\n",
    "not UTF-8": b"int a; // \xe9t\xe9\nint main(){}\n",
    "line separator": "int a; // \u2028 x\x85y\nint main(){}\n".encode(),
    "CRLF": b"int a;\r\nint main(){}\r\n",
    "lone CR": b"int a; // x\r y\nint main(){}\n",
    "BOM": b"\xef\xbb\xbfint a;\nint main(){}\n",
    "no end": b"int a;\nint main(){}",
}
NAMES = ["a.cpp", "a b.cpp", 'a "b.cpp', "\u00e9.cpp", "a\tb.cpp", "a\nb.cpp", "a\\b.cpp", "-a.cpp"]
TOOLS = [["git", "apply"], ["patch", "-p1", "--binary", "-s", "-i"]]


def changes(folder: Path, name: str = "a.cpp", content: bytes = OWN) -> list[HomeChange]:
    path = folder / name
    path.write_bytes(content)
    after = content.replace(b"main(){}", b"main(){return 0;}")
    return [
        HomeChange(path, content, after),
        HomeChange(path.with_stem(f"{path.stem}_regraph"), None, b"int q;\n"),
    ]


def held(made: list[HomeChange]) -> list[bytes | None]:
    return [one.path.read_bytes() if one.path.exists() else None for one in made]


@pytest.mark.parametrize("tool", TOOLS, ids=["git", "patch"])
@pytest.mark.parametrize(
    ("name", "content"),
    [*(("a.cpp", one) for one in CONTENTS.values()), *((name, OWN) for name in NAMES)],
    ids=[*CONTENTS, *map(ascii, NAMES)],
)
def test_git_and_patch_take_files_of_any_bytes_and_names(
    tmp_path: Path, tool: list[str], name: str, content: bytes
) -> None:
    made = changes(tmp_path, name, content)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "home.diff").write_bytes(patch(made))
    subprocess.run([*tool, "home.diff"], cwd=tmp_path, check=True)
    assert held(made) == [one.after for one in made]


def test_ctrl_c_between_two_files_leaves_both_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, record = changes(tmp_path), tmp_path / "run.applied.json"
    real = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        done = real(self, target)
        if target == made[0].path and b"return" in target.read_bytes():
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(made, record)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cpp"]
    assert held(made) == [one.before for one in made]


def test_what_a_kill_left_between_two_files_is_taken_back(tmp_path: Path) -> None:
    made, record = changes(tmp_path), tmp_path / "run.applied.json"
    child = os.fork()
    if not child:  # as it would be killed after its first file
        real = home_changes._replace

        def killed(path: Path, content: bytes) -> None:
            real(path, content)
            os.kill(os.getpid(), signal.SIGKILL)

        home_changes._replace = killed
        write(made, record)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert held(made) == [made[0].after, None]
    take_back(record)
    assert held(made) == [one.before for one in made]
    assert not record.exists()


def test_a_second_write_does_not_forget_what_was_there_before_the_first(tmp_path: Path) -> None:
    made, record = changes(tmp_path), tmp_path / "run.applied.json"
    write(made, record)
    again = [HomeChange(one.path, one.after, one.after) for one in made]
    with pytest.raises(BadInput, match="holds this run's code already"):
        write(again, record)
    take_back(record)
    assert held(made) == [one.before for one in made]
    write(made, record)
    for one in made:  # taken back by other means
        one.path.write_bytes(one.before or b"")
    write([HomeChange(made[1].path, b"", made[1].after)], record)


def test_undo_goes_on_where_one_file_is_as_before_and_stops_at_other_changes(
    tmp_path: Path,
) -> None:
    made, record = changes(tmp_path), tmp_path / "run.applied.json"
    write(made, record)
    made[1].path.write_bytes(b"int mine;\n")
    with pytest.raises(BadInput, match=r"a_regraph\.cpp: was changed since"):
        take_back(record)
    assert held(made) == [made[0].after, b"int mine;\n"]
    made[1].path.write_bytes(made[1].after)
    made[0].path.write_bytes(OWN)  # as git checkout does
    take_back(record)
    assert held(made) == [OWN, None]
    with pytest.raises(BadInput, match="was taken back"):
        take_back(record)


def test_a_damaged_record_is_bad_input(tmp_path: Path) -> None:
    record = tmp_path / "run.applied.json"
    for text in ("", "[{}]", "{"):
        record.write_text(text)
        with pytest.raises(BadInput):
            take_back(record)


def test_a_users_file_that_is_a_pipe_or_a_ring_of_links_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="pipe: no regular file; give another FILE with --to"):
        home_changes.content_of(tmp_path / "pipe")
    (tmp_path / "ring").symlink_to("ring")
    with pytest.raises(BadInput, match="ring: no regular file"):
        home_changes.content_of(tmp_path / "ring")
