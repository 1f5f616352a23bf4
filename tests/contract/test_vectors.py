"""Vectors of texts and codes: who gets them, and the nearest examples."""

import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.backends.vectors import text_of
from regraph_kg.errors import BadInput
from regraph_kg.llm.ngrams import SPACE, vectors_of
from regraph_kg.models.graph import Example, Likeness, MergePlan
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, measured
from tests.contract.vectors import embed, reasoned, small_graph
from tests.stores import cypher

SUMS = Likeness("registers hold sums", "words")


def reasonings(examples: Sequence[Example]) -> list[str]:
    return [example.reasoning for example in examples]


def test_each_transition_has_the_vectors_of_its_text_and_of_the_code_before(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge([reasoned("ab", ["one thing", "another"], serial="serial();")])
    embed(store)
    rows = cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->(d) RETURN d.name AS name, d.definition AS definition,"
        " r.original_label AS label, r.reasoning AS reasoning, r.detail AS detail,"
        " r.before AS before, r.embedding AS text, r.code_embedding AS code",
    )
    assert len(rows) == 2
    for row in rows:
        text, code = vectors_of([text_of(row), row["before"]]).tolist()
        assert row["text"] == pytest.approx(text, abs=1e-6)
        assert row["code"] == pytest.approx(code, abs=1e-6)
    assert indexed(store_settings) == {"code_embedding", "embedding"}


def test_examples_like_a_text_come_most_similar_first(store: GraphStore) -> None:
    small_graph(store)
    embed(store)
    found = store.examples("cuda/start", "cuda/a", limit=9, near=SUMS)
    assert reasonings(found)[:2] == ["registers hold sums", "registers hold vectors"]
    similarities = [one.similarity or 0.0 for one in found]
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[0] > 0.5 > similarities[-1] > -0.5
    assert {one.source for one in found} == {"cuda/start"}
    waiting = Likeness("blocks wait", "words")
    assert reasonings(store.examples("cuda/start", "cuda/a", limit=1, near=waiting)) == [
        "blocks wait"
    ]


def test_equally_similar_examples_come_best_first(store: GraphStore) -> None:
    store.merge(
        [
            reasoned("a", ["same"], code="1;", measurements=[measured(A100, effect=9.0)]),
            reasoned("a", ["same"], code="2;", measurements=[measured(H200, effect=2.0)]),
            reasoned("a", ["same"], code="3;", measurements=[measured(H200, effect=3.0)]),
        ]
    )
    embed(store)
    found = store.examples("cuda/start", "cuda/a", device=H200, near=SUMS)
    assert [one.effect for one in found] == [3.0, 2.0, 9.0]


def test_new_examples_come_last_until_they_are_embedded(store: GraphStore) -> None:
    small_graph(store)
    embed(store)
    store.merge([reasoned("a", ["registers hold sums"], problem="new")])
    found = store.examples("cuda/start", "cuda/a", limit=9, near=SUMS)
    assert (found[-1].problem, found[-1].similarity) == ("new", None)
    assert len(store.nearest(SUMS, k=9)) == 5
    assert embed(store) == [(1, 1)]
    nearest = store.examples("cuda/start", "cuda/a", limit=2, near=SUMS)
    assert {one.problem for one in nearest} == {"saxpy", "new"}


def test_the_nearest_of_all_are_found_across_transitions(store: GraphStore) -> None:
    small_graph(store)
    embed(store)
    found = store.nearest(SUMS, k=2)
    assert reasonings(found) == ["registers hold sums"] * 2
    assert {(one.source, one.target) for one in found} == {
        ("cuda/start", "cuda/a"),
        ("cuda/a", "cuda/b"),
    }
    assert store.nearest(SUMS, k=9, target="openmp") == ()
    assert len(store.nearest(SUMS, k=9, target="cuda")) == 5


def test_a_graph_without_embeddings_says_how_to_get_them(store: GraphStore) -> None:
    small_graph(store)
    with pytest.raises(BadInput, match=r"no embeddings yet.*regraph graph embed"):
        store.nearest(SUMS, k=1)
    found = store.examples("cuda/start", "cuda/a", near=SUMS, limit=9)
    assert {one.similarity for one in found} == {None}
    assert reasonings(found)[0] == "blocks wait"  # the only one that was measured


def test_vectors_of_another_version_never_meet_ours(
    store: GraphStore, store_settings: Settings
) -> None:
    small_graph(store)
    embed(store)
    store.merge([reasoned("a", ["new"], problem="new")])
    cypher(store_settings, "MATCH (m:Meta) SET m.embedding_model = 'hash-ngrams-1'")
    attempts: tuple[Callable[[], object], ...] = (
        lambda: store.examples("cuda/start", "cuda/a", near=SUMS),
        lambda: store.nearest(SUMS, k=1),
        lambda: embed(store),
    )
    for attempt in attempts:
        with pytest.raises(BadInput, match=f"hash-ngrams-1, not of {SPACE}.*regraph graph embed"):
            attempt()
    (row,) = cypher(store_settings, "MATCH ()-[r:TRANSITION]->() RETURN count(r.embedding) AS n")
    assert row == {"n": 5}


def test_hostile_reasonings_are_embedded_like_any(store: GraphStore) -> None:
    texts = ["", "'] DETACH DELETE n //", "\x1b[2J\u202e", "x" * 10_000, "日本語"]
    store.merge([reasoned("abcde", texts)])
    embed(store)
    for text in texts[1:]:
        found = store.nearest(Likeness(text, "words"), k=1)
        assert reasonings(found) == [text]
        assert (found[0].similarity or 0) > 0.2


def test_code_is_compared_with_the_code_that_a_step_began_with(store: GraphStore) -> None:
    first = reasoned("a", ["alike"], serial="for (;;) sum += a[i];", problem="sum")
    other = reasoned("a", ["alike"], serial="swap(rows, columns);", problem="transpose")
    store.merge([first, other])
    embed(store)
    for code, problem in (("float sum; sum += x[i];", "sum"), ("swap(columns);", "transpose")):
        near = Likeness(code)
        for found in (
            store.nearest(near, k=1),
            store.examples("cuda/start", "cuda/a", limit=1, near=near),
        ):
            assert [one.problem for one in found] == [problem]
            assert (found[0].similarity or 0) > 0.1


def test_a_text_may_name_the_technique_or_say_it_otherwise_than_the_reasoning(
    store: GraphStore,
) -> None:
    store.merge([reasoned("ab", ["each value is read once", "each value is read twice"])])
    embed(store)
    assert reasonings(store.nearest(Likeness("label b", "words"), k=1)) == [
        "each value is read twice"
    ]


EXAMPLES = 2400


@cache
def variations() -> tuple[str, ...]:
    """Reasonings of the corpus, mixed and with words left out: what thousands of steps are like."""
    rng = random.Random(1)
    folder = Path(__file__).parents[2] / "corpus" / "trajectories"
    lines = [
        line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()
    ]
    known = [step["reasoning"] for line in lines for step in json.loads(line)["steps"]]
    texts: dict[str, None] = {}
    while len(texts) < EXAMPLES:
        words = f"{rng.choice(known)} {rng.choice(known)}".split()
        texts[" ".join(word for word in words if rng.random() < 0.8)] = None
    return tuple(texts)


def crowded() -> list[MergePlan]:
    """Many transitions with all the variations, ten steps a trajectory."""
    rng = random.Random(2)
    return [
        reasoned(
            "".join(rng.choices("abcdefgh", k=10)),
            variations()[first : first + 10],
            problem=f"problem {first % 7}",
        )
        for first in range(0, EXAMPLES, 10)
    ]


def recall(store: GraphStore, asked: Sequence[str]) -> float:
    """Share of the ten nearest by brute force that `nearest` finds."""
    everything = store.nearest(Likeness("x", "words"), k=EXAMPLES)
    technique = {one.id: one for one in store.techniques()}
    texts = [
        text_of(
            {
                "name": technique[one.target].name,
                "definition": technique[one.target].definition,
                "label": one.original_label,
                "reasoning": one.reasoning,
                "detail": one.detail,
            }
        )
        for one in everything
    ]
    all_of_them = vectors_of(texts)
    hits = 0
    for text, vector in zip(asked, vectors_of(asked), strict=True):
        best = np.argsort(-(all_of_them @ vector), kind="stable")[:10]
        found = store.nearest(Likeness(text, "words"), k=10)
        assert len(found) == 10
        similarities = [one.similarity or 0.0 for one in found]
        assert similarities == sorted(similarities, reverse=True)
        hits += len({everything[index].id for index in best} & {one.id for one in found})
    return hits / (10 * len(asked))


@pytest.mark.slow
def test_an_index_finds_what_brute_force_finds(store: GraphStore, store_settings: Settings) -> None:
    """Also what came when the index was there already."""
    plans = crowded()
    for first in range(0, len(plans), 80):
        store.merge(plans[first : first + 80])
        embed(store)
    assert indexed(store_settings) == {"code_embedding", "embedding"}
    unseen = [" ".join(reversed(text.split()[:20])) for text in variations()[::120]]
    assert recall(store, [*variations()[::120], *unseen]) >= 0.95
    near = Likeness(unseen[0], "words")
    assert len(store.nearest(near, k=40, target="cuda")) == 40
    assert store.nearest(near, k=5, target="openmp") == ()


def indexed(settings: Settings) -> set[str]:
    """Properties with an index, once it serves."""
    if settings.store == "embedded":
        rows = cypher(settings, "UNWIND regraph.vector_indexes() AS name RETURN name")
    else:
        cypher(settings, "CALL db.awaitIndexes()")
        rows = cypher(
            settings, "SHOW VECTOR INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name"
        )
    return {str(row["name"]).replace("TRANSITION[", "transition_").strip("]")[11:] for row in rows}
