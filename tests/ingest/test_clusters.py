"""An audit's findings in clusters: each once, whatever their order, what moves most first."""

import random

import pytest

from regraph_kg.ingest.clusters import LARGEST, PAGE, clusters, pages
from regraph_kg.models.curation import Cluster, Concern, ConcernKind

PAIRED: tuple[ConcernKind, ...] = ("shared-name", "suspect")
SINGLE: tuple[ConcernKind, ...] = ("review", "orphan")


def concern(kind: ConcernKind, *ids: str, score: float | None = None, about: str = "") -> Concern:
    examples = tuple(sum(map(ord, one)) % 50 for one in ids)
    command = ("techniques", "mend", "keep", *ids)
    return Concern(
        kind=kind,
        techniques=ids,
        examples=examples,
        labels=tuple(() for _ in ids),
        score=score,
        about=about,
        commands=(command,),
    )


def findings(rng: random.Random) -> list[Concern]:
    """Up to 40 pairs, each once, and 30 of single techniques."""
    names = [f"cuda/t{number}" for number in range(rng.randrange(4, 30))]
    found = {}
    for _ in range(rng.randrange(40)):
        one, other = rng.sample(names, 2)
        score = rng.randrange(45, 101) / 100
        found[min(one, other), max(one, other)] = concern(
            rng.choice(PAIRED), one, other, score=score
        )
    alone = {(rng.choice(SINGLE), rng.choice(names)) for _ in range(rng.randrange(30))}
    return [*found.values(), *(concern(kind, name) for kind, name in sorted(alone))]


def told(found: tuple[Cluster, ...]) -> list[tuple[object, ...]]:
    return [
        (one.techniques, one.proposals, one.moved, sorted(map(repr, one.findings))) for one in found
    ]


@pytest.mark.parametrize("seed", range(40))
def test_every_finding_is_in_one_cluster_whatever_their_order(seed: int) -> None:
    rng = random.Random(seed)
    found = findings(rng)
    made = clusters(found)
    assert sorted(repr(finding) for it in made for finding in it.findings) == sorted(
        map(repr, found)
    )
    for one in made:
        if any(it.kind in PAIRED for it in one.findings):
            assert len({it.techniques[0] for it in one.findings}) <= LARGEST
        else:
            assert len(one.findings) <= PAGE
    changed = [
        proposal.techniques for it in made for proposal in it.proposals if proposal.kind == "merge"
    ]
    gone = [key for techniques in changed for key in techniques[1:]]
    assert len(gone) == len(set(gone))
    assert not set(gone) & {techniques[0] for techniques in changed}
    assert [one.moved for one in made] == sorted((one.moved for one in made), reverse=True)
    pairs_only = [one for one in found if one.kind in PAIRED]
    rng.shuffle(pairs_only)
    again = clusters([*pairs_only, *(one for one in found if one.kind not in PAIRED)])
    assert told(again) == told(made)


def test_what_is_suspected_becomes_the_better_known_one_and_never_by_way_of_a_third() -> None:
    chain = [
        concern("suspect", "cuda/a", "cuda/b", score=0.9),
        concern("suspect", "cuda/b", "cuda/c", score=0.8),
        concern("suspect", "cuda/a", "cuda/d", score=0.7),
    ]
    (found,) = clusters(chain)
    (merge,) = found.proposals
    assert merge.words == ("techniques", "mend", "merge", "cuda/a", "cuda/b", "cuda/d")
    assert found.moved == sum(concern("orphan", f"cuda/{it}").examples[0] for it in "bd")


def test_a_shared_name_proposes_nothing() -> None:
    (found,) = clusters([concern("shared-name", "cuda/a", "cuda/b", about="x")])
    assert found.proposals == ()


def test_single_techniques_stand_in_groups_of_their_kind_and_target() -> None:
    new = [concern("review", f"cuda/n{number}") for number in range(12)]
    other = [concern("review", "openmp/n"), concern("orphan", "cuda/o")]
    found = clusters([*new, *other])
    assert sorted(len(one.findings) for one in found) == [1, 1, 2, 10]
    assert {proposal.kind for it in found for proposal in it.proposals} == {"keep", "drop"}


def test_pages_hold_ten_clusters() -> None:
    pairs = [concern("suspect", f"cuda/a{n}", f"cuda/b{n}", score=0.5) for n in range(23)]
    assert [len(page) for page in pages(clusters(pairs))] == [10, 10, 3]


def test_a_token_is_of_the_proposals_and_the_examples_that_they_move() -> None:
    one = concern("suspect", "cuda/a", "cuda/b", score=0.5)
    (first,), (same,) = clusters([one]), clusters([one])
    (grown,) = clusters([one.model_copy(update={"examples": (1, 2)})])
    assert first.token == same.token != grown.token
