"""Tree search over thoughts; one whose code fails or is not faster is rewritten.

After Li et al., RethinkMCTS, arXiv 2409.09584. A node is a thought and the verified code that came
of it; the root is the serial code. An expansion asks for a thought about the node's code, and then
for code along it. Where that fails, or is not faster than the node's code, the model rewrites the
thought from the diagnosis or the measured speedup: at most `rethinks` times. The fastest verified
code of these rounds becomes a child, its thought with it.

A node with fewer than `width` thoughts is expanded; else its open child with the largest bound of
uct.py is entered; without one it is expanded on. Ours, as code has speeds and not only tests: what
is not faster is rethought too, and the best round stays, not the last one. The model's own opinion
of its code counts for nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.prompts.examples import short
from regraph_kg.search.prompts.render import (
    FailedAnswer,
    free_advice,
    rethink_parts,
    thought_advice,
    thought_parts,
)
from regraph_kg.search.sample import Request
from regraph_kg.search.uct import Visits, level_reward
from regraph_kg.search.world import Effects


class RethinkSettings(MethodSettings):
    """Tree search over thoughts; a failed one is rewritten."""

    method: Literal["rethink-mcts"] = "rethink-mcts"
    exploration: float = Field(default=1.0, ge=0)
    """Weight of the bonus for what was tried little."""
    rethinks: int = Field(default=2, ge=0)
    """Times that one thought is rewritten, at most."""
    width: int = Field(default=3, ge=1)
    """Thoughts a node."""
    depth: int = Field(default=5, ge=1)
    """Versions on the way from the serial code, at most."""


# Characters of a thought that a later prompt tells of.
LONGEST_THOUGHT = 300
# Thoughts about a node's code, the latest ones, of which the next prompt tells.
REMEMBERED = 6


@dataclass(slots=True, eq=False)
class _Node:
    """A thought's verified code; `level` is the log of its speedup."""

    thought: str
    code: str
    level: float
    depth: int
    may_grow: bool
    """False at the depth's end, and once a recorded model had no answer."""
    visits: Visits = field(default_factory=Visits)
    children: list["_Node"] = field(default_factory=list)
    expanded: int = 0
    """Expansions begun."""
    history: list[str] = field(default_factory=list)
    """The thoughts about this code, each with its result."""

    @property
    def open(self) -> bool:
        """Whether it or a node below may be expanded."""
        return self.may_grow or any(child.open for child in self.children)

    def grows(self, width: int) -> bool:
        """Whether an open node is expanded, and not entered further."""
        few = self.expanded < width or not any(child.open for child in self.children)
        return self.may_grow and few


class Rethink:
    """One search; an iteration is one expansion, its reward the level reached (uct.py)."""

    def __init__(self, context: Context, settings: RethinkSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self._root = self._node("", context.task.start, 0.0, 0)
        self._codes = count()

    def iteration(self) -> Effects[Iteration] | None:
        """A path down the tree, and an expansion at its end (see `Method`)."""
        if not self._root.open:
            return None
        way = [self._root]
        while not way[-1].grows(self._settings.width):
            way.append(self._choose(way[-1]))
        # counted at once, so that a parallel iteration goes another way
        for node in way:
            node.visits.begin()
        way[-1].expanded += 1
        return self._expand(way)

    def _choose(self, node: _Node) -> _Node:
        return max(
            (child for child in node.children if child.open),
            key=lambda child: child.visits.bound(node.visits.all, self._settings.exploration),
        )

    def _expand(self, way: Sequence[_Node]) -> Effects[Iteration]:
        """Rounds on the last node of `way`; all of `way`, and the child, learn the reward."""
        node = way[-1]
        rounds = yield from self._rounds(node)
        if rounds and rounds[-1][1].fell:
            _take_back(way)
        paid = [
            (thought, step)
            for thought, step in rounds
            if step.outcome is not None and not step.fell
        ]
        reward = max((level_reward(step.speedup) for _, step in paid), default=None)
        for ancestor in way:
            ancestor.visits.end(reward)
        # the best round stays, for a later one may have spoilt it
        best = max(paid, key=lambda attempt: attempt[1].speedup or 0.0, default=None)
        if best is not None and best[1].speedup is not None and best[1].code is not None:
            thought, speedup = best[0], best[1].speedup
            child = self._node(thought, best[1].code, math.log(speedup), node.depth + 1)
            child.visits = Visits(n=1, total=level_reward(speedup))
            node.children.append(child)
        return Iteration((), tuple(step for _, step in rounds), reward)

    def _rounds(self, node: _Node) -> Effects[list[tuple[str, StepRecord]]]:
        """A thought and code along it, and again while that fails and calls are left."""
        # a thought that fails is worth another try before the node is given up
        rounds = list[tuple[str, StepRecord]]()
        task, think = self._context.task, self._context.proposer.think
        thought = yield from think(
            thought_parts(task, node.code, "\n".join(node.history[-REMEMBERED:]))
        )
        while thought is not None and self._context.ledger.left > 0:
            advice = thought_advice(thought) if thought else free_advice()
            request = Request((), None, next(self._codes), node.code, advice)
            step = yield from self._context.proposer.sample(request)
            rounds.append((thought, step))
            if step.outcome is None or step.fell:
                break
            node.history.append(f"- {short(thought, LONGEST_THOUGHT)}: {_feedback(node, step)}")
            # what is right but no faster is rethought, too: code has speeds, not only tests
            enough = len(rounds) > self._settings.rethinks or self._context.ledger.left <= 0
            if enough or math.log(step.speedup or 1e-9) > node.level:
                break
            failure = FailedAnswer(step.outcome, _feedback(node, step), step.code)
            thought = yield from think(rethink_parts(task, node.code, thought, failure))
        unrecorded = rounds[0][1].outcome is None if rounds else thought is None
        node.may_grow = node.may_grow and not unrecorded
        return rounds

    def _node(self, thought: str, code: str, level: float, depth: int) -> _Node:
        return _Node(thought, code, level, depth, may_grow=depth < self._settings.depth)


def _take_back(way: Sequence[_Node]) -> None:
    """The code of the last node of `way` failed its screening: it leads nowhere."""
    node = way[-1]
    # another expansion may have waited for the same screening
    if node in way[-2].children:
        way[-2].children.remove(node)
        for visited in way:
            visited.visits.take_back(level_reward(math.exp(node.level)))


def _feedback(node: _Node, step: StepRecord) -> str:
    """Feedback on code for `node`: its diagnosis or its speed."""
    if step.speedup is None:
        return step.diagnosis or str(step.outcome)
    return f"right, and {step.speedup / math.exp(node.level):.2f} times as fast as the current code"
