"""The public functions and values for programs: `from regraph_kg import open_graph`.

Each is imported under its own name, which tells type checkers that it is public.
"""

# ruff: noqa: PLC0414 (a name under its own name is public for type checkers)
from regraph_kg.api.graph import Graph as Graph
from regraph_kg.api.graph import open_graph as open_graph
from regraph_kg.api.judge import CodeJudge as CodeJudge
from regraph_kg.api.judge import evaluate as evaluate
from regraph_kg.api.judge import load_problem as load_problem
from regraph_kg.api.searches import optimize as optimize
from regraph_kg.errors import BadInput as BadInput
from regraph_kg.errors import Environment as Environment
from regraph_kg.errors import RegraphError as RegraphError
from regraph_kg.evaluation.problem.problem import Problem as Problem
from regraph_kg.models.evaluation import EvalReport as EvalReport
from regraph_kg.models.evaluation import Outcome as Outcome
from regraph_kg.models.evaluation import Rivalry as Rivalry
from regraph_kg.models.graph import Example as Example
from regraph_kg.models.next_steps import NextSteps as NextSteps
from regraph_kg.models.next_steps import SuggestedStep as SuggestedStep
from regraph_kg.models.next_steps import UnfitStep as UnfitStep
from regraph_kg.models.run import RunSummary as RunSummary
from regraph_kg.models.run import SimulationRecord as SimulationRecord
from regraph_kg.models.technique import Technique as Technique
from regraph_kg.runs.search import FinishedRun as FinishedRun
from regraph_kg.settings import Settings as Settings
from regraph_kg.settings import read_settings as read_settings

NAMES = sorted(name for name in globals() if name[0] != "_")
