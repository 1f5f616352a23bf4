"""The parts of every method, and the protocol of a method."""

import random
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.graph import Successor
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import Technique, free_id, start_id
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.sample import Proposer, Request
from regraph_kg.search.successors import Successors
from regraph_kg.search.transform.apart import Result
from regraph_kg.search.world import Effects


@dataclass(frozen=True, slots=True)
class Context:
    """The parts that all methods share, bound to one run."""

    task: Task
    rng: random.Random
    ledger: Ledger
    proposer: Proposer
    graph: Successors  # the successors of a technique at a code; fixed for the run

    def successors(self, technique: str, code: str) -> tuple[Successor, ...]:
        """The successors that may apply to `code`, which `technique` led to."""
        offers = self.graph.after(technique, code, self.task.entry)
        return tuple(offer.successor for offer in offers.fitting or offers.claimed)

    def walks_from(self, technique: str) -> str:
        """The technique whose successors follow: the start's after a free choice."""
        # a free choice is of no transition: what is still open is what the start leads to
        target = self.task.target
        return start_id(target) if technique == free_id(target) else technique

    def request(
        self,
        source: str,
        path: tuple[str, ...],
        technique: Technique,
        attempt: int,
        code: str,
        made: Result | None,
    ) -> Request:
        """A request to apply `technique`, a successor of `source`, to `code` at the end of `path`.

        The other successors are what it may do instead.
        """
        offered = self.successors(source, code)
        others = (other.technique for other in offered)
        alternatives = tuple(other for other in others if other.id != technique.id)
        return Request(path, technique, attempt, code, alternatives, made=made)


@dataclass(frozen=True, slots=True)
class Iteration:
    """The result of an iteration; `reward` is None where it tried nothing."""

    path: tuple[str, ...]  # the selected path, with the first new sample
    steps: tuple[StepRecord, ...]
    reward: float | None


class Method(Protocol):
    """A way to spend calls."""

    def iteration(self) -> Effects[Iteration] | None:
        """Begin an iteration, while others may be under way. Asked only while calls are left.

        None: nothing can be begun before one of these ends; if there is none, the search is over.
        An iteration asks for at least one call, or leaves less to try than there was. What no other
        one may take, such as an attempt's number, is taken before the first effect.
        """
