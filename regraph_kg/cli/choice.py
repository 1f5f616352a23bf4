"""What `regraph optimize` is to run: its options, what a resumed trace says, else the defaults."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from regraph_kg.cli.options import Options
from regraph_kg.errors import BadInput
from regraph_kg.models.method import MethodSettings, Prompting
from regraph_kg.models.run import SearchChoice
from regraph_kg.runs.choice import (
    DEFAULT_METHOD,
    FAST_LIMITS,
    PAPER_METHOD,
    shares,
    traced_choice,
    usual_choice,
    usual_parallel,
    usual_settings,
)

M = TypeVar("M", bound=BaseModel)

_OPTION: Mapping[str, str] = {"calls": "budget", "stop_at_roof": "stop-at-roof"}
"""Of limits, options of another name."""
_PROMPT = "prompt."
"""Before the name of a prompt's setting."""


def choose(options: Options, model: str, roof: float | None = None) -> SearchChoice:
    """What to run, for the first problem. Raises `BadInput` for what makes no sense.

    `roof`: where a new search ends unless --stop-at-roof says otherwise.
    """
    _check(options)
    usual = replace(
        usual_choice(options.problems[0], model, fast=options.fast),
        settings=_settings(options),
        judge=options.judge,
    )
    usual = replace(usual, limits=usual.limits.model_copy(update={"stop_at_roof": roof}))
    if options.resume:
        was = traced_choice(usual, options.resume)
        asked = options.method or options.preset or _texts(options) or options.fast
        usual = replace(was, settings=usual.settings) if asked else was
    typed = _given(options, "target", "parallel", "final", "seed", "include_own")
    calls = {} if options.budget is None else {"calls": options.budget}
    limits = calls | _given(options, "seconds", "evaluations", "tokens", "unreadable")
    ends = _given(options, "patience", "stop_at_roof")
    limits |= {name: None if said == "none" else said for name, said in ends.items()}
    names = ("examples", "retrieval", "show", "contrast", "known_failures", "verdict")
    prompting = _given(options, *names)
    base = Prompting.usual(options.prompts) if options.prompts else usual.prompting
    limited = _with(usual.limits, limits, lambda name: f"--{_OPTION.get(name, name)} ")
    at_once = usual.parallel if options.resume else usual_parallel(usual.model, limited)
    choice = replace(
        usual,
        **{"parallel": at_once} | typed,
        limits=limited,
        prompting=_with(
            prompting_of(base, _texts(options, of_prompts=True)),
            prompting,
            lambda name: f"--{name.replace('_', '-')} ",
        ),
    )
    if choice.parallel < 1:
        raise BadInput(f"--parallel {choice.parallel}: no call would be made; give 1 or more")
    return choice


def every_call(options: Options, choice: SearchChoice) -> bool:
    """Whether each call is told: where that is asked for, and by file, where all take hours."""
    return options.verbose or choice.model.by_file


def each_choice(choice: SearchChoice, options: Options) -> tuple[SearchChoice, ...]:
    """What to run for each problem; the minute of --fast becomes one for each."""
    minute = options.fast and options.seconds is None
    return shares(choice, options.problems, FAST_LIMITS["seconds"] if minute else None)


def resume_command(options: Options, problem: str, trace: Path, output: Path | None) -> str:
    """What to type to go on with a problem: everything else is in the trace.

    What may change on the way is typed again.
    """
    given = {
        "--model": options.model,
        "--judge": options.judge,
        "--output": output,
        "--patience": options.patience if options.resume else None,
        "--stop-at-roof": options.stop_at_roof if options.resume else None,
    }
    words = ["regraph", "optimize", problem, "--resume", str(trace)]
    for name, value in given.items():
        words += [name, str(value)] if value is not None else []
    words += ["--learn"] if options.learn else []
    return shlex.join(words)


def _check(options: Options) -> None:
    """Whether the options go together."""
    problems, output = options.problems, options.output
    several = len(problems) > 1
    twice = next((one for one in problems if problems.count(one) > 1), None)
    if twice is not None:
        raise BadInput(f"problem {twice} is named twice; name it once")
    if several and options.resume:
        raise BadInput("resume: a trace is of one problem; name that one alone")
    if several and output is not None and output.exists() and not output.is_dir():
        raise BadInput(f"{output}: is no folder; several problems need one as --output")
    if options.dry_run and options.resume:
        raise BadInput("dry-run is of a new search; leave out --resume")
    if options.prompt and not options.dry_run:
        raise BadInput("prompt: what would be sent is shown by --dry-run --prompt")


def _settings(options: Options) -> MethodSettings:
    method = options.method or DEFAULT_METHOD
    if options.preset is not None and method != DEFAULT_METHOD:
        raise BadInput(
            f"preset {options.preset} is for {DEFAULT_METHOD}; leave it out with --method {method}"
        )
    if options.preset == "paper":
        method = PAPER_METHOD
    found = usual_settings(method, fast=options.fast)
    known = set(type(found).model_fields) - {"method"}
    given = dict(_assigned(one, method, known) for one in _texts(options))
    return _with(found, given, "--set {}=".format)


def prompting_of(base: Prompting, texts: Sequence[str]) -> Prompting:
    """`base` with settings as --set has them: prompt.NAME=VALUE; "none" is a word there."""
    known = set(Prompting.model_fields)
    given = (_assigned(one.removeprefix(_PROMPT), "a prompt", known) for one in texts)
    changes = {name: value or "none" for name, value in given}
    return _with(base, changes, f"--set {_PROMPT}{{}}=".format)


def _texts(options: Options, *, of_prompts: bool = False) -> list[str]:
    """NAME=VALUE of --set: the method's, or the prompts'."""
    return [one for one in options.sets or () if one.startswith(_PROMPT) == of_prompts]


def _assigned(text: str, method: str, known: set[str]) -> tuple[str, str | None]:
    """NAME=VALUE of --set; "none" is None."""
    name, equals, value = text.partition("=")
    if not equals or name not in known:
        raise BadInput(
            f"set {text!r}: {method} knows {', '.join(sorted(known)) or 'no setting'};"
            " give --set NAME=VALUE"
        )
    return name, None if value.lower() == "none" else value


def _with(model: M, changes: Mapping[str, object], spelt: Callable[[str], str]) -> M:
    """`model` with validated changes; `spelt` is how a field is typed, before its value."""
    try:
        changed = type(model).model_validate(model.model_dump() | dict(changes))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        why = first["msg"].removeprefix("Value error, ").replace("Input should", "it should", 1)
        raise BadInput(f"{spelt(name)}{changes.get(name)}: {why}") from None
    for name, value in changed.model_dump().items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{spelt(name)}{value}: give a finite number")
    return changed


def _given(options: Options, *names: str) -> dict[str, Any]:
    """Options that were typed."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}
