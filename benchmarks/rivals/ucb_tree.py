"""What `ucb` remembers: code on the path, statistics on path and graph edge.

A state is a node of a trie of technique sequences: the same technique twice on a path, or reached
by two paths, is two states. Gains are natural logarithms of speedups.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from regraph_kg.models.technique import Technique


@dataclass(slots=True, eq=False)
class Edge:
    """A pair of techniques in this run, shared by all paths: prior q0, n_e and W_e."""

    prior: float
    n: int = 0
    total: float = 0.0


@dataclass(slots=True, eq=False)
class Action:
    """A technique that may be applied to a state's code: n, W, M, o and the samples.

    `samples[k]` is the state that sample k led to, None where it failed; there is no entry before
    it has ended.
    """

    technique: Technique
    edge: Edge
    n: int = 0
    total: float = 0.0
    best: float = -math.inf
    under_way: int = 0
    """o: iterations that pass here and have not ended."""
    taken: int = 0
    """Samples begun."""
    samples: dict[int, "State | None"] = field(default_factory=dict)
    answered: bool = True
    """False once there was no answer, or it does not apply: no further samples."""

    def may_sample(self, limit: int) -> bool:
        """Whether another sample is allowed: fewer than `limit` (m) so far, all of them tried."""
        return self.answered and self.taken < limit

    def open_children(self) -> list["State"]:
        """States that samples led to and that can still be extended, in sample order."""
        ended = (self.samples[number] for number in sorted(self.samples))
        return [state for state in ended if state is not None and state.open]

    def is_open(self, limit: int) -> bool:
        """Not closed: may be sampled, or has an open child."""
        return self.may_sample(limit) or bool(self.open_children())


@dataclass(slots=True, eq=False)
class State:
    """Verified code at the end of a path; `log_speedup` is x(p), 0 at the start.

    `technique` is what the last step did, as far as is known; `path` is what was asked for.
    """

    technique: str
    path: tuple[str, ...]
    code: str
    log_speedup: float
    actions: tuple[Action, ...] = ()
    """In the neighbourhood's order, which breaks ties."""
    parent: "State | None" = None
    n: int = 0
    edge: Edge | None = None
    """What the step here teaches: the edge it took, which need not be the one it was asked to take;
    None at the start, and where the step is known to have taken no edge that has a name."""
    open: bool = False
    """Something may be begun here or below now: what is under way may open a state again."""

    @property
    def under_way(self) -> int:
        """o(p): iterations that pass here and have not ended."""
        return sum(action.under_way for action in self.actions)

    def open_actions(self, limit: int) -> list[Action]:
        """Actions that are not closed at `limit` (m) samples each."""
        return [action for action in self.actions if action.is_open(limit)]

    def refresh_upwards(self, limit: int) -> None:
        """See anew whether this state and those above it are open."""
        state: State | None = self
        while state is not None:
            state.open = any(action.is_open(limit) for action in state.actions)
            state = state.parent


@dataclass(slots=True)
class Tree:
    """The trie and the edges of one run; `start` exists once the search has begun."""

    start: State | None = None
    edges: dict[tuple[str, str], Edge] = field(default_factory=dict)

    def states(self) -> Iterator[State]:
        """Every state, parents before children, in the order of actions and samples."""
        waiting = [self.start]
        while waiting:
            state = waiting.pop()
            if state is not None:
                yield state
                children = [
                    action.samples[number]
                    for action in state.actions
                    for number in sorted(action.samples)
                ]
                waiting += reversed(children)
