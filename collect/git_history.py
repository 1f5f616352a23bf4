"""A source of steps: the history of one file in a git repository, a commit a step.

First parents only, so that a merge is one step; renames are followed. A commit's subject is the
step's label, the rest of its message the reasoning, without the lines that name people. The
repository is read by the git command alone, with arguments and no shell; what its configuration
would have git run (pagers, signature checks, textconv, hooks) is switched off.

Not here: files that the code includes (a candidate is one file); submodules; shallow clones end
where they were cut.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from regraph_kg.collect.steps import Proposals, ProposedStep, label_of
from regraph_kg.collect.unfit import unfit
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.run import Task
from regraph_kg.models.text import plain
from regraph_kg.models.trajectory import Source

LARGEST_FILE = 4 * 2**20
"""Bytes; larger ones are not even read."""
MESSAGE = 20_000
"""Characters of a commit's message that are kept."""
SECONDS = 120
"""Of one git command."""
_SAFE = (
    *("--no-pager", "--literal-pathspecs", "--no-replace-objects"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "diff.renameLimit=1000"),
)
_LOG = ("--first-parent", "--diff-merges=first-parent", "--no-show-signature", "--no-ext-diff")
_TRAILER = re.compile(
    r"^(?:signed-off|co-authored|reviewed|acked|tested|reported|suggested|helped)-by:.*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A commit that changed the file, and what the file then was."""

    commit: str
    when: str
    subject: str
    body: str
    code: str


@dataclass(frozen=True, slots=True)
class GitFile:
    """Whose history: a file of a repository on this machine, up to a revision."""

    repository: Path
    path: str
    revision: str = "HEAD"

    def __str__(self) -> str:
        """As a journal names it."""
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
        for one in self.commits:
            yield ProposedStep(
                label_of(one.subject) or one.commit[:10], one.code, one.body or one.subject
            )
        return "the history's end"


def read_history(file: GitFile, task: Task, origin: Source) -> GitHistory:
    """The history of `file`, as far as each commit's version can be judged for `task`.

    Raises `BadInput` for a folder that is no repository, and where the file is not in it.
    """
    git = _Git(file.repository)
    head = git.text("rev-parse", "--verify", "--end-of-options", f"{file.revision}^{{commit}}")
    path = _inside(file)
    if not git.has(head, path):
        raise BadInput(
            f"{file.repository}: no file {path} at {file.revision}; name it as git ls-files does"
        )
    steps: list[HistoryStep] = []
    notes: list[str] = []
    for commit, then in reversed(list(_history(git, head, path))):
        step, why = _step(git, commit, then, task.entry)
        if step is None:
            notes.append(f"commit {commit[:10]} is left out: {why}")
        else:
            steps.append(step)
    about = f"{file.repository.resolve().name} {path}@{head[:12]}"
    created = steps[-1].when if steps else ""
    return GitHistory(
        ref=label_of(f"git {about} {task.problem}-{task.target}"),
        commits=tuple(steps),
        notes=tuple(notes),
        origin=origin.model_copy(update={"run": f"git {about}", "created": created}),
    )


class _Git:
    """The git command in one repository."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        if not repository.is_dir():
            raise BadInput(f"{repository}: no such folder; give a git repository on this machine")
        self.text("rev-parse", "--git-dir")

    def text(self, *words: str) -> str:
        """What a command prints, as text."""
        return self.data(*words).decode(errors="replace").strip()

    def data(self, *words: str) -> bytes:
        """What a command prints. Raises `BadInput` with git's own line where it fails."""
        done = self._run(words)
        if done.returncode:
            said = plain(done.stderr.decode(errors="replace")).strip().partition("\n")[0]
            raise BadInput(f"{self._repository}: git says: {said or 'it failed'}")
        return done.stdout

    def has(self, commit: str, path: str) -> bool:
        """Whether there is a file at `path`."""
        done = self._run(("cat-file", "-t", f"{commit}:{path}"))
        return done.stdout.strip() == b"blob"

    def _run(self, words: tuple[str, ...]) -> "subprocess.CompletedProcess[bytes]":
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        quiet = {
            **{"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"},
            "LC_ALL": "C",
        }
        try:
            return subprocess.run(
                ["git", "-C", str(self._repository), *_SAFE, *words],
                env=kept | quiet,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise ToolError("no git command here; install git") from None
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"{self._repository}: git took more than {SECONDS} s; give a smaller clone"
            ) from None


def _inside(file: GitFile) -> str:
    """The file's path as git has it, from the top of the repository."""
    path = PurePosixPath(file.path)
    if path.is_absolute():
        try:
            path = PurePosixPath(Path(file.path).relative_to(file.repository.resolve()))
        except ValueError:
            raise BadInput(
                f"{path}: not in {file.repository}; name the file as git ls-files does"
            ) from None
    return str(path)


def _history(git: _Git, head: str, path: str) -> Iterator[tuple[str, str]]:
    """Commits that changed the file, newest first, each with the file's name then."""
    at: str | None = head
    while at is not None:
        found = git.text("log", *_LOG, "--format=%H", "--end-of-options", at, "--", path).split()
        for commit in found:
            if git.has(commit, path):
                yield commit, path
        at, path = _before_rename(git, found[-1], path) if found else (None, path)


def _before_rename(git: _Git, commit: str, path: str) -> tuple[str | None, str]:
    """The parent of the commit that named the file so, and its name there; None: it was new."""
    parents = git.text("log", "-1", "--format=%P", "--end-of-options", commit).split()
    if not parents:
        return None, path
    words = git.data(
        *("diff-tree", "-r", "-z", "-M", "--name-status", "--no-commit-id", "--diff-filter=R"),
        *("--no-ext-diff", "--end-of-options", parents[0], commit),
    ).split(b"\0")
    for old, new in zip(words[1::3], words[2::3], strict=False):
        if os.fsdecode(new) == path:
            return parents[0], os.fsdecode(old)
    return None, path


def _step(git: _Git, commit: str, path: str, entry: str) -> tuple[HistoryStep | None, str]:
    """The step that a commit is, or why it is none."""
    blob = f"{commit}:{path}"
    if int(git.text("cat-file", "-s", blob)) > LARGEST_FILE:
        return None, f"the file has more than {LARGEST_FILE >> 20} MiB"
    try:
        code = git.data("cat-file", "blob", blob).decode()
    except UnicodeDecodeError:
        return None, "the file is not UTF-8 text"
    if (why := unfit(code, entry)) is not None:
        return None, why
    fields = git.data("log", "-1", "--format=%cI%x00%s%x00%b", *_LOG, "-s", commit, "--").decode(
        errors="replace"
    )
    when, subject, body = fields.split("\0", 2)
    body = _TRAILER.sub("", plain(body[:MESSAGE])).strip()
    stamp = datetime.fromisoformat(when.strip()).isoformat()
    return HistoryStep(commit, stamp, subject, body, code), ""
