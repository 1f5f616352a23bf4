"""Contract: curations carry everything exactly, and undoing them leaves no trace."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from regraph_kg import wiring
from regraph_kg.backends.decisions import pack, unpack
from regraph_kg.backends.rewrite import Place
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.graph import Curator, GraphStore
from regraph_kg.models.curation import Curation, Note, Part
from regraph_kg.models.graph import MergePlan
from regraph_kg.models.technique import Vocabulary
from regraph_kg.settings import Settings
from tests.contract.plans import A100, failure, measured, plan, technique
from tests.stores import cypher, wipe

ME = Note("curator @ desk", "because")


@pytest.fixture
def curator(store: GraphStore, store_settings: Settings) -> Iterator[Curator]:
    """Curates the graph of `store`."""
    opened = wiring.open_curator(store_settings)
    yield opened
    opened.close()


def some_plans() -> list[MergePlan]:
    """Paths over a, b, c with loops, two devices, failures of and after each."""
    return [
        plan("abc", measurements=[measured(effect=2.0), measured(A100, effect=4.0)]),
        plan("bab", problem="sum", failures=[failure("b", 1), failure("c", 2), failure("a", 0)]),
        plan("aab", problem="dot", measurements=[measured(effect=8.0)], failures=[failure("b", 3)]),
        plan("cc", problem="max", measurements=[measured(A100, effect=None)]),
        plan("bbb", problem="min", measurements=[measured(effect=16.0)]),
    ]


def relabelled(source: MergePlan, to: str) -> MergePlan:
    """A plan whose every label was resolved to one technique."""
    failures = [one.model_copy(update={"technique": to}) for one in source.trajectory.failures]
    return MergePlan(
        source.trajectory.model_copy(update={"failures": tuple(failures)}),
        tuple(replace(one, technique=to, stage="alias") for one in source.labels),
        new=(technique(to.partition("/")[2]),),
    )


def totals(store: GraphStore) -> dict[str, object]:
    """What no curation may change: examples, trials, sums, over all pairs; every example's text."""
    found: dict[str, object] = {}
    rows = store.transitions()
    for name in ("examples", "tried", "verified", "verified_first", "sum_log2_effect"):
        found[name] = sum(getattr(row, name) for row in rows)
    found["squares"] = sum(row.sum_sq_log2_effect for row in rows)
    found["failed"] = sorted(item for row in rows for item in row.failed.items())
    found["best"] = max((row.best_effect or 0.0 for row in rows), default=None)
    found["steps"] = [
        (step.label, step.code, step.measurements)
        for trajectory in store.export()
        for step in trajectory.steps
    ]
    found["failures"] = [
        failed.model_copy(update={"technique": None})
        for trajectory in store.export()
        for failed in trajectory.failures
    ]
    found["failed"] = sum(count for row in rows for count in row.failed.values())
    return found


def everything(store: GraphStore) -> tuple[object, ...]:
    """All that is to be told from the store but the log."""
    examples = [
        store.examples(row.source, row.target, limit=1000)
        for row in store.transitions()
        if row.examples
    ]
    return store.techniques(), store.transitions(), tuple(store.export()), examples, store.stats()


def sound(store: GraphStore) -> bool:
    """Whether statistics and examples are those that the trajectories say."""
    assert store.check() == ()
    return True


def paths(store: GraphStore) -> list[str]:
    """Every trajectory's techniques, by problem."""
    return [
        f"{one.problem} " + "".join((step.technique or "?").split("/")[1] for step in one.steps)
        for one in sorted(store.export(), key=lambda trajectory: trajectory.problem)
    ]


def test_a_merge_carries_examples_failures_statistics_and_names(
    store: GraphStore, curator: Curator
) -> None:
    store.merge(some_plans())
    before = totals(store)
    done = curator.merge("cuda/a", ["cuda/b"], ME)
    assert totals(store) == before
    assert sound(store)
    assert paths(store) == ["dot aaa", "max cc", "min aaa", "saxpy aac", "sum aaa"]
    assert [one.id for one in store.techniques()] == ["cuda/a", "cuda/c"]
    heir = store.techniques()[0]
    assert (heir.replaces, heir.aliases) == (("cuda/b",), ("Technique b", "b"))
    assert (done.number, done.kind, done.summary) == (1, "merge", "merged cuda/b into cuda/a")
    assert (done.examples, done.failures) == (7, 2)
    (log,) = curator.log()
    assert (log.who, log.why, log.techniques) == ("curator @ desk", "because", ("cuda/a", "cuda/b"))


def test_statistics_of_a_merge_are_those_of_an_ingest_under_one_name(
    store: GraphStore, curator: Curator, store_settings: Settings
) -> None:
    store.merge(some_plans())
    curator.merge("cuda/b", ["cuda/a", "cuda/c"], ME)
    merged = (store.transitions(), tuple(store.export()))

    wipe(store_settings)
    store.apply_schema()
    store.merge([relabelled(one, "cuda/b") for one in some_plans()])
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
    assert [one.id for one in store.techniques()] == ["cuda/a", "cuda/c"]
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


def mixed(store: GraphStore) -> None:
    """cuda/a with steps called Label a, Label b and Label c, the latter two its aliases."""
    store.add_techniques([technique("a", aliases=("Label b", "label C"))])
    store.merge([relabelled(one, "cuda/a") for one in some_plans()])


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
    assert [one.id for one in store.techniques()] == ["cuda/a", "cuda/best", "cuda/c"]
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
    store, curator = wiring.open_store(embedded_settings), wiring.open_curator(embedded_settings)
    store.add_techniques([technique("b", aliases=("bee",)), technique("a", "openmp")])
    store.merge([plan("a"), plan("ab", problem="sum")])
    before = everything(store)
    with pytest.raises(BadInput, match=said) as refused:
        order(curator)  # type: ignore[operator]
    assert len(str(refused.value).splitlines()) == 1
    assert (everything(store), curator.log()) == (before, ())
    store.close()
    curator.close()


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


def test_a_curation_of_other_techniques_stands_in_nobodys_way(
    store: GraphStore, curator: Curator
) -> None:
    store.merge([*some_plans(), plan("de", problem="more")])
    curator.merge("cuda/a", ["cuda/b"], ME)
    curator.merge("cuda/d", ["cuda/e"], ME)
    curator.undo(1, ME)
    assert paths(store)[0] == "dot aab"
    assert sound(store)


def seen(curation: Curation) -> tuple[object, ...]:
    return (curation.kind, curation.techniques, curation.labels)


def test_keeping_clears_the_mark_and_remembers_what_was_looked_at(
    store: GraphStore, curator: Curator
) -> None:
    store.add_techniques([technique("a", review=True, aliases=("x",)), technique("b")])
    curator.keep(["cuda/a", "cuda/b"], ME, labels=["x"])
    assert not any(one.review for one in store.techniques())
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


def test_a_curation_that_finds_an_example_missing_writes_nothing(
    store: GraphStore, curator: Curator, store_settings: Settings
) -> None:
    store.merge(some_plans())
    lost = "MATCH (:Technique {id: 'cuda/a'})-[r:TRANSITION]->(:Technique {id: 'cuda/b'}) DELETE r"
    cypher(store_settings, lost)
    before = (store.techniques(), store.transitions())
    with pytest.raises(StoreError, match="regraph graph check --repair"):
        curator.merge("cuda/c", ["cuda/b"], ME)
    assert ((store.techniques(), store.transitions()), curator.log()) == (before, ())


def test_what_66000_steps_take_to_undo_fits_into_one_entry() -> None:
    steps = frozenset(
        Place(hashlib.sha256(f"{number // 3}".encode()).hexdigest(), 1 + number % 3)
        for number in range(66_000)
    )
    text = pack([steps, frozenset()])
    assert len(text) < 2**21
    assert unpack(text) == (steps, frozenset())
