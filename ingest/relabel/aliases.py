"""Names as trajectories use them, and the verdict on a name.

A name that is an id, a name or an alias of a technique is found by the vocabulary (models/
technique.py).
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from regraph_kg.models.graph import Relabelled
from regraph_kg.models.target import Target
from regraph_kg.models.technique import LONGEST_NAME, Technique, technique_id
from regraph_kg.models.trajectory import Trajectory

Label = tuple[Target, str]

LONGEST_NOTE, LONGEST_DIFF = 280, 480  # characters of a remark and of a diff that a prompt shows
# Diffs take quadratic time at worst, and prompts show a few lines of them.
_LONGEST_CODE = 20_000  # characters of code that a diff is made of


@dataclass(frozen=True, slots=True)
class LabelVerdict:
    """The meaning of a label; `coined` is the new technique that it names, where it was joined."""

    relabelled: Relabelled
    coined: Technique | None = None


@dataclass(frozen=True, slots=True)
class NameUse:
    """Uses of a name, and one of its steps: reasoning, detail, code before and after."""

    steps: int = 1
    reasoning: str = ""
    detail: str = ""
    before: str = field(default="", repr=False)
    after: str = field(default="", repr=False)

    @property
    def diff(self) -> str:
        """The lines that the step took away and added, cut."""
        # Without lines around: the change tells what a name means, the rest is the kernel.
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), n=0, lineterm=""
        )
        changed = (line.rstrip() for line in lines if not line.startswith(("---", "+++", "@@")))
        return "\n".join(line for line in changed if line.strip("+- \t"))[:LONGEST_DIFF]

    def _rank(self) -> tuple[bool, bool, str, str, str, str]:
        """Smallest for the step to show: with why and code; then by texts, in whatever order."""
        notes = (self.reasoning, self.detail)
        return (not any(notes), not self.after, *notes, self.before, self.after)

    def __add__(self, other: "NameUse") -> "NameUse":
        shown = min(self, other, key=NameUse._rank)
        return replace(shown, steps=self.steps + other.steps)


def uses_of(trajectories: Iterable[Trajectory], uses: dict[Label, NameUse]) -> None:
    """Add the names that need resolving: not those of steps whose technique is given."""
    for trajectory in trajectories:
        for label, use in _uses(trajectory):
            key = (trajectory.target, label)
            uses[key] = uses[key] + use if key in uses else use


def _uses(trajectory: Trajectory) -> Iterator[tuple[str, NameUse]]:
    codes = [trajectory.serial, *(step.code for step in trajectory.steps)]
    for before, step in zip(codes, trajectory.steps, strict=False):
        if step.technique is None:  # a given technique needs no prompt, whatever it is called
            yield step.label, _use(step.code, before, step.reasoning, step.detail)
    for failure in trajectory.failures:
        # What failed was tried on the code after that step, and says nothing of its reasons.
        if failure.technique is None:
            yield failure.label, _use(failure.code, codes[failure.after_step], "", "")


def _use(after: str, before: str, *notes: str) -> NameUse:
    why, what = (" ".join(note.split())[:LONGEST_NOTE] for note in notes)
    return NameUse(1, why, what, before[:_LONGEST_CODE] if after else "", after[:_LONGEST_CODE])


def new_technique(target: Target, name: str, definition: str = "") -> Technique:
    """An unreviewed technique of that name, made by an ingest."""
    return Technique(
        id=technique_id(target, name),
        name=name.strip()[:LONGEST_NAME] or "unnamed",
        target=target,
        definition=definition,
        review=True,
    )
