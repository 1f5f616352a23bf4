"""Contract: transforms in the graph, and the examples that they reproduced."""

import json
import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import EFFECT_SCALE, Tries
from regraph_kg.models.transform import Replay, StoredTransform
from regraph_kg.settings import Settings
from tests.contract.plans import measured, plan, technique
from tests.stores import cypher


def replay(example: str, gain: float | None, outcome: Outcome = Outcome.PASSED) -> Replay:
    facts = {"problem": "saxpy", "device": "cpu", "evaluator": "6", "recorded": 4.0, "kind": "map"}
    return Replay.model_validate({"example": example, "outcome": outcome, "gain": gain} | facts)


def given(*replays: Replay, text: str = "says = 'x'") -> StoredTransform:
    return StoredTransform(technique="cuda/a", name="one", text=text, replays=replays)


def test_a_transform_is_kept_with_its_replays_and_written_anew(store: GraphStore) -> None:
    store.add_techniques([technique("a")])
    store.add_transforms([])
    store.add_transforms([given(), given().model_copy(update={"technique": "cuda/unknown"})])
    assert store.transforms() == store.transforms("cuda") == (given(),)
    later = given(replay("t/1", 3.0), text="other").model_copy(update={"accepted": False})
    store.add_transforms([later])
    assert store.transforms() == (later,)
    assert store.transforms("openmp") == ()


def test_an_example_names_the_transforms_that_reproduced_it(
    store: GraphStore, store_settings: Settings
) -> None:
    merged = plan("a")
    store.merge([merged])
    example = f"{merged.trajectory.id}/1"
    ask = "MATCH ()-[r:TRANSITION]->() RETURN r.applied_by AS by"
    slow, wrong = replay(example, 1.9), replay(example, 9.0, Outcome.WRONG_ANSWER)
    store.add_transforms([given(slow, wrong)])
    assert cypher(store_settings, ask)[0]["by"] is None
    store.add_transforms([given(slow, replay(example, 2.0))])
    assert cypher(store_settings, ask)[0]["by"] == ["cuda/a/one"]


def test_replays_of_accepted_transforms_tell_of_their_technique(store: GraphStore) -> None:
    store.merge([plan("a")])
    wrong = replay("t/2", None, Outcome.WRONG_ANSWER)
    store.add_transforms([given(replay("t/1", 4.0), wrong)])
    (one,) = store.neighbourhood("cuda/start", device="cpu", kind="map").successors
    assert one.ruled == one.ruled_alike == Tries(2, 1, 2 * EFFECT_SCALE)
    assert one.here == one.own == Tries()
    (other,) = store.pooled("cuda", device="cpu", kind="scan", exclude_problem="other")
    assert (other.ruled, other.ruled_alike) == (one.ruled, Tries())
    (without,) = store.pooled("cuda", device="cpu", exclude_problem="saxpy")
    assert without.ruled == Tries()
    store.add_transforms([given(replay("t/1", 4.0)).model_copy(update={"accepted": False})])
    assert store.pooled("cuda", device="cpu")[0].ruled == Tries()


def test_what_a_file_brings_is_a_draft_with_claims_and_comes_once(store: GraphStore) -> None:
    store.merge([plan("a")])
    own = given(replay("t/1", 3.0))
    line = json.loads(own.line())
    assert line["transform"] == 1
    for _ in range(2):
        assert store.bring_transforms([StoredTransform.of_file(line)]) == {}
        (found,) = store.transforms()
        assert (found.accepted, found.reason) == (False, "not replayed here")
        assert [one.claimed for one in found.replays] == [True]
        assert store.pooled("cuda", device="cpu")[0].ruled == Tries()
    assert StoredTransform.of_file(json.loads(found.line())) == found


def test_a_file_changes_no_transform_that_is_here(store: GraphStore) -> None:
    store.merge([plan("a")])
    store.add_transforms([given()])
    draft = StoredTransform.of_file(json.loads(given(text="other").line()))
    lost = draft.model_copy(update={"technique": "cuda/unknown"})
    refused = store.bring_transforms([draft, lost])
    assert "another text" in refused["cuda/a/one"]
    assert "no such technique" in refused["cuda/unknown/one"]
    assert store.transforms() == (given(),)


NO_REPLAYS = [
    {"gain": math.inf}, {"gain": 0}, {"recorded": -math.inf}, {"recorded": None},
    {"example": "\ud800"}, {"kind": "a\0b"},
]  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        *({"transform": version} for version in (2, True, 1.0)),
        *({"name": "../x"}, {"odd": 1}, {"text": None}, {"text": "\ud800"}),
        *({"source": {"model": "\ud800"}}, {"source": {"licence": "a\0b"}}),
        *({"replays": [replay("t/1", 2.0).model_dump() | odd]} for odd in NO_REPLAYS),
    ],
)
def test_a_line_that_is_no_transform_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises((ValidationError, BadInput)):
        StoredTransform.of_file(json.loads(given().line()) | fields)


def test_a_transform_that_cannot_be_read_takes_no_other_away(
    store: GraphStore, store_settings: Settings
) -> None:
    store.add_techniques([technique("a")])
    other = given().model_copy(update={"name": "other"})
    store.add_transforms([given(), other])
    cypher(store_settings, "MATCH (x:Transform {name: 'one'}) SET x.replays = '[{}]'")
    with pytest.warns(UserWarning, match="transform cuda/a/one is left out"):
        assert store.transforms() == (other,)


def test_a_step_is_a_story_again_where_its_transform_turns_out_wrong(
    store: GraphStore, store_settings: Settings
) -> None:
    merged = plan("ab")
    store.add_techniques([technique("a"), technique("b")])
    store.add_transforms([given()])
    made = replace(merged, facts=(("cuda/a/one",), ()))
    counts = store.merge([made])
    assert (counts.facts, counts.stories) == (1, {"cuda/b": 1})
    store.mark_facts()
    report = {one.technique: one for one in store.report().techniques}
    assert (report["cuda/a"].facts.number, report["cuda/b"].stories.number) == (1, 1)
    assert store.merge([made]).facts == 0
    store.add_transforms([given().model_copy(update={"accepted": False})])
    assert [one.facts.number for one in store.report().techniques] == [0, 0]
    ask = "MATCH ()-[r:TRANSITION]->() WHERE r.applied_by IS NOT NULL RETURN r.id AS id"
    assert cypher(store_settings, ask) == []


def test_the_report_ranks_techniques_by_what_their_stories_gained(store: GraphStore) -> None:
    store.merge([plan("b", code="1", measurements=[measured(effect=8.0)])])
    store.merge([plan("a", code=f"{n}", measurements=[measured(effect=1.5)]) for n in range(3)])
    first, second = store.report().techniques
    assert first.technique == "cuda/b"
    assert first.stories.gain == pytest.approx(8.0)
    assert second.stories.number == 3
    store.add_transforms([given().gated()])
    said = str(store.report())
    assert "0 of 4 examples" in said
    assert "draft  cuda/a/one: right on 0 problems in replays; 3 are needed" in said
