"""Rethink-MCTS in the toy world: thoughts, what they are told, and which of them stay."""

import math
from collections.abc import Sequence

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.rethink_mcts import Rethink, RethinkSettings
from regraph_kg.search.run import context
from regraph_kg.search.world import ModelRequest
from tests.search.toy import TASK, Script, Toy, code, ended, fenced, header, thinks

NEVER = RethinkSettings(rethinks=0)


def says(*levels: float | str | None, thoughts: int = 99) -> Script:
    """A model whose k-th thought is "Thought k."; it has so many."""
    return thinks(*levels, thought=lambda k: f"Thought {k}." if k < thoughts else None)


def rethink(toy: Toy, calls: int, settings: RethinkSettings) -> tuple[Rethink, Ledger]:
    head = header(settings=settings, limits=SearchLimits(calls=calls))
    ledger = Ledger(head.limits)
    return Rethink(context(TASK, head, toy.world, ledger), settings), ledger


def search(
    script: Script, calls: int, settings: RethinkSettings | None = None, parallel: int = 1
) -> tuple[Toy, list[SimulationRecord]]:
    toy = Toy({}, script)
    method, ledger = rethink(toy, calls, settings or RethinkSettings())
    return toy, list(Driver(method, Alone(toy.world), ledger, parallel).run())


def prompts(toy: Toy, ask: str) -> list[Prompt]:
    return [
        prompt
        for prompt in toy.prompts
        if isinstance(prompt.key, PromptKey) and prompt.key.ask == ask
    ]


def changed(given: Sequence[Prompt]) -> list[str]:
    """The level of the code that each prompt is about, "" for the serial code."""
    return [
        one.user.rpartition("Current code:")[2].partition("x=")[2].partition(" ")[0]
        for one in given
    ]


def test_a_thought_comes_first_and_the_code_is_asked_for_along_it() -> None:
    toy, (record,) = search(says(0.5), 1)
    assert [(key.ask, key.path, key.attempt) for key in toy.asked] == [
        ("thought", (), 0),
        ("code", (), 0),
    ]
    assert "Thought 0." in toy.prompts[1].user
    assert record.reward == pytest.approx(0.5)
    assert (record.spent, record.path) == (1, ())


def test_a_failed_thought_is_rewritten_from_the_diagnosis() -> None:
    toy, (record,) = search(says("wrong_answer", 0.4), 2)
    again, second = toy.prompts[2:]
    assert "Thought 0." in again.user
    assert "it wrong_answer" in again.user
    assert "x=wrong_answer" in again.user  # the failed code
    assert "Thought 1." in second.user
    assert [step.outcome for step in record.steps] == [Outcome.WRONG_ANSWER, Outcome.PASSED]
    assert record.reward == pytest.approx(0.4)


def test_a_thought_that_made_it_slower_is_rewritten_from_the_measured_time() -> None:
    toy, (record,) = search(says(math.log(0.8), 0.4), 2)
    assert "0.80 times as fast as the current code" in prompts(toy, "thought")[1].user
    assert len(record.steps) == 2


def test_a_thought_is_rewritten_twice_and_no_more() -> None:
    toy, records = search(says("crashed"), 7)
    assert [len(record.steps) for record in records] == [3, 3, 1]
    assert [record.reward for record in records] == [-1.0] * 3
    # the last of the budget asks for no thought that nothing could come of
    assert [key.ask for key in toy.asked].count("thought") == 7


def test_the_best_round_stays_and_not_the_last() -> None:
    slow, slower = math.log(0.8), math.log(0.5)
    toy, records = search(says(slow, slower, "crashed", 0.3), 4, RethinkSettings(width=1))
    assert records[0].reward == pytest.approx(slow)
    assert changed(prompts(toy, "code")) == ["", "", "", str(slow)]


def test_a_node_has_its_thoughts_before_a_child_is_entered() -> None:
    toy, _ = search(says(0.1, 0.5, 0.3, 0.6, 0.1), 5, NEVER)
    # width 3; then the largest bound, where all have one visit: 0.5; then (0.5 + 0.6) / 2 +
    # sqrt(ln 4 / 2) = 1.38 against 0.3 + sqrt(ln 4) = 1.48 and 0.1 + sqrt(ln 4)
    assert changed(prompts(toy, "thought")) == ["", "", "", "0.5", "0.3"]


def test_a_node_without_an_open_child_is_expanded_on() -> None:
    toy, records = search(says("crashed"), 20, RethinkSettings(width=1))
    assert records[-1].spent == 20
    assert set(changed(prompts(toy, "code"))) == {""}
    toy, records = search(says(0.2), 20, RethinkSettings(width=1, depth=1, rethinks=0))
    assert records[-1].spent == 20
    assert set(changed(prompts(toy, "code"))) == {""}


def test_a_new_thought_is_told_of_the_earlier_ones_about_the_same_code() -> None:
    toy, _ = search(says("crashed", math.log(2), 0.1), 4, NEVER)
    first, second, third, below = (prompt.user for prompt in prompts(toy, "thought"))
    assert "Thought" not in first
    assert "- Thought 0.: it crashed" in second
    assert "- Thought 1.: right, and 2.00 times as fast as the current code" in third
    assert "- Thought" not in below


def test_an_empty_thought_leaves_the_choice_to_the_model() -> None:
    toy, records = search(
        lambda key: " \n" if key.ask == "thought" else fenced(code(0.2, key.attempt)), 3
    )
    assert records[-1].spent == 3
    assert "Idea:" not in prompts(toy, "code")[0].user


def test_what_is_not_recorded_closes_the_node_and_ends_the_search() -> None:
    toy, records = search(says(None), 20)
    assert [key.ask for key in toy.asked] == ["thought"]
    (record,) = records
    assert (record.reward, [step.outcome for step in record.steps]) == (None, [None])
    toy, records = search(says(0.2, thoughts=0), 20)
    assert (toy.asked, [record.steps for record in records]) == ([], [()])


def test_a_rethought_that_is_not_recorded_ends_the_rethinking_only() -> None:
    _, records = search(says("crashed", thoughts=1), 20)
    assert [(len(record.steps), record.reward) for record in records] == [(1, -1.0), (0, None)]
    _, records = search(says("crashed", None), 20)
    assert [len(record.steps) for record in records] == [2, 1]
    assert [record.reward for record in records] == [-1.0, None]


def test_a_child_can_be_entered_after_its_parent_was_closed() -> None:
    toy, _ = search(says(0.2, 0.4, 0.5, thoughts=3), 20, RethinkSettings(width=1, depth=2))
    assert changed(prompts(toy, "code")) == ["", "0.2", "0.2"]


def test_a_thought_after_which_no_call_is_left_closes_nothing() -> None:
    method, _ = rethink(Toy({}, says(0.1)), 1, NEVER)
    first, second = method.iteration(), method.iteration()
    assert first is not None
    assert second is not None
    for work in (first, second):
        next(work)
    assert isinstance(first.send(Reply(text="One.", finish="stop")), ModelRequest)
    cut = ended(second, Reply(text="Two.", finish="stop"))
    assert (cut.steps, cut.reward) == ((), None)
    assert method.iteration() is not None
