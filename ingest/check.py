"""How well labels are recognized: the cascade's verdicts beside those of people.

The labelled set (`corpus/relabel/*.jsonl`) has one label a line with the technique that it means.
Its half "dev" is there to tune by, "test" to report.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from regraph_kg import jsonl
from regraph_kg.errors import BadInput
from regraph_kg.ingest.relabel.aliases import LabelVerdict
from regraph_kg.ingest.relabel.model import NEW, labels_asked
from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import RelabelStage
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, TechniqueId, start_id
from regraph_kg.models.trajectory import Name

LabelKind = Literal["spelling", "synonym", "hard_negative", "cross_target", "new", "injection"]
Split = Literal["dev", "test"]
LabelResult = Literal["right", "wrong", "missed"]
LabelLine = TypeVar("LabelLine", bound=Frozen)

MOST_WRONG = 0.005
"""Share of wrong merges that a level may have."""


class Labelled(Frozen):
    """One line of the labelled set; `technique` is None where the vocabulary has none for it."""

    label: Name
    target: Target
    technique: TechniqueId | None
    kind: LabelKind
    split: Split
    note: str = ""

    @property
    def wanted(self) -> str | None:
        """The expected technique; None: a new one.

        A name of the initial state too is new: no step leads there, whatever it is called.
        """
        return None if self.technique == start_id(self.target) else self.technique


class RecordedVerdict(Frozen):
    """One recorded answer of a model about a label of the set."""

    label: Name
    target: Target
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled line and a level's verdict on it.

    "wrong" is a wrong merge: into another technique, or of what should be new. "missed" is a missed
    merge: new, though the vocabulary has it.
    """

    line: Labelled
    verdict: LabelVerdict
    result: LabelResult


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of labels resolved right, merged wrongly, and wrongly not merged."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def total(self) -> int:
        """All labels."""
        return self.right + self.wrong + self.missed

    @property
    def passed(self) -> bool:
        """Whether wrong merges are as rare as they must be."""
        return self.wrong <= MOST_WRONG * self.total


def read_labelled(folder: Path, split: Split | None) -> tuple[Labelled, ...]:
    """The labelled set of `folder`, or one half of it; `BadInput` for a bad line or none at all."""
    lines = [line for path in _label_files(folder) for line in lines_of(path, Labelled)]
    if not lines:
        raise BadInput(f"{folder}: no labels (*.jsonl) there; give the folder of a labelled set")
    return tuple(line for line in lines if split in (None, line.split))


def aliases_of(
    techniques: Sequence[Technique],
) -> tuple[tuple[Technique, ...], tuple[Labelled, ...]]:
    """The techniques without their aliases, and these as names that a level is asked about.

    What is then taken for another technique ("wrong") may be an alias too wide for its own.
    """
    bare = tuple(technique.model_copy(update={"aliases": ()}) for technique in techniques)
    lines = [
        Labelled(
            label=alias,
            target=technique.target,
            technique=technique.id,
            kind="synonym",
            split="dev",
        )
        for technique in techniques
        for alias in technique.aliases
    ]
    return bare, tuple(lines)


class RecordedVerdicts:
    """A model whose answers about single names were written down before: each name is a group."""

    name = "recorded"

    def __init__(self, path: Path) -> None:
        """`BadInput` as `read_labelled`."""
        self._said: dict[tuple[str, str], str] = {
            (line.target, line.label): line.text for line in lines_of(path, RecordedVerdict)
        }

    def complete(self, prompt: Prompt) -> Reply:
        """The recorded answer about each name; an unknown name is new."""
        assert isinstance(prompt.key, DecisionKey)
        target, labels = labels_asked(prompt.key)
        groups = []
        for number, label in enumerate(labels, 1):
            answer = json.loads(self._said.get((target, label), f'{{"choice": "{NEW}"}}'))
            groups.append({"members": [number], "technique": answer.pop("choice")} | answer)
        return Reply(text=json.dumps({"groups": groups}), finish="stop", model=self.name)

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """Nothing: no connection is open."""


def _label_files(folder: Path) -> list[Path]:
    """The label files, without those of pairs.py."""
    paths = sorted(folder.glob("*.jsonl"))
    return [path for path in paths if not path.name.startswith(("clusters.", "pairs."))]


def judge(line: Labelled, verdict: LabelVerdict) -> Judged:
    """Compare a verdict with the label."""
    relabelled = verdict.relabelled
    merged = None if relabelled.stage == "new" or verdict.coined else relabelled.technique
    if merged == line.wanted:
        return Judged(line, verdict, "right")
    return Judged(line, verdict, "missed" if merged is None else "wrong")


def tally(judged: Iterable[Judged]) -> LabelCounts:
    """Count the results."""
    results = [case.result for case in judged]
    return LabelCounts(results.count("right"), results.count("wrong"), results.count("missed"))


def by_stage(judged: Sequence[Judged]) -> dict[RelabelStage, LabelCounts]:
    """Counts of the stages that decided anything, in the cascade's order."""
    order: tuple[RelabelStage, ...] = (*("exact", "alias", "compound", "lexical", "model", "new"),)
    groups = {
        stage: [case for case in judged if case.verdict.relabelled.stage == stage]
        for stage in order
    }
    return {stage: tally(group) for stage, group in groups.items() if group}


def by_kind(judged: Sequence[Judged]) -> dict[LabelKind, LabelCounts]:
    """Counts of the kinds of labels that there are, by name."""
    kinds = sorted({case.line.kind for case in judged})
    return {kind: tally(case for case in judged if case.line.kind == kind) for kind in kinds}


def lines_of(path: Path, kind: type[LabelLine]) -> Iterator[LabelLine]:
    """The lines of a file as `kind`; `BadInput` for a bad one."""
    try:
        with path.open("rb") as file:
            yield from (line for _, line in jsonl.parsed(path, file, kind))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; the labelled set must be readable") from None
