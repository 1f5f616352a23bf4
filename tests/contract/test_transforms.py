"""Contract: transforms in the graph, and the examples that they reproduced."""

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import EFFECT_SCALE, Tries
from regraph_kg.models.transform import Replay, StoredTransform
from regraph_kg.settings import Settings
from tests.contract.plans import plan, technique
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
    assert (one.tried, one.own) == (0, Tries())
    (other,) = store.pooled("cuda", device="cpu", kind="scan", exclude_problem="other")
    assert (other.ruled, other.ruled_alike) == (one.ruled, Tries())
    (without,) = store.pooled("cuda", device="cpu", exclude_problem="saxpy")
    assert without.ruled == Tries()
    store.add_transforms([given(replay("t/1", 4.0)).model_copy(update={"accepted": False})])
    assert store.pooled("cuda", device="cpu")[0].ruled == Tries()
