"""A transform as the graph keeps it: its text, and every replay of it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Self

from pydantic import Field

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.technique import TechniqueId
from regraph_kg.models.trajectory import NoteText, Source

FORMAT = 1  # of a line in a file of trajectories. History: 1 (2026-11)
LEAST_PROBLEMS = 3  # on which a transform must be right, and wrong on none
SHIPPED = "starter"  # the run of those that ship, as of the trajectories that do
UNREPLAYED = "not replayed here"  # why what a file brings is a draft
Ratio = Annotated[float, Field(gt=0, allow_inf_nan=False)]  # of two times
HALF = 0.5  # of a recorded gain's logarithm: with so much the step is reproduced


class Replay(Frozen):
    """A transform on the code before a recorded step: one result, judged at the grade full."""

    example: NoteText  #: id of the TRANSITION: "trajectory/step"
    problem: NoteText
    device: NoteText
    evaluator: NoteText
    outcome: Outcome
    gain: Ratio | None = None  #: time before over after; None where it was not timed
    recorded: Ratio = 1.0  #: the recorded step's, in the same session
    kind: NoteText = ""  #: of the problem's serial code (cpp/kinds.py)
    claimed: bool = False  #: whether a file says so: nobody has replayed it here

    @property
    def reproduces(self) -> bool:
        """Whether it is right here, and has at least the half of the recorded gain."""
        least = max(self.recorded, 1.0) ** HALF
        right = self.outcome is Outcome.PASSED and not self.claimed
        return right and self.gain is not None and self.gain >= least


class StoredTransform(Frozen):
    """A transform of a technique; a draft until replays speak for it."""

    technique: TechniqueId
    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)
    text: NoteText = Field(max_length=20_000)  #: search/transform/transform.py reads it
    accepted: bool = True
    reason: str = ""  #: why it is a draft, or accepted with fewer replays than others need
    replays: tuple[Replay, ...] = Field(default=(), max_length=10_000)
    source: Source = Source()

    @property
    def id(self) -> str:
        """Its name in the graph."""
        return f"{self.technique}/{self.name}"

    def gated(self) -> Self:
        """Accepted where it was right on enough problems and never wrong, else a draft.

        One that ships is accepted until it is wrong here, and says how little speaks for it.
        """
        seen = [one for one in self.replays if not one.claimed]
        wrong = Counter(str(one.outcome) for one in seen if not one.outcome.is_right)
        right = len({one.problem for one in seen if one.outcome.is_right})
        reason = ", ".join(f"{count} {outcome}" for outcome, count in wrong.items())
        if not wrong and right < LEAST_PROBLEMS:
            reason = f"right on {right} problems in replays; {LEAST_PROBLEMS} are needed"
        accepted = not wrong and (not reason or self.source.run == SHIPPED)
        shipped = "shipped, " if accepted and reason else ""
        return self.model_copy(update={"accepted": accepted, "reason": shipped + reason})

    @property
    def state(self) -> str:
        """Whether searches use it, in words."""
        if self.accepted:
            return self.reason or "accepted"
        return f"a draft: {self.reason}"

    def line(self) -> str:
        """Its line in a file of trajectories."""
        body = self.model_dump(mode="json", exclude_defaults=True, exclude={"accepted", "reason"})
        return json.dumps({"transform": FORMAT} | body, ensure_ascii=False) + "\n"

    @classmethod
    def of_file(cls, line: Mapping[str, object]) -> Self:
        """A file's transform: a draft, whose replays are claims until it is replayed here."""
        if type(line["transform"]) is not int or line["transform"] != FORMAT:
            raise BadInput(f"unknown version of a transform; this program reads {FORMAT}")
        body = {key: value for key, value in line.items() if key != "transform"}
        draft = cls.model_validate(body | {"accepted": False, "reason": UNREPLAYED})
        claims = tuple(one.model_copy(update={"claimed": True}) for one in draft.replays)
        return draft.model_copy(update={"replays": claims})


def texts(transforms: Iterable[StoredTransform]) -> dict[str, tuple[str, ...]]:
    """The texts of accepted ones, by technique."""
    found: dict[str, tuple[str, ...]] = {}
    for one in transforms:
        if one.accepted:
            found[one.technique] = (*found.get(one.technique, ()), one.text)
    return found
