"""Counts how relabelling does on the labelled sets of corpus/relabel, stage by stage, as JSON.

    python -m corpus.tools.relabel_check [--relabel exact|model] [--split dev|test|all]
    python -m corpus.tools.relabel_check --clusters empty|shipped        pairs of names put together

A wrong merge takes a name for another technique, or a new one for a known one: it destroys
knowledge. A missed merge only splits it. No graph is read. Exit code 1: more than 0.5 % were merged
wrongly.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from regraph_kg import jsonl
from regraph_kg.errors import BadInput, RegraphError, file_errors
from regraph_kg.ingest.relabel.aliases import Label, LabelVerdict, NameUse
from regraph_kg.ingest.relabel.model import NEW
from regraph_kg.models.base import Frozen
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import DecisionKey, Prompt, Reply
from regraph_kg.models.target import Target
from regraph_kg.models.technique import TechniqueId, Vocabulary, start_id
from regraph_kg.models.trajectory import Name
from regraph_kg.settings import read_settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary

FOLDER = Path(__file__).parents[1] / "relabel"
MOST_WRONG = 0.005
"""Share of wrong merges that a level may have."""
LabelKind = Literal["spelling", "synonym", "hard_negative", "cross_target", "new", "injection"]
Split = Literal["dev", "test"]
Result = Literal["right", "wrong", "missed"]
Line = TypeVar("Line", bound=Frozen)


class Labelled(Frozen):
    """One line of labels.*.jsonl; `technique` is None where the vocabulary has none for it."""

    label: Name
    target: Target
    technique: TechniqueId | None
    kind: LabelKind
    split: Split
    note: str = ""

    def result(self, verdict: LabelVerdict) -> Result:
        """Compare a verdict with the label."""
        # a name of the initial state is new: no step leads there, whatever it is called
        wanted = None if self.technique == start_id(self.target) else self.technique
        relabelled = verdict.relabelled
        merged = None if relabelled.stage == "new" or verdict.coined else relabelled.technique
        if merged == wanted:
            return "right"
        return "missed" if merged is None else "wrong"


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
    """A line of clusters.*.jsonl: names of one cluster of a target mean one technique."""

    target: Target
    cluster: str
    split: Split
    vocabulary: str | None = None


class LookAlike(Frozen):
    """A line of pairs.jsonl: two names that are alike in words, or in what they mean."""

    target: Target
    a: NameShown
    b: NameShown
    same: bool
    split: Split


class RecordedVerdict(Frozen):
    """One recorded answer of a model about a label of the set."""

    label: Name
    target: Target
    text: str


class RecordedVerdicts:
    """A model whose answers about single names were written down before: each name is a group."""

    name = "recorded"

    def __init__(self) -> None:
        lines = read_lines([FOLDER / "recorded" / "test.jsonl"], RecordedVerdict)
        self._said: dict[tuple[str, str], str] = {
            (line.target, line.label): line.text for line in lines
        }

    def complete(self, prompt: Prompt) -> Reply:
        """The recorded answer about each name; new where it has none, or none that is offered."""
        assert isinstance(prompt.key, DecisionKey)
        target, _, listed = prompt.key.subject.partition(" ")
        labels = json.loads(listed)
        groups, offered = [], json.dumps(prompt.answer_schema)
        # a question has many names; each was answered alone
        for number, label in enumerate(labels, 1):
            answer = json.loads(self._said.get((target, label), f'{{"choice": "{NEW}"}}'))
            choice = answer.pop("choice")
            known = choice if f'"{choice}"' in offered else NEW
            groups.append({"members": [number], "technique": known} | answer)
        return Reply(text=json.dumps({"groups": groups}), finish="stop", model=self.name)

    def finish(self, then: str = "") -> None:
        """Nothing: no answer is ever pending."""

    def close(self) -> None:
        """Nothing: no connection is open."""


def read_lines(paths: Iterable[Path], kind: type[Line]) -> list[Line]:
    """The lines of files as `kind`; `BadInput` for a bad one, or none at all."""
    lines: list[Line] = []
    for path in sorted(paths):
        with file_errors(path, "give the folder of a labelled set"), path.open("rb") as file:
            lines += [line for _, line in jsonl.parsed(path, file, kind)]
    if not lines:
        raise BadInput("no labels there: give the folder of a labelled set with --labels")
    return lines


def read_labelled(folder: Path, split: Split | None = None) -> list[Labelled]:
    """The labels of a folder, or one half of them."""
    lines = read_lines(folder.glob("labels*.jsonl"), Labelled)
    return [line for line in lines if split in (None, line.split)]


@dataclass(frozen=True, slots=True)
class PairSet:
    """Names of clusters, and look-alike pairs beside them."""

    names: tuple[Clustered, ...]
    pairs: tuple[LookAlike, ...]

    @classmethod
    def read(cls, folder: Path, split: Split | None) -> "PairSet":
        """The set of a folder, or one half of it."""
        names = read_lines(folder.glob("clusters.*.jsonl"), Clustered)
        pairs = read_lines([folder / "pairs.jsonl"], LookAlike)
        return cls(
            tuple(name for name in names if split in (None, name.split)),
            tuple(pair for pair in pairs if split in (None, pair.split)),
        )

    def uses(self) -> dict[Label, NameUse]:
        """All names, as an ingest of them would find them."""
        shown: list[tuple[Target, NameShown]] = [(name.target, name) for name in self.names]
        shown += [(pair.target, name) for pair in self.pairs for name in (pair.a, pair.b)]
        uses: dict[Label, NameUse] = {}
        for target, name in shown:
            label = (target, name.name)
            uses[label] = uses[label] + name.use if label in uses else name.use
        return uses

    def counts(self, technique: Mapping[Label, str]) -> dict[str, float]:
        """Pairs of names of one target beside what people say; `technique`: what each became."""
        judged = [
            ((a.target, a.name), (b.target, b.name), a.cluster == b.cluster)
            for a, b in combinations(self.names, 2)
            if a.target == b.target and a.name != b.name
        ]
        judged += [((p.target, p.a.name), (p.target, p.b.name), p.same) for p in self.pairs]
        found = Counter((technique[a] == technique[b], same) for a, b, same in judged)
        right, wrong, missed = found[True, True], found[True, False], found[False, True]
        return {
            "names": len(technique),
            "right": right,
            "wrong": wrong,
            "missed": missed,
            "precision": right / (right + wrong) if right + wrong else 1.0,
            "recall": right / (right + missed) if right + missed else 1.0,
        }


def report(lines: Sequence[Labelled], verdicts: Sequence[LabelVerdict]) -> dict[str, Any]:
    """The counts of one level: all, by the stage that decided, by kind; and its errors."""
    none = dict.fromkeys(get_args(Result), 0)
    found: dict[str, Any] = {**none, "total": len(lines), "stages": {}, "kinds": {}, "errors": []}
    for line, verdict in zip(lines, verdicts, strict=True):
        result, stage = line.result(verdict), verdict.relabelled.stage
        found[result] += 1
        found["stages"].setdefault(stage, dict(none))[result] += 1
        found["kinds"].setdefault(line.kind, dict(none))[result] += 1
        if result != "right":
            taken_for = verdict.relabelled.technique
            error = {"label": line.label, "wanted": line.technique, "taken_for": taken_for}
            found["errors"].append({**error, "stage": stage, "result": result})
    return found


def checked(
    labels: Path, level: RelabelLevel, split: Split | None, asked: argparse.Namespace
) -> dict[str, Any]:
    """What is counted; `AnswersPending` where a model's answers come by file."""
    settings = read_settings(model=asked.model)
    techniques = read_vocabulary(settings)
    if asked.clusters:
        known = Vocabulary(techniques if asked.clusters == "shipped" else ())
        pairs = PairSet.read(labels, split)
        settled = open_cascade(settings, known, level).settle(pairs.uses())
        ids = [verdict.relabelled.technique for verdict in settled]
        return pairs.counts(dict(zip(pairs.uses(), ids, strict=True)))
    lines = read_labelled(labels, split)
    # Recorded answers cost nothing and are the same each time: a test holds their figures.
    recorded = level == "model" and ModelSpec.parse(settings.model).is_recorded
    model = RecordedVerdicts() if recorded else None
    names = {(line.target, line.label): NameUse() for line in lines}
    verdicts = open_cascade(settings, Vocabulary(techniques), level, model).settle(names)
    return report(lines, tuple(verdicts))


def main(words: Sequence[str] | None = None) -> int:
    """Count what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=Path, default=FOLDER, help="folder of a labelled set")
    parser.add_argument("--relabel", choices=get_args(RelabelLevel), default="exact")
    parser.add_argument("--split", choices=get_args(Split), help="default: both")
    parser.add_argument("--model", help="whom --relabel model asks; default: the setting")
    parser.add_argument("--clusters", choices=("empty", "shipped"))
    asked = parser.parse_args(words)
    try:
        found = checked(asked.labels, asked.relabel, asked.split, asked)
    except RegraphError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(json.dumps(found, indent=1))
    return int(not asked.clusters and found["wrong"] > MOST_WRONG * found["total"])


if __name__ == "__main__":
    sys.exit(main())
