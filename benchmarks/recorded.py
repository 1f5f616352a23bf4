"""The corpus' problems as searches replay them: recorded answers, and verdicts taken before.

The verdicts are those of benchmarks/verdicts.py, so that thousands of searches cost no compiler and
no clock, and are the same everywhere. Not covered: codes that are not in that table (`KeyError`).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.made_up import verdict
from benchmarks.taught import Graph, Problem
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome, code_hash
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.wiring.problems import task_of
from tests.corpus.corpus import CORPUS, trajectories, vocabulary

RESULTS = Path(__file__).parent / "results"


@cache
def table() -> dict[str, Any]:
    """The figures of benchmarks/verdicts.py; the last machine's, if there are several."""
    *_, file = sorted(RESULTS.glob("verdicts-*.json"))
    figures: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["figures"]
    return figures


def names() -> tuple[str, ...]:
    """The problems whose answers were all judged."""
    return tuple(row["problem"] for row in table()["rows"])


def problem(name: str) -> Problem:
    """One of the corpus, target openmp."""
    told = load_problem(CORPUS / "problems" / name)
    task = task_of(told, "openmp")
    model = ScriptedModel.read(CORPUS / "recorded", name, "openmp")
    device, known = table()["device"], table()["verdicts"]

    def judge(candidate: Candidate) -> EvalReport:
        outcome, speedup = known[f"{name} {code_hash(candidate.code)}"]
        report = verdict(name, candidate, speedup).model_copy(update={"device": device})
        return report if speedup else report.model_copy(update={"outcome": Outcome(outcome)})

    def complete(prompt: Prompt) -> Reply:
        walks = isinstance(prompt.key, PromptKey) and prompt.key.path  # verdicts are of these alone
        return model.complete(prompt) if walks else Reply(text="", finish="unrecorded")

    return Problem(task, device, complete, judge)


def graph(*without: str, measured: bool) -> Graph:
    """The corpus' graph without some problems; `measured`: with what the corpus measured."""
    given = [
        trajectory if measured else unmeasured(trajectory)
        for trajectory in trajectories()
        if trajectory.target == "openmp" and trajectory.problem not in without
    ]
    techniques = {one.id: one for one in vocabulary().known.values()}
    return Graph(techniques).told(given)


def unmeasured(one: Trajectory) -> Trajectory:
    """What it shows, and nothing of how that came out."""
    steps = tuple(step.model_copy(update={"measurements": ()}) for step in one.steps)
    return one.model_copy(update={"steps": steps, "failures": ()})
