"""NextSteps: a graph's suggestions for a code, with reasons; effects are plain ratios of times."""

import textwrap
from collections.abc import Iterator
from typing import Literal

from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import Example
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.models.text import times

_REASONING = 160  # characters of an example's reasoning that are shown


class SuggestedStep(Frozen):
    """A technique that was seen to follow, what came of it, and where it was done."""

    technique: str  #: its id
    name: str
    definition: str
    applies: str  #: when it applies
    hurts: str  #: when it does harm
    expected: float  #: what a try gains on average, failures included: a search begins with it
    effect: float | None
    """Geometric mean of time before / time after, of the `verified`; None: nothing passed yet."""
    tried: int
    verified: int  #: right ones of those tried, timed or known to pass
    alike: float | None = None  #: mean effect on codes of the same kind, on any device
    alike_tried: int = 0  #: tries on such codes
    claims: int = 0  #: what files say of it without a judge: it counts nowhere
    claimed: float | None = None  #: mean effect of these
    transform: str = ""  #: id of the transform that makes the step here, without a model
    replays: int = 0  #: of the technique's transforms on recorded steps, and uses in searches
    replays_right: int = 0
    replayed: float | None = None  #: mean effect of the right ones
    examples: int  #: on all devices
    measured: Literal["device", "other-devices", "none"]
    """Its figures were measured on the device asked about, or on others."""
    in_code: bool  #: whether the code shows already what this technique alone leaves behind
    fits: bool | None  #: whether it can be applied to the code; None: the text alone does not tell
    why: str  #: why, in a sentence
    follows: bool
    """Whether it was seen to follow; else its figures are those after whatever other techniques."""
    nearest: tuple[Example, ...]  #: its examples, those with the most similar code first

    def __str__(self) -> str:
        note = "; your code seems to have it already" if self.in_code else ""
        lines = [f"{self.name} ({self.technique}){note}", self._gain()]
        if self.transform:
            seen = f"right in {self.replays_right} of {self.replays} replays" + _by(self.replayed)
            lines.append(f"by rule: {self.transform}; {seen if self.replays else 'not replayed'}")
        lines.append(f"fits: {self.why}" if self.fits else f"may fit: {self.why}")
        if self.applies:
            lines.append(f"when: {self.applies}")
        if self.hurts:
            lines.append(f"it hurts: {self.hurts}")
        lines += [f"example: {_in_a_line(example)}" for example in self.nearest]
        return "\n   ".join(lines)

    def _gain(self) -> str:
        """Statistics as "30 of 34 tries, 2.3x, on other devices; 6 on codes like yours, 4.1x"."""
        examples = f"seen in {self.examples} examples" if self.examples else "in no example"
        text = f"no try of its own; {examples}"
        if self.tried:
            text = f"{self.verified} of {self.tried} tries" + _by(self.effect)
            text += ", on other devices" if self.measured == "other-devices" else ""
            text += "" if self.follows else ", after other techniques"
        if self.alike_tried:
            text += f"; {self.alike_tried} on codes like yours" + _by(self.alike)
        claimed = f"; {self.claims} claimed, not measured" + _by(self.claimed)
        return text + (claimed if self.claims else "")


class UnfitStep(Frozen):
    """A technique that was seen to follow, and cannot be applied to the code."""

    technique: str  #: its id
    name: str
    why: str  #: what the code lacks, or has already, in a sentence


class NextSteps(Frozen):
    """What a graph would try next on a code.

    History: 1 (2026-11) first version; 2 (2026-11) only what fits the code, and why; 3 (2026-11)
    an example is the graph's own, with its technique as `target`; 4 (2026-11) no similar steps of
    other techniques, which `regraph examples --code` shows; 5 (2026-11) codes alike, claims;
    6 (2026-11) transforms.
    """

    schema_version: Literal[6] = 6
    target: Target
    after: str  #: id of the technique that was applied last; "TARGET/start": none yet
    device: str  #: whose figures go first; "": any
    steps: tuple[SuggestedStep, ...]
    """Steps that may be applied to the code, the most promising first; what may fit after what
    fits, what was not seen to follow after what was, then what the code shows already; what is
    only claimed is last."""
    left_out: tuple[UnfitStep, ...]  #: steps seen to follow that cannot be applied here

    def __str__(self) -> str:
        lines = [*self._heading()]
        lines += [f"\n{number}. {step}" for number, step in enumerate(self.steps, 1)]
        if names := ", ".join(step.technique for step in self.left_out):
            lines.append(f"\nleft out, since they cannot be applied (--json says why): {names}")
        return "\n".join(lines)

    def _heading(self) -> Iterator[str]:
        serial = self.after == start_id(self.target)
        last = "serial code" if serial else self.after
        if self.steps:
            where = f" on {self.device}" if self.device else ""
            yield f"after {last}{where}, the most promising first:"
        elif self.left_out:
            yield f"nothing that the graph knows to follow {last} ({self.target}) fits this code"
        else:
            yield f"the graph knows nothing that follows {last} ({self.target})"
            if serial:
                yield "fill it: regraph ingest --starter, or regraph ingest FILE"
            else:
                yield f"what it knows of the technique: regraph techniques show {last}"


def _by(effect: float | None) -> str:
    return "" if effect is None else f", {times(effect)}"


def _in_a_line(example: Example) -> str:
    parts = [f"{example.problem}, step {example.step}"]
    if example.similarity is not None:
        parts.append(f"similarity of its code to yours {example.similarity:.2f}")
    if example.effect is not None:
        parts.append(f"{times(example.effect)} on {example.device}")
    parts.append(textwrap.shorten(example.reasoning, _REASONING, placeholder=" .."))
    return "; ".join(filter(None, parts))
