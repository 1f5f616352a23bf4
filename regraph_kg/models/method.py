"""What a search is told: its method with its settings, its prompting, its limits.

Defaults are provisional: none has been swept. Not here: what a run was, models/run.py.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from regraph_kg.models.base import Frozen

Preset = Literal["default", "paper"]
Retrieval = Literal["best", "near"]
"""Which examples of a transition a prompt shows: the best (method.md 3), or those whose reasoning
is most similar to the present code."""
Shown = Literal["all", "code", "reasoning", "none"]
"""What a prompt shows of an example: an ablation leaves out reasoning, code, or both."""
Told = Literal["markers", "model"]
"""Who tells what a right step did: the marks it left in the code, or the model, too."""


class Prompting(Frozen):
    """What prompts are made of, whatever the method."""

    examples: int = Field(default=2, ge=0)
    """Examples of the transition at most."""
    retrieval: Retrieval = "best"
    show: Shown = "all"
    example_tokens: int = Field(default=1200, ge=0)
    """All examples of a prompt together, estimated."""
    contrast: int = Field(default=0, ge=0)
    """Measured variants of this run that a prompt contrasts, at most."""
    known_failures: int = Field(default=2, ge=0)
    """Failures of the transition on similar code that a prompt warns of, at most."""
    verdict: Told = "markers"
    """Who tells whether a right step did what was asked for; the model spends a thought on it."""


class SearchLimits(Frozen):
    """What a search may spend; None: as much as it wants. Calls are what methods are compared at.

    A call is asked for as long as every limit holds; those under way then are still waited for.
    """

    calls: int = Field(ge=1)
    evaluations: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    """Of prompts and answers together."""
    seconds: float | None = Field(default=None, gt=0)
    """Active ones: what lies between two sittings of a resumed run does not count."""
    unreadable: int = Field(default=10, ge=1)
    """Answers in a row in which no code is found: a model that never answers in form is not asked
    for the rest of its calls."""


class McgsSettings(Frozen):
    """MCGS, method.md 3.2; the symbols there are named here. Defaults are provisional."""

    method: Literal["mcgs"] = "mcgs"
    failure_gain: float = -0.3
    """f: the gain of a failed step."""
    prior_weight: float = Field(default=2.0, gt=0)
    """k0: what the graph's prior weighs against this run's counts of an edge."""
    edge_weight: float = Field(default=2.0, gt=0)
    """k1: what the edge's value weighs against this path's own counts."""
    best_weight: float = Field(default=0.5, ge=0, le=1)
    """w: the share of the best gain in an action's value."""
    exploration: float = Field(default=0.5, ge=0)
    """c"""
    samples: int = Field(default=3, ge=1)
    """m: samples of one action at most."""
    repairs: int = Field(default=1, ge=0)
    """r: repair calls after a failed answer at most."""
    rollout: int = Field(default=0, ge=0)
    """Lr: further new samples below a new one at most."""
    visit_penalty: float = Field(default=0.01, ge=0)
    """lambda, in rollouts."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """Share of uniformly drawn rollout steps."""
    depth: int = Field(default=8, ge=1)
    """D_max"""
    gain_low: float = -1.0
    gain_high: float = 3.0
    other_devices: float = Field(default=0.5, ge=0, le=1)
    """What one try on another device of the target counts in the prior (ours: 3.2 has none)."""

    @model_validator(mode="after")
    def _gains_have_room(self) -> Self:
        if self.gain_low >= self.gain_high:
            raise ValueError("gain_low must lie below gain_high")
        return self


class PaperSettings(Frozen):
    """The paper's MCGS, method.md 3.1."""

    method: Literal["mcgs-paper"] = "mcgs-paper"
    exploration: float = Field(default=1.0, ge=0)
    """c"""
    visit_penalty: float = Field(default=0.1, ge=0)
    """lambda"""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    steps: int = Field(default=8, ge=1)
    """L: steps of selection and rollout together."""


class StandardSettings(Frozen):
    """One prompt a sample: nothing to set."""

    method: Literal["standard"] = "standard"


class CotSettings(Frozen):
    """Step by step in one prompt, without a graph: nothing to set."""

    method: Literal["cot"] = "cot"


class RagSettings(Frozen):
    """The nearest examples to the code, without a walk."""

    method: Literal["rag"] = "rag"
    repairs: int = Field(default=1, ge=0)


class FsrSettings(Frozen):
    """Serial refinement: measured, fed back."""

    method: Literal["fsr"] = "fsr"
    patience: int = Field(default=4, ge=1)
    """Rounds without gain before it starts again from the serial code."""


class ReGraphTSettings(Frozen):
    """Random walks on the graph."""

    method: Literal["regrapht"] = "regrapht"
    steps: int = Field(default=8, ge=1)
    """L"""
    attempts: int | None = Field(default=None, ge=1)
    """Walks at most; the paper has a row with 5."""


class GreedySettings(Frozen):
    """The best verified state, extended by its least-tried successor."""

    method: Literal["greedy-graph"] = "greedy-graph"
    failure_gain: float = -0.3
    """f, in the prior."""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    samples: int = Field(default=3, ge=1)
    """m"""
    repairs: int = Field(default=1, ge=0)
    depth: int = Field(default=8, ge=1)


class ThompsonSettings(Frozen):
    """Best first, gains drawn from each edge's posterior."""

    method: Literal["thompson"] = "thompson"
    failure_gain: float = -0.3
    prior_weight: float = Field(default=2.0, gt=0)
    """k0"""
    other_devices: float = Field(default=0.5, ge=0, le=1)
    samples: int = Field(default=3, ge=1)
    repairs: int = Field(default=1, ge=0)
    depth: int = Field(default=8, ge=1)


class MctsRagSettings(Frozen):
    """UCT over the actions direct, decompose, retrieve."""

    method: Literal["mcts-rag"] = "mcts-rag"
    exploration: float = Field(default=2.0, ge=0)
    depth: int = Field(default=5, ge=1)
    rollouts: int | None = Field(default=None, ge=1)
    """Iterations at most; the paper has a row with 16."""
    repairs: int = Field(default=0, ge=0)


class RethinkSettings(Frozen):
    """Tree search over thoughts; a failed one is rewritten."""

    method: Literal["rethink-mcts"] = "rethink-mcts"
    exploration: float = Field(default=1.0, ge=0)
    rethinks: int = Field(default=2, ge=0)
    """Of one thought at most."""
    width: int = Field(default=3, ge=1)
    """Thoughts a node."""
    depth: int = Field(default=5, ge=1)


SearchSettings = Annotated[
    McgsSettings
    | PaperSettings
    | StandardSettings
    | CotSettings
    | RagSettings
    | FsrSettings
    | ReGraphTSettings
    | GreedySettings
    | ThompsonSettings
    | MctsRagSettings
    | RethinkSettings,
    Field(discriminator="method"),
]
MethodName = Literal[
    "mcgs",
    "mcgs-paper",
    "standard",
    "cot",
    "rag",
    "fsr",
    "regrapht",
    "greedy-graph",
    "thompson",
    "mcts-rag",
    "rethink-mcts",
]
SETTINGS: Mapping[MethodName, type[SearchSettings]] = {
    kind.model_fields["method"].default: kind for kind in get_args(get_args(SearchSettings)[0])
}
"""What each method may be told, by its name."""
WALKS: frozenset[MethodName] = frozenset(
    {"mcgs", "mcgs-paper", "regrapht", "greedy-graph", "thompson"}
)
"""Methods that need a technique to begin with."""
