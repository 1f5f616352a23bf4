"""Contract: splits, renames and the log; what makes no sense is refused."""

import hashlib
from dataclasses import replace

import pytest

from regraph_kg.backends.curation.log import pack, unpack
from regraph_kg.backends.curation.transfer import StepRef
from regraph_kg.errors import BadInput
from regraph_kg.graph import Curator, GraphStore
from regraph_kg.models.curation import Curation, Note, Part
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_curator, open_store
from tests.contract.curated import (
    ME,
    everything,
    mixed,
    paths,
    relabelled,
    some_plans,
    sound,
    totals,
)
from tests.contract.plans import failure, plan, technique
from tests.stores import cypher

pytestmark = pytest.mark.neo4j("slow")


def seen(curation: Curation) -> tuple[object, ...]:
    return (curation.kind, curation.techniques, curation.labels)


def test_a_split_takes_exactly_the_steps_that_were_called_so(
    store: GraphStore, curator: Curator
) -> None:
    mixed(store)
    before = totals(store)
    done = curator.split("cuda/a", ["LABEL-B"], Part("Part"), ME)
    assert totals(store) == before
    assert sound(store)
    assert paths(store) == [
        "dot aapart",
        "max aa",
        "min partpartpart",
        "saxpy aparta",
        "sum partapart",
    ]
    rest, new = store.techniques()
    assert (rest.aliases, rest.disowned) == (("label C",), ("Label b",))
    assert new.aliases == ("Label b",)
    assert (done.examples, done.failures) == (7, 2)


def test_a_split_takes_labels_that_are_no_aliases_and_several_with_commas(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/c", ["cuda/a", "cuda/b"], ME)
    curator.split("cuda/c", ["Label a, Label b"], Part("Part"), ME)
    assert paths(store)[1:3] == ["max cc", "min partpartpart"]
    assert sound(store)


def test_undoing_a_split_leaves_no_trace_and_takes_back_what_came_since(
    store: GraphStore, curator: Curator
) -> None:
    mixed(store)
    before = everything(store)
    curator.split("cuda/a", ["Label b"], Part("Part"), ME)
    curator.undo(1, ME)
    assert everything(store) == before
    curator.undo(2, ME)
    store.merge([relabelled(plan("b", problem="new"), "cuda/part")])
    curator.undo(3, ME)
    assert paths(store)[3] == "new a"
    assert sound(store)


def test_names_can_be_moved_to_a_technique_that_is_there(
    store: GraphStore, curator: Curator
) -> None:
    mixed(store)
    store.merge([plan("z", problem="other")])
    before, all_before = totals(store), everything(store)
    curator.move("cuda/a", ["Label b"], "cuda/z", ME)
    assert totals(store) == before
    assert sound(store)
    assert paths(store)[2] == "min zzz"
    assert store.techniques()[1].aliases == ("Label b",)
    curator.undo(None, ME)
    assert everything(store) == all_before


def test_a_rename_keeps_the_old_name_and_id(store: GraphStore, curator: Curator) -> None:
    store.merge(some_plans())
    before, all_before = totals(store), everything(store)
    curator.rename("cuda/b", "Better name", ME)
    found = store.techniques()[1]
    assert (found.id, found.name, found.aliases) == (
        "cuda/b",
        "Better name",
        ("Technique b",),
    )
    curator.rename("cuda/b", "Best name", ME, new_id="cuda/best")
    assert [technique.id for technique in store.techniques()] == ["cuda/a", "cuda/best", "cuda/c"]
    found = store.techniques()[1]
    assert found.aliases == ("Technique b", "Better name", "b")
    assert found.replaces == ("cuda/b",)
    assert totals(store) == before
    assert sound(store)
    store.merge([plan("b", problem="new")])
    assert paths(store)[3] == "new best"
    curator.undo(None, ME)
    curator.undo(None, ME)
    assert paths(store)[3] == "new b"
    assert everything(store)[0] == all_before[0]
    assert sound(store)


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (lambda c: c.merge("cuda/a", ["cuda/a"], ME), "cannot be merged with itself"),
        (lambda c: c.merge("cuda/a", ["openmp/a"], ME), "techniques of two targets"),
        (lambda c: c.merge("cuda/a", ["cuda/zzz"], ME), "'cuda/zzz' is not in the graph"),
        (lambda c: c.merge("cuda/start", ["cuda/a"], ME), "cuda/start is the initial state"),
        (lambda c: c.merge("cuda/a", ["cuda/start"], ME), "cuda/start is the initial state"),
        (lambda c: c.merge("cuda/a", [], ME), "give the techniques to merge"),
        (lambda c: c.split("cuda/a", ["Label a"], Part("Part"), ME), "nothing would be left"),
        (
            lambda c: c.split("cuda/a", ["Label q"], Part("Part"), ME),
            "neither an alias nor an example",
        ),
        (lambda c: c.split("cuda/a", ["Technique a"], Part("Part"), ME), "is cuda/a's own name"),
        (lambda c: c.split("cuda/a", ["Label a"], Part("B"), ME), "id cuda/b is taken"),
        (lambda c: c.move("cuda/a", ["Label a"], "openmp/a", ME), "of two targets"),
        (lambda c: c.rename("cuda/a", "technique B", ME), "'technique B' is cuda/b's"),
        (lambda c: c.rename("cuda/a", "bee", ME), "'bee' is cuda/b's"),
        (lambda c: c.rename("cuda/a", "x\ny", ME), "printable characters"),
        (lambda c: c.rename("cuda/a", "x" * 10_000, ME), "1 to 200"),
        (lambda c: c.rename("cuda/a", "?!", ME), "has no letter or digit"),
        (lambda c: c.rename("cuda/a", "New", ME, new_id="cuda/b"), "id cuda/b is taken"),
        (lambda c: c.rename("cuda/a", "New", ME, new_id="openmp/new"), "must be the target"),
        (lambda c: c.rename("cuda/a", "Technique a", ME), "is called 'Technique a' already"),
        (lambda c: c.drop("cuda/a", ME), "2 trajectories go to cuda/a"),
        (lambda c: c.keep(["cuda/a"], ME, labels=["nope"]), "'nope' is no alias of cuda/a"),
        (lambda c: c.undo(None, ME), "no curation is left to undo"),
        (lambda c: c.undo(7, ME), "there is no curation 7"),
        (lambda c: c.merge("cuda/a", ["cuda/b"], Note("")), "who is 1 to 200 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(
    embedded_settings: Settings, order: object, said: str
) -> None:
    store, curator = open_store(embedded_settings), open_curator(embedded_settings)
    store.add_techniques([technique("b", aliases=("bee",)), technique("a", "openmp")])
    store.merge([plan("a"), plan("ab", problem="sum")])
    before = everything(store)
    with pytest.raises(BadInput, match=said) as refused:
        order(curator)  # type: ignore[operator]
    assert len(str(refused.value).splitlines()) == 1
    assert (everything(store), curator.log()) == (before, ())
    store.close()
    curator.close()


def test_a_curation_of_other_techniques_stands_in_nobodys_way(
    store: GraphStore, curator: Curator
) -> None:
    store.merge([*some_plans(), plan("de", problem="more")])
    curator.merge("cuda/a", ["cuda/b"], ME)
    curator.merge("cuda/d", ["cuda/e"], ME)
    curator.undo(1, ME)
    assert paths(store)[0] == "dot aab"
    assert sound(store)


def test_keeping_clears_the_mark_and_remembers_what_was_looked_at(
    store: GraphStore, curator: Curator
) -> None:
    store.add_techniques([technique("a", review=True, aliases=("x",)), technique("b")])
    curator.keep(["cuda/a", "cuda/b"], ME, labels=["x"])
    assert not any(technique.review for technique in store.techniques())
    assert seen(curator.log()[0]) == ("keep", ("cuda/a", "cuda/b"), ("x",))
    curator.undo(None, ME)
    assert store.techniques()[0].review


def test_a_technique_that_nothing_leads_to_can_be_dropped(
    store: GraphStore, curator: Curator
) -> None:
    store.add_techniques([technique("a", definition="d")])
    before = store.techniques()
    curator.drop("cuda/a", ME)
    assert store.techniques() == ()
    curator.undo(None, ME)
    assert store.techniques() == before


HOSTILE = "'}) DETACH DELETE n // \" \\ ` $x {y}   \U0001f680 naïve 核\n\x1b[2J" + "long " * 2_000


def test_names_are_data_whatever_they_say(
    store: GraphStore, curator: Curator, store_settings: Settings
) -> None:
    store.add_techniques([technique("a"), technique("b", aliases=(HOSTILE, "plain"))])
    store.merge([plan("ab")])
    before = everything(store)
    curator.merge("cuda/a", ["cuda/b"], Note("o'\"}) {", HOSTILE[:2_000]))
    assert HOSTILE in store.techniques()[0].aliases
    curator.split("cuda/a", [HOSTILE], Part("Part"), ME)
    assert HOSTILE in store.techniques()[1].aliases
    curator.undo(None, ME)
    curator.undo(None, ME)
    assert everything(store) == before
    assert len(cypher(store_settings, "MATCH (d:Decision) RETURN d.id")) == 4


@pytest.mark.neo4j("quick")
def test_usage_counts_what_leads_to_and_from_each_technique(
    store: GraphStore, curator: Curator
) -> None:
    store.merge([*some_plans(), plan("d", failures=[failure("e", 0)])])
    found = {
        one.technique.id[5:]: (one.examples, one.tried, one.leaving) for one in curator.usage()
    }
    assert found["d"] == (1, 0, 0)
    assert found["e"] == (0, 1, 0)
    assert found["c"] == (3, 5, 1)
    labels = {one.technique.id: one.labels for one in curator.usage()}
    assert (labels["cuda/b"], labels["cuda/e"]) == (("Label b",), ())


def test_verdicts_are_what_ingests_were_not_sure_of(store: GraphStore, curator: Curator) -> None:
    sent = plan("ab")
    doubtful = replace(
        sent.labels[1], stage="lexical", score=0.5, runner_up="cuda/a", runner_up_score=0.4
    )
    store.merge([replace(sent, labels=(sent.labels[0], doubtful))])
    (told,) = curator.verdicts()
    assert (told.label, told.technique, told.score) == ("Label b", "cuda/b", 0.5)
    assert (told.runner_up, told.runner_up_score, told.target) == ("cuda/a", 0.4, "cuda")


def test_a_curation_makes_a_missing_transition_again(
    store: GraphStore, curator: Curator, store_settings: Settings
) -> None:
    store.merge(some_plans())
    lost = "MATCH (:Technique {id: 'cuda/a'})-[r:TRANSITION]->(:Technique {id: 'cuda/b'}) DELETE r"
    cypher(store_settings, lost)
    curator.merge("cuda/c", ["cuda/b"], ME)
    assert store.check() == ()


def test_what_66000_steps_take_to_undo_fits_into_one_entry() -> None:
    steps = frozenset(
        StepRef(hashlib.sha256(f"{number // 3}".encode()).hexdigest(), 1 + number % 3)
        for number in range(66_000)
    )
    text = pack([steps, frozenset()])
    assert len(text) < 2**21
    assert unpack(text) == (steps, frozenset())
