"""Contract: what steps did besides their technique is kept, and told."""

from dataclasses import replace

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.graph import MergePlan
from regraph_kg.settings import Settings
from tests.contract.plans import measured, plan, technique
from tests.recount import wrong_counts
from tests.stores import cypher

pytestmark = pytest.mark.neo4j("slow")


def told(path: str, also: str, code: str = "int x;", effect: float = 2.0) -> MergePlan:
    """A trajectory whose first step did the techniques `also` besides."""
    one = plan(path, code=code, measurements=[measured(effect=effect)])
    first, *others = one.labels
    named = tuple(f"cuda/{name}" for name in also)
    return replace(
        one,
        labels=(replace(first, also=named), *others),
        new=(*one.new, *(technique(name) for name in also if name not in path)),
    )


def besides(store: GraphStore, source: str = "start", target: str = "a") -> list[tuple[str, ...]]:
    return [example.also for example in store.examples(f"cuda/{source}", f"cuda/{target}", limit=9)]


def test_what_was_done_besides_is_told_with_the_example_and_exported(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge([told("ab", "cd"), told("ab", "", code="int y;", effect=1.5)])
    assert besides(store) == [("cuda/c", "cuda/d"), ()]
    assert besides(store, "a", "b") == [(), ()]
    exported = {step.also for one in store.export() for step in one.steps}
    assert exported == {("cuda/c", "cuda/d"), ()}
    absent = cypher(store_settings, "MATCH ()-[r:TRANSITION]->() WHERE r.also IS NULL RETURN r.id")
    assert len(absent) == 3
    assert wrong_counts(store) == []


def test_sending_it_again_with_others_changes_nothing(store: GraphStore) -> None:
    store.merge([told("a", "c")])
    assert store.merge([told("a", "d")]).known == 1
    assert besides(store) == [("cuda/c",)]
