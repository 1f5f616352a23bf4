"""MCTS-RAG in the toy world: what is asked, in which order, and where the tree goes on."""

import pytest

from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.context import Iteration
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcts_rag import MctsRag, MctsRagSettings
from regraph_kg.search.run import context
from regraph_kg.search.world import Effects, ModelRequest
from tests.search.toy import TASK, Script, Toy, code, ended, fenced, header, thinks

THOUGHT = "The loop waits for its sum. Sum in eight parts."


def says(*levels: float | str | None, thought: str | None = THOUGHT) -> Script:
    return thinks(*levels, thought=lambda _: thought)


def search(
    script: Script,
    calls: int,
    settings: MctsRagSettings | None = None,
) -> tuple[Toy, list[SimulationRecord]]:
    toy, settings = Toy({}, script), settings or MctsRagSettings()
    head = header(settings=settings, limits=SearchLimits(calls=calls))
    ledger = Ledger(head.limits)
    method = MctsRag(context(TASK, head, toy.world, ledger), settings)
    return toy, list(Driver(method, Alone(toy.world), ledger).run())


def kinds(toy: Toy) -> list[tuple[str, str]]:
    """Each call for code: its action, and the level of the code to be changed, "" at first."""
    return [
        (_kind(prompt.user), prompt.user.partition("x=")[2].partition(" ")[0])
        for prompt in toy.prompts
        if isinstance(prompt.key, PromptKey) and prompt.key.ask == "code"
    ]


def actions(toy: Toy) -> list[str]:
    return [action for action, _ in kinds(toy)]


def _kind(user: str) -> str:
    if THOUGHT in user:
        return "decompose"
    return "retrieve" if "+int bb;" in user else "direct"


def test_the_three_actions_come_first_in_their_order() -> None:
    toy, records = search(says("crashed"), 3)
    assert actions(toy) == ["direct", "decompose", "retrieve"]
    assert [record.reward for record in records] == [-1.0, -1.0, -1.0]
    assert [(key.ask, key.attempt) for key in toy.asked] == [
        ("code", 0),
        ("thought", 0),
        ("code", 1),
        ("code", 2),
    ]
    assert {key.path for key in toy.asked} == {()}


def test_a_verified_sample_is_entered_where_its_bound_is_the_largest() -> None:
    toy, records = search(says("crashed", 0.5, 0.7, 0.9, 0.1, "crashed"), 6)
    # then 0.7 at "retrieve", whose three actions come in order, as its bound stays the largest:
    # fourth: 0.7 + 2 sqrt(ln 3 / 1); fifth: (0.7 + 0.9) / 2 + 2 sqrt(ln 4 / 2) = 2.47
    # against 0.5 + 2 sqrt(ln 4 / 1) = 2.85 at "decompose"
    assert kinds(toy)[3:5] == [("direct", "0.7"), ("direct", "0.5")]
    # sixth: direct -1 + 2 sqrt(ln 5) = 1.54, decompose (0.5 + 0.1) / 2 + 2 sqrt(ln 5 / 2) = 2.09,
    # retrieve 0.8 + 2 sqrt(ln 5 / 2) = 2.59
    assert kinds(toy)[5] == ("decompose", "0.7")
    assert [record.reward for record in records] == pytest.approx([-1, 0.5, 0.7, 0.9, 0.1, -1])


def test_no_code_lies_deeper_than_the_depth() -> None:
    toy, records = search(says(0.1, 0.2, 0.3, 0.4), 40, MctsRagSettings(depth=1))
    assert records[-1].spent == 40
    assert {level for _, level in kinds(toy)} == {""}


def test_deeper_code_is_made_from_code_above() -> None:
    def rising(key: PromptKey) -> str:
        return THOUGHT if key.ask == "thought" else fenced(code(key.attempt / 10, key.attempt))

    settings = MctsRagSettings(depth=3, exploration=0.0)
    toy, _ = search(rising, 6, settings)
    # the serial code's three actions, of which "retrieve" is the best (0.2), then those of 0.2
    assert [level for _, level in kinds(toy)] == ["", "", "", "0.2", "0.2", "0.2"]


def test_the_rollouts_end_the_search() -> None:
    _, records = search(says(0.1), 100, MctsRagSettings(rollouts=16))
    assert [record.reward is not None for record in records] == [True] * 16


def test_what_bought_nothing_is_no_rollout() -> None:
    _, records = search(says(0.1, thought=None), 100, MctsRagSettings(rollouts=4))
    assert sum(record.reward is not None for record in records) == 4
    assert any(record.reward is None for record in records)


def test_a_thought_that_is_not_recorded_closes_decompose_there_and_nothing_else() -> None:
    toy, records = search(says("crashed", thought=None), 20)
    assert records[-1].spent == 20
    assert set(actions(toy)) == {"direct", "retrieve"}
    (free,) = [record for record in records if record.reward is None]
    assert free.steps == ()


def test_a_model_without_answers_ends_the_search() -> None:
    toy, records = search(says(None, thought=None), 20)
    assert toy.asked == []
    assert [record.reward for record in records] == [None, None, None]


def test_an_empty_thought_leaves_the_choice_to_the_model() -> None:
    toy, _ = search(says("crashed", thought="  \n"), 2)
    first, _, second = toy.prompts
    assert second.user == first.user


def begun(calls: int, number: int) -> tuple[MctsRag, list[Effects[Iteration]], list[PromptKey]]:
    """A search with so many iterations under way, and what they first ask for."""
    head = header(settings=MctsRagSettings(), limits=SearchLimits(calls=calls))
    world = Toy({}, says(0.1)).world
    method = MctsRag(context(TASK, head, world, Ledger(head.limits)), MctsRagSettings())
    works, keys = [], []
    for _ in range(number):
        work = method.iteration()
        assert work is not None
        works.append(work)
        keys.append(first_key(work))
    return method, works, keys


def first_key(work: Effects[Iteration] | None) -> PromptKey:
    assert work is not None
    effect = next(work)
    assert isinstance(effect, ModelRequest)
    assert isinstance(effect.prompt.key, PromptKey)
    return effect.prompt.key


def test_what_is_under_way_counts_as_a_visit() -> None:
    _, _, keys = begun(20, 7)
    assert [(key.ask, key.attempt) for key in keys] == [
        ("code", 0),
        ("thought", 0),
        ("code", 1),
        ("code", 2),
        ("thought", 1),
        ("code", 3),
        ("code", 4),
    ]


def test_a_thought_after_which_no_call_is_left_closes_nothing() -> None:
    method, (direct, decompose, retrieve), _ = begun(2, 3)
    cut = ended(decompose, Reply(text=THOUGHT, finish="stop"))
    assert (cut.steps, cut.reward) == ((), None)
    for work in (direct, retrieve):
        assert ended(work, Reply(text="", finish="unrecorded")).reward is None
    assert first_key(method.iteration()).ask == "thought"
