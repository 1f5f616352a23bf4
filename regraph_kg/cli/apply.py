"""`regraph apply`: a run's answer goes into its user's files, as a change that is shown first."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from regraph_kg.cli.parameters import argument, option
from regraph_kg.cli.runs import FOLDER, trace_of
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.evaluation.problem.home import load_home
from regraph_kg.models.evaluation import code_hash
from regraph_kg.models.text import plain
from regraph_kg.runs import home_changes, take_home
from regraph_kg.runs.home_changes import HomeChange
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.key import applied_record, trace_key
from regraph_kg.wiring.problems import find_problem, problem_folder

_SOURCE = re.compile(r"\.(c|cc|cpp|cxx|cuh?|h|hh|hpp|hxx|inc|inl|ipp|tcc|tpp)", re.IGNORECASE)


def apply(  # noqa: PLR0913 (a command's options)
    *,
    run: Annotated[str, argument("A trace, or its name.", metavar="RUN")],
    to: Annotated[
        Path | None, option("Where the code goes, if not behind your own function.", metavar="FILE")
    ] = None,
    patch: Annotated[
        Path | None, option("Write a patch for git apply instead.", metavar="FILE")
    ] = None,
    problem: Annotated[
        str | None, option("Its problem's folder.", show_default="by the name in the run")
    ] = None,
    yes: Annotated[bool, option("Do not ask.", "--yes", "-y")] = False,
    undo: Annotated[bool, option("Take back what RUN changed.")] = False,
    runs: Annotated[Path, option("Folder of traces.")] = FOLDER,
) -> None:
    """Bring the fastest code of RUN home: show the change, ask, write it.

    Where the problem was made of a function (regraph problem new), that function keeps its
    signature and calls the new code, which stands in a file of its own beside yours. Otherwise
    --to FILE says where the code goes: a new file, or one that holds the text of serial.cpp. A
    comment tells the speedup, on what, how to compile, what was tested and what is assumed.

    Refused when your file has changed since the problem was made. Nothing is compiled here.

    Exit code 1: asked, and not wanted.
    """
    settings = read_settings()
    trace = trace_of(run, runs)
    record = applied_record(settings, trace)
    if undo:
        for path in home_changes.take_back(record):
            typer.echo(f"{path}: as it was")
        return
    changes = _changes(settings, trace, (problem, to), again=record.exists())
    text = home_changes.patch(changes)
    if patch is not None:
        with file_errors(patch, "give another FILE"):
            patch.write_bytes(text)
        typer.echo(
            f"wrote {patch}; take it in the root folder of your repository: git apply {patch}"
        )
        return
    # text of a model cannot steer the terminal, and the change is seen before it is made
    typer.echo(plain(text.decode("utf-8", "replace")), nl=False)
    _require_consent(changes, to, yes=yes)
    home_changes.write(changes, record)
    files = [change.path for change in changes]
    typer.echo(f"wrote {' and '.join(map(str, files))}")
    if len(files) > 1:
        typer.echo(f"compile {files[-1].name} with your program as its comment says")
    typer.echo(f"take it back with: regraph apply {run} --undo")


def _changes(
    settings: Settings, trace: Path, where: tuple[str | None, Path | None], *, again: bool
) -> list[HomeChange]:
    named, to = where
    answer = take_home.found_code(RunRecord.read(trace, trace_key(settings)))
    name = named or answer.run.header.problem
    try:
        problem, home = find_problem(settings, name), load_home(problem_folder(settings, name))
    except BadInput as error:
        raise BadInput(f"{error}; --problem FOLDER names the folder of its problem") from None
    # the answer is right for the code that its search began with, and for no other
    if code_hash(problem.serial_code) != answer.run.header.serial:
        raise BadInput(
            f"{trace}: it began with other serial code than problem {name} has now; name the"
            " folder of its problem: --problem"
        )
    if to is not None:
        return take_home.put_into(answer, problem, to)
    if home is None:
        raise BadInput(
            f"problem {name} was made of no function of yours; say where the code goes: --to FILE"
        )
    try:
        return take_home.brought_home(answer, problem, home, problem_folder(settings, name))
    except BadInput as error:
        if again:
            raise BadInput(f"{error}; it was applied before: --undo takes that back") from None
        raise


def _require_consent(changes: list[HomeChange], to: Path | None, *, yes: bool) -> None:
    """Ask; with --yes refuse files that are no code: a stranger's home.toml may name any file."""
    if not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadInput("no terminal to ask on; --yes writes this, --patch FILE only a patch")
        if not typer.confirm("write this?", err=True):
            raise typer.Exit(1)
        return
    # a new file is harmless; one that is there may be anything, as .bashrc
    for path in (change.path.resolve() for change in changes if change.before is not None):
        if to is None and not _SOURCE.fullmatch(path.suffix):
            raise BadInput(
                f"{path}: no source file by its name; look at the change and answer (without"
                " --yes), or write it to --patch FILE"
            )
