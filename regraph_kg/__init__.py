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
    from regraph_kg.models.evaluation import EvalReport, Outcome, Rivalry
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
    "Rivalry",
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

_NAMES = {
    "api.graph": "Graph open_graph",
    "api.judge": "CodeJudge evaluate load_problem",
    "api.searches": "optimize",
    "errors": "BadInput Environment RegraphError",
    "evaluation.compare": "Comparison",
    "evaluation.problem.problem": "Problem",
    "evaluation.problem.project": "ProjectProblem",
    "models.evaluation": "EvalReport Outcome Rivalry",
    "models.graph": "KnownFailure",
    "models.next_steps": "NextSteps StepExample SuggestedStep UnfitStep",
    "models.run": "RunSummary SimulationRecord",
    "models.technique": "Technique",
    "runs.search": "FinishedRun",
    "settings": "Settings read_settings",
}
"""Names by their modules."""


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
