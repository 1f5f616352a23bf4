"""Tree search over three actions: ask directly, name a step first, show the nearest examples.

After Hu et al., MCTS-RAG, arXiv 2503.20757. A node is verified code, with three actions:

    direct      the model makes the code faster as it likes
    decompose   the model first names what to do, in one thought, then writes code along it
    retrieve    as direct, shown the examples of the graph that are nearest to this code

The action with the largest bound of uct.py is chosen, those never chosen first. One without an open
child is sampled; else its fastest open child is entered. Unlike there no steps are made up in a
rollout: the reward is the measured level. Not here: the nearest examples (reader.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, get_args

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import StepRecord
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.prompts.parts import Advice
from regraph_kg.search.prompts.render import free_advice, subgoal_parts, thought_advice
from regraph_kg.search.sample import Request
from regraph_kg.search.uct import Visits, level_reward
from regraph_kg.search.world import Effects


class MctsRagSettings(MethodSettings):
    """UCT over the actions direct, decompose, retrieve."""

    method: Literal["mcts-rag"] = "mcts-rag"
    exploration: float = Field(default=2.0, ge=0)
    """Weight of the bonus for what was tried little."""
    depth: int = Field(default=5, ge=1)
    """Versions on the way from the serial code, at most."""
    rollouts: int | None = Field(default=None, ge=1)
    """Iterations, at most; the paper has a row with 16."""
    repairs: int = Field(default=0, ge=0)
    """Repair calls after a failed answer, at most."""


ActionKind = Literal["direct", "decompose", "retrieve"]
KINDS: tuple[ActionKind, ...] = get_args(ActionKind)


@dataclass(slots=True, eq=False)
class _Action:
    """An action on a node's code, and the nodes it led to."""

    kind: ActionKind
    visits: Visits = field(default_factory=Visits)
    children: list["_Node"] = field(default_factory=list)
    answered: bool = True
    """False once a recorded model had no answer."""

    def child(self) -> "_Node | None":
        """The open child with the fastest code, the first of equals."""
        return max(
            (child for child in self.children if child.open),
            key=lambda child: child.level,
            default=None,
        )

    @property
    def open(self) -> bool:
        """May be sampled, or has an open child."""
        return self.answered or self.child() is not None


@dataclass(slots=True, eq=False)
class _Node:
    """Verified code, `level` is the log of its speedup; without actions where the depth ends."""

    code: str
    level: float
    depth: int
    actions: tuple[_Action, ...] = ()

    @property
    def open(self) -> bool:
        """Something may be chosen here."""
        return any(action.open for action in self.actions)


class MctsRag:
    """One search; an iteration is one sample, its reward the level reached (uct.py)."""

    def __init__(self, context: Context, settings: MctsRagSettings) -> None:
        """Begins at the serial code."""
        self._context, self._settings = context, settings
        self._root = self._node(context.task.start, 0.0, 0)
        self._codes = count()
        self._begun = 0

    def iteration(self) -> Effects[Iteration] | None:
        """A path down the tree, and a sample at its end (see `Method`)."""
        if self._begun == self._settings.rollouts or not self._root.open:
            return None
        self._begun += 1
        node, way = self._root, list[_Action]()
        while True:
            way.append(self._choose(node))
            # counted at once, so that a parallel iteration goes another way
            way[-1].visits.begin()
            # an action with faster code below is entered there, not asked again here
            child = way[-1].child()
            if child is None:
                return self._visit(node, way)
            node = child

    def _choose(self, node: _Node) -> _Action:
        visits = sum(action.visits.all for action in node.actions)
        return max(
            (action for action in node.actions if action.open),
            key=lambda action: action.visits.bound(visits, self._settings.exploration),
        )

    def _visit(self, node: _Node, way: Sequence[_Action]) -> Effects[Iteration]:
        """Sample the last action of `way`, at `node`; all of `way` learns the reward."""
        action, reward, steps = way[-1], None, tuple[StepRecord, ...]()
        advice = yield from self._advice(action.kind, node)
        if advice is None:
            action.answered = False
        elif self._context.ledger.left > 0:  # others may have taken it while this one thought
            request = Request((), None, next(self._codes), node.code, advice)
            step = yield from self._context.proposer.sample(request, repairs=self._settings.repairs)
            steps = (step,)
            if step.outcome is None:
                action.answered = False
            elif step.fell:
                _take_back(node, way[:-1])
            else:
                reward = level_reward(step.speedup)
                if step.speedup is not None and step.code is not None:
                    level = math.log(step.speedup)
                    action.children.append(self._node(step.code, level, node.depth + 1))
        for visited in way:
            visited.visits.end(reward)
        # an iteration that bought nothing is no rollout
        self._begun -= reward is None
        return Iteration((), steps, reward)

    def _advice(self, kind: ActionKind, node: _Node) -> Effects[Advice | None]:
        """The advice for a sample; None where the model has no thought for it."""
        if kind == "decompose":
            thought = yield from self._context.proposer.think(subgoal_parts(node.code))
            if thought is None or thought:
                return None if thought is None else thought_advice(thought)
        if kind == "retrieve":
            return self._context.nearest_advice(node.code)
        return free_advice()

    def _node(self, code: str, level: float, depth: int) -> _Node:
        # at full depth an answer is judged, and nothing is built on it
        kinds = KINDS if depth < self._settings.depth else ()
        return _Node(code, level, depth, tuple(_Action(kind) for kind in kinds))


def _take_back(node: _Node, way: Sequence[_Action]) -> None:
    """The code of `node`, at the end of `way`, failed its screening: it leads nowhere."""
    # another sample may have waited for the same screening
    if node in way[-1].children:
        way[-1].children.remove(node)
        for visited in way:
            visited.visits.take_back(level_reward(math.exp(node.level)))
