"""GraphReport: what of a graph carries itself out, and what would be worth lifting next."""

import math
from collections import Counter
from collections.abc import Iterator

from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import GraphStats
from regraph_kg.models.text import plain, times
from regraph_kg.models.transform import StoredTransform

SHOWN = 8  # rows of a table on a screen


class Steps(Frozen):
    """Steps of one technique, all facts or all stories."""

    number: int = 0
    gains: tuple[float, ...] = ()  #: the known ones, time before over after

    @property
    def gain(self) -> float | None:
        """Geometric mean of the gains; None where none is known."""
        return math.exp(sum(map(math.log, self.gains)) / len(self.gains)) if self.gains else None

    @property
    def worth(self) -> float:
        """Sum of the logarithms of what gained: what a transform of all of them would bring."""
        return sum(math.log(gain) for gain in self.gains if gain > 1)


class TechniqueReport(Frozen):
    technique: str
    facts: Steps = Steps()  #: steps that an accepted transform makes
    stories: Steps = Steps()  #: all others


class GraphReport(Frozen):
    """A graph's techniques, by the worth of their stories, and its transforms, by id."""

    totals: GraphStats
    techniques: tuple[TechniqueReport, ...]
    transforms: tuple[StoredTransform, ...]

    def __str__(self) -> str:
        facts = sum(one.facts.number for one in self.techniques)
        lines = [
            str(self.totals),
            f"facts         {facts} of {self.totals.transitions} examples: a transform makes them",
            *self._of_transforms(),
            "\nlift next: stories that gained most (regraph lift TECHNIQUE --model NAME)",
            f"{'facts':>8} {'gain':>7} {'stories':>8} {'gain':>7}  technique",
            *(_row(one) for one in self.techniques[:SHOWN] if one.stories.worth),
        ]
        return "\n".join(lines)

    def _of_transforms(self) -> Iterator[str]:
        accepted = [one for one in self.transforms if one.accepted]
        drafts = [one for one in self.transforms if not one.accepted]
        states = Counter(one.reason or "replayed enough" for one in accepted)
        yield f"transforms    {len(accepted)} accepted, {len(drafts)} drafts"
        yield from (f"{count:>7}  {state}" for state, count in states.most_common())
        yield from (f"  draft  {one.id}: {plain(one.reason)}" for one in drafts[:SHOWN])
        if len(drafts) > SHOWN:
            yield f"         and {len(drafts) - SHOWN} more drafts (--json has all)"


def _row(one: TechniqueReport) -> str:
    return f"{_cells(one.facts)} {_cells(one.stories)}  {one.technique}"


def _cells(steps: Steps) -> str:
    return f"{steps.number:>8} {times(steps.gain) if steps.gain else '-':>7}"
