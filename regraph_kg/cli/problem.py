"""`regraph problem`: a function of a user's file becomes a problem; problems are checked."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from regraph_kg.adopt.adopt import Adopted, Adopter, write
from regraph_kg.adopt.draft import Draft, Said
from regraph_kg.adopt.preprocessed import build_of
from regraph_kg.adopt.reading import understand
from regraph_kg.adopt.seen import Role
from regraph_kg.adopt.texts import problem_name
from regraph_kg.cli.display import checked, print_checkup
from regraph_kg.cli.parameters import Json, answered, argument, notes_aside, option, print_json
from regraph_kg.cli.progress import telling
from regraph_kg.cli.tables import print_aligned
from regraph_kg.cpp.functions import choose, read
from regraph_kg.cpp.slice import whole_text
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.findings import Checkup, error
from regraph_kg.evaluation.compile.compile import HOST_FLAGS
from regraph_kg.evaluation.problem.home import load_home
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.problems import chosen_problem
from regraph_kg.wiring.shipped import problem_names

app = typer.Typer(
    no_args_is_help=True,
    help="Problems: a folder with problem.toml and serial.cpp each (regraph docs problems).",
)


@app.command()
def check(
    problems: Annotated[
        list[str] | None,
        argument("Names or folders; all of this folder and the corpus if none.", metavar="PROBLEM"),
    ] = None,
    only_list: Annotated[
        bool, option("Only list them, and where each comes from.", "--list")
    ] = False,
    as_json: Json = False,
) -> None:
    """Look whether PROBLEM says what is true and can be measured; `optimize` looks, too.

    The serial code compiles and has the declared signature, is right at every shape, the tolerance
    has room and shows a lower precision, there is something to compute, time and memory are fit.
    Each finding is a line that ends with what to write. It takes seconds once, then nothing.

    Exit code 0: no errors, though there may be notes; 2: errors, with which no search starts.
    """
    settings = read_settings()
    names = problems or problem_names(settings)
    if not names:
        raise BadInput("no problems here, nor in the corpus; name a folder")
    if only_list:
        places = {name: chosen_problem(settings, name) for name in names}
        if not answered(places, as_json):
            print_aligned(list(places.items()))
        return
    checkups = []
    for name in names:
        try:
            checkups.append(checked(settings, name))
        except BadInput as failed:  # one that cannot be read has one error
            checkups.append(Checkup(name, (error("problem.toml", str(failed)),), 0.0))
    if not answered(checkups, as_json):
        for checkup in checkups:
            print_checkup(checkup)
    if any(checkup.errors for checkup in checkups):
        raise typer.Exit(BadInput.exit_code)


@app.command()
def new(  # noqa: PLR0913 (a command's options)
    *,
    file: Annotated[Path, argument("C++ source file that defines the function.")],
    function: Annotated[
        str,
        option("Its name: blur, image::blur, 'axpy<float>', or 'f(const float*, int)' of several."),
    ],
    to: Annotated[
        Path | None, option("Where to write; the function's name.", metavar="FOLDER")
    ] = None,
    shape: Annotated[
        list[str] | None, option("An array's shape, as image=rows,cols.", metavar="ARG=EXTENT,..")
    ] = None,
    size: Annotated[
        list[str] | None,
        option("A size of the timed call; found by growing if not.", metavar="NAME=N"),
    ] = None,
    role: Annotated[
        list[str] | None,
        option("in, out or inout, where it was taken for another.", metavar="ARG=ROLE"),
    ] = None,
    values: Annotated[
        list[str] | None,
        option(
            "An array's distributions and range, as x=sparse,0..n-1; a scalar's value, as a=2.5.",
            metavar="ARG=KIND,..",
        ),
    ] = None,
    tolerance: Annotated[str | None, option("exact, or how far off a result may be.")] = None,
    flags: Annotated[
        str, option("How your build reads FILE, as '-I include -DREAL=float'.", metavar="FLAGS")
    ] = "",
    as_json: Json = False,
) -> None:
    """Make a problem of a function NAME that FILE defines: problem.toml, serial.cpp, home.toml.

    Says what was inferred of its arguments, refuses what neither its text nor an option says, grows
    the sizes until a call takes long enough to be timed, calibrates the tolerance and looks at the
    problem as `regraph problem check` does. The code runs confined. FILE itself stays as it is.

    Exit code 2: the function cannot be a problem, and why; or its problem has errors.
    """
    settings = read_settings()
    answers = _answers(shape or [], size or [], role or [], values or [])
    answers.tolerance, answers.flags = _tolerance(tolerance), flags
    with notes_aside(as_json):
        folder = make(settings, file, function, answers, to=to)
        name = shlex.quote(f"{folder}/")
        checkup = checked(settings, str(folder.absolute()))
        print_checkup(checkup)
        mend = f"mend {folder}/problem.toml, then: regraph problem check {name}"
        typer.echo(mend if checkup.errors else f"next: regraph optimize {name}")
    if as_json:
        print_json(checkup)
    if checkup.errors:
        raise typer.Exit(BadInput.exit_code)


def make(
    settings: Settings, file: Path, function: str, answers: Said, *, to: Path | None = None
) -> Path:
    """Make the problem; return its folder."""
    build, answers.flags, ignored = build_of(answers.flags)
    understood = understand(read(file, build), function)
    if ignored:
        typer.echo(f"{' '.join(ignored)}: left out; the judge builds with {' '.join(HOST_FLAGS)}")
    folder = to or Path(problem_name(understood.function.name))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: there is something there already; give another folder with --to")
    draft = _shaped(Draft(understood, answers))
    told = understood.function
    if all("value" in one for one in draft.arguments() if one["role"] != "out"):
        raise BadInput(
            f"{file}, line {told.line}: each argument of {told.qualified} is one scalar value,"
            " so that a constant would pass; write a function over arrays of them"
        )
    for line in _inferred(draft):
        typer.echo(line)
    name = problem_name(folder.resolve().name)
    with telling() as tell:
        adopted = Adopter(settings.cache_dir, tell).adopt(draft, name, folder)
    write(adopted.files, folder)
    _tell(adopted, folder)
    return folder


def problem_of(settings: Settings, file: Path, function: str) -> Path:
    """The folder of a function's problem, made now or earlier from the same text."""
    source = read(file)
    folder = Path(problem_name(choose(source, function).name))
    home = load_home(folder)
    if home is None or home.path(folder).resolve() != file.resolve():
        return make(settings, file, function, Said())
    source = replace(source, build=build_of(home.flags)[0])
    if not (home.fits(source.original) and home.was_read_from(whole_text(source))):
        raise BadInput(
            f"{folder}: was made of another content of {file} or its headers; remove the folder,"
            f" or mend it and run regraph optimize {folder}/"
        )
    typer.echo(f"{folder}/: made of {home.function} before", err=True)
    return folder


def _shaped(draft: Draft) -> Draft:
    """The draft with shapes for all arrays, those not known as proposed. Raises `BadInput`."""
    while draft.open:
        proposals = {name: text for name in draft.open if (text := draft.proposed(name))}
        if not proposals:
            function, said = draft.read.function, " ".join(f"--shape {n}=.." for n in draft.open)
            raise BadInput(
                f"{function.source.path}, line {function.line}: how long {', '.join(draft.open)} is"
                f" cannot be told from {function.qualified}; give {said}, over"
                f" {', '.join((*draft.sizes, 'numbers'))}"
            )
        name, text = next(iter(proposals.items()))
        draft.said.shapes[name] = _parts(text)
        draft = Draft(draft.read, draft.said)
    return draft


def _inferred(draft: Draft) -> list[str]:
    """One line for each argument of the function."""
    function = draft.read.function
    lines = [f"{function.qualified}, {function.source.path}, line {function.line}:"]
    for arg in draft.arguments():
        kind = arg["type"]
        if arg["role"] == "size":
            where = draft.sizes[arg["name"]]
            summary = f"size{'' if where == arg['name'] else f', {where}'}"
        elif "value" in arg:
            summary = f"always {arg['value']}; another value by --values {arg['name']}=.."
        else:
            drawn = ", ".join(arg.get("values", ())) or "usual values"
            if "range" in arg:
                drawn += " in [{}, {}]".format(*arg["range"])
            for field, ends in arg.get("ranges", {}).items():
                drawn += ", {} in [{}, {}]".format(field, *ends)
            drawn = "" if arg["role"] == "out" else f", {drawn}"
            summary = f"[{', '.join(arg['shape'])}], {arg['role']}{drawn}"
        lines.append(f"  {arg['name']:<12} {kind:<8} {summary}")
    return lines


def _tell(adopted: Adopted, folder: Path) -> None:
    for header in adopted.left_out:
        typer.echo(f"left out: {header}, which is not here and not needed")
    for note in adopted.notes:
        typer.echo(note)
    shape = ", ".join(f"{name} = {size}" for name, size in adopted.problem.sizes.time.items())
    took = f", where the function takes {adopted.seconds:.2g} s" if adopted.seconds else ""
    typer.echo(f"timed at {shape or 'its one shape'}{took}")
    typer.echo(f"wrote {folder}/: {', '.join(adopted.files)}")


def _answers(*said: Sequence[str]) -> Said:
    shapes, sizes, roles, values = said
    answers = Said(
        shapes={name: _parts(text) for name, text in _pairs("--shape", shapes)},
        values={name: _parts(text) for name, text in _pairs("--values", values)},
    )
    for name, text in _pairs("--size", sizes):
        if not text.isdecimal() or not int(text):
            raise BadInput(f"--size {name}={text}: give a whole number from 1 on")
        answers.sizes[name] = int(text)
    for name, text in _pairs("--role", roles):
        if text not in get_args(Role):
            raise BadInput(f"--role {name}={text}: in, out or inout")
        answers.roles[name] = cast(Role, text)
    return answers


def _tolerance(text: str | None) -> Any:
    if text in (None, "exact"):
        return text
    try:
        number = float(text or "")
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise BadInput(f"--tolerance {text}: exact, or a number above 0")
    return {"absolute": number}


def _pairs(option: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise BadInput(f"{option} {text}: write it as NAME=...")
        yield name, value


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))
