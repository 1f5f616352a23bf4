"""The labelled sets are sound: known techniques, nothing twice, even halves."""

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import chain
from typing import Literal

import pytest
from pydantic import Field

from corpus.tools.relabel_check import Clustered, Labelled, PairSet, read_labelled
from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target

from .corpus import CORPUS, PROBLEMS, trajectories, vocabulary

FOLDER = CORPUS / "relabel"
QUERIES = CORPUS.parent / "benchmarks" / "queries" / "nearest.jsonl"
TARGETS: tuple[Target, ...] = ("cuda", "openmp")
LEAST = {
    "spelling": 100,
    "synonym": 200,
    "hard_negative": 100,
    "cross_target": 50,
    "new": 60,
    "injection": 50,
}
"""Labels of each kind, at the least."""


class Query(Frozen):
    """What an engineer types, and every step that should be found."""

    query: str = Field(min_length=3)
    target: Target
    relevant: tuple[str, ...] = Field(min_length=1)
    split: Literal["dev", "test"]


@cache
def labels() -> tuple[Labelled, ...]:
    return tuple(read_labelled(FOLDER))


def labels_of(target: Target) -> list[Labelled]:
    return [line for line in labels() if line.target == target]


@cache
def pairs() -> PairSet:
    return PairSet.read(FOLDER, None)


def clusters(target: Target) -> list[list[Clustered]]:
    found: dict[str, list[Clustered]] = defaultdict(list)
    for member in pairs().names:
        if member.target == target:
            found[member.cluster].append(member)
    return list(found.values())


@cache
def queries() -> tuple[Query, ...]:
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    return tuple(map(Query.model_validate_json, lines))


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
        squeeze(name): one.id
        for one in vocabulary().curated
        if one.target == target
        for name in (one.id, one.id.partition("/")[2], one.name, *one.aliases)
    }


def known(target: Target) -> set[str]:
    return {one.id for one in vocabulary().curated if one.target == target}


def assert_even(splits: list[str]) -> None:
    counts = Counter(splits)
    assert abs(counts["dev"] - counts["test"]) <= len(splits) // 10


def test_there_are_enough_labels_of_every_kind_in_either_half() -> None:
    kinds = defaultdict(list)
    for line in labels():
        kinds[line.kind].append(line.split)
    assert [kind for kind, least in LEAST.items() if len(kinds[kind]) < least] == []
    for splits in kinds.values():
        assert_even([*splits])
    unknown = [line for line in labels() if line.technique is None]
    assert 0.25 <= len(unknown) / len(labels()) <= 0.35
    assert {line.kind for line in labels() if line.technique}.isdisjoint({"new"})
    assert {line.kind for line in unknown}.isdisjoint({"spelling", "synonym"})


@pytest.mark.parametrize("target", TARGETS)
def test_every_technique_is_meant_by_four_labels_and_seen_in_either_half(target: Target) -> None:
    halves = Counter((line.technique, line.split) for line in labels_of(target))
    assert {line.technique for line in labels_of(target)} - {None} == known(target)
    for technique in known(target):
        dev, test = halves[technique, "dev"], halves[technique, "test"]
        assert dev + test >= 4, technique
        assert abs(dev - test) <= 1, technique


@pytest.mark.parametrize("target", TARGETS)
def test_no_label_is_there_twice_not_even_in_another_spelling(target: Target) -> None:
    spellings = [key for line in labels_of(target) if (key := squeeze(line.label))]
    assert len({line.label for line in labels_of(target)}) == len(labels_of(target))
    assert len(set(spellings)) == len(spellings)
    names = [squeeze(member.name) for group in clusters(target) for member in group]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("target", TARGETS)
def test_only_labels_of_kind_spelling_are_spelled_like_a_listed_name(target: Target) -> None:
    listed = {n for one in vocabulary().curated for n in (one.id, one.name, *one.aliases)}
    for line in labels_of(target):
        found = spelled(target).get(squeeze(line.label))
        assert found == (line.technique if line.kind == "spelling" else None), line.label
        assert line.kind != "spelling" or line.label not in listed


def test_labels_name_techniques_of_both_targets_and_of_the_wrong_one() -> None:
    cross = [line for line in labels() if line.kind == "cross_target"]
    cuda, openmp = ({n.label for n in cross if n.target == target} for target in TARGETS)
    other: dict[Target, Target] = {"cuda": "openmp", "openmp": "cuda"}
    strays = [
        n for n in cross if n.technique is None and squeeze(n.label) in spelled(other[n.target])
    ]
    assert len(cuda & openmp) >= 10
    assert len(strays) >= 20


def test_queries_are_enough_and_differ_and_every_step_is_relevant_to_one() -> None:
    assert len({(q.target, squeeze(q.query)) for q in queries()}) == len(queries()) >= 70
    assert_even([q.split for q in queries()])
    for target in TARGETS:
        steps = {
            f"{one.ref}/{place}"
            for one in trajectories()
            if one.target == target and one.problem in PROBLEMS
            for place in range(1, len(one.steps) + 1)
        }
        ours = [q.relevant for q in queries() if q.target == target]
        assert set(chain(*ours)) == steps
        assert all(len(set(relevant)) == len(relevant) for relevant in ours)


@pytest.mark.parametrize("target", TARGETS)
def test_a_cluster_is_of_one_half_and_one_technique(target: Target) -> None:
    groups = clusters(target)
    assert len(groups) >= 30
    for group in groups:
        assert 4 <= len(group) <= 6
        assert len({(member.split, member.vocabulary) for member in group}) == 1, group[0].cluster
        for member in group:
            taken = spelled(target).get(squeeze(member.name), member.vocabulary)
            assert taken == member.vocabulary, member.name
    assert_even([group[0].split for group in groups])
    listed = [meant for group in groups if (meant := group[0].vocabulary) is not None]
    assert len(set(listed)) == len(listed), "two clusters mean one technique"
    assert set(listed) <= known(target)
    assert 0.4 <= len(listed) / len(groups) <= 0.6


def test_pairs_are_enough_and_mostly_of_two_techniques() -> None:
    told = pairs().pairs
    keys = {(p.target, *sorted((squeeze(p.a.name), squeeze(p.b.name)))) for p in told}
    assert len(keys) == len(told) >= 70
    assert sum(not pair.same for pair in told) >= 50
    assert sum(pair.same for pair in told) >= 15
    assert_even([pair.split for pair in told])
    for step in (*pairs().names, *(step for pair in told for step in (pair.a, pair.b))):
        assert step.reasoning
        assert step.detail
        assert step.before != step.after
