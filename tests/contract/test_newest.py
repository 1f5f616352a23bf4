"""The newest Neo4j in short: what is written is read and found; its whole contract is slow."""

from contextlib import closing

from regraph_kg import wiring
from regraph_kg.settings import Settings
from tests.contract.plans import H200, measured, plan
from tests.stores import prepare


def test_the_newest_neo4j_keeps_what_is_written_and_reads_it(
    neo4j_2026_settings: Settings,
) -> None:
    prepare(neo4j_2026_settings)
    with closing(wiring.open_store(neo4j_2026_settings)) as store:
        plans = [plan("b", code="1", measurements=[measured(H200, effect=4.0)]), plan("c")]
        assert store.merge(plans).added == 2
        assert store.merge(plans).added == 0
        (best,) = store.examples("cuda/start", "cuda/b", device=H200, limit=9)
        found = store.neighbourhood("cuda/start", device=H200).successors
    assert best.after.startswith("1 // after")
    assert [(one.technique.id, one.statistics) for one in found] == [
        ("cuda/b", "device"),
        ("cuda/c", "none"),
    ]
