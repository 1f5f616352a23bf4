"""A source of steps: the history of one file in a git repository, a commit a step.

First parents only, so that a merge is one step; renames are followed. A commit's subject is the
step's label, the rest of its message the reasoning, without the lines that name people.

Not here: how git is asked (git_repository.py); files that the code includes (a candidate is one
file); submodules; what a shallow or partial clone lacks.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from regraph_kg.collect.git_repository import LARGEST, FileChange, GitRepository
from regraph_kg.collect.steps import Proposals, ProposedStep, label_of, ref_of
from regraph_kg.collect.unfit import unfit
from regraph_kg.errors import BadInput
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source

MESSAGE = 80_000
"""Bytes of a commit's message that are looked at."""
AT_ONCE = 16
"""Commits whose objects are in memory together."""
_BLANK_LINES = re.compile(r"\n[ \t]*\n")
_WHEN = re.compile(rb"> (?P<seconds>-?[0-9]{1,12}) [+-][0-9]{4}$")
_TRAILER = re.compile(
    r"^(?:signed-off|co-authored|reviewed|acked|tested|reported|suggested|helped)-by:.*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A commit that changed the file, and what the file then was."""

    commit: str
    when: str
    """UTC, ISO 8601; "" where the commit does not say."""
    subject: str
    body: str
    code: str


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file of a repository on this machine, up to a revision."""

    repository: Path
    path: str
    revision: str = "HEAD"

    def __str__(self) -> str:
        """The file's name in a journal."""
        return f"git {self.repository} {self.path} {self.revision}"


@dataclass(slots=True)
class GitHistory:
    """The history of one file as a source; read with `read_history`."""

    ref: str
    commits: tuple[HistoryStep, ...]
    notes: tuple[str, ...]
    origin: Source

    def source(self) -> Source:
        """Repository, file and commit; nobody's name."""
        return self.origin

    def proposals(self) -> Proposals:
        """The commits, oldest first."""
        for commit in self.commits:
            yield ProposedStep(
                commit.subject or commit.commit[:10], commit.code, commit.body or commit.subject
            )
        return "the history's end"


def read_history(file: GitFile, task: Task, origin: Source) -> GitHistory:
    """The history of `file`, as far as each commit's version can be judged for `task`.

    Raises `BadInput` for a folder that is no repository, and where the file is not in it.
    """
    git = GitRepository(file.repository)
    head = git.commit(file.revision)
    path = git.path(file.path)
    if not git.holds(head, path):
        raise BadInput(
            f"{file.repository}: no file {path} at {file.revision}; name it as git ls-files does"
        )
    steps: list[HistoryStep] = []
    notes = ["the clone is shallow: its older commits are not here"] if git.shallow else []
    changes = list(_history(git, head, path))[::-1]
    for start in range(0, len(changes), AT_ONCE):
        for change, step in _steps(git, changes[start : start + AT_ONCE], task.entry):
            if isinstance(step, HistoryStep):
                steps.append(step)
            else:
                notes.append(f"commit {change.commit[:10]} is left out: {step}")
    about = label_of(f"{file.repository.resolve().name} {path}@{head[:12]}")
    return GitHistory(
        ref=ref_of(f"git {about} {task.problem}-{task.target}"),
        commits=tuple(steps),
        notes=tuple(notes),
        origin=origin.model_copy(
            update={"run": f"git {about}", "created": steps[-1].when if steps else ""}
        ),
    )


def _history(git: GitRepository, head: str, path: str) -> Iterator[FileChange]:
    """The file after each commit that changed it, under its name then; newest first."""
    before: tuple[str, str] | None = (head, path)
    while before is not None:
        changes = git.changes(*before)
        yield from (change for change in changes if change.blob)
        before = git.before_rename(changes[-1].commit, changes[-1].path) if changes else None


def _steps(
    git: GitRepository, changes: list[FileChange], entry: str
) -> Iterator[tuple[FileChange, HistoryStep | str]]:
    """Each change with its step, or the reason why it is none."""
    names = [name for change in changes if change.regular for name in (change.commit, change.blob)]
    sizes = git.sizes(names)
    objects = git.objects([name for name, size in sizes.items() if size <= LARGEST])
    for change in changes:
        yield change, _unread(change, sizes) or _step(change, objects, entry)


def _unread(change: FileChange, sizes: Mapping[str, int]) -> str:
    """Why the objects of a change were not read; "" where they were."""
    if not change.regular:
        return "the file is a symbolic link, or no file"
    for name, what in ((change.blob, "file"), (change.commit, "message")):
        if name not in sizes:
            return f"the {what} is not in this clone"
        if sizes[name] > LARGEST:
            return f"the {what} has more than {LARGEST >> 20} MiB"
    return ""


def _step(change: FileChange, objects: Mapping[str, bytes], entry: str) -> HistoryStep | str:
    try:
        code = objects[change.blob].decode()
    except UnicodeDecodeError:
        return "the file is not UTF-8 text"
    if (why := unfit(code, entry)) is not None:
        return why
    fields, message = _parsed(objects[change.commit])
    subject, _, body = _BLANK_LINES.sub("\0", message.strip(), count=1).partition("\0")
    return HistoryStep(
        commit=change.commit,
        when=_when(fields.get(b"committer", b"")),
        subject=label_of(subject),
        body=_TRAILER.sub("", plain(body)).strip(),
        code=code,
    )


def _parsed(commit: bytes) -> tuple[dict[bytes, bytes], str]:
    """A commit's fields and its message, as text of the encoding that it names."""
    head, _, message = commit.partition(b"\n\n")
    fields = dict(line.partition(b" ")[::2] for line in reversed(head.split(b"\n")))
    message = message[:MESSAGE].partition(b"\0")[0]
    try:
        return fields, message.decode(fields.get(b"encoding", b"utf-8").decode(), "replace")
    except (LookupError, ValueError):  # no such encoding
        return fields, message.decode(errors="replace")


def _when(committer: bytes) -> str:
    """The time that a commit names; "" where it names none that is one."""
    match = _WHEN.search(committer)
    try:
        return datetime.fromtimestamp(int(match["seconds"]), UTC).isoformat() if match else ""
    except (OverflowError, ValueError, OSError):
        return ""
