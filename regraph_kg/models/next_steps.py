"""NextSteps: a graph's suggestions for a code, with reasons; effects are plain ratios of times."""

from typing import Literal

from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import Example
from regraph_kg.models.html import table, times
from regraph_kg.models.target import Target

MeasuredOn = Literal["device", "other-devices", "none"]
"""Where the figures of a next step were measured: on the device asked about, on others."""


class StepExample(Frozen):
    """One step that somebody took: a TRANSITION of the graph, in plain figures."""

    id: str
    source: str
    """Technique before it: an id."""
    technique: str
    """Technique that it applied: an id."""
    problem: str
    step: int
    """Its place in its trajectory, from 1."""
    similarity: float | None
    """Of its code before to the code asked about: cosine, -1 to 1; None: not compared."""
    effect: float | None
    """Time before it / time after it; None: it was never timed where it passed."""
    device: str | None
    """Where `effect` was measured."""
    reasoning: str
    detail: str
    before: str
    """Empty, as `after`, where the sender keeps the code; then `diff` may tell what changed."""
    after: str
    diff: str
    model: str
    """Who took the step."""
    licence: str

    @classmethod
    def of(cls, example: Example, device: str | None = None) -> "StepExample":
        """An example, as seen from `device`."""
        effect, where = example.seen_from(device or None) or (None, None)
        same = {name: getattr(example, name) for name in cls.model_fields if hasattr(example, name)}
        return cls(**same | {"technique": example.target, "effect": effect, "device": where})


class SuggestedStep(Frozen):
    """A technique that was seen to follow, what came of it, and where it was done."""

    technique: str
    """Its id."""
    name: str
    definition: str
    applies: str
    """When it applies."""
    hurts: str
    """When it does harm."""
    expected: float
    """What a try gains on average, its risk to fail included: what a search goes by at first."""
    effect: float | None
    """Geometric mean of time before / time after, of the `verified`; None: nothing passed yet."""
    tried: int
    verified: int
    """Of those tried: right, and timed or known to pass."""
    declined: int
    """How often a model said that it does not apply."""
    examples: int
    """On all devices."""
    measured: MeasuredOn
    in_code: bool
    """Whether the code shows already what this technique alone leaves behind."""
    fits: bool | None
    """Whether it can be applied to the code; None: the text alone does not tell."""
    why: str
    """Why, in a sentence."""
    follows: bool
    """Whether it was seen to follow; else its figures are those after whatever other techniques."""
    nearest: tuple[StepExample, ...]
    """Examples of it, those that began with the most similar code first."""


class UnfitStep(Frozen):
    """A technique that was seen to follow, and cannot be applied to the code."""

    technique: str
    """Its id."""
    name: str
    why: str
    """What the code lacks, or has already, in a sentence."""


class NextSteps(Frozen):
    """What a graph would try next on a code.

    History: 1 (2026-11) first version; 2 (2026-11) only what fits the code, and why.
    """

    schema_version: Literal[2] = 2
    target: Target
    after: str
    """Id of the technique that was applied last; "TARGET/start": none yet."""
    device: str
    """Whose figures go first; "": any."""
    steps: tuple[SuggestedStep, ...]
    """Those that may be applied to the code, the most promising first; after those that were seen
    to follow come, for serial code that few fit, others; what the code shows already last."""
    left_out: tuple[UnfitStep, ...]
    """Those that were seen to follow, and cannot be applied to the code."""
    similar: tuple[StepExample, ...]
    """Steps of any kind that began with code most like this one."""

    def _repr_html_(self) -> str:
        """For notebooks: a row for each step."""
        head = ("next", "gains", "right of tried", "measured on", "when it applies")
        rows = [
            (step.name, times(step.effect), f"{step.verified} of {step.tried}",
             step.measured, step.applies)
            for step in self.steps
        ]  # fmt: skip
        return table(head, rows)
