"""One prompt a sample until the budget is spent, no graph, no repair: the best of n counts."""

import random
from collections.abc import Iterator

from regraph_kg.errors import AnswersPending
from regraph_kg.models.run import SimulationRecord, Task
from regraph_kg.search.prompt import free_advice
from regraph_kg.search.propose import Proposer, Request
from regraph_kg.search.record import Recorder
from regraph_kg.search.state import Budget
from regraph_kg.search.world import World


def search(
    task: Task, world: World, *, budget: Budget, rng: random.Random
) -> Iterator[SimulationRecord]:
    """One record a sample; ends early where a recorded model has no further answer.

    Where an answer is to come by file (`AnswersPending`), it first asks for all the others.
    """
    proposer = Proposer(task, world, budget, run=rng.getrandbits(32), repairs=0)
    recorder = Recorder()
    advice = free_advice()
    pending: AnswersPending | None = None
    while budget.left:
        request = Request(
            path=(), technique=None, attempt=budget.spent, code=task.serial, advice=advice
        )
        try:
            step = proposer.sample(request)
        except AnswersPending as missing:
            pending = pending or missing
            budget.spent += 1
            continue
        if pending is not None:
            continue
        reward = step.speedup or 0.0 if step.outcome is not None else None
        yield recorder.record([step], reward, budget.spent)
        if step.outcome is None:
            return
    if pending is not None:
        raise pending
