"""Every method by its name, and how a run of one is put together. A new method is one line here."""

import random
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from regraph_kg.models.method import MethodName as Name
from regraph_kg.models.run import RunHeader, SimulationRecord, Task
from regraph_kg.search.context import Method, Parts
from regraph_kg.search.driver import Crew, Driver
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.cot import Cot
from regraph_kg.search.methods.fsr import Fsr
from regraph_kg.search.methods.greedy import Greedy
from regraph_kg.search.methods.mcgs import Mcgs
from regraph_kg.search.methods.mcts_rag import MctsRag
from regraph_kg.search.methods.paper import Paper
from regraph_kg.search.methods.rag import Rag
from regraph_kg.search.methods.regrapht import ReGraphT
from regraph_kg.search.methods.rethink import Rethink
from regraph_kg.search.methods.standard import Standard
from regraph_kg.search.methods.thompson import Thompson
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.prompts.render import Adviser
from regraph_kg.search.propose import Proposer
from regraph_kg.search.world import World

METHODS: Mapping[Name, Callable[[Parts, Any], Method]] = {
    "mcgs": Mcgs,
    "mcgs-paper": Paper,
    "standard": Standard,
    "cot": Cot,
    "rag": Rag,
    "fsr": Fsr,
    "regrapht": ReGraphT,
    "greedy-graph": Greedy,
    "thompson": Thompson,
    "mcts-rag": MctsRag,
    "rethink-mcts": Rethink,
}


def begin(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Method:
    """The method that `header` names, at its beginning."""
    return METHODS[header.method](parts(task, header, world, ledger), header.settings)


def parts(task: Task, header: RunHeader, world: World, ledger: Ledger) -> Parts:
    """What the method of a run is built from."""
    rng = random.Random(header.seed)
    known = KnownFailures(world.failures, header.prompting.known_failures)
    proposer = Proposer(task, rng.getrandbits(32), header.prompting, ledger, known)
    return Parts(
        task=task,
        rng=rng,
        ledger=ledger,
        proposer=proposer,
        adviser=Adviser(world.examples, known, header.prompting),
        prompting=header.prompting,
        neighbours=cache(world.neighbours),
        nearest=cache(world.nearest),
    )


def search(
    task: Task, header: RunHeader, world: World, crew: Crew, ledger: Ledger | None = None
) -> Iterator[SimulationRecord]:
    """The search that `header` names, from its beginning; its records as iterations end."""
    ledger = Ledger(header.limits) if ledger is None else ledger
    return Driver(begin(task, header, world, ledger), crew, ledger, header.parallel).run()
