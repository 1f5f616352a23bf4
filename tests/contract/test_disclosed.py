"""Contract: what is not disclosed is nowhere in a graph, and everything copes with its absence."""

import io
import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.models.graph import Vector
from regraph_kg.models.trajectory import WITHHELD, Disclosure, Trajectory
from regraph_kg.search.reader import GraphReader
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import H200
from tests.ingest.trajectories import VOCABULARY, lexical, measured
from tests.recount import wrong_counts
from tests.stores import cypher, wipe

pytestmark = pytest.mark.neo4j("slow")

TILING, COALESCING = (f"cuda/{name}" for name in ("shared-memory-tiling", "memory-coalescing"))
PAIR = ("cuda/start", TILING)
KEPT_CODE, KEPT_TEXT = "kept_by_its_owner", "whispered"
"""In each code, in each other text of the sender."""


def row(number: int = 0, effect: float = 2.0, **fields: Any) -> dict[str, Any]:
    """A trajectory with a secret at every place that holds a text."""
    steps = [("smem tiling", TILING), ("Memory coalescing", None)]
    usual = {
        "schema": 1,
        "target": "cuda",
        "problem": "vault",
        "ref": f"{KEPT_TEXT} {number}",
        "serial": code(f"serial{number}"),
        "source": {"model": "m", "run": "r", "licence": "MIT", "prompt_hash": KEPT_TEXT},
        "steps": [
            step(name, given, f"after{number}_{place}", effect)
            for place, (name, given) in enumerate(steps)
        ],
        "failures": [failed(place) for place in range(2)],
    }
    return usual | fields


def code(name: str) -> str:
    return "\n".join([f"int {KEPT_CODE};", *(f"int line{n};" for n in range(9)), f"int {name};"])


def step(name: str, technique: str | None, after: str, effect: float) -> dict[str, Any]:
    told = {
        "label": f"{name} ({KEPT_TEXT})",
        "technique": technique,
        "reasoning": f"because {KEPT_TEXT}",
        "detail": f"so {KEPT_TEXT}",
        "code": code(after),
        "measurements": [measured(1 / effect, device=H200)],
    }
    return told


def failed(place: int) -> dict[str, Any]:
    told = {
        "after_step": 1,
        "label": "Memory coalescing",
        "outcome": "wrong_answer",
        "diagnosis": f"{KEPT_TEXT} {KEPT_CODE} {place}",
        "code_hash": KEPT_CODE,
        "code": f"int {KEPT_CODE};",
        "device": H200,
    }
    return told


def tell(store: GraphStore, disclose: Disclosure, rows: Sequence[Any]) -> list[pipeline.Batch]:
    """Ingest, and embed what may be."""
    cascade = lexical(pipeline.open_vocabulary(store, VOCABULARY))
    data = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
    told = list(
        one.merged(store)
        for one in pipeline.portions(read(split(io.BytesIO(data))), cascade, disclose=disclose)
    )
    list(store.embed(HashEmbedder().space, HashEmbedder().embed))
    return told


def dump(store: GraphStore, settings: Settings) -> str:
    """All that there is in a store, as text."""
    nodes = cypher(settings, "MATCH (n) RETURN labels(n), properties(n)")
    arrows = cypher(settings, "MATCH ()-[r]->() RETURN type(r), properties(r)")
    return "\n".join([*map(str, (*nodes, *arrows)), *lines(store)])


def lines(store: GraphStore) -> list[str]:
    return [one.model_dump_json(by_alias=True, exclude_defaults=True) for one in store.export()]


def counted(store: GraphStore) -> list[Any]:
    return [transition for transition in store.transitions() if transition.tried]


def test_what_is_withheld_is_nowhere_in_the_store(
    store: GraphStore, store_settings: Settings
) -> None:
    rows = [row(number, effect=1 + number) for number in range(8)]
    tell(store, "code", rows)
    assert KEPT_CODE in dump(store, store_settings)
    statistics = counted(store)
    wipe(store_settings)
    store.apply_schema()
    told = tell(store, "statistics", rows)
    assert not any(batch.rejected for batch in told)
    assert wrong_counts(store) == []
    assert counted(store) == statistics
    whole = dump(store, store_settings)
    assert KEPT_CODE not in whole
    assert KEPT_TEXT not in whole
    assert "line4" not in whole
    vectors = cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->() RETURN count(r.embedding) AS texts,"
        " count(r.code_embedding) AS codes",
    )
    assert vectors == [{"texts": 0, "codes": 0}]
    assert list(store.embed(HashEmbedder().space, HashEmbedder().embed)) == []


def test_only_statistics_teach_no_name(store: GraphStore) -> None:
    tell(store, "statistics", [row()])
    names = {technique.id: technique.aliases for technique in store.techniques()}
    assert names == {one.id: one.aliases for one in VOCABULARY}
    (one,) = store.export()
    assert {step.label for step in one.steps} == {WITHHELD}
    assert [step.technique for step in one.steps] == [TILING, COALESCING]


def test_only_statistics_refuse_a_name_that_would_become_a_technique(store: GraphStore) -> None:
    steps = [{"label": f"a trick {KEPT_TEXT}", "code": "x"}]
    (batch,) = tell(store, "statistics", [row(), row(1, steps=steps, failures=[])])
    assert batch.counts.added == 1
    (refused,) = batch.rejected
    assert refused.line.number == 2
    assert refused.reason.startswith("step 1: its name is of no technique that is known")
    assert KEPT_TEXT not in refused.reason
    given = [steps[0] | {"technique": "cuda/trick"}]
    (batch,) = tell(store, "statistics", [row(1, steps=given, failures=[])])
    assert batch.counts.techniques == 1
    assert {technique.name for technique in store.techniques() if technique.id == "cuda/trick"} == {
        "Trick"
    }


def test_export_and_ingest_bring_the_same_graph(
    store: GraphStore, store_settings: Settings
) -> None:
    tell(store, "statistics", [row(), row(1)])
    tell(store, "code", [row(2)])
    exported = lines(store)
    wipe(store_settings)
    store.apply_schema()
    tell(store, "code", exported)
    assert lines(store) == exported
    tell(store, "code", exported)
    assert lines(store) == exported
    assert wrong_counts(store) == []
    wipe(store_settings)
    store.apply_schema()
    tell(store, "statistics", exported)  # as if it had been told so at first
    narrowed = lines(store)
    wipe(store_settings)
    store.apply_schema()
    tell(store, "statistics", [row(), row(1), row(2)])
    assert lines(store) == narrowed


@pytest.mark.parametrize("first", ["code", "part"])
def test_what_is_known_stays_as_it_was_disclosed(
    store: GraphStore, store_settings: Settings, first: str
) -> None:
    before, after = ("code", "statistics") if first == "code" else ("statistics", "code")
    tell(store, before, [row()])  # type: ignore[arg-type]
    known, statistics = lines(store), counted(store)
    (batch,) = tell(store, after, [row(), row()])  # type: ignore[arg-type]
    assert (batch.counts.added, batch.counts.known) == (0, 2)
    assert batch.counts.disclosed_otherwise in (1, 2)
    assert (lines(store), counted(store)) == (known, statistics)
    more = row()
    more["steps"][0]["measurements"].append(measured(0.1, device=H200, run="b"))
    (batch,) = tell(store, after, [more])  # type: ignore[arg-type]
    assert batch.counts.measurements == 1
    assert wrong_counts(store) == []
    assert (KEPT_CODE in dump(store, store_settings)) is (first == "code")


def test_who_claims_to_be_another_trajectory_is_refused(store: GraphStore) -> None:
    tell(store, "statistics", [row()])
    (told,) = store.export()
    for other in ({"problem": "other"}, {"steps": told.steps[:1], "failures": ()}):
        forged = told.model_copy(update=other).model_dump_json(by_alias=True)
        known = lines(store)
        (batch,) = tell(store, "code", [forged])
        assert (batch.counts.added, batch.counts.known) == (0, 0)
        assert "which has another problem, target or" in batch.rejected[0].reason
        assert lines(store) == known
        (batch,) = tell(store, "code", [row(7), forged.replace(told.id, trajectory(row(7)).id)])
        assert list(batch.counts.conflicts) == [trajectory(row(7)).id]
        (kept,) = [one for one in store.export() if one.id in batch.counts.conflicts]
        assert (kept.problem, len(kept.steps)) == (told.problem, len(told.steps))
    assert wrong_counts(store) == []


def trajectory(one: dict[str, Any]) -> Trajectory:
    return Trajectory.model_validate(one)


def test_examples_with_code_come_first_and_a_model_is_shown_no_others(
    store: GraphStore, store_settings: Settings
) -> None:
    tell(store, "statistics", [row(0, effect=9.0, problem="p0")])
    tell(store, "code", [row(2, effect=2.0, problem="p2")])
    found = store.examples(*PAIR, device=H200)
    assert [one.disclosed for one in found] == ["code", "statistics"]
    assert [one.effect for one in found] == [2.0, 9.0]
    assert [bool(one.before and one.after) for one in found] == [True, False]
    embedder = HashEmbedder()

    def near(text: str, kind: Any) -> Vector:
        return Vector(embedder.space, embedder.embed([text])[0], kind)

    for vector in (near("int x;", "code"), near("int x;", "text")):
        assert {one.disclosed for one in store.nearest(vector, k=9)} <= {"code"}
        assert len(store.examples(*PAIR, near=vector)) == 2
    reader = GraphReader(lambda: open_store(store_settings), H200, None, lambda _: embedder)
    with closing(reader):
        assert [example.problem for example in reader.examples(*PAIR)] == ["p2"]
        assert {one.problem for one in reader.nearest("int x;", 5)} == {"p2"}
        assert {failure.problem for failure in reader.failures(TILING, COALESCING)} == {"p2"}
        (next_,) = reader.neighbours("cuda/start").successors
        assert (next_.examples, next_.tried, next_.verified) == (2, 2, 2)
