"""Runs a project's own commands in the sandbox of compilers, in a copy of the project.

Each copy is a folder `work` in a place of its own, always at the same path while it lives: build
systems write absolute paths into their products. A command can write to that copy alone.
Not covered: how many files it makes there.
"""

import contextlib
import math
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
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


class Copy:
    """A copy of a project that commands run in; `place` is a folder that is its alone."""

    def __init__(self, place: Path, problem: ProjectProblem) -> None:
        self._place, self._problem = place, problem
        place.mkdir()
        self.work = place / "work"
        self._paths = _search_path(problem)
        self._readable = [*_SYSTEM, *problem.commands.readable, *_python(problem)]

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
        try:
            shutil.copytree(self.work, self._place / name, symlinks=True)
        except (OSError, RecursionError):  # no files, no rights to them, folders without end
            return False
        return True

    def take(self, name: str) -> None:
        """Replace the copy by a kept one."""
        remove(self.work)
        shutil.copytree(self._place / name, self.work, symlinks=True)

    def drop(self, name: str) -> None:
        """Remove a kept copy, if there is one."""
        remove(self._place / name)

    def run(self, commands: Sequence[str], seconds: float, seed: int | None = None) -> Ran:
        """The commands in turn until one fails, all together in `seconds`.

        `seed` is passed as REGRAPH_SEED. Raises `BadInput` where there is no such program.
        """
        resolved = [self._found(words(command)) for command in commands]
        extra = {} if seed is None else {"REGRAPH_SEED": str(seed)}
        environment = self._environment() | extra
        result = run_project(resolved, self._place, self._readable, environment, seconds)
        return replace(result, said=self._short(result.said))

    def _found(self, command: list[str]) -> tuple[str, ...]:
        """A command with its program's place; one with a slash lies in the copy."""
        program = command[0]
        if "/" in program:
            return (str(self.work / program), *command[1:])
        place = shutil.which(program, path=self._paths)
        if place is None:
            raise BadInput(
                f"problem {self._problem.name}: commands: no program {program!r} in"
                f" {self._paths}; install it, or write ./{program} for one of the project"
            )
        return (place, *command[1:])

    def _environment(self) -> dict[str, str]:
        home = str(self.work)
        variables = {"PATH": self._paths, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        variables |= {"USER": "regraph", "LOGNAME": "regraph"}  # there is no /etc/passwd to ask
        count = str(threads())
        return variables | {"OMP_NUM_THREADS": count} | self._problem.commands.environment

    def _short(self, text: str) -> str:
        """The text without the path of the copy."""
        return text.replace(f"{self.work}/", "").replace(str(self.work), ".")


def remove(folder: Path) -> None:
    """Remove a folder that strangers wrote into, whatever rights and depth they gave it.

    Python's own means end at paths of 4096 bytes and at 1000 folders in each other.
    """
    if folder.exists():
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


@dataclass(frozen=True, slots=True)
class Printed:
    """A bench's output, without the lines that tell seconds."""

    result: tuple[str, ...]
    """Words."""
    seconds: tuple[float, ...]
    """Those above 0."""


_TOLD = re.compile(r"^regraph-seconds[ \t]+(\S+)[ \t]*$", re.MULTILINE)


def printed(output: str) -> Printed:
    """The output of a bench, parsed."""
    seconds = []
    for text in _TOLD.findall(output):
        try:
            seconds.append(float(text))
        except ValueError:
            continue
    return Printed(tuple(_TOLD.sub("", output).split()), tuple(sec for sec in seconds if sec > 0))


def first_difference(one: Printed, other: Printed, tolerance: float) -> str | None:
    """The first word of `other` that is not as in `one`; numbers may be off by `tolerance`."""
    for place, (word, expected) in enumerate(zip(other.result, one.result, strict=False), start=1):
        if word != expected and not _near(word, expected, tolerance):
            return f"word {place} is {word[:60]!r}, not {expected[:60]!r}"
    if len(one.result) != len(other.result):
        return f"{len(other.result)} words, not {len(one.result)}"
    return None


def _near(word: str, expected: str, tolerance: float) -> bool:
    """Whether a word is a number within the tolerance of an expected one that is not whole.

    A number that is not finite is near nothing: infinity is within every share of itself.
    """
    if not {*".eE"} & {*expected}:
        return False
    try:
        number, right = float(word), float(expected)
    except ValueError:
        return False
    finite = math.isfinite(number) and math.isfinite(right)
    return finite and abs(number - right) <= tolerance * abs(right)


def _search_path(problem: ProjectProblem) -> str:
    folder = problem.environment_folder
    return f"{folder}/bin:{_PATH}" if folder else _PATH


def _python(problem: ProjectProblem) -> list[str]:
    """Paths that a virtual environment reads: itself, and the Python that it was made of."""
    folder = problem.environment_folder
    if folder is None:
        return []
    real = Path(folder, "bin", "python").resolve()
    base = real.parents[1]
    paths = [folder, str(real)]
    if str(base) not in ("/", "/usr") and any((base / "lib").glob("python3*")):
        paths += [str(base / part) for part in ("bin", "lib", "include", "share")]
    return [*paths, *_links(Path(folder, "bin", "python"))]


def _links(path: Path) -> list[str]:
    """The links between a path and what it leads to."""
    links = []
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
        links.append(str(path))
    return links
