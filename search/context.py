"""What every method is built from, and what a method is."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.graph import Example, FreeChoice, Neighbourhood
from regraph_kg.models.method import Prompting
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import Technique, free_id
from regraph_kg.search.ask import Request
from regraph_kg.search.effects import Effects
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.render import Adviser, free_advice
from regraph_kg.search.propose import Proposer


@dataclass(frozen=True, slots=True)
class Context:
    """What all methods share, bound to one run."""

    task: Task
    rng: random.Random
    ledger: Ledger
    proposer: Proposer
    adviser: Adviser
    neighbours: Callable[[str], Neighbourhood]
    """Technique id -> its successors; fixed for the run."""
    prompting: Prompting
    nearest: Callable[[str], tuple[Example, ...]]
    """Code -> the examples nearest to it, whatever their transition; none without embeddings."""
    free: Callable[[], FreeChoice]
    """What is known of this model's free choices on other problems; fixed for the run."""

    def free_request(self, source: str, path: tuple[str, ...], attempt: int, code: str) -> Request:
        """What leaves it to the model how to make `code` faster, which `source` led to."""
        name = free_id(self.task.target)
        return Request(path, None, attempt, code, free_advice(), source=source, free=name)

    def request(
        self, source: str, path: tuple[str, ...], technique: Technique, attempt: int, code: str
    ) -> Request:
        """What asks to apply `technique`, a successor of `source`, to `code` at the end of `path`.

        The other successors are what it may do instead.
        """
        successors = self.neighbours(source).successors
        others = tuple(one.technique for one in successors if one.technique.id != technique.id)
        advice = self.adviser(source, technique, code)
        return Request(path, technique, attempt, code, advice, others, source)


@dataclass(frozen=True, slots=True)
class Iteration:
    """What an iteration bought and learned; `reward` is None where it tried nothing."""

    path: tuple[str, ...]
    """Of its selected path, the first new sample included."""
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
