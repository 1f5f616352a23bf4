"""Contract: the vocabulary in the graph."""

from typing import Any

from regraph_kg.backends.store import GraphStore
from regraph_kg.settings import Settings
from tests.contract.plans import plan, technique
from tests.stores import cypher


def test_techniques_are_added_once_and_listed_by_id(store: GraphStore) -> None:
    given = [
        technique("b", definition="d", applies="when", hurts="else", created="2026-11-20"),
        technique("a"),
    ]
    assert store.add_techniques([]) == 0
    assert store.add_techniques(given) == 2
    assert store.add_techniques(given) == 0
    assert store.techniques() == (given[1], given[0])


def test_a_known_technique_gains_the_aliases_that_are_new(store: GraphStore) -> None:
    store.add_techniques([technique("a", aliases=("one", "two"), definition="first")])
    later = technique("a", aliases=("two", "three"), definition="second")
    assert store.add_techniques([later, technique("b")]) == 1
    known = store.techniques()[0]
    assert (known.aliases, known.definition) == (("one", "two", "three"), "first")


FITTING: dict[str, Any] = {
    "hurts": "at times",
    "needs": ("loop", "reuse|time_loop"),
    "pointless": ("tiled_nest",),
    "leaves": ("more tiled_nest", "other loops.stride"),
    "recipe": "Cut the loops.\nWalk the blocks.",
    "steps": ("Cut one loop.", "Cut the other."),
}


def test_what_a_technique_needs_and_how_it_is_done_is_kept(store: GraphStore) -> None:
    given = technique("a", **FITTING)
    store.add_techniques([given])
    assert store.techniques() == (given,)
    store.merge([plan("a")])
    (found,) = store.neighbourhood("cuda/start", device="any").successors
    assert found.technique == given


def test_a_technique_that_lacks_it_is_told_what_it_needs_and_how_it_is_done(
    store: GraphStore, store_settings: Settings
) -> None:
    own = technique("b", needs=("nest",), recipe="as it is here")
    store.add_techniques([technique("a"), own])
    cypher(
        store_settings,
        "MATCH (t:Technique {id: 'cuda/a'})"
        " REMOVE t.hurts, t.needs, t.pointless, t.leaves, t.recipe, t.steps",
    )
    assert store.techniques()[0] == technique("a")
    store.add_techniques([technique("a", **FITTING), technique("b", **FITTING)])
    kept = {"needs": own.needs, "recipe": own.recipe}
    assert store.techniques() == (technique("a", **FITTING), technique("b", **FITTING | kept))


def test_techniques_can_be_asked_for_one_target(store: GraphStore) -> None:
    store.add_techniques([technique("a"), technique("a", "openmp")])
    assert [found.id for found in store.techniques("openmp")] == ["openmp/a"]
    assert [found.id for found in store.techniques()] == ["cuda/a", "openmp/a"]


def test_targets_share_no_node_and_totals_are_of_all(store: GraphStore) -> None:
    store.merge([plan("ab"), plan("ab", target="openmp"), plan("b", target="openmp")])
    store.merge([plan("abb")])
    stats = store.stats()
    assert stats.targets == {"cuda": 2, "openmp": 2}
    assert (stats.techniques, stats.pairs, stats.transitions, stats.trajectories) == (4, 6, 8, 4)
    found = store.neighbourhood("openmp/start", device="any").successors
    assert [successor.technique.id for successor in found] == ["openmp/a", "openmp/b"]
