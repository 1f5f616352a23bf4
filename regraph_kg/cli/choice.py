"""What `regraph optimize` is to run: its options, what a resumed trace says, else the defaults."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Target
from regraph_kg.models.method import (
    SETTINGS,
    MethodName,
    Preset,
    Prompting,
    Retrieval,
    SearchLimits,
    SearchSettings,
    Shown,
    Told,
)
from regraph_kg.models.run import FinalGrade, SearchChoice
from regraph_kg.search.trace_lines import read_header

M = TypeVar("M", bound=BaseModel)

_OPTION: Mapping[str, str] = {"calls": "budget"}
"""Of limits, options of another name."""

BUDGET = 50
BY_FILE_PARALLEL = 8
FAST_LIMITS: Mapping[str, float] = {"calls": 12, "seconds": 60.0}
"""Of --fast, where no others are given."""
FAST_PROMPTING: Mapping[str, int] = {"examples": 1, "example_tokens": 600}
"""A prompt is read before the first token of its answer."""
FAST_SETTINGS: Mapping[str, int] = {
    "depth": 3,
    "steps": 3,
    "repairs": 0,
    "rethinks": 1,
    "width": 2,
    "patience": 3,
}
"""Of those settings that the method has: a dozen calls reach no further."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line as typed; None where an option was left out."""

    problems: Sequence[str]
    method: MethodName | None
    preset: Preset | None
    sets: Sequence[str]
    target: Target | None
    budget: int | None
    seconds: float | None
    evaluations: int | None
    tokens: int | None
    unreadable: int | None
    parallel: int | None
    examples: int | None
    retrieval: Retrieval | None
    show: Shown | None
    contrast: int | None
    known_failures: int | None
    verdict: Told | None
    fast: bool
    final: FinalGrade | None
    seed: int | None
    model: str | None
    judge: Path | None
    include_own: bool | None
    resume: Path | None
    output: Path | None
    runs: Path
    as_json: bool
    learn: bool
    starter: bool | None
    verbose: bool
    dry_run: bool
    prompt: bool


def choose(options: Options, model: str) -> SearchChoice:
    """What to run, for the first problem. Raises `BadInput` for what makes no sense."""
    _check(options)
    usual = _usual(options, model)
    if options.resume:
        was = read_header(options.resume)
        asked = options.method or options.preset or options.sets or options.fast
        usual = replace(
            usual,
            target=was.target,
            settings=usual.settings if asked else was.settings,
            prompting=was.prompting,
            limits=was.limits,
            parallel=was.parallel,
            final=was.final,
            seed=was.seed,
            include_own=was.excluded is None,
        )
    typed = _given(options, "target", "parallel", "final", "seed", "include_own")
    calls = {} if options.budget is None else {"calls": options.budget}
    limits = calls | _given(options, "seconds", "evaluations", "tokens", "unreadable")
    prompts = ("examples", "retrieval", "show", "contrast", "known_failures", "verdict")
    prompting = _given(options, *prompts)
    choice = replace(
        usual,
        **typed,
        limits=_with(usual.limits, limits, lambda name: f"--{_OPTION.get(name, name)} "),
        prompting=_with(usual.prompting, prompting, lambda name: f"--{name.replace('_', '-')} "),
    )
    if choice.parallel < 1:
        raise BadInput(f"--parallel {choice.parallel}: no call would be made; give 1 or more")
    return choice


def every_call(options: Options, choice: SearchChoice) -> bool:
    """Whether each call is told: where that is asked for, and by file, where all take hours."""
    return options.verbose or choice.model.startswith("batch:")


def traced_model(options: Options) -> str | None:
    """Whom a run that goes on was asking, as --model names it; None where the trace cannot say."""
    if options.resume is None:
        return None
    kind, _, rest = read_header(options.resume).model.partition(":")
    if kind == "batch":
        return None  # the folder is not in the trace
    return "recorded" if kind == "recorded" else f"{kind}:{rest.partition('@')[0]}"


def shares(choice: SearchChoice, options: Options) -> tuple[SearchChoice, ...]:
    """What to run for each problem: `choice`, with a share of its calls at once.

    Each has one at least. What comes by file takes no turns: there each has all. Waiting for one's
    turn takes active seconds, so that the minute of --fast becomes one for each problem.
    """
    problems, each, limits = options.problems, choice.parallel, choice.limits
    if not choice.model.startswith("batch:"):
        each = math.ceil(choice.parallel / len(problems))
    if options.fast and options.seconds is None:
        seconds = FAST_LIMITS["seconds"] * len(problems)
        limits = limits.model_copy(update={"seconds": seconds})
    return tuple(
        replace(choice, problem=problem, parallel=each, limits=limits) for problem in problems
    )


def resume_command(options: Options, problem: str, trace: Path, output: Path | None) -> str:
    """What to type to go on with a problem: everything else is in the trace."""
    given = {"--model": options.model, "--judge": options.judge, "--output": output}
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


def _usual(options: Options, model: str) -> SearchChoice:
    """The defaults, those of --fast where it is given."""
    limits = {"calls": BUDGET} | (dict(FAST_LIMITS) if options.fast else {})
    return SearchChoice(
        problem=options.problems[0],
        target="openmp",
        settings=_settings(options),
        prompting=Prompting.model_validate(FAST_PROMPTING if options.fast else {}),
        limits=SearchLimits.model_validate(limits),
        parallel=BY_FILE_PARALLEL if model.startswith("batch:") else 1,
        final="screening" if options.fast else "full",
        seed=0,
        model=model,
        judge=options.judge,
        include_own=False,
    )


def _settings(options: Options) -> SearchSettings:
    method: MethodName = options.method or "mcgs"
    if options.preset == "paper" and method == "mcgs":
        method = "mcgs-paper"
    elif options.preset is not None and method != "mcgs":
        raise BadInput(f"preset {options.preset} is for mcgs; leave it out with --method {method}")
    kind = SETTINGS[method]
    known = set(kind.model_fields) - {"method"}
    fast = {name: value for name, value in FAST_SETTINGS.items() if options.fast and name in known}
    found: SearchSettings = kind.model_validate(fast)
    return _with(
        found, dict(_assigned(one, method, known) for one in options.sets), "--set {}=".format
    )


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
        raise BadInput(f"{spelt(name)}{changes.get(name)}: {first['msg']}") from None
    for name, value in changed.model_dump().items():
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"{spelt(name)}{value}: give a finite number")
    return changed


def _given(options: Options, *names: str) -> dict[str, Any]:
    """Options that were typed."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}
