"""The labelled set for relabelling is sound: known techniques, no label twice, even halves."""

import re
from collections import Counter
from functools import cache
from typing import Literal

import pytest

from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.technique import TechniqueId
from regraph_kg.models.trajectory import Name

from .corpus import CORPUS, vocabulary

Kind = Literal["spelling", "synonym", "hard_negative", "cross_target", "new", "injection"]
TARGETS: tuple[Target, ...] = ("cuda", "openmp")
LEAST: dict[Kind, int] = {
    "spelling": 100,
    "synonym": 200,
    "hard_negative": 100,
    "cross_target": 50,
    "new": 60,
    "injection": 50,
}
"""Labels of each kind, at the least."""


class Line(Frozen):
    """One judged label; `technique` is None where the vocabulary has none that is meant."""

    label: Name
    target: Target
    technique: TechniqueId | None
    kind: Kind
    split: Literal["dev", "test"]
    note: str = ""


@cache
def lines(target: Target) -> tuple[Line, ...]:
    text = (CORPUS / "relabel" / f"labels.{target}.jsonl").read_text(encoding="utf-8")
    return tuple(Line.model_validate_json(line) for line in text.splitlines())


def both() -> tuple[Line, ...]:
    return tuple(line for target in TARGETS for line in lines(target))


def squeeze(name: str) -> str:
    """What spellings of a name share; written here anew, so as not to trust the labeller's own."""
    text = name.lower().replace("_", " ").replace("isation", "ization").replace("ised", "ized")
    words = (word for word in re.findall(r"\w+", text) if word not in ("pragma", "omp"))
    singular = (re.sub(r"(?<=p)ies$", "y", word) for word in words)
    return "".join(re.sub(r"(?<=ss)es$|(?<!s)s$", "", word) for word in singular)


@cache
def spelled(target: Target) -> dict[str, str]:
    """Squeezed id, name or alias -> technique id."""
    return {
        squeeze(name): t.id
        for t in vocabulary().curated
        if t.target == target
        for name in (t.id, t.name, *t.aliases)
    }


def test_there_are_enough_labels_of_every_kind_in_either_half() -> None:
    kinds = Counter(line.kind for line in both())
    assert len(both()) >= 400
    assert [kind for kind, least in LEAST.items() if kinds[kind] < least] == []
    for kind, count in kinds.items():
        dev = sum(line.split == "dev" for line in both() if line.kind == kind)
        assert abs(2 * dev - count) <= count // 10, kind


def test_about_three_labels_in_ten_are_of_no_known_technique() -> None:
    unknown = sum(line.technique is None for line in both())
    assert 0.25 <= unknown / len(both()) <= 0.35
    assert all((line.technique is None) or line.kind != "new" for line in both())
    assert all(
        line.technique is not None for line in both() if line.kind in ("spelling", "synonym")
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_holds_labels_of_its_target_and_techniques_of_the_vocabulary(
    target: Target,
) -> None:
    known = {t.id for t in vocabulary().curated if t.target == target}
    meant = {line.technique for line in lines(target)} - {None}
    assert {line.target for line in lines(target)} == {target}
    assert meant == known


@pytest.mark.parametrize("target", TARGETS)
def test_every_technique_is_meant_by_four_labels_and_seen_in_either_half(target: Target) -> None:
    halves = Counter((line.technique, line.split) for line in lines(target))
    for technique in {line.technique for line in lines(target)} - {None}:
        dev, test = halves[technique, "dev"], halves[technique, "test"]
        assert dev + test >= 4, technique
        assert abs(dev - test) <= 1, technique


@pytest.mark.parametrize("target", TARGETS)
def test_no_label_is_there_twice_not_even_in_another_spelling(target: Target) -> None:
    labels = Counter(line.label for line in lines(target))
    spellings = Counter(key for line in lines(target) if (key := squeeze(line.label)))
    assert [label for label, count in labels.items() if count > 1] == []
    assert [key for key, count in spellings.items() if count > 1] == []


@pytest.mark.parametrize("target", TARGETS)
def test_only_labels_of_kind_spelling_are_spelled_like_a_listed_name(target: Target) -> None:
    listed = [(line, spelled(target).get(squeeze(line.label))) for line in lines(target)]
    assert [n.label for n, found in listed if n.kind == "spelling" and found != n.technique] == []
    assert [n.label for n, found in listed if n.kind != "spelling" and found] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_label_of_kind_spelling_is_no_listed_name_letter_for_letter(target: Target) -> None:
    listed = {n for t in vocabulary().curated for n in (t.id, t.name, *t.aliases)}
    spelling = [line.label for line in lines(target) if line.kind == "spelling"]
    assert [label for label in spelling if label in listed] == []


def test_labels_name_techniques_of_both_targets_and_of_the_wrong_one() -> None:
    cross = [line for line in both() if line.kind == "cross_target"]
    shared = {line.label for line in cross if line.target == "cuda"}
    shared &= {line.label for line in cross if line.target == "openmp"}
    other: dict[Target, Target] = {"cuda": "openmp", "openmp": "cuda"}
    strays = [
        n for n in cross if n.technique is None and squeeze(n.label) in spelled(other[n.target])
    ]
    assert len(shared) >= 10
    assert len(strays) >= 20
