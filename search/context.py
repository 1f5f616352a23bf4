"""The parts of every method, and the protocol of a method."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.graph import Example, Successor
from regraph_kg.models.method import Prompting
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import Technique, free_id, start_id
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.adviser import Adviser
from regraph_kg.search.prompts.parts import Advice
from regraph_kg.search.prompts.render import free_advice, rag_advice
from regraph_kg.search.sample import Proposer, Request
from regraph_kg.search.successors import Successors
from regraph_kg.search.world import Effects


@dataclass(frozen=True, slots=True)
class Context:
    """The parts that all methods share, bound to one run."""

    task: Task
    rng: random.Random
    ledger: Ledger
    proposer: Proposer
    adviser: Adviser
    graph: Successors  # the successors of a technique at a code; fixed for the run
    prompting: Prompting
    nearest: Callable[[str], tuple[Example, ...]]
    """Code -> the examples nearest to it, whatever their transition; none without embeddings."""
    device: str  # the device of this run's measurements

    def successors(self, technique: str, code: str) -> tuple[Successor, ...]:
        """The successors that may apply to `code`, which `technique` led to."""
        offers = self.graph.after(technique, code, self.task.entry)
        return tuple(offer.successor for offer in offers.fitting or offers.claimed)

    def walks_from(self, technique: str) -> str:
        """The technique whose successors follow: the start's after a free choice."""
        # a free choice is of no transition: what is still open is what the start leads to
        target = self.task.target
        return start_id(target) if technique == free_id(target) else technique

    def nearest_advice(self, code: str) -> Advice:
        """Advice with the examples nearest to `code`, of any transition: one at least."""
        # with none this method would ask as `standard` does, under another name
        shown = max(1, self.prompting.examples)
        prompting = self.prompting.model_copy(update={"examples": shown})
        return rag_advice(self.nearest(code), prompting, code, self.device)

    def free_request(self, source: str, path: tuple[str, ...], attempt: int, code: str) -> Request:
        """A request that lets the model choose how to make `code` faster, which `source` led to."""
        name = free_id(self.task.target)
        return Request(path, None, attempt, code, free_advice(), source=source, free=name)

    def request(
        self,
        source: str,
        path: tuple[str, ...],
        technique: Technique,
        attempt: int,
        code: str,
        *,
        part: bool = False,
    ) -> Request:
        """A request to apply `technique`, a successor of `source`, to `code` at the end of `path`.

        The other successors are what it may do instead. Where the graph did not see it follow
        `source`, its examples are those after the technique that it followed most. `part`: only the
        first of its smaller steps is asked for.
        """
        offered = self.successors(source, code)
        others = (other.technique for other in offered)
        alternatives = tuple(other for other in others if other.id != technique.id)
        follows = any(
            successor.technique.id == technique.id
            for successor in self.graph.neighbours(source).successors
        )
        seen = {} if follows else {one.technique.id: one.after for one in self.graph.pooled()}
        after = seen.get(technique.id) or source
        # the recipe is what a small model is told: its first part stands in its place
        if part:
            technique = technique.model_copy(update={"recipe": technique.steps[0]})
        # examples live on transitions: one that the graph never saw has none of its own
        advice = self.adviser(after, technique, code)
        return Request(path, technique, attempt, code, advice, alternatives, source, part=part)


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
