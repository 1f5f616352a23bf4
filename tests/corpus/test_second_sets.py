"""The queries for nearest examples, the clusters of names and the look-alike pairs are sound."""

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from regraph_kg.models.base import Frozen
from regraph_kg.models.target import Target
from regraph_kg.models.technique import TechniqueId
from regraph_kg.models.trajectory import Name

from .corpus import CORPUS, PROBLEMS, trajectories, vocabulary

QUERIES = CORPUS.parent / "benchmarks" / "queries" / "nearest.jsonl"

Split = Literal["dev", "test"]
TARGETS: tuple[Target, ...] = ("cuda", "openmp")


class Query(Frozen):
    """What an engineer types, and every step that should be found."""

    query: str = Field(min_length=3)
    target: Target
    relevant: tuple[str, ...] = Field(min_length=1)
    split: Split


class Side(Frozen):
    """A step as a model describes it, with the part of the code that it changed."""

    name: Name
    reasoning: str = Field(min_length=1)
    detail: str = Field(min_length=1)
    before: str = Field(min_length=1)
    after: str = Field(min_length=1)


class Member(Side):
    """One name of a cluster; names of one cluster mean one technique."""

    target: Target
    cluster: str = Field(pattern=r"^c[0-9]{2}$")
    split: Split
    vocabulary: TechniqueId | None


class Pair(Frozen):
    """Two steps whose names look alike, or not, and whether they are one technique."""

    target: Target
    a: Side
    b: Side
    same: bool
    split: Split


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@cache
def queries() -> tuple[Query, ...]:
    return tuple(Query.model_validate_json(n) for n in lines(QUERIES))


@cache
def members(target: Target) -> tuple[Member, ...]:
    path = CORPUS / "relabel" / f"clusters.{target}.jsonl"
    return tuple(Member.model_validate_json(line) for line in lines(path))


@cache
def pairs() -> tuple[Pair, ...]:
    return tuple(Pair.model_validate_json(n) for n in lines(CORPUS / "relabel" / "pairs.jsonl"))


def clusters(target: Target) -> dict[str, list[Member]]:
    found: dict[str, list[Member]] = defaultdict(list)
    for member in members(target):
        found[member.cluster].append(member)
    return found


def squeeze(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


def halves(splits: list[Split]) -> None:
    counts = Counter(splits)
    assert abs(counts["dev"] - counts["test"]) <= len(splits) // 10


def test_there_are_enough_queries_in_either_half_and_none_twice() -> None:
    assert len(queries()) >= 70
    assert {q.target for q in queries()} == set(TARGETS)
    assert len({(q.target, squeeze(q.query)) for q in queries()}) == len(queries())
    halves([q.split for q in queries()])


def test_a_query_names_steps_of_its_target_that_exist_and_each_once() -> None:
    known: dict[Target, set[str]] = {
        target: {
            f"{t.ref}/{place}"
            for t in trajectories()
            if t.target == target
            for place in range(1, len(t.steps) + 1)
        }
        for target in TARGETS
    }
    for q in queries():
        assert set(q.relevant) <= known[q.target], q.query
        assert len(set(q.relevant)) == len(q.relevant), q.query


def test_every_step_is_relevant_to_a_query() -> None:
    told = [one for one in trajectories() if one.problem in PROBLEMS]
    steps = {f"{t.ref}/{i}" for t in told for i in range(1, len(t.steps) + 1)}
    assert steps == {step for q in queries() for step in q.relevant}


def test_there_are_enough_clusters_and_names_in_each() -> None:
    assert sum(len(clusters(target)) for target in TARGETS) >= 60
    for target in TARGETS:
        assert all(4 <= len(group) <= 6 for group in clusters(target).values())


@pytest.mark.parametrize("target", TARGETS)
def test_a_cluster_is_of_one_target_one_half_and_one_technique(target: Target) -> None:
    assert {member.target for member in members(target)} == {target}
    for cluster, group in clusters(target).items():
        assert len({(member.split, member.vocabulary) for member in group}) == 1, cluster
    halves([group[0].split for group in clusters(target).values()])


@pytest.mark.parametrize("target", TARGETS)
def test_no_two_clusters_mean_one_technique_of_the_vocabulary(target: Target) -> None:
    meant = [group[0].vocabulary for group in clusters(target).values()]
    listed = [technique for technique in meant if technique is not None]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= {t.id for t in vocabulary().curated if t.target == target}
    assert 0.4 <= len(listed) / len(meant) <= 0.6


@pytest.mark.parametrize("target", TARGETS)
def test_no_name_is_there_twice(target: Target) -> None:
    names = Counter(squeeze(member.name) for member in members(target))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("target", TARGETS)
def test_a_name_is_no_listed_name_of_another_technique(target: Target) -> None:
    listed = {
        squeeze(name): t.id
        for t in vocabulary().curated
        if t.target == target
        for name in (t.id.partition("/")[2], t.name, *t.aliases)
    }
    wrong = [
        m.name for m in members(target) if listed.get(squeeze(m.name), m.vocabulary) != m.vocabulary
    ]
    assert wrong == []


def test_the_code_of_a_step_changes() -> None:
    sides: list[Side] = [member for target in TARGETS for member in members(target)]
    sides += [side for pair in pairs() for side in (pair.a, pair.b)]
    assert [side.name for side in sides if side.before == side.after] == []


def test_there_are_enough_pairs_mostly_of_two_techniques() -> None:
    keys = {(p.target, *sorted((squeeze(p.a.name), squeeze(p.b.name)))) for p in pairs()}
    assert len(keys) == len(pairs()) >= 70
    assert sum(not pair.same for pair in pairs()) >= 50
    assert sum(pair.same for pair in pairs()) >= 15
    halves([pair.split for pair in pairs()])
