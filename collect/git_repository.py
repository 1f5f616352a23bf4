"""Reads a git repository that somebody else made, by git's plumbing alone.

A repository's configuration names programs (pagers, filters, textconv, signature checks, remotes)
and changes what `git log` prints. Plumbing heeds next to none of it: it lists commits and gives
objects, whose sizes are known before they are read. It is run with arguments and no shell, and
with every way to a remote shut, so that a partial clone does not fetch what it lacks.

Not here: what the objects mean (git_history.py).
"""

import os
import posixpath
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.text import plain

LARGEST = 4 * 2**20
"""Bytes of an object; larger ones are not read."""
SECONDS = 120
"""Time limit of one git command."""
_SAFE = (
    *("--no-pager", "--literal-pathspecs", "--no-replace-objects"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "diff.renameLimit=1000"),
)
_QUIET = {
    **{"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
    **{"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""},
}
_REGULAR = "100"
"""Prefix of a regular file's mode; links and submodules have others."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A commit that changed a file, and the object that the file then was; "" where it went."""

    commit: str
    path: str
    mode: str
    blob: str

    @property
    def regular(self) -> bool:
        """Whether it is a file with content of its own."""
        return self.mode.startswith(_REGULAR)


class GitRepository:
    """A repository, by any folder in it."""

    def __init__(self, folder: Path) -> None:
        """Raises `BadInput` for a folder that is in no repository, or whose owner git distrusts."""
        self._folder = folder
        if not folder.is_dir():
            raise BadInput(f"{folder}: no such folder; give a git repository on this machine")
        where = self._checked(["-C", str(folder), "rev-parse", "--absolute-git-dir"])
        self._place = os.fsdecode(where.rstrip(b"\n"))
        below = self._checked(["-C", str(folder), "rev-parse", "--show-prefix"])
        self._prefix = os.fsdecode(below.rstrip(b"\n"))

    @property
    def shallow(self) -> bool:
        """Whether its history was cut."""
        return self._text("rev-parse", "--is-shallow-repository") == "true"

    def commit(self, revision: str) -> str:
        """The id of a revision's commit. Raises `BadInput` where there is none."""
        return self._text("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")

    def path(self, name: str) -> str:
        """A file's path from the repository's top, where `name` is seen from the folder given.

        Raises `BadInput` for one outside.
        """
        relative = name
        if name.startswith("/"):
            real = Path(name).parent.resolve() / Path(name).name
            relative = os.path.relpath(real, self._folder.resolve())
        path = posixpath.normpath(self._prefix + relative)
        if path.startswith("../"):
            raise BadInput(f"{name}: not in {self._folder}; name the file as git ls-files does")
        return path

    def holds(self, commit: str, path: str) -> bool:
        """Whether a commit has a file at `path`."""
        entries = self._lines("ls-tree", "-z", "--full-tree", "--end-of-options", commit, path)
        return any(
            line.endswith(b"\t" + os.fsencode(path)) and line.split(b" ")[1] == b"blob"
            for line in entries
        )

    def changes(self, head: str, path: str) -> list[FileChange]:
        """The commits that changed `path`, newest first, by first parents from `head` on."""
        commits = self._data("rev-list", "--first-parent", "--end-of-options", head, "--", path)
        words = self._lines(
            *("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--no-ext-diff"),
            *("--diff-merges=first-parent", "--", path),
            stdin=commits,
        )
        changes, commit = [], ""
        remaining = iter(words)
        for word in remaining:
            if not word.startswith(b":"):
                commit = word.decode()
                continue
            _, mode, _, blob, status = word.decode().split(" ")
            if os.fsdecode(next(remaining)) == path:  # below a folder of that name there are others
                changes.append(FileChange(commit, path, mode, "" if status == "D" else blob))
        return changes

    def before_rename(self, commit: str, path: str) -> tuple[str, str] | None:
        """The parent of the commit that named a file `path`, and its name there; None: new."""
        parents = self._text("rev-list", "--parents", "--max-count=1", commit, "--").split()[1:]
        if not parents:
            return None
        words = self._lines(
            *("diff-tree", "-r", "-z", "-M", "--name-status", "--no-commit-id", "--diff-filter=R"),
            *("--no-ext-diff", "--end-of-options", parents[0], commit),
        )
        for old, new in zip(words[1::3], words[2::3], strict=False):
            if os.fsdecode(new) == path:
                return parents[0], os.fsdecode(old)
        return None

    def sizes(self, names: Sequence[str]) -> dict[str, int]:
        """Bytes of each object that is here."""
        lines = self._objects("--batch-check", names).decode().splitlines()
        records = [line.split(" ") for line in lines if not line.endswith(" missing")]
        return {name: int(size) for name, _, size in records}

    def objects(self, names: Sequence[str]) -> dict[str, bytes]:
        """The bytes of objects that are here: as much memory as they have."""
        output = memoryview(self._objects("--batch", names))
        contents = {}
        while output:
            end = bytes(output[:200]).index(b"\n")
            name, _, size = bytes(output[:end]).decode().split(" ")
            contents[name] = bytes(output[end + 1 : end + 1 + int(size)])
            output = output[end + int(size) + 2 :]
        return contents

    def _objects(self, option: str, names: Sequence[str]) -> bytes:
        return self._data("cat-file", option, stdin="".join(f"{name}\n" for name in names).encode())

    def _text(self, *words: str) -> str:
        return self._data(*words).decode(errors="replace").strip()

    def _lines(self, *words: str, stdin: bytes = b"") -> list[bytes]:
        """The output of a command that ends each part with a null character."""
        return self._data(*words, stdin=stdin).split(b"\0")[:-1]

    def _data(self, *words: str, stdin: bytes = b"") -> bytes:
        # The place as its own work tree: paths are told from the top, wherever core.worktree leads.
        place = self._place
        where = ["-C", place, f"--git-dir={place}", f"--work-tree={place}"]
        return self._checked([*where, *_SAFE, *words], stdin)

    def _checked(self, words: Sequence[str], stdin: bytes = b"") -> bytes:
        """Git's output. Raises `BadInput` with git's own line where it fails."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            result = subprocess.run(
                ["git", *words],
                env=clean | _QUIET,
                input=stdin,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise ToolError("no git command here; install git") from None
        except subprocess.TimeoutExpired:
            raise ToolError(
                f"{self._folder}: git took more than {SECONDS} s; give a smaller clone"
            ) from None
        if result.returncode:
            lines = plain(result.stderr.decode(errors="replace")).strip().splitlines()
            fatal = (line for line in lines if line.startswith("fatal: "))
            message = next(fatal, "".join(lines[:1]))
            mend = "; give a whole clone" if "promisor" in message else ""
            raise BadInput(f"{self._folder}: git says: {message or 'it failed'}{mend}")
        return result.stdout
