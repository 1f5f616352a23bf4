"""The options of `regraph optimize`, each written once: its name, type, default, help and panel.

What has no panel comes first in the help: the everyday dozen.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regraph_kg.cli.completion import complete_problem
from regraph_kg.models.method import (
    Preset,
    Prompting,
    Retrieval,
    SearchLimits,
    Shown,
    Told,
    Words,
)
from regraph_kg.models.run import FinalGrade
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.runs.choice import (
    BUDGET,
    BY_FILE_PARALLEL,
    DEFAULT_METHOD,
    FAST_LIMITS,
    USUAL_WORDS,
)
from regraph_kg.search.methods import method_names

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[method_names()]  # the choices of --method are what search/methods/ holds

_MODEL, _BUDGET, _SEARCH = "Problem and model", "Budget", "Search"
_PROMPTS, _OUTPUT = "Prompts", "Output"


def _of_prompts(name: str, text: str) -> Any:
    """An option of which `Prompting` knows the default."""
    usual = str(getattr(Prompting.usual(USUAL_WORDS), name))
    return typer.Option(help=text, show_default=usual, rich_help_panel=_PROMPTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line as typed; None where an option was left out."""

    problems: Annotated[
        list[str],
        typer.Argument(
            metavar="PROBLEM",
            help="Folders of problems, names of the corpus, or a C++ file with --function.",
            autocompletion=complete_problem,
        ),
    ]
    function: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A function of the C++ file PROBLEM: regraph problem new makes its folder first.",
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="recorded|ollama:NAME|openai:NAME|batch:FOLDER",
            help="Recorded answers of the corpus, a live model, or prompts and answers by file.",
            show_default="recorded",
        ),
    ] = None
    target: Annotated[
        Target | None,
        typer.Option(help=NEEDS, show_default=USUAL),
    ] = None
    method: Annotated[
        MethodName | None,
        typer.Option(
            help="How calls are spent: see below, and regraph docs methods.",
            show_default=DEFAULT_METHOD,
        ),
    ] = None
    budget: Annotated[
        int | None,
        typer.Option(help="Calls of the model for code, at most.", show_default=str(BUDGET)),
    ] = None
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help=f"A minute and {FAST_LIMITS['calls']} calls, short prompts, the best screened"
            " again.",
        ),
    ] = False
    parallel: Annotated[
        int | None,
        typer.Option(
            help="Calls of the model at once, at most; several problems share them.",
            show_default=f"1; by file {BY_FILE_PARALLEL}, a quarter of --budget at most",
        ),
    ] = None
    resume: Annotated[
        Path | None,
        typer.Option(metavar="TRACE", help="Go on with an interrupted run, as it was."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where the best code goes; a folder for several problems.",
            show_default="beside the trace",
        ),
    ] = None
    learn: Annotated[
        bool, typer.Option("--learn", help="Add what was found to the graph (regraph learn).")
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be sent, and what it may cost."),
    ] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="A line for every call, not only for a new best.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False

    judge: Annotated[
        Path | None,
        typer.Option(
            metavar="TRACE",
            help="Replay the verdicts of this trace; evaluate nothing.",
            rich_help_panel=_MODEL,
        ),
    ] = None
    include_own: Annotated[
        bool | None,
        typer.Option(
            "--include-own/--exclude-problem",
            help="Let the search read this problem's own examples.",
            show_default="excluded",
            rich_help_panel=_MODEL,
        ),
    ] = None
    starter: Annotated[
        bool | None,
        typer.Option(
            help="Load the starter graph into an embedded store that is empty.",
            show_default="asked on a terminal",
            rich_help_panel=_MODEL,
        ),
    ] = None

    seconds: Annotated[
        float | None,
        typer.Option(
            help="Active seconds, at most; calls under way are awaited.", rich_help_panel=_BUDGET
        ),
    ] = None
    evaluations: Annotated[
        int | None, typer.Option(help="Evaluations, at most.", rich_help_panel=_BUDGET)
    ] = None
    tokens: Annotated[
        int | None,
        typer.Option(help="Tokens of prompts and answers, at most.", rich_help_panel=_BUDGET),
    ] = None
    unreadable: Annotated[
        int | None,
        typer.Option(
            help="Answers in a row without any code, at most; then the search ends.",
            show_default=str(SearchLimits.model_fields["unreadable"].default),
            rich_help_panel=_BUDGET,
        ),
    ] = None

    patience: Annotated[
        str | None,
        typer.Option(
            metavar="CALLS|SHARE|none",
            help="End after so many calls in a row without faster code, if little is promised;"
            " below 1: a share of the budget.",
            show_default="none",
            rich_help_panel=_BUDGET,
        ),
    ] = None
    stop_at_roof: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE|none",
            help="End where the best code reaches this share of the device's peak (its roofline).",
            show_default="none",
            rich_help_panel=_BUDGET,
        ),
    ] = None

    preset: Annotated[
        Preset | None,
        typer.Option(
            help="MCGS as improved here, or as in the paper.",
            show_default="default",
            rich_help_panel=_SEARCH,
        ),
    ] = None
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the method, or prompt.NAME=VALUE of its prompts; repeatable.",
            rich_help_panel=_SEARCH,
        ),
    ] = None
    final: Annotated[
        FinalGrade | None,
        typer.Option(
            help="How the best three are measured again.",
            show_default="full",
            rich_help_panel=_SEARCH,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(help="Of everything random.", show_default="0", rich_help_panel=_SEARCH),
    ] = None

    prompts: Annotated[
        Words | None,
        typer.Option(
            help="lean: a technique's recipe and the code, for small models; full: all that is"
            " known.",
            show_default=USUAL_WORDS,
            rich_help_panel=_PROMPTS,
        ),
    ] = None
    examples: Annotated[int | None, _of_prompts("examples", "Examples in a prompt, at most.")] = (
        None
    )
    retrieval: Annotated[
        Retrieval | None,
        _of_prompts(
            "retrieval",
            "Examples in a prompt: a transition's best, or those that began with code nearest to"
            " the present one.",
        ),
    ] = None
    show: Annotated[Shown | None, _of_prompts("show", "What a prompt shows of an example.")] = None
    contrast: Annotated[
        int | None, _of_prompts("contrast", "Measured variants that a prompt contrasts.")
    ] = None
    known_failures: Annotated[
        int | None,
        _of_prompts("known_failures", "Known failures of a transition that a prompt warns of."),
    ] = None
    verdict: Annotated[
        Told | None,
        _of_prompts(
            "verdict", "Who tells what a right step did: marks in its code, or the model, too."
        ),
    ] = None

    runs: Annotated[Path, typer.Option(help="Folder for traces.", rich_help_panel=_OUTPUT)] = Path(
        "runs"
    )
    prompt: Annotated[
        bool,
        typer.Option(
            "--prompt",
            help="With --dry-run: print the first prompt, too.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False


def takes_options(command: Callable[[Options], None]) -> Callable[..., None]:
    """`command` as typer wants it: with a parameter for each field of `Options`."""

    @wraps(command)
    def typed(**values: Any) -> None:
        command(Options(**values))

    vars(typed)["__signature__"] = inspect.signature(Options)
    typed.__annotations__ = dict(Options.__annotations__)
    return typed
