"""Monte Carlo graph search: walks over verified codes, whose selection rule is an argument.

Every verified code is a state; its actions are the techniques that the graph knows to follow the
one that led to it. An iteration is a walk: the rule (selection.py) says where it begins and which
action comes next, the model is asked for that step, and the rule learns what came of it.

    mcgs         ExpectedImprovement: ours, and the default
    mcgs-paper   PaperBound: the paper's
    regrapht     Uniform: the paper's random walks, begun again after a failure

After a failed sample a technique that has smaller steps is asked for in part, where the rule keeps
states (lean prompts tell one step, others no recipe).
"""

from typing import Literal

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context, Iteration
from regraph_kg.search.effects import Effects
from regraph_kg.search.request import Request
from regraph_kg.search.selection import (
    ExpectedImprovement,
    NextStep,
    PaperBound,
    Rule,
    Uniform,
    Walk,
)


class McgsSettings(MethodSettings):
    """Expected improvement of the best code, method.md 3.2."""

    method: Literal["mcgs"] = "mcgs"
    samples: int = Field(default=3, ge=1)
    """m: samples of one step, at most."""
    repairs: int = Field(default=1, ge=0)
    """r: repair calls after a failed answer, at most."""
    depth: int = Field(default=8, ge=1)
    """D_max: steps of a path, at most."""
    free: bool = True
    """Whether the model may also be asked to make the code faster as it sees fit."""


class PaperSettings(MethodSettings):
    """The paper's MCGS, method.md 3.1."""

    method: Literal["mcgs-paper"] = "mcgs-paper"
    exploration: float = Field(default=1.0, ge=0)
    """c: weight of the bonus for what was tried little."""
    visit_penalty: float = Field(default=0.1, ge=0)
    """lambda: penalty for each visit, in rollouts."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """epsilon: share of random rollout steps."""
    steps: int = Field(default=8, ge=1)
    """L: steps of selection and rollout together."""


class ReGraphTSettings(MethodSettings):
    """Random walks on the graph."""

    method: Literal["regrapht"] = "regrapht"
    steps: int = Field(default=8, ge=1)
    """L: steps of a walk, at most."""
    attempts: int | None = Field(default=None, ge=1)
    """Walks, at most; the paper has a row with 5."""


class Mcgs:
    """One search with a selection rule; its iterations are walks."""

    def __init__(
        self, context: Context, rule: Rule, *, repairs: int = 0, parts: bool = False
    ) -> None:
        """Up to `repairs` repair calls a failed answer; `parts`: smaller steps are asked for."""
        self._context, self.rule, self._repairs = context, rule, repairs
        self._parts = parts and context.prompting.words == "lean"

    def iteration(self) -> Effects[Iteration] | None:
        """Begin a walk (see `Method`)."""
        walk = self.rule.begin()
        return None if walk is None else self._walk(walk)

    def _walk(self, walk: Walk) -> Effects[Iteration]:
        while (action := self.rule.choose(walk)) is not None:
            # after a failure the whole is too much at once: its first part may still be right
            has_parts = self._parts and action.has_parts
            request = self._request(walk, action, part=has_parts and action.failed > 0)
            action.taken += 1
            # taken before the first effect: another walk must not get the same number
            action.under_way += 1
            step = yield from self._context.proposer.sample(request, repairs=self._repairs)
            # learned at once, in this thread, so that the next choice knows of it
            action.under_way -= 1
            walk.steps.append(self.rule.learn(walk, action, step, part=request.part))
        return self.rule.end(walk)

    def _request(self, walk: Walk, action: NextStep, *, part: bool) -> Request:
        context, path, code = self._context, walk.here.path, walk.here.code
        source, attempt = context.walks_from(walk.here.technique), action.taken
        if action.technique is None:
            return context.free_request(source, path, attempt, code)
        return context.request(source, path, action.technique, attempt, code, part=part)


def improving(context: Context, settings: McgsSettings) -> Mcgs:
    """The default search."""
    rule = ExpectedImprovement(
        context, samples=settings.samples, depth=settings.depth, free=settings.free
    )
    return Mcgs(context, rule, repairs=settings.repairs, parts=True)


def papers(context: Context, settings: PaperSettings) -> Mcgs:
    """The paper's search."""
    return Mcgs(context, PaperBound(context, **settings.model_dump(exclude={"method"})))


def random_walks(context: Context, settings: ReGraphTSettings) -> Mcgs:
    """The paper's random walks."""
    return Mcgs(context, Uniform(context, steps=settings.steps, attempts=settings.attempts))
