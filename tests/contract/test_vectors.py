"""Vectors of texts and codes: who gets them, and the nearest examples."""

import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.backends.vectors import SCANNED, text_of
from regraph_kg.errors import BadInput
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.graph import EmbeddingSpace, Example, MergePlan, Vector
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, measured
from tests.contract.vectors import (
    OTHER,
    TINY,
    Table,
    embed,
    floats,
    reasoned,
    small_graph,
)
from tests.stores import cypher

HASH = HashEmbedder()


def reasonings(examples: Sequence[Example]) -> list[str]:
    return [example.reasoning for example in examples]


@pytest.fixture
def table(store: GraphStore) -> Table:
    return small_graph(store)


def test_examples_near_a_vector_come_most_similar_first(store: GraphStore, table: Table) -> None:
    embed(store, table)
    found = store.examples("cuda/start", "cuda/a", limit=9, near=table.vector("north"))
    assert reasonings(found) == ["north", "north-east", "east", "south"]
    assert [one.similarity for one in found] == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-6)
    assert {one.source for one in found} == {"cuda/start"}
    nearest = store.examples("cuda/start", "cuda/a", limit=2, near=table.vector("south"))
    assert reasonings(nearest) == ["south", "east"]


def test_equally_similar_examples_come_best_first(store: GraphStore) -> None:
    table = Table(TINY)
    store.merge(
        [
            reasoned("a", ["same"], code="1;", measurements=[measured(A100, effect=9.0)]),
            reasoned("a", ["same"], code="2;", measurements=[measured(H200, effect=2.0)]),
            reasoned("a", ["same"], code="3;", measurements=[measured(H200, effect=3.0)]),
        ]
    )
    embed(store, table)
    near = table.vector("anything")
    found = store.examples("cuda/start", "cuda/a", device=H200, near=near)
    assert [one.effect for one in found] == [3.0, 2.0, 9.0]


def test_new_examples_come_last_until_they_are_embedded(store: GraphStore, table: Table) -> None:
    embed(store, table)
    table.asked.clear()
    store.merge([reasoned("a", ["north"], problem="new")])
    near = table.vector("north")
    found = store.examples("cuda/start", "cuda/a", limit=9, near=near)
    assert (found[-1].problem, found[-1].similarity) == ("new", None)
    assert len(store.nearest(near, k=9)) == 5
    (progress,) = embed(store, table)
    assert "north" in table.asked
    assert (progress.done, progress.total) == (1, 1)
    nearest = store.examples("cuda/start", "cuda/a", limit=2, near=near)
    assert {one.problem for one in nearest} == {"saxpy", "new"}


def test_the_nearest_of_all_are_found_across_transitions(store: GraphStore, table: Table) -> None:
    embed(store, table)
    found = store.nearest(table.vector("north"), k=3)
    assert reasonings(found) == ["north", "north", "north-east"]
    assert {(one.source, one.target) for one in found} == {
        ("cuda/start", "cuda/a"),
        ("cuda/a", "cuda/b"),
    }
    assert store.nearest(table.vector("north"), k=9, target="openmp") == ()
    assert len(store.nearest(table.vector("north"), k=9, target="cuda")) == 5


def test_a_graph_without_embeddings_says_how_to_get_them(store: GraphStore) -> None:
    assert store.embedding_space() is None
    near = Table(TINY).vector("x")
    for ask in (lambda: store.examples("a", "b", near=near), lambda: store.nearest(near, k=1)):
        with pytest.raises(BadInput, match=r"no embeddings yet.*regraph graph embed"):
            ask()


@pytest.mark.parametrize("space", [OTHER, EmbeddingSpace("other", 4), EmbeddingSpace("tiny", 5)])
def test_vectors_of_two_spaces_never_meet(
    space: EmbeddingSpace, store: GraphStore, table: Table
) -> None:
    embed(store, table)
    store.merge([reasoned("a", ["west"], problem="new")])
    stranger = Table(space)
    near = stranger.vector("north")
    attempts: tuple[Callable[[], object], ...] = (
        lambda: store.examples("cuda/start", "cuda/a", near=near),
        lambda: store.nearest(near, k=1),
        lambda: embed(store, stranger),
    )
    for attempt in attempts:
        with pytest.raises(BadInput) as caught:
            attempt()
        assert f"tiny (4 dimensions), not of {space.model} ({space.dimension})" in str(caught.value)
        assert "regraph graph embed" in str(caught.value)
    assert stranger.asked == []
    assert store.embedding_space() == TINY


def test_hostile_reasonings_are_embedded_like_any(store: GraphStore) -> None:
    texts = ["", "'] DETACH DELETE n //", "\x1b[2J\u202e", "x" * 10_000, "日本語"]
    store.merge([reasoned("abcde", texts)])
    embed(store, HASH)
    for text in texts[1:]:
        found = store.nearest(Vector(HASH.space, HASH.embed([text])[0]), k=1)
        assert reasonings(found) == [text]
        assert (found[0].similarity or 0) > 0.2


def test_code_is_compared_with_the_code_that_a_step_began_with(store: GraphStore) -> None:
    first = reasoned("a", ["alike"], serial="for (;;) sum += a[i];", problem="sum")
    other = reasoned("a", ["alike"], serial="swap(rows, columns);", problem="transpose")
    store.merge([first, other])
    embed(store, HASH)
    for code, problem in (("float sum; sum += x[i];", "sum"), ("swap(columns);", "transpose")):
        vector = Vector(HASH.space, HASH.embed([code])[0], "code")
        for found in (
            store.nearest(vector, k=1),
            store.examples("cuda/start", "cuda/a", limit=1, near=vector),
        ):
            assert [one.problem for one in found] == [problem]
            assert (found[0].similarity or 0) > 0.1


def test_a_text_may_name_the_technique_or_say_it_otherwise_than_the_reasoning(
    store: GraphStore,
) -> None:
    store.merge([reasoned("ab", ["each value is read once", "each value is read twice"])])
    embed(store, HASH)
    asked = Vector(HASH.space, HASH.embed(["label b"])[0])
    assert reasonings(store.nearest(asked, k=1)) == ["each value is read twice"]


EXAMPLES = SCANNED + 400
DIMENSION = 64


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


def recall(store: GraphStore, embedder: Table | HashEmbedder, asked: Sequence[str]) -> float:
    """Share of the ten nearest by brute force that `nearest` finds."""
    everything = store.nearest(Vector(embedder.space, embedder.embed(["x"])[0]), k=EXAMPLES)
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
    all_of_them = np.stack([floats(one) for one in embedder.embed(texts)])
    hits = 0
    for packed in embedder.embed(asked):
        best = np.argsort(-(all_of_them @ floats(packed)), kind="stable")[:10]
        found = store.nearest(Vector(embedder.space, packed), k=10)
        assert len(found) == 10
        similarities = [one.similarity or 0.0 for one in found]
        assert similarities == sorted(similarities, reverse=True)
        hits += len({everything[index].id for index in best} & {one.id for one in found})
    return hits / (10 * len(asked))


@pytest.mark.slow
def test_an_index_finds_what_brute_force_finds(store: GraphStore, store_settings: Settings) -> None:
    """Drawn at random, where nothing is near to anything, and as hashed reasonings."""
    plans = crowded()
    for first in range(0, len(plans), 80):
        store.merge(plans[first : first + 80])
    drawn = Table(EmbeddingSpace("drawn by lot", DIMENSION))
    embed(store, drawn)
    assert sorted(indexed(store_settings)) == ["code_embedding", "embedding"]
    asked = [*variations()[::120], *(f"unseen {number}" for number in range(20))]
    assert recall(store, drawn, asked) >= 0.95
    list(store.embed(HASH.space, HASH.embed, change=True))
    assert sorted(indexed(store_settings)) == ["code_embedding", "embedding"]
    unseen = [" ".join(reversed(text.split()[:20])) for text in variations()[::120]]
    assert recall(store, HASH, [*variations()[::120], *unseen]) >= 0.95
    near = Vector(HASH.space, HASH.embed([unseen[0]])[0])
    assert len(store.nearest(near, k=40, target="cuda")) == 40
    assert store.nearest(near, k=5, target="openmp") == ()


def indexed(settings: Settings) -> list[str]:
    """Properties with an index that serves."""
    if settings.store == "embedded":
        rows = cypher(settings, "UNWIND regraph.vector_indexes() AS name RETURN name")
    else:
        rows = cypher(
            settings, "SHOW VECTOR INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name"
        )
    return [str(row["name"]).replace("TRANSITION[", "transition_").strip("]")[11:] for row in rows]
