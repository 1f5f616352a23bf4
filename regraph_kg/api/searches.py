"""A search for programs.

found = optimize("density/", model="ollama:qwen2.5-coder:7b", hear=print)
print(found.summary.speedup, found.summary.best_path)
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from regraph_kg.models.run import SimulationRecord
from regraph_kg.models.target import USUAL, Target
from regraph_kg.runs.choice import DEFAULT_METHOD, usual_choice
from regraph_kg.runs.search import FinishedRun, open_run
from regraph_kg.settings import Settings, read_settings


def optimize(  # noqa: PLR0913 (options, all by name, each with its default)
    problem: str | Path,
    *,
    model: str | None = None,
    target: Target = USUAL,
    method: str | None = None,
    budget: int | None = None,
    fast: bool = False,
    folder: Path = Path("runs"),
    hear: Callable[[SimulationRecord], object] | None = None,
    settings: Settings | None = None,
) -> FinishedRun:
    """Search for a faster version of `problem` (a folder, or a shipped one's name).

    As `regraph optimize`: the trace goes to `folder`, at most `budget` verdicts are spent, and the
    best code is measured again in fresh processes. `hear` gets every record as it comes; what it
    raises ends the search, whose trace `regraph optimize --resume` goes on with. `BadInput` for a
    problem, model or method that is none, `Environment` where model or compiler cannot be had.
    """
    used = settings or read_settings(model=model)
    choice = usual_choice(
        str(problem), model or used.model, method=method or DEFAULT_METHOD, fast=fast
    )
    choice = replace(choice, target=target)
    if budget is not None:
        choice = replace(choice, limits=choice.limits.model_copy(update={"verdicts": budget}))
    with open_run(used, choice, folder) as run:
        for record in run.records():
            if hear is not None:
                hear(record)
        ended = run.finish()
    run.publish()
    return ended
