"""Tree search over thoughts; one whose code fails or is not faster is rewritten.

After Li et al., RethinkMCTS, arXiv 2409.09584. A node is a thought and the verified code that came
of it; the root is the serial code. An expansion asks for a thought about the node's code, told what
the thoughts so far led to there, and then for code along it. Where that fails, or is not faster
than the node's code, the model rewrites the thought from the verbal feedback, the diagnosis or the
measured speedup, and writes code along the new one: at most `rethinks` times. The fastest verified
code of these rounds becomes a child, its thought with it; if there is none, only the rewards stay.

A node with fewer than `width` thoughts, failed ones and those under way too, is expanded; else its
open child with the largest bound of uct.py is entered; without an open child it is expanded on, so
that a search goes on to its budget. An iteration's reward is that of its best round.

Ours, as code has speeds and not only tests: what is not faster is rethought too, and the best round
stays, not the last one. The model's own opinion of its code counts for nothing. Prompts have no
path; attempts count the calls for code, and those for thoughts, over the run. A node for which a
recorded model has no thought, or no code, is not expanded again; a rethought without an answer ends
the rethinking. Not here: the bound and the reward (uct.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from pydantic import Field

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.prompts.examples import short
from regraph_kg.search.prompts.render import (
    FailedAnswer,
    free_advice,
    render_rethink,
    render_thought,
    thought_advice,
)
from regraph_kg.search.request import Request
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


@dataclass(frozen=True, slots=True)
class _Round:
    """A thought and the code that came of it."""

    thought: str
    step: StepRecord


class Rethink:
    """One search; an iteration is one expansion, its reward the level reached (uct.py)."""

    def __init__(self, context: Context, settings: RethinkSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self._root = self._node("", context.task.start, 0.0, 0)
        self._codes, self._thoughts = count(), count()

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
        paid = [attempt for attempt in rounds if attempt.step.outcome is not None]
        reward = max((level_reward(attempt.step.speedup) for attempt in paid), default=None)
        for ancestor in way:
            ancestor.visits.end(reward)
        # the best round stays, for a later one may have spoilt it
        best = max(paid, key=lambda attempt: attempt.step.speedup or 0.0, default=None)
        if best is not None and best.step.speedup is not None and best.step.code is not None:
            level = math.log(best.step.speedup)
            child = self._node(best.thought, best.step.code, level, node.depth + 1)
            child.visits = Visits(n=1, total=level_reward(best.step.speedup))
            node.children.append(child)
        return Iteration((), tuple(attempt.step for attempt in rounds), reward)

    def _rounds(self, node: _Node) -> Effects[list[_Round]]:
        """A thought and code along it, and again while that fails and calls are left."""
        # a thought that fails is worth another try before the node is given up
        rounds = list[_Round]()
        thought = yield from self._think(node, None)
        while thought is not None and self._context.ledger.left > 0:
            advice = thought_advice(thought) if thought else free_advice()
            request = Request((), None, next(self._codes), node.code, advice)
            step = yield from self._context.proposer.sample(request)
            rounds.append(_Round(thought, step))
            if step.outcome is None:
                break
            node.history.append(f"- {short(thought, LONGEST_THOUGHT)}: {_feedback(node, step)}")
            # what is right but no faster is rethought, too: code has speeds, not only tests
            enough = len(rounds) > self._settings.rethinks or self._context.ledger.left <= 0
            if enough or math.log(step.speedup or 1e-9) > node.level:
                break
            thought = yield from self._think(node, rounds[-1])
        unrecorded = rounds[0].step.outcome is None if rounds else thought is None
        node.may_grow = node.may_grow and not unrecorded
        return rounds

    def _think(self, node: _Node, last: _Round | None) -> Effects[str | None]:
        """A new thought, or the last one rewritten; None: a recorded model has none."""
        asker, task = self._context.proposer.asker, self._context.task
        key = asker.key("thought", attempt=next(self._thoughts))
        seed = asker.seed(key)
        if last is None:
            history = "\n".join(node.history[-REMEMBERED:])
            prompt = render_thought(
                task, key, code=node.code, history=history, failure=None, seed=seed
            )
        else:
            outcome = last.step.outcome or Outcome.PARSE_FAILED
            failure = FailedAnswer(outcome, _feedback(node, last.step), last.step.code)
            prompt = render_rethink(
                task, key, code=node.code, thought=last.thought, failure=failure, seed=seed
            )
        reply = yield from asker.think(prompt)
        return None if reply is None else reply.text.strip()

    def _node(self, thought: str, code: str, level: float, depth: int) -> _Node:
        return _Node(thought, code, level, depth, may_grow=depth < self._settings.depth)


def _feedback(node: _Node, step: StepRecord) -> str:
    """Feedback on code for `node`: its diagnosis or its speed."""
    if step.speedup is None:
        return step.diagnosis or str(step.outcome)
    return f"right, and {step.speedup / math.exp(node.level):.2f} times as fast as the current code"
