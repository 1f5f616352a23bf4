"""Copies of a project, in which its own commands run, in the sandbox of compilers.

Each copy is a folder `work` in a place of its own, always at the same path while it lives: build
systems write absolute paths into their products. A command can write to that copy alone.
Not covered: how many files it makes there.
"""

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.sandboxed import Ran, run_project
from regraph_kg.evaluation.gpu.device import threads
from regraph_kg.evaluation.problem.project import ProjectProblem, words

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/usr/local/bin", "/usr/local/lib", "/usr/share", "/etc/localtime")
"""What build systems and interpreters read besides what compilers do."""
_REMOVAL_SECONDS = 300.0
"""Of millions of files, which a candidate may have made."""
_PREFIX = "regraph-project-"


class Copy:
    """A copy of a project that commands run in; `place` is a folder that is its alone."""

    def __init__(self, place: Path, problem: ProjectProblem) -> None:
        self._place, self._problem = place, problem
        place.mkdir()
        self.work = place / "work"
        environment = problem.environment_folder
        self._path = f"{environment}/bin:{_PATH}" if environment else _PATH
        self._readable = [*_SYSTEM, *problem.commands.readable]
        self._readable += _python(environment) if environment else []

    def write(self, text: str) -> None:
        """Put a text into the place of the problem's file. Raises `BadInput` for links there."""
        file = self.work / self._problem.commands.file
        if file.parent.resolve() != self.work.resolve() / file.parent.relative_to(self.work):
            raise BadInput(
                f"problem {self._problem.name}: a link leads to {self._problem.commands.file} after"
                " the build; let commands.file be a file that lies in the project itself"
            )
        file.unlink(missing_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))  # halves of pairs: models send them

    def keep(self, name: str) -> bool:
        """Keep the copy's state under a name; False where it holds files that cannot be copied."""
        remove(self._place / name)
        try:
            shutil.copytree(self.work, self._place / name, symlinks=True)
        except (OSError, RecursionError):  # no files, no rights to them, folders without end
            return False
        return True

    def take(self, name: str) -> None:
        """Replace the copy by a kept one."""
        remove(self.work)
        shutil.copytree(self._place / name, self.work, symlinks=True)

    def run(self, commands: Sequence[str], seconds: float, seed: int = 0) -> Ran:
        """The commands in turn until one fails, all together in `seconds`.

        `seed` is passed as REGRAPH_SEED. Raises `BadInput` where there is no such program.
        """
        home = str(self.work)
        environment = {"PATH": self._path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        environment |= {"USER": "regraph", "LOGNAME": "regraph"}  # there is no /etc/passwd to ask
        environment |= {"OMP_NUM_THREADS": str(threads()), **self._problem.commands.environment}
        environment["REGRAPH_SEED"] = str(seed)
        found = [self._found(words(command)) for command in commands]
        return run_project(found, self._place, self._readable, environment, seconds)

    def _found(self, command: list[str]) -> tuple[str, ...]:
        """A command with its program's place; one with a slash lies in the copy."""
        program = command[0]
        place = str(self.work / program)
        if "/" not in program:
            place = shutil.which(program, path=self._path) or ""
        if not place:
            raise BadInput(
                f"problem {self._problem.name}: commands: no program {program!r} in"
                f" {self._path}; install it, or write ./{program} for one of the project"
            )
        return (place, *command[1:])


def remove(folder: Path) -> None:
    """Remove a folder that strangers wrote into, whatever rights and depth they gave it.

    Python's own means end at paths of 4096 bytes and at 1000 folders in each other.
    """
    if not folder.exists():
        return
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):  # they follow no links there
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [*command, "--", str(folder)],
                check=False,
                capture_output=True,
                timeout=_REMOVAL_SECONDS,
            )
    if folder.exists():
        raise ToolError(f"{folder}: cannot be removed; remove it, and begin again")


def scratch_folder() -> Path:
    """A new folder for copies; those of processes that were killed are removed.

    Copies may be large, and batch systems end programs without asking.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ToolError, ValueError):
            status, owner = path.lstat(), int(path.name.split("-")[2])
            is_ours = status.st_uid == os.geteuid() and stat.S_ISDIR(status.st_mode)
            if is_ours and not Path(f"/proc/{owner}").exists():
                remove(path)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def _python(environment: str) -> list[str]:
    """Paths that a virtual environment reads: itself, and the Python that it was made of."""
    python = Path(environment, "bin", "python")
    paths = [environment, str(python.resolve())]
    base = python.resolve().parents[1]
    if str(base) not in ("/", "/usr") and any((base / "lib").glob("python3*")):
        paths += [str(base / part) for part in ("bin", "lib", "include", "share")]
    while python.is_symlink():  # each link on the way is looked up in the confined root
        python = Path(os.path.normpath(python.parent / os.readlink(python)))
        paths.append(str(python))
    return paths
