"""One prompt a sample until the budget is spent, no graph, no repair: the best of n counts."""

import random
from collections.abc import Iterator

from regraph_kg.models.run import SimulationRecord, Task
from regraph_kg.search.prompt import free_advice
from regraph_kg.search.propose import Proposer, Request
from regraph_kg.search.record import Recorder
from regraph_kg.search.state import Budget
from regraph_kg.search.world import World


def search(
    task: Task, world: World, *, budget: Budget, rng: random.Random
) -> Iterator[SimulationRecord]:
    """One record a sample; ends early where a recorded model has no further answer."""
    proposer = Proposer(task, world, budget, run=rng.getrandbits(32), repairs=0)
    recorder = Recorder()
    advice = free_advice()
    while budget.left:
        request = Request(
            path=(), technique=None, attempt=budget.spent, code=task.serial, advice=advice
        )
        step = proposer.sample(request)
        reward = step.speedup or 0.0 if step.outcome is not None else None
        yield recorder.record([step], reward, budget.spent)
        if step.outcome is None:
            return
