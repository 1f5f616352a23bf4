"""The history of a kernel as steps: renames, merges, commits of no use, foreign folders."""

import os
import subprocess
from pathlib import Path

import pytest

from regraph_kg.collect.build import build
from regraph_kg.collect.git_history import GitFile, GitHistory, read_history
from regraph_kg.errors import BadInput
from regraph_kg.models.trajectory import Source
from tests.collect.toy_task import SERIAL, TASK, code, judge


class Repository:
    """A git repository that a test writes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> str:
        names = ("author", "committer")
        who = {f"GIT_{name}_NAME".upper(): "Ann Other" for name in names}
        who |= {f"GIT_{name}_EMAIL".upper(): "ann@example.org" for name in names}
        done = subprocess.run(
            ["git", "-C", str(self.folder), *words],
            env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            check=True,
            text=True,
        )
        return done.stdout

    def commit(self, message: str, **files: str | bytes) -> None:
        for name, text in files.items():
            path = self.folder / name.replace("_", ".")
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "kernels")


def history(repository: Repository, path: str = "scale.cpp", revision: str = "HEAD") -> GitHistory:
    return read_history(GitFile(repository.folder, path, revision), TASK, Source(licence="MIT"))


def subjects(found: GitHistory) -> list[str]:
    return [commit.subject for commit in found.commits]


def test_commits_are_steps_and_messages_reasonings(repository: Repository) -> None:
    repository.commit("The plain loop", scale_cpp=SERIAL)
    repository.commit("Notes only", notes_md="x")
    repository.commit("Broken tiling", scale_cpp=code("wrong"))
    repository.commit(
        "Tile it\n\nCaches are small.\n\nSigned-off-by: Ann Other <ann@example.org>",
        scale_cpp=code("fast3"),
    )
    built = build(history(repository), TASK, judge)
    assert built.trajectory is not None
    (step,) = built.trajectory.steps
    assert (step.label, step.reasoning) == ("Tile it", "Caches are small.")
    (failure,) = built.trajectory.failures
    assert (failure.after_step, failure.label) == (0, "Broken tiling")
    assert built.unchanged == 1
    assert built.trajectory.source.run.startswith("git kernels scale.cpp@")
    assert built.trajectory.source.licence == "MIT"
    assert "Ann" not in built.trajectory.model_dump_json()
    assert str(repository.folder) not in built.trajectory.model_dump_json()


def test_renames_are_followed(repository: Repository) -> None:
    body = "\n".join(f"// line {n}" for n in range(20)) + "\n"
    repository.commit("First", old_cpp=body + SERIAL)
    repository.commit("Second", old_cpp=body + code("fast2"))
    repository.git("mv", "old.cpp", "scale.cpp")
    repository.commit("Move and change", scale_cpp=body + code("fast3"))
    repository.commit("Fourth", scale_cpp=body + code("fast4"))
    assert subjects(history(repository)) == ["First", "Second", "Move and change", "Fourth"]


def test_a_merge_is_one_step_of_the_first_parent(repository: Repository) -> None:
    repository.commit("First", scale_cpp=SERIAL)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Side 1", scale_cpp=code("fast2"))
    repository.commit("Side 2", scale_cpp=code("fast3"))
    repository.git("checkout", "--quiet", "main")
    repository.commit("Beside", notes_md="x")
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge side", "side")
    repository.commit("Last", scale_cpp=code("fast4"))
    assert subjects(history(repository)) == ["First", "Merge side", "Last"]


def test_a_file_that_was_deleted_in_between_goes_on(repository: Repository) -> None:
    repository.commit("First", scale_cpp=SERIAL)
    repository.git("rm", "--quiet", "scale.cpp")
    repository.commit("Gone")
    repository.commit("Back", scale_cpp=code("fast2"))
    assert subjects(history(repository)) == ["First", "Back"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("int other() { return 1; }", "it does not define scale"),
        ("// scale(1)\nint f;", "it does not define scale"),
        ("void scale(float* x, int n) {}", 'it does not export scale: that takes extern "C"'),
        (f'#include "ours.h"\n{SERIAL}', 'it includes "ours.h", and a candidate is one file'),
        (b"\xff\xfe", "the file is not UTF-8 text"),
        ("", "the file is empty, or no text"),
        ("x" * 300_000, "the file has more than 200000 characters"),
        ("x" * 5 * 2**20, "the file has more than 4 MiB"),
    ],
)
def test_what_cannot_be_judged_is_left_out_with_a_line(
    repository: Repository, text: str | bytes, why: str
) -> None:
    repository.commit("Unfit", scale_cpp=text)
    repository.commit("Fit", scale_cpp=code("fast2"))
    found = history(repository)
    assert subjects(found) == ["Fit"]
    (note,) = found.notes
    assert note.endswith(f"is left out: {why}")


@pytest.mark.parametrize(
    ("path", "revision", "said"),
    [
        ("absent.cpp", "HEAD", "no file absent.cpp at HEAD"),
        ("scale.cpp", "no-such", "git says: fatal:"),
        ("scale.cpp", "--help", "git says: fatal:"),
        ("../scale.cpp", "HEAD", "not in "),
        ("/elsewhere/scale.cpp", "HEAD", "not in "),
    ],
)
def test_a_file_or_revision_that_is_not_there_is_said(
    repository: Repository, path: str, revision: str, said: str
) -> None:
    repository.commit("First", scale_cpp=SERIAL)
    with pytest.raises(BadInput) as caught:
        history(repository, path, revision)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def touching(folder: Path) -> tuple[Path, Path]:
    """A program, and the file that it makes where somebody runs it."""
    touched, program = folder / "touched", folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {touched}\n")
    program.chmod(0o755)
    return program, touched


def test_a_folder_that_is_no_repository_is_said(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BadInput) as caught:
            read_history(GitFile(folder, "scale.cpp"), TASK, Source())
        assert str(folder) in str(caught.value)


def test_a_strangers_repository_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.commit("First", scale_cpp=SERIAL)
    repository.commit("Second", scale_cpp=code("fast2"))
    program, touched = touching(tmp_path)
    for name in ("core.fsmonitor", "core.pager", "gpg.program", "diff.external", "core.editor"):
        repository.git("config", name, str(program))
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "diff.x.textconv", str(program))
    (repository.folder / ".gitattributes").write_text("*.cpp diff=x filter=x\n")
    repository.git("config", "filter.x.smudge", str(program))
    assert subjects(history(repository)) == ["First", "Second"]
    assert not touched.exists()


def test_a_strangers_settings_change_nothing_of_what_is_read(repository: Repository) -> None:
    body = "\n".join(f"// line {n}" for n in range(20)) + "\n"
    repository.commit("Fürst", old_cpp=body + SERIAL)
    repository.git("mv", "old.cpp", "scale.cpp")
    repository.commit("Moved", scale_cpp=body + code("fast2"))
    for name, value in {
        "log.follow": "true",
        "log.date": "human",
        "i18n.logOutputEncoding": "UTF-16",
        "core.worktree": "/nowhere",
        "diff.renames": "false",
    }.items():
        repository.git("config", name, value)
    assert subjects(history(repository)) == ["Fürst", "Moved"]


def test_a_partial_clones_remote_is_not_asked(repository: Repository, tmp_path: Path) -> None:
    repository.commit("First", scale_cpp=SERIAL)
    repository.commit("Second", scale_cpp=code("fast2"))
    repository.git("config", "uploadpack.allowFilter", "true")
    words = ("clone", "--quiet", "--no-checkout", "--filter=blob:none")
    repository.git(*words, f"file://{repository.folder}", str(tmp_path / "partial"))
    program, touched = touching(tmp_path)
    repository.folder = tmp_path / "partial"
    repository.git("config", "remote.origin.uploadpack", str(program))
    with pytest.raises(BadInput, match="give a whole clone"):
        history(repository)
    assert not touched.exists()


def test_a_shallow_clone_is_said(repository: Repository, tmp_path: Path) -> None:
    for number in range(4):
        repository.commit(f"Step {number}", scale_cpp=code(f"fast{number + 2}"))
    words = ("clone", "--quiet", "--depth=2", f"file://{repository.folder}")
    repository.git(*words, str(tmp_path / "shallow"))
    repository.folder = tmp_path / "shallow"
    found = history(repository)
    assert subjects(found) == ["Step 2", "Step 3"]
    assert "shallow" in found.notes[0]


COMMIT = "tree %s\nauthor A <a@b> 1 +0000\n"


@pytest.mark.parametrize(
    ("written", "label", "when"),
    [
        ("committer A <a@b> 5 +0000\n\nTiled", "Tiled", "1970-01-01T00:00:05+00:00"),
        ("\n\nTiled", "Tiled", ""),
        ("committer A <a@b> soon\n\nTiled", "Tiled", ""),
        ("committer A <a@b> 100 +9999\n\nTiled", "Tiled", "1970-01-01T00:01:40+00:00"),
        ("committer A <a@b> 99999999999 +0000\n\nTiled", "Tiled", "5138-11-16T09:46:39+00:00"),
        ("committer A <a@b> 999999999999 +0000\n\nTiled", "Tiled", ""),
        ("committer A <a@b> 5 +0000\nencoding latin-1\n\nK\xe4se", "Käse", None),
        ("committer A <a@b> 5 +0000\nencoding idna\n\nK\xe4se", "K\ufffdse", None),
        ("committer A <a@b> 5 +0000\n\nOne\x1b[31m\ntwo\x07 \n \nWhy", "One[31m two", None),
        ("committer A <a@b> 5 +0000\n\n" + "x" * 300_000, "x" * 200, None),
    ],
    ids=range(10),
)
def test_commits_that_no_git_would_write_are_read(
    repository: Repository, written: str, label: str, when: str | None
) -> None:
    repository.commit("First", scale_cpp=code("fast2"))
    tree = repository.git("rev-parse", "HEAD^{tree}").strip()
    path = repository.folder / "commit"
    path.write_bytes((COMMIT % tree + written).encode("latin-1"))
    words = ("hash-object", "-w", "-t", "commit", "--literally", str(path))
    repository.git("update-ref", "refs/heads/main", repository.git(*words).strip())
    found = history(repository)
    built = build(found, TASK, judge)
    assert built.trajectory is not None
    (step,) = built.trajectory.steps
    assert step.label == label
    assert "\x1b" not in step.reasoning
    assert when is None or found.origin.created == when


def test_a_folder_below_the_top_names_its_files_as_git_ls_files_does(
    repository: Repository,
) -> None:
    (repository.folder / "src").mkdir()
    (repository.folder / "src" / "scale.cpp").write_text(SERIAL)
    repository.commit("First")
    top, folder = repository.folder, repository.folder / "src"
    for repository.folder, path in (
        (folder, "scale.cpp"),
        (folder, str(folder / "scale.cpp")),
        (top, "./src/../src/scale.cpp"),
        (top / ".git", "src/scale.cpp"),
    ):
        assert subjects(history(repository, path)) == ["First"]


def test_a_link_is_no_version_of_the_file(repository: Repository) -> None:
    (repository.folder / "scale.cpp").symlink_to("/etc/passwd")
    repository.commit("A link")
    (repository.folder / "scale.cpp").unlink()
    repository.commit("A file", scale_cpp=SERIAL)
    found = history(repository)
    assert subjects(found) == ["A file"]
    assert found.notes[0].endswith("is left out: the file is a symbolic link, or no file")


def test_a_thousand_commits_are_read_by_few_processes(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = []
    for number in range(1000):
        text, said = code(f"fast{number + 2}"), f"Step {number}"
        words += [f"commit refs/heads/main\ncommitter A <a@b> {number} +0000\n"]
        words += [f"data {len(said)}\n{said}\nM 644 inline scale.cpp\ndata {len(text)}\n{text}\n"]
    place = ["git", "-C", str(repository.folder), "fast-import", "--quiet"]
    subprocess.run(place, input="".join(words).encode(), check=True)
    started = []
    run = subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda *given, **more: (started.append(1), run(*given, **more))[1]
    )
    assert len(subjects(history(repository))) == 1000
    assert len(started) < 200


@pytest.mark.parametrize("name", ["-p.cpp", "a\nb.cpp", "*.cpp", "\x1b[31m\udcff.cpp"])
def test_names_of_files_say_nothing_but_what_they_are(repository: Repository, name: str) -> None:
    (repository.folder / name).write_text(code("fast2"))
    repository.commit("First")
    found = history(repository, name)
    assert subjects(found) == ["First"]
    for text in (found.ref, found.origin.run):
        assert text.isprintable()
    built = build(found, TASK, judge)
    assert built.trajectory is not None
    assert built.trajectory.model_dump_json()
