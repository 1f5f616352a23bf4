"""A problem of an existing project: its own build, test and bench commands decide.

The candidate stands in the place of one file, or of the lines between two marked ones, in a copy of
the project. That proves less than the judge's own checks (`guarantee`):
docs/dev/decisions/0025-own-commands.md.
Not covered: how the commands are run (evaluation/project/); whether the tests are any good
(evaluation/checkup/own_commands.py looks).
"""

import hashlib
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, field_validator, model_validator

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.declaration import Identifier
from regraph_kg.evaluation.problem.functions import head_of
from regraph_kg.evaluation.problem.tree import digest_of
from regraph_kg.models import html
from regraph_kg.models.base import Frozen, Metric
from regraph_kg.models.target import ON_CPU, Target
from regraph_kg.models.text import plain

CommandLine = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
TimeLimit = Annotated[float, Field(gt=0, le=3600)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_MOST_FILE_BYTES = 2**20
_SEEN = {
    "same": "each timed run prints what the unchanged project prints for the same secret seed",
    "fixed": "each timed run prints what the unchanged project prints, for inputs that are always"
    " the same, so that code may know it without computing it",
    "none": "what the timed runs compute is not looked at",
}
"""What is seen of the bench's result, by `Commands.result`."""


class Commands(Frozen):
    """The table [commands] of problem.toml; paths are relative to the project's folder."""

    project: str
    """The project's folder, relative to problem.toml. It is copied, never written."""
    file: str
    """The file that a candidate replaces."""
    between: tuple[Line, Line] | None = None
    """Replaced are only the lines between two that hold these texts."""
    build: tuple[CommandLine, ...] = ()
    test: tuple[CommandLine, ...] = Field(min_length=1)
    bench: CommandLine
    passed: tuple[Line, ...] = Field(min_length=1)
    """Each must be printed by the tests: exit code 0 alone proves nothing."""
    result: Literal["same", "fixed", "none"] = "same"
    """"same": what the bench prints is compared with what the unchanged project prints for the same
    secret seed. "fixed": compared, too, but the bench knows no seed, so that code may know it."""
    tolerance: float = Field(default=1e-6, ge=0, lt=1)
    """Relative, of numbers that the bench prints with a point or an exponent."""
    clock: Literal["process", "printed"] = "process"
    """"process": the whole process of the bench is timed from outside. "printed": the bench prints
    lines `regraph-seconds NUMBER`, whose median counts."""
    exclude: tuple[str, ...] = ()
    """Files and folders that are not copied, as patterns of `fnmatch`."""
    python: str | None = None
    """A virtual environment, relative to problem.toml: read-only, and first on the PATH."""
    readable: tuple[str, ...] = ()
    """What else commands may read: absolute paths."""
    environment: dict[Identifier, str] = Field(default_factory=dict)
    build_seconds: TimeLimit = 300.0
    test_seconds: TimeLimit = 120.0
    bench_seconds: TimeLimit = 60.0

    @field_validator("build", "test")
    @classmethod
    def _words(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            words(text)
        return value

    @field_validator("bench")
    @classmethod
    def _word(cls, value: str) -> str:
        words(value)
        return value

    @field_validator("file")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = Path(value)
        if path.is_absolute() or ".." in path.parts or value in ("", "."):
            raise ValueError("a path inside the project's folder, such as src/blur.cpp")
        return path.as_posix()

    @field_validator("readable")
    @classmethod
    def _absolute(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if not Path(text).is_absolute() or len(Path(text).parts) < 2:  # noqa: PLR2004 (/ itself)
                raise ValueError(f"{text!r}: an absolute path below /")
        return value


class _Declared(Frozen):
    """Fields of problem.toml itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema")
    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=64)]
    entry: Identifier
    """The function of `file` that is made faster."""
    commands: Commands


class ProjectProblem(_Declared):
    """A problem whose table [commands] names an existing project's own commands."""

    folder: str
    """The project's folder, absolute."""
    environment_folder: str | None
    """The virtual environment, absolute."""
    tree: str
    """Digest of what is copied: the project is judged as it was read."""
    content: str
    """Text of `file` as it stands."""

    @model_validator(mode="after")
    def _marked(self) -> Self:
        _ = self.serial_code
        return self

    @property
    def metric(self) -> Metric:
        """Always "call": commands are timed from a CPU."""
        return "call"

    @property
    def serial_code(self) -> str:
        """The text that a candidate replaces."""
        start, end = self._span()
        return self.content[start:end]

    @property
    def home(self) -> Path:
        """The file that a candidate replaces, absolute."""
        return Path(self.folder) / self.commands.file

    @property
    def longest_seconds(self) -> float:
        """What the commands of one judging may take, by their limits, the first time included."""
        commands = self.commands
        return 3 * commands.build_seconds + 2 * commands.test_seconds + 60 * commands.bench_seconds

    @property
    def is_python(self) -> bool:
        return self.commands.file.endswith(".py")

    @property
    def is_c(self) -> bool:
        """Whether the file is C, which is not all C++."""
        return self.commands.file.endswith(".c")

    def signature(self) -> str:
        """The function's head as it stands in the file; "" where none is found."""
        return head_of(self.serial_code, self.entry, python=self.is_python)

    def with_code(self, code: str) -> str:
        """The file's text with a candidate in its place."""
        start, end = self._span()
        tail = self.content[end:]
        return (
            self.content[:start] + code + ("\n" if tail and not code.endswith("\n") else "") + tail
        )

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
        commands = self.commands
        bench = _SEEN[commands.result]
        clock = (
            "the bench's process is timed from outside"
            if commands.clock == "process"
            else "times are the bench's own word"
        )
        return (
            "weaker than the judge's own checks: the project's tests decide what is right, and the"
            f" code runs in their process; {bench}; {clock}"
        )

    @property
    def toolchain(self) -> str:
        """The project's own commands, in place of compilers and flags."""
        commands = "; ".join((*self.commands.build, self.commands.bench))
        digest = hashlib.sha256(commands.encode()).hexdigest()[:8]
        line = " ".join(plain(commands).split())
        return f"the project's own build ({line[:120]}, {digest})"

    def _repr_html_(self) -> str:
        """For notebooks: its commands and their guarantee, with the replaced code."""
        commands = self.commands
        rows = [
            ("file", commands.file),
            ("build", "\n".join(commands.build)),
            ("test", "\n".join(commands.test)),
            ("bench", commands.bench),
            ("proves", self.guarantee),
        ]
        return html.facts(self.name, rows) + html.code("its serial code", self.serial_code)

    def _span(self) -> tuple[int, int]:
        """Characters of `content` that a candidate replaces."""
        marks = self.commands.between
        if marks is None:
            return 0, len(self.content)
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.content)  # a form feed ends no line
        matches = [[i for i, line in enumerate(lines) if mark in line] for mark in marks]
        for mark, places in zip(marks, matches, strict=True):
            if len(places) != 1:
                raise ValueError(f"commands.between: {len(places)} lines hold {mark!r}, not one")
        first, last = matches[0][0], matches[1][0]
        if last <= first:
            raise ValueError("commands.between: the second line stands before the first")
        return sum(map(len, lines[: first + 1])), sum(map(len, lines[:last]))


def words(command: str) -> list[str]:
    """A command's words as a shell splits them; no shell runs it. Raises `ValueError`."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"{command!r}: {error}") from None
    if not parts:
        raise ValueError(f"{command!r}: no command")
    return parts


def project_fields(path: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of `ProjectProblem` for a problem.toml with [commands].

    Raises `BadInput` where the project or its file is not there, or too large; pydantic's
    `ValidationError` where the table is at fault.
    """
    commands = _Declared.model_validate(content).commands
    folder = (path.parent / commands.project).resolve()
    if not folder.is_dir():
        raise BadInput(f"{path}: commands.project: {folder} is no folder; give the project's")
    if Path.home().resolve().is_relative_to(folder):
        raise BadInput(
            f"{path}: commands.project: {folder} holds your home folder, and all of the project is"
            " copied; give the project's own folder"
        )
    environment = None
    if commands.python is not None:
        environment = _environment(path.parent.absolute() / commands.python)
        marks = (environment / "pyvenv.cfg", environment / "conda-meta")
        if not (environment / "bin" / "python").exists() or not any(m.exists() for m in marks):
            raise BadInput(f"{path}: commands.python: {environment} is no virtual environment")
    return {
        **content,
        "folder": str(folder),
        "environment_folder": str(environment) if environment else None,
        "tree": digest_of(folder, commands.exclude),
        "content": _text(path, folder, commands.file),
    }


def _environment(folder: Path) -> Path:
    """The same folder without `..`, which leads nowhere in a confined root; links stay.

    An environment's programs name the place where it was made, links and all.
    """
    plain = Path(os.path.normpath(folder))
    is_same = plain.exists() and folder.exists() and plain.samefile(folder)
    return plain if is_same else folder.resolve()


def paths_of(path: Path) -> list[Path]:
    """Paths that the [commands] of a problem.toml copy or may read; none without the table."""
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("commands", {})
        commands = Commands.model_validate(table)
    except (OSError, ValueError, RecursionError):
        return []  # whoever loads the problem says why
    folders = [commands.project, *filter(None, [commands.python])]
    return [*(path.parent / folder for folder in folders), *map(Path, commands.readable)]


def _text(path: Path, folder: Path, file: str) -> str:
    """Text of the project's file that candidates replace."""
    source = folder / file
    if source.resolve() != source or not source.is_file():
        raise BadInput(f"{path}: commands.file: {source} is no file; give one of the project")
    if source.stat().st_size > _MOST_FILE_BYTES:
        raise BadInput(
            f"{path}: commands.file: {source} is larger than {_MOST_FILE_BYTES >> 20} MiB; move the"
            " function into a file of its own"
        )
    try:
        return source.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInput(f"{source}: {error.strerror}; make it readable") from None
    except UnicodeDecodeError:
        raise BadInput(f"{source}: not UTF-8 text; save it as UTF-8") from None
