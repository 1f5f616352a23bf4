"""Assembles a run of a method."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from regraph_kg.models.run import RunHeader, SimulationRecord, Task
from regraph_kg.models.technique import start_id
from regraph_kg.search.context import Context, Method
from regraph_kg.search.driver import Driver, Executor
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.prompts.adviser import Adviser
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.propose import Proposer
from regraph_kg.search.start import alone, started
from regraph_kg.search.successors import Successors
from regraph_kg.search.world import World


def begin(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Method:
    """The method that `header` names, at its beginning."""
    return kind_of(header.method).begin(context(task, header, world, ledger), header.settings)


def context(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Context:
    """The context of a run's method."""
    rng = random.Random(header.seed)
    if header.prompting.machine:
        task = replace(task, machine=header.machine)
    failures = KnownFailures(world.failures, header.prompting.known_failures)
    proposer = Proposer(task, rng.getrandbits(32), header.prompting, ledger, failures)
    return Context(
        task=task,
        rng=rng,
        ledger=ledger,
        proposer=proposer,
        adviser=Adviser(world.examples, failures, header.prompting, header.device),
        prompting=header.prompting,
        graph=Successors(
            cache(world.neighbours),
            cache(world.pooled),
            start_id(header.target),
            small=header.prompting.prefill,
        ),
        nearest=cache(world.nearest),
        device=header.device,
    )


def search(
    task: Task, header: RunHeader, world: World, executor: Executor, ledger: Ledger | None = None
) -> Iterator[SimulationRecord]:
    """The search that `header` names, from its beginning; its records as iterations end."""
    ledger = Ledger(header.limits) if ledger is None else ledger
    task, first = alone(started(task, ledger), executor)
    ledger.seconds = executor.seconds()
    method = begin(task, header, world, ledger)
    return Driver(method, executor, ledger, header.parallel, first).run()
