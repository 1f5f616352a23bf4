"""regraph-kg: a graph of optimization techniques that a small model walks.

The names of `__all__` are for programs (docs/python.md).
"""

from typing import TYPE_CHECKING, Any

# ruff: noqa: F405 (what type checkers read is a star import, so that each name is listed once)
if TYPE_CHECKING:
    from regraph_kg.api.names import *  # noqa: F403

__all__ = [
    "BadInput",
    "CodeJudge",
    "Environment",
    "EvalReport",
    "Example",
    "FinishedRun",
    "Graph",
    "NextSteps",
    "Outcome",
    "Problem",
    "ProjectProblem",
    "RegraphError",
    "Rivalry",
    "RunSummary",
    "Settings",
    "SimulationRecord",
    "SuggestedStep",
    "Technique",
    "UnfitStep",
    "evaluate",
    "load_problem",
    "open_graph",
    "optimize",
    "read_settings",
]


def __getattr__(name: str) -> Any:
    """A name for programs, at its first use.

    Together they take half a second to load (the judge brings numpy), and each module of this
    package imports this one first.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import regraph_kg.api.names as names  # noqa: PLC0415, PLR0402 (`from` would ask this function)

    return getattr(names, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
