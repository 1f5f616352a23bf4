"""The public functions and values for programs: `from regraph_kg import open_graph`."""

from regraph_kg.api.graph import Graph, open_graph
from regraph_kg.api.judge import CodeJudge, evaluate, load_problem
from regraph_kg.api.searches import optimize
from regraph_kg.errors import BadInput, Environment, RegraphError
from regraph_kg.evaluation.compare import Comparison
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.models.evaluation import EvalReport, Outcome, Rivalry
from regraph_kg.models.graph import Example, KnownFailure
from regraph_kg.models.next_steps import NextSteps, SuggestedStep, UnfitStep
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
    "Example",
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
    "SuggestedStep",
    "Technique",
    "UnfitStep",
    "evaluate",
    "load_problem",
    "open_graph",
    "optimize",
    "read_settings",
]
