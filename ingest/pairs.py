"""How well names are put together: pairs of names beside those that people say mean the same.

The labelled set (`corpus/relabel/clusters.*.jsonl`) has one name a line, with a step that shows
what it means, and its cluster: names of one cluster of a target mean the same technique. Look-alike
pairs (`pairs.jsonl`) are two names each that do not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.ingest.check import Split, lines_of
from regraph_kg.ingest.relabel.aliases import Label, NameUse
from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.trajectory import Name

PairResult = tuple[bool, bool]
"""Whether a pair was merged, and whether it means the same."""
RIGHT: PairResult = (True, True)
WRONG: PairResult = (True, False)
MISSED: PairResult = (False, True)


class NameShown(Frozen):
    """A name, and the step that it stands for."""

    name: Name
    reasoning: str = ""
    detail: str = ""
    before: str = ""
    after: str = ""

    @property
    def use(self) -> NameUse:
        """The name's use, as a trajectory's step would show it."""
        return NameUse(1, self.reasoning, self.detail, self.before, self.after)


class Clustered(NameShown):
    """A line of clusters.*.jsonl."""

    target: Target
    cluster: str
    split: Split
    vocabulary: str | None = None
    """The technique of the vocabulary file, if it has one."""


class LookAlike(Frozen):
    """A line of pairs.jsonl: two names that are alike in words, or in what they mean."""

    target: Target
    a: NameShown
    b: NameShown
    same: bool
    split: Split


@dataclass(frozen=True, slots=True)
class PairSet:
    """A labelled set, or half of it."""

    names: tuple[Clustered, ...]
    pairs: tuple[LookAlike, ...] = ()

    def uses(self) -> dict[Label, NameUse]:
        """All names, as an ingest of them would find them."""
        uses: dict[Label, NameUse] = {}
        shown: list[tuple[Target, NameShown]] = [(name.target, name) for name in self.names]
        shown += [(pair.target, name) for pair in self.pairs for name in (pair.a, pair.b)]
        for target, name in shown:
            label = (target, name.name)
            uses[label] = uses[label] + name.use if label in uses else name.use
        return uses

    def judged(self) -> list[tuple[Label, Label, bool]]:
        """Every two names that people have judged, and whether they mean the same."""
        by_target = [
            ((a.target, a.name), (b.target, b.name), a.cluster == b.cluster)
            for a, b in combinations(self.names, 2)
            if a.target == b.target and a.name != b.name
        ]
        return by_target + [
            ((pair.target, pair.a.name), (pair.target, pair.b.name), pair.same)
            for pair in self.pairs
        ]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs of names of one target: merged rightly, merged wrongly, and not merged though same."""

    names: int = 0
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        """Share of right pairs among the merged ones; 1 where none was merged."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of merged pairs among those that mean the same."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def read_pairs(folder: Path, split: Split | None) -> PairSet:
    """The labelled set of `folder`, or one half of it; `BadInput` for a bad line or none at all."""
    paths = sorted(folder.glob("clusters.*.jsonl"))
    names = [line for path in paths for line in lines_of(path, Clustered)]
    if not names:
        raise BadInput(f"{folder}: no clusters (clusters.*.jsonl) there; give the set's folder")
    pairs = [
        line for path in sorted(folder.glob("pairs.jsonl")) for line in lines_of(path, LookAlike)
    ]
    return PairSet(
        tuple(name for name in names if split in (None, name.split)),
        tuple(pair for pair in pairs if split in (None, pair.split)),
    )


def count(pairs: PairSet, technique: Mapping[Label, str]) -> PairCounts:
    """Compare all judged pairs; `technique` says what each name was taken for."""
    results = [(technique[a] == technique[b], same) for a, b, same in pairs.judged()]
    right, wrong, missed = (results.count(result) for result in (RIGHT, WRONG, MISSED))
    return PairCounts(len(technique), right, wrong, missed)


def errors(
    pairs: PairSet, technique: Mapping[Label, str], kind: PairResult
) -> list[tuple[str, str]]:
    """The names of the pairs with that result."""
    return [
        (a[1], b[1])
        for a, b, same in pairs.judged()
        if (technique[a] == technique[b], same) == kind
    ]
