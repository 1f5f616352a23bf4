"""`regraph optimize`: its options (name, type, default and help of each), and their choice.

Rare settings are set by --set: those of the method, of `RunDetails`, `SearchLimits` and
`Prompting`. What was not typed is as in a resumed trace, then as usual. Not here: its work
(running.py), which help does not load.
"""

import inspect
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.method import Prompting, SearchLimits
from regraph_kg.models.run import FinalGrade, SearchChoice
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.runs import choice
from regraph_kg.search.methods import METHODS

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[tuple(METHODS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line as typed; None where an option was left out."""

    problem: Annotated[
        str,
        argument(
            "A problem's folder, a name of the corpus, or a C++ file with --function.",
            metavar="PROBLEM",
        ),
    ]
    function: Annotated[
        str | None,
        option(
            "A function of the C++ file PROBLEM: regraph problem new makes its folder first.",
            metavar="NAME",
        ),
    ] = None
    model: Annotated[
        str | None,
        option(
            "Recorded answers of the corpus, a live model, or prompts and answers by file.",
            metavar="recorded|none|ollama:NAME|openai:NAME|batch:FOLDER",
            show_default="recorded",
        ),
    ] = None
    target: Annotated[Target | None, option(NEEDS, show_default=USUAL)] = None
    method: Annotated[
        MethodName | None,
        option(
            "How verdicts are spent: see below, and regraph docs methods.",
            show_default=choice.DEFAULT_METHOD,
        ),
    ] = None
    budget: Annotated[
        int | None,
        option("Verdicts, at most: of models and of rules.", show_default=str(choice.BUDGET)),
    ] = None
    fast: Annotated[
        bool,
        option(f"A minute and {choice.FAST_LIMITS['verdicts']} verdicts, the best screened again."),
    ] = False
    parallel: Annotated[
        int | None,
        option(
            "Calls of the model at once, at most.",
            min=1,
            show_default=f"1; by file {choice.BY_FILE_PARALLEL}, a quarter of --budget at most",
        ),
    ] = None
    resume: Annotated[
        Path | None, option("Go on with an interrupted run, as it was.", metavar="TRACE")
    ] = None
    output: Annotated[
        Path | None, option("Where the best code goes.", show_default="beside the trace")
    ] = None
    starter: Annotated[
        bool, option("Load the starter graph into an embedded store that is empty.")
    ] = False
    sets: Annotated[
        list[str] | None,
        option(
            "A setting of the method, or one of those below; repeatable.",
            "--set",
            metavar="NAME=VALUE",
        ),
    ] = None
    runs: Annotated[Path, option("Folder for traces.")] = Path("runs")
    as_json: Json = False


class RunDetails(Frozen):
    """The settings of `--set run.NAME=VALUE`; None where one was left out."""

    seed: int | None = None  # seed of everything random
    final: FinalGrade | None = None  # how the best three are measured again
    include_own: bool | None = None  # whether the search reads this problem's own examples


M = TypeVar("M", bound=BaseModel)

_PROMPT, _LIMIT, _RUN = "prompt.", "limit.", "run."
SETTABLE: Mapping[str, type[BaseModel]] = {
    _RUN: RunDetails,
    _LIMIT: SearchLimits,
    _PROMPT: Prompting,
}
"""Settings of --set that are not the method's own, by their prefix."""
_NO_SETTINGS = {"method", "verdicts"}  # fields that have options of their own


def choose(options: Options, model: str) -> SearchChoice:
    """What is searched, and how; `BadInput` for options that contradict each other."""
    details, method = (
        _set(RunDetails(), options, _RUN, "a run"),
        options.method or choice.DEFAULT_METHOD,
    )
    usual = choice.usual_choice(options.problem, model, method=method, fast=options.fast)
    usual = replace(usual, settings=_set(usual.settings, options, "", method))
    # what was not typed is as the trace says, so that a resumed search is the same search
    if options.resume:
        was = choice.traced_choice(usual, options.resume)
        new_method = options.method or _texts(options) or options.fast
        usual = replace(was, settings=usual.settings) if new_method else was
    # a share of the verdicts may be under way at once, so that they are known first
    limits = usual.limits
    if options.budget is not None:
        limits = _with(limits, {"verdicts": options.budget}, "--budget ")
    limits = _set(limits, options, _LIMIT, "a limit")
    at_once = usual.parallel if options.resume else choice.usual_parallel(usual.model, limits)
    typed = {"parallel": options.parallel, "target": options.target} | details.model_dump()
    changes = {name: value for name, value in typed.items() if value is not None}
    prompting = _set(usual.prompting, options, _PROMPT, "a prompt")
    usual = replace(usual, parallel=at_once, limits=limits, prompting=prompting)
    return replace(usual, **changes)


def resume_command(options: Options, trace: Path) -> str:
    """The command that resumes a search; what may change on the way is typed again."""
    words = ["regraph", "optimize", options.problem, "--resume", str(trace)]
    for name, value in {"--model": options.model, "--output": options.output}.items():
        words += [name, str(value)] if value is not None else []
    return shlex.join(words)


def set_names(kind: type[BaseModel]) -> list[str]:
    """Names of a kind of settings that --set takes."""
    return sorted(set(kind.model_fields) - _NO_SETTINGS)


def _set(base: M, options: Options, prefix: str, owner: str) -> M:
    """`base` with the values of --set with its prefix, "none" is None; errors name the `owner`."""
    names, changes = set_names(type(base)), dict[str, str | None]()
    for text in _texts(options, prefix):
        name, equals, value = text.removeprefix(prefix).partition("=")
        # a misspelt setting must not vanish silently
        if not equals or name not in names:
            raise BadInput(
                f"set {text!r}: {owner} knows {', '.join(names) or 'no setting'};"
                " give --set NAME=VALUE"
            )
        changes[name] = value
        if value.lower() == "none":  # which lifts a bound
            changes[name] = None
    return _with(base, changes, f"--set {prefix}{{}}=")


def _texts(options: Options, prefix: str = "") -> list[str]:
    """NAME=VALUE of --set with a prefix, or those of the method."""
    every = options.sets or ()
    if prefix:
        return [text for text in every if text.startswith(prefix)]
    return [text for text in every if not text.startswith(tuple(SETTABLE))]


def _with(model: M, changes: Mapping[str, object], spelt: str) -> M:
    """`model` with validated changes; `spelt` is how a field is typed, before its value."""
    try:
        changed = type(model).model_validate(model.model_dump() | dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        why = first["msg"].removeprefix("Value error, ").replace("Input should", "it should", 1)
        raise BadInput(f"{spelt.format(name)}{changes.get(name)}: {why}") from None
    # pydantic takes "nan" and "inf" as floats, and no limit would hold
    for name, value in changed.model_dump().items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{spelt.format(name)}{value}: give a finite number")
    return changed


EPILOG = "\n\n".join(
    [
        "Methods:",
        *(f"{name}: {line}" for name, line in METHODS.items()),
        "Settings of --set, besides the method's own (regraph docs methods):",
        *(f"{prefix}NAME: {', '.join(set_names(kind))}" for prefix, kind in SETTABLE.items()),
    ]
)


def optimize(**typed: Any) -> None:
    """Search for a faster version of PROBLEM: a model proposes, compiler and clock judge.

    The best three are measured again in fresh processes; only that speedup is reported, and code
    that is not surely faster than the serial code is no answer. Ctrl-C keeps the best so far.

    optimize FILE.cpp --function NAME does regraph problem new and this in one go.

    --fast is for a first look. --model batch:FOLDER only writes the prompts.

    Exit code 0: faster code found; 1: none found; 4: stopped, or 5: waiting for answers by file,
    and the command to go on is printed.
    """
    # help needs no store, no judge and no models
    from regraph_kg.cli.running import run  # noqa: PLC0415

    if not run(Options(**typed)):
        raise typer.Exit(1)


# Typer reads the parameters of a function, and a call with fifteen of them helps nobody
vars(optimize)["__signature__"] = inspect.signature(Options)
optimize.__annotations__ = dict(Options.__annotations__)
