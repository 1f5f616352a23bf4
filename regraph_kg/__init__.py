"""regraph-kg: a graph of optimization techniques that a small model walks.

The names of `__all__` are for programs (docs/python.md); each is loaded when it is first used, so
that importing this package loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regraph_kg.api.graph import Graph, open_graph
    from regraph_kg.api.judge import CodeJudge, evaluate, load_problem
    from regraph_kg.api.searches import optimize
    from regraph_kg.errors import BadInput, Environment, RegraphError
    from regraph_kg.evaluation.compare import Comparison
    from regraph_kg.evaluation.problem.problem import Problem
    from regraph_kg.evaluation.problem.project import ProjectProblem
    from regraph_kg.models.evaluation import EvalReport, Outcome
    from regraph_kg.models.graph import KnownFailure
    from regraph_kg.models.next_steps import NextSteps, StepExample, SuggestedStep, UnfitStep
    from regraph_kg.models.run import RunSummary, SimulationRecord
    from regraph_kg.models.technique import Technique
    from regraph_kg.runs.search import FinishedRun
    from regraph_kg.settings import Settings, read_settings

__all__ = [
    "BadInput",
    "CodeJudge",
    "Comparison",
    "Environment",
    "EvalReport",
    "FinishedRun",
    "Graph",
    "KnownFailure",
    "NextSteps",
    "Outcome",
    "Problem",
    "ProjectProblem",
    "RegraphError",
    "RunSummary",
    "Settings",
    "SimulationRecord",
    "StepExample",
    "SuggestedStep",
    "Technique",
    "UnfitStep",
    "evaluate",
    "load_problem",
    "open_graph",
    "optimize",
    "read_settings",
]

_HOME = {
    "BadInput": "errors",
    "CodeJudge": "api.judge",
    "Comparison": "evaluation.compare",
    "Environment": "errors",
    "EvalReport": "models.evaluation",
    "FinishedRun": "runs.search",
    "Graph": "api.graph",
    "KnownFailure": "models.graph",
    "NextSteps": "models.next_steps",
    "Outcome": "models.evaluation",
    "Problem": "evaluation.problem.problem",
    "ProjectProblem": "evaluation.problem.project",
    "RegraphError": "errors",
    "RunSummary": "models.run",
    "Settings": "settings",
    "SimulationRecord": "models.run",
    "StepExample": "models.next_steps",
    "SuggestedStep": "models.next_steps",
    "Technique": "models.technique",
    "UnfitStep": "models.next_steps",
    "evaluate": "api.judge",
    "load_problem": "api.judge",
    "open_graph": "api.graph",
    "optimize": "api.searches",
    "read_settings": "settings",
}
"""Module of each name."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
