"""Contract: merges and what undoes them carry everything exactly, and leave no trace."""

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator, GraphStore
from regraph_kg.models.curation import Part
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings
from tests.contract.curated import ME, everything, paths, relabelled, some_plans, sound, totals
from tests.contract.plans import failure, measured, plan, technique
from tests.stores import wipe


def test_a_merge_carries_examples_failures_statistics_and_names(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    before = totals(store)
    done = curator.merge("cuda/a", ["cuda/b"], ME)
    assert totals(store) == before
    assert sound(store)
    assert paths(store) == ["dot aaa", "max cc", "min aaa", "saxpy aac", "sum aaa"]
    assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/c"]
    heir = store.techniques()[0]
    assert (heir.replaces, heir.aliases) == (("cuda/b",), ("Technique b", "b"))
    assert (done.number, done.kind, done.summary) == (1, "merge", "merged cuda/b into cuda/a")
    assert (done.examples, done.failures) == (7, 2)
    (log,) = curator.log()
    assert (log.who, log.why, log.techniques) == ("curator @ desk", "because", ("cuda/a", "cuda/b"))


def test_a_merged_technique_needs_what_its_heir_needed(store: GraphStore, curator: Curator) -> None:
    heir = {"needs": ("loop",), "recipe": "Write it.", "steps": ("One.", "Two.")}
    other = {"needs": ("nest",), "pointless": ("simd",), "recipe": "Write another."}
    store.add_techniques([technique("a", **heir), technique("b", **other)])
    before = store.techniques()
    curator.merge("cuda/a", ["cuda/b"], ME)
    (kept,) = store.techniques()
    assert (kept.needs, kept.pointless) == (("loop",), ())
    assert (kept.recipe, kept.steps) == ("Write it.", ("One.", "Two."))
    curator.undo(None, ME)
    assert store.techniques() == before


def test_statistics_of_a_merge_are_those_of_an_ingest_under_one_name(
    store: GraphStore, curator: Curator, store_settings: Settings
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/b", ["cuda/a", "cuda/c"], ME)
    merged = (store.transitions(), tuple(store.export()))

    wipe(store_settings)
    store.apply_schema()
    store.merge([relabelled(plan, "cuda/b") for plan in some_plans()])
    assert (store.transitions(), tuple(store.export())) == merged


def test_undoing_a_merge_leaves_no_trace(store: GraphStore, curator: Curator) -> None:
    store.merge(some_plans())
    before = everything(store)
    curator.merge("cuda/a", ["cuda/b", "cuda/c"], ME)
    undone = curator.undo(None, ME)
    assert everything(store) == before
    assert sound(store)
    assert (undone.kind, undone.undoes) == ("undo", 1)
    assert curator.log()[0].undone_by == 2


def test_an_undone_merge_can_be_made_again_by_undoing_the_undo(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/a", ["cuda/b"], ME)
    merged = everything(store)
    curator.undo(None, ME)
    curator.undo(2, ME)
    assert everything(store) == merged
    assert [one.undone_by for one in curator.log()] == [None, 3, None]
    curator.undo(1, ME)
    assert len(store.techniques()) == 3


def test_old_files_land_on_the_technique_that_took_over(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/a", ["cuda/b"], ME)
    before = everything(store)
    assert store.merge(some_plans()).added == 0
    assert everything(store) == before
    store.merge([plan("b", problem="new", failures=[failure("b", 1)])])
    assert paths(store)[3] == "new a"
    assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/c"]
    assert sound(store)


def test_a_vocabulary_file_does_not_bring_back_what_a_curator_took_away(
    store: GraphStore, curator: Curator
) -> None:
    file = [technique("a", aliases=("ay", "bay")), technique("b", aliases=("bee",))]
    store.add_techniques(file)
    store.merge([plan("a")])
    curator.merge("cuda/a", ["cuda/b"], ME)
    curator.split("cuda/a", ["bay"], Part("Part"), ME)
    before = store.techniques()
    names = Vocabulary(file, before)
    store.add_techniques(names.curated)
    assert store.techniques() == before
    found = [names.find(name, "cuda") for name in ("ay", "b", "bee", "technique b", "bay", "part")]
    assert [one and one.technique for one in found] == ["cuda/a"] * 4 + ["cuda/part"] * 2


def test_merges_into_a_technique_that_is_merged_itself_lead_to_the_last(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/b", ["cuda/a"], ME)
    curator.merge("cuda/c", ["cuda/b"], ME)
    assert store.techniques()[0].replaces == ("cuda/b", "cuda/a")
    store.merge([plan("ab", problem="new")])
    assert paths(store)[3] == "new cc"
    assert sound(store)


def test_undoing_a_merge_takes_along_what_came_under_the_restored_names(
    store: GraphStore, curator: Curator
) -> None:
    named = (technique("a"), technique("b", aliases=("Label b",)))
    store.add_techniques(named)
    store.merge([plan("ab"), plan("a", problem="sum")])
    curator.merge("cuda/a", ["cuda/b"], ME)
    store.merge([relabelled(plan("bab", problem="later", failures=[failure("b", 1)]), "cuda/a")])
    assert paths(store)[0] == "later aaa"
    curator.undo(None, ME)
    assert paths(store) == ["later bab", "saxpy ab", "sum a"]
    assert sound(store)


def test_undoing_a_merge_leaves_what_was_called_so_before(
    store: GraphStore, curator: Curator
) -> None:
    store.merge([relabelled(plan("b", problem="odd"), "cuda/a")])
    store.add_techniques([technique("b", aliases=("label B",))])
    store.merge([plan("b")])
    before = everything(store)
    curator.merge("cuda/a", ["cuda/b"], ME)
    curator.undo(None, ME)
    assert everything(store) == before
    assert paths(store) == ["odd a", "saxpy b"]


def test_a_curation_is_undone_once_and_not_under_a_later_one(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/a", ["cuda/b"], ME)
    curator.merge("cuda/c", ["cuda/a"], ME)
    with pytest.raises(BadInput, match=r"curation 2 \(merged cuda/a into cuda/c\) builds upon 1"):
        curator.undo(1, ME)
    curator.undo(None, ME)
    curator.undo(None, ME)
    with pytest.raises(BadInput, match="curation 1 is undone already, by 4"):
        curator.undo(1, ME)
    with pytest.raises(BadInput, match="no curation is left to undo"):
        curator.undo(None, ME)
    assert sound(store)


def test_examples_beyond_the_bound_go_along(store: GraphStore, curator: Curator) -> None:
    list(store.set_bound(4))
    store.merge(
        [plan("ab", problem=f"p{i}", measurements=[measured(effect=1 + i)]) for i in range(12)]
    )
    before, all_before = totals(store), everything(store)[:3]
    curator.merge("cuda/a", ["cuda/b"], ME)
    assert totals(store) == before
    assert sound(store)
    curator.split("cuda/a", ["Label b"], Part("Part"), ME)
    assert totals(store) == before
    assert sound(store)
    curator.undo(None, ME)
    curator.undo(None, ME)
    assert everything(store)[:3] == all_before
    assert sound(store)
