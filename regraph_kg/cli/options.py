"""The options of `regraph optimize`: name, type, default and help of each.

Rare settings are set by --set: those of the method, of `RunDetails`,
`SearchLimits` and `Prompting`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from regraph_kg.cli.completion import complete_problem
from regraph_kg.cli.parameters import Json, argument, option
from regraph_kg.models.base import Frozen
from regraph_kg.models.run import FinalGrade
from regraph_kg.models.target import NEEDS, USUAL, Target
from regraph_kg.runs.choice import (
    BUDGET,
    BY_FILE_PARALLEL,
    DEFAULT_METHOD,
    FAST_LIMITS,
)
from regraph_kg.search.methods import method_names

if TYPE_CHECKING:
    MethodName = str
else:
    MethodName = Literal[method_names()]  # the modules of search/methods/


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The command line as typed; None where an option was left out."""

    problems: Annotated[
        list[str],
        argument(
            "Folders of problems, names of the corpus, or a C++ file with --function.",
            metavar="PROBLEM",
            autocompletion=complete_problem,
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
            metavar="recorded|ollama:NAME|openai:NAME|batch:FOLDER",
            show_default="recorded",
        ),
    ] = None
    target: Annotated[Target | None, option(NEEDS, show_default=USUAL)] = None
    method: Annotated[
        MethodName | None,
        option(
            "How calls are spent: see below, and regraph docs methods.", show_default=DEFAULT_METHOD
        ),
    ] = None
    budget: Annotated[
        int | None, option("Calls of the model for code, at most.", show_default=str(BUDGET))
    ] = None
    fast: Annotated[
        bool,
        option(
            f"A minute and {FAST_LIMITS['calls']} calls, short prompts, the best screened again."
        ),
    ] = False
    parallel: Annotated[
        int | None,
        option(
            "Calls of the model at once, at most; several problems share them.",
            show_default=f"1; by file {BY_FILE_PARALLEL}, a quarter of --budget at most",
        ),
    ] = None
    resume: Annotated[
        Path | None, option("Go on with an interrupted run, as it was.", metavar="TRACE")
    ] = None
    output: Annotated[
        Path | None,
        option(
            "Where the best code goes; a folder for several problems.",
            show_default="beside the trace",
        ),
    ] = None
    learn: Annotated[bool, option("Add what was found to the graph (regraph learn).")] = False
    dry_run: Annotated[bool, option("Only say what would be sent, and what it may cost.")] = False
    starter: Annotated[
        bool | None,
        option(
            "Load the starter graph into an embedded store that is empty.",
            show_default="asked on a terminal",
        ),
    ] = None
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

    seed: int | None = None
    """Seed of everything random."""
    final: FinalGrade | None = None
    """How the best three are measured again."""
    include_own: bool | None = None
    """Whether the search reads this problem's own examples."""
    judge: Path | None = None
    """A trace whose verdicts are replayed; nothing is evaluated."""
    verbose: bool = False
    """A line for every call, not only for a new best."""
    prompt: bool = False
    """Print the first prompt with --dry-run."""


def takes_options(command: Callable[[Options], None]) -> Callable[..., None]:
    """`command` as typer wants it: with a parameter for each field of `Options`."""

    @wraps(command)
    def typed(**values: Any) -> None:
        command(Options(**values))

    vars(typed)["__signature__"] = inspect.signature(Options)
    typed.__annotations__ = dict(Options.__annotations__)
    return typed
