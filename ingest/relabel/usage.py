"""How names are used: for each name, how many steps have it, and one step that shows what it means.

The choice of that step depends on the steps' texts, not on their order. Texts are cut to fit in a
prompt. Not here: the meaning of names.
"""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory

Label = tuple[Target, str]

LONGEST_NOTE, LONGEST_DIFF = 280, 480
"""Characters of a reasoning or detail, and of a diff, that a prompt shows."""
_LONGEST_CODE = 20_000
"""Characters of code that a diff is made of."""


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
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), n=0, lineterm=""
        )
        changed = (line.rstrip() for line in lines if not line.startswith(("---", "+++", "@@")))
        return "\n".join(line for line in changed if line.strip("+- \t"))[:LONGEST_DIFF]

    def _rank(self) -> tuple[bool, bool, str, str, str, str]:
        """Smallest for the step to show: one that says why, and has code."""
        notes = (self.reasoning, self.detail)
        return (not any(notes), not self.after, *notes, self.before, self.after)

    def __add__(self, other: "NameUse") -> "NameUse":
        """Both together."""
        shown = min(self, other, key=NameUse._rank)
        return replace(shown, steps=self.steps + other.steps)


def uses_of(
    trajectories: Iterable[Trajectory], named: Callable[[str, Target], bool] = lambda *_: False
) -> dict[Label, NameUse]:
    """The names that need resolving: not those of steps whose technique is given.

    Of names that are `named` already, only the steps are counted.
    """
    uses: dict[Label, NameUse] = {}
    for trajectory in trajectories:
        before = trajectory.serial
        for step in trajectory.steps:
            _add(uses, (trajectory.target, step.label), step, before, named)
            before = step.code
        for failure in trajectory.failures:
            code = (
                trajectory.steps[failure.after_step - 1].code
                if failure.after_step
                else trajectory.serial
            )
            _add(uses, (trajectory.target, failure.label), failure, code, named)
    return uses


def _add(
    uses: dict[Label, NameUse],
    label: Label,
    step: Step | FailedStep,
    before: str,
    named: Callable[[str, Target], bool],
) -> None:
    if step.technique is not None:
        return
    if named(label[1], label[0]):
        use = NameUse()
    else:
        notes = (step.reasoning, step.detail) if isinstance(step, Step) else ("", "")
        reasoning, detail = (" ".join(note.split())[:LONGEST_NOTE] for note in notes)
        after = step.code[:_LONGEST_CODE]
        use = NameUse(1, reasoning, detail, before[:_LONGEST_CODE] if after else "", after)
    uses[label] = uses[label] + use if label in uses else use
