"""A problem of an existing project: its own build, test and bench commands decide.

The candidate stands in the place of one file, in a copy of the project. That proves less than the
judge's own checks (`guarantee`): docs/dev/decisions/0025-own-commands.md. Links are copied as links
and never followed.
Not covered: how the commands are run (evaluation/command_judge.py); whether the tests are any good
(evaluation/checkup/checkup.py looks); owners and extended attributes of files.
"""

import ast
import fnmatch
import hashlib
import itertools
import os
import shlex
import shutil
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from regraph_kg import regular
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.evaluation.problem.declaration import Declared, Identifier, ProblemName, Table
from regraph_kg.models.base import Metric
from regraph_kg.models.target import ON_CPU, Target
from regraph_kg.models.text import plain


def words(command: str) -> list[str]:
    """A command's words as a shell splits them; no shell runs it. Raises `ValueError`."""
    parts = shlex.split(command)
    if not parts:
        raise ValueError(f"{command!r}: no command")
    return parts


def _inside(value: str) -> str:
    path = Path(value)
    if path.is_absolute() or ".." in path.parts or value in ("", "."):
        raise ValueError("a path inside the project's folder, such as src/blur.cpp")
    return path.as_posix()


_Line = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
CommandLine = Annotated[_Line, AfterValidator(lambda line: line if words(line) else "")]
TimeLimit = Annotated[float, Field(gt=0, le=3600)]
PrintedText = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_MOST_FILE_BYTES = 2**20
_MOST_FILES, _MOST_BYTES = 20_000, 512 * 2**20
_NEVER = (
    *(".git", ".hg", ".svn", ".venv", "venv", "__pycache__", ".pytest_cache", "node_modules"),
    *("runs", "CMakeCache.txt"),
)
"""Names that are never copied, beside what a problem excludes; "runs" are our own traces."""


class Commands(Table):
    """The table [commands] of problem.toml; paths are relative to the project's folder."""

    project: str  #: the project's folder, relative to problem.toml. It is copied, never written.
    file: Annotated[str, AfterValidator(_inside)]  #: the file that a candidate replaces
    build: tuple[CommandLine, ...] = ()
    test: tuple[CommandLine, ...] = Field(min_length=1)
    bench: CommandLine
    passed: tuple[PrintedText, ...] = Field(min_length=1)
    """Each must be printed by the tests: exit code 0 alone proves nothing."""
    tolerance: float = Field(default=1e-6, ge=0, lt=1)
    """Relative, of numbers that the bench prints with a point or an exponent."""
    exclude: tuple[str, ...] = ()  #: files and folders that are not copied: patterns of `fnmatch`
    python: str | None = None
    """A virtual environment, relative to problem.toml: read-only, and first on the PATH."""
    readable: tuple[Annotated[str, StringConstraints(pattern=r"^/+[^/.]")], ...] = ()
    """What else commands may read: absolute paths."""
    environment: dict[Identifier, str] = Field(default_factory=dict)
    build_seconds: TimeLimit = 300.0
    test_seconds: TimeLimit = 120.0
    bench_seconds: TimeLimit = 60.0


class _Declared(Declared):
    """Fields of problem.toml itself."""

    name: ProblemName
    entry: Identifier  #: the function of `file` that is made faster
    commands: Commands


class ProjectProblem(_Declared):
    """A problem whose table [commands] names an existing project's own commands."""

    folder: str  #: the project's folder, absolute
    environment_folder: str | None  #: the virtual environment, absolute
    tree: str  #: digest of what is copied: the project is judged as it was read
    serial_code: str  #: text of `file` as it stands, which a candidate replaces

    @property
    def metric(self) -> Metric:
        """Always "call": commands are timed from a CPU."""
        return "call"

    @property
    def home(self) -> Path:
        """The file that a candidate replaces, absolute."""
        return Path(self.folder) / self.commands.file

    def signature(self) -> str:
        """The function's head as it stands in the file; "" where none is found."""
        return head_of(self.serial_code, self.entry, Path(self.commands.file).suffix)

    def require(self, target: Target) -> None:
        """Raise `BadInput` for a target that commands cannot be timed on."""
        if target not in ON_CPU:
            raise BadInput(
                f"problem {self.name}: its own commands are run without a GPU; take the target"
                f" {' or '.join(ON_CPU)}"
            )

    @property
    def guarantee(self) -> str:
        """The basis of a verdict, for every report."""
        return (
            "weaker than the judge's own checks: the project's tests decide what is right, and the"
            " code runs in their process; each timed run prints what the unchanged project prints"
            " for the same secret seed; the bench's process is timed from outside"
        )

    @property
    def toolchain(self) -> str:
        """The project's own commands, in place of compilers and flags."""
        commands = "; ".join((*self.commands.build, self.commands.bench))
        digest = hashlib.sha256(commands.encode()).hexdigest()[:8]
        line = " ".join(plain(commands).split())
        return f"the project's own build ({line[:120]}, {digest})"

    def __str__(self) -> str:
        commands = (f"{name}: {value}" for name, value in self.commands if value)
        return "\n".join((self.name, *commands, self.guarantee, self.serial_code))


def project_fields(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `ProjectProblem` for a problem.toml with [commands].

    Raises `BadInput` where the project or its file is not there, or too large; pydantic's
    `ValidationError` where the table is at fault.
    """
    commands = _Declared.model_validate(content).commands
    here = path.parent.resolve()
    folder = (here / commands.project).resolve()
    if not folder.is_dir():
        raise BadInput(f"{path}: commands.project: {folder} is no folder; give the project's")
    if Path.home().resolve().is_relative_to(folder):
        raise BadInput(
            f"{path}: commands.project: {folder} holds your home folder, and all of the project is"
            " copied; give the project's own folder"
        )
    environment = None
    if commands.python is not None:
        # Its programs name the place where it was made: links stay, but `..` leads nowhere in a
        # confined root.
        environment = os.path.normpath(here / commands.python)
        # The whole system's bin/python would have all of the system readable.
        marks = [Path(environment, mark) for mark in ("pyvenv.cfg", "conda-meta")]
        if not Path(environment, "bin", "python").exists() or not any(m.exists() for m in marks):
            raise BadInput(f"{path}: commands.python: {environment} is no virtual environment")
    source = folder / commands.file
    if source.resolve() != source:
        raise BadInput(f"{path}: commands.file: {source}: a link; give a file of the project")
    try:
        text = regular.read_bytes(source, _MOST_FILE_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise BadInput(f"{path}: commands.file: {source}: {why}; give a text of 1 MiB") from None
    return {
        **content,
        "folder": str(folder),
        "environment_folder": environment,
        "tree": digest_of(folder, commands.exclude),
        "serial_code": text,
    }


def _files_of(folder: Path, exclude: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Paths below `folder` that are copied: relative name and place, in order of the names.

    `exclude` are patterns of relative names or of single names. Raises `BadInput` where they are
    too many or too large, or a folder cannot be read.
    """
    count = size = 0
    waiting, rules = [""], (*_NEVER, *exclude)
    while waiting:
        within = waiting.pop()
        with file_errors(folder / within, "it is to be copied"):
            entries = sorted(os.scandir(folder / within), key=lambda item: item.name)
        # CMake refuses a build folder in another place than where it was made.
        if within and any(entry.name == "CMakeCache.txt" for entry in entries):
            continue
        for entry in entries:
            name, path = f"{within}{entry.name}", Path(entry.path)
            if any(fnmatch.fnmatch(item, rule) for rule in rules for item in (entry.name, name)):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{name}/")
            elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                count, size = count + 1, size + path.lstat().st_size
                yield name, path
            if count > _MOST_FILES or size > _MOST_BYTES:
                raise BadInput(
                    f"{folder}: more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB would be"
                    f" copied for each judging, {name} among them; name what is not needed in"
                    " commands.exclude"
                )


def digest_of(folder: Path, exclude: Sequence[str]) -> str:
    """Digest of names, contents and executable bits of what is copied. Raises `BadInput`."""
    total = hashlib.sha256()
    for name, path in _files_of(folder, exclude):
        with file_errors(path, "it is to be copied"):
            is_link = path.is_symlink()
            content = os.fsencode(os.readlink(path)) if is_link else path.read_bytes()
            mode = path.lstat().st_mode & stat.S_IXUSR
        digest = hashlib.sha256(content).hexdigest()
        total.update(f"{name}\0{is_link}{mode}{digest}\0".encode("utf-8", "surrogateescape"))
    return f"sha256:{total.hexdigest()}"


def copy(folder: Path, target: Path, exclude: Sequence[str] = ()) -> None:
    """Copy what `_files_of` tells to a new folder, with times and modes. Raises `BadInput`."""
    target.mkdir()
    for name, path in _files_of(folder, exclude):
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with file_errors(path, "it is to be copied"):
            shutil.copy2(path, place, follow_symlinks=False)
        if not place.is_symlink():  # a build may write over a file that is read-only
            place.chmod(stat.S_IMODE(place.stat().st_mode) | stat.S_IWUSR)


def head_of(text: str, name: str, suffix: str) -> str:
    """A function up to its body, on one line; "" where a text with that suffix defines none."""
    span = _function(text, name, suffix)
    return " ".join(text.encode()[span[0] : span[1]].decode().split()) if span else ""


def doing_nothing(text: str, name: str, suffix: str) -> str | None:
    """The text without that function's body; None where it defines none, as macros may."""
    span = _function(text, name, suffix)
    if span is None:
        return None
    content = text.encode()
    before, after = content[: span[1]], content[span[2] :]
    head = before[span[0] :].partition(b"(")[0].split()
    if suffix == ".py":
        body = b"return None"
    # The type of a function "void a::b(" is all that stands before its name.
    elif b"void" in head[:-1]:
        body = b"{}"
    else:
        body = b"{ return 0; }" if suffix == ".c" else b"{ return {}; }"  # C has no `{}` before C23
    return (before + body + after).decode()


def _function(text: str, name: str, suffix: str) -> tuple[int, int, int] | None:
    """Offsets of bytes: where the function begins, its body begins and ends."""
    if suffix == ".py":
        return _python_function(text, name)
    from regraph_kg.cpp import functions as cpp  # noqa: PLC0415 (only where a project is looked at)

    for function in cpp.functions(cpp.parsed(Path(), text.encode())):
        if function.name == name:
            return function.node.start_byte, function.body.start_byte, function.body.end_byte
    return None


def _python_function(text: str, name: str) -> tuple[int, int, int] | None:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    lines = text.encode().splitlines(keepends=True)  # of bytes: as the parser counts them
    starts = [*itertools.accumulate(map(len, lines), initial=0)]
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            first, last = node.body[0], node.body[-1]
            start = starts[node.lineno - 1] + node.col_offset
            body = starts[first.lineno - 1] + first.col_offset
            return start, body, starts[(last.end_lineno or 1) - 1] + (last.end_col_offset or 0)
    return None


def paths_of(path: Path) -> list[Path]:
    """Paths that the [commands] of a problem.toml copy or may read; none without the table."""
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("commands", {})
        commands = Commands.model_validate(table)
    except (OSError, ValueError, RecursionError):
        return []  # whoever loads the problem says why
    folders = [commands.project, *filter(None, [commands.python])]
    return [*(path.parent / folder for folder in folders), *map(Path, commands.readable)]
