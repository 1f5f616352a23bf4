"""MCGS: what it takes next, what it builds on, what it leaves alone."""

import pytest

from regraph_kg.models.graph import Successor
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import ExpectedImprovement, Mcgs, McgsSettings
from regraph_kg.search.run import begin
from tests.search.toy import (
    TASK,
    Alone,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    names,
    noisy_script,
    says,
    searching,
    successor,
)


def run(
    graph: Graph,
    script: Script,
    calls: int,
    known: dict[str, Successor] | None = None,
    parallel: int = 1,
    **settings: float,
) -> list[SimulationRecord]:
    toy = Toy(graph, script, successors=known or {})
    told = McgsSettings.model_validate({"free": False} | settings)
    return list(searching(toy.world, header(calls, settings=told, parallel=parallel)))


def paths(records: list[SimulationRecord]) -> list[str]:
    return [" ".join(part.removeprefix("openmp/") for part in r.path) for r in records]


def test_a_success_is_followed_before_it_is_sampled_again() -> None:
    graph = {"start": ["a", "b"], "a": ["c", "d"], "b": ["c"]}
    script = says(a=0.5, b=0.4, a_c=0.6, a_d=0.7, b_c=0.5)
    first = paths(run(graph, script, 5))
    assert len(set(first)) == 5
    assert not any("#" in path for path in first)


def test_failures_make_the_next_sample_less_likely() -> None:
    graph = {"start": ["a", "b", "c"]}
    found = paths(run(graph, says(a="crashed", b="crashed", c="crashed"), 9))
    assert sorted(found[:3]) == ["a", "b", "c"]
    assert len(found) == 9


def test_equal_code_is_one_state() -> None:
    graph = {"start": ["a", "b"], "a": ["c"], "b": ["c"]}
    same = fenced(code(0.5))
    different = fenced(code(0.9))

    def script(key: PromptKey) -> str | None:
        return same if len(names(key)) == 1 else different

    found = paths(run(graph, script, 12, samples=1))
    assert sorted(found) == ["a", "a c", "b"]


def test_a_step_that_did_nothing_counts_as_a_failed_sample() -> None:
    toy_graph = {"start": ["a"], "a": ["b"]}

    def script(key: PromptKey) -> str | None:
        name = "x" if names(key) == ["a"] else f"x{key.attempt}"  # else it is unchanged
        return fenced(code(0.5).replace("* x", f"* {name}"))

    records = run(toy_graph, script, 9)
    done = [step for record in records for step in record.steps]
    assert [step.applied for step in done].count("nothing") == 2  # b, once less than what passed
    assert max(len(record.path) for record in records) == 2


def test_a_gain_is_the_steps_own_and_a_failure_has_none() -> None:
    graph = {"start": ["a"], "a": ["b"]}
    records = run(graph, says(a=0.5, a_b="crashed"), 2)
    gains = [step.gain for record in records for step in record.steps]
    assert gains[0] == pytest.approx(0.5)
    assert gains[1] is None


def test_calls_at_once_go_to_different_steps_though_one_promises_far_more() -> None:
    graph = {"start": ["a", "b", "c", "d"]}
    known = {
        "a": successor("a", tried=8, verified=8, log2_effects=16.0),
        "d": successor("d", tried=8, verified=1, log2_effects=-3.0),
    }
    found = paths(run(graph, says(a=0.5, b=0.4, c=0.3, d=0.2), 4, known, parallel=4))
    assert sorted(found) == ["a", "b", "c", "d"]


def test_where_all_steps_have_samples_under_way_they_get_second_ones() -> None:
    found = paths(run({"start": ["a", "b"]}, says(a=0.5, b=0.4), 5, parallel=5))
    assert sorted(found) == ["a", "a#1", "a#2", "b", "b#1"]


def test_unanswered_actions_are_closed() -> None:
    records = run({"start": ["a", "b"]}, says(b=0.5), 9)
    assert paths(records).count("a") == 1


def test_the_deepest_code_has_no_actions() -> None:
    graph = {"start": ["a"], "a": ["a"]}
    records = run(graph, lambda key: fenced(code(len(names(key)), key.attempt)), 40, depth=3)
    assert max(len(record.path) for record in records) == 3


def test_a_free_choice_is_asked_for_as_standard_asks_and_walked_on_from() -> None:
    def script(key: PromptKey) -> str:
        return fenced(code(0.1 * len(key.path), (key.path, key.attempt)))

    toy = Toy({"start": ["a"], "a": []}, script)
    list(searching(toy.world, header(6, settings=McgsSettings())))
    asked = [names(key) for key in toy.asked]
    assert [] in asked, "a free choice from the serial code asks by standard's key"
    assert ["free-choice", "a"] in asked


def test_an_exhausted_search_has_sampled_every_step_so_often() -> None:
    graph: Graph = {"start": ["a", "b"], "a": ["b", "a"], "b": ["a"]}
    toy = Toy(graph, noisy_script(1, failures=0.4))
    head = header(10**6, settings=McgsSettings(depth=3, samples=2, free=False))
    ledger = Ledger(head.limits)
    method = begin(TASK, head, toy.world, ledger)
    list(Driver(method, Alone(toy.world), ledger).run())
    assert ledger.left
    assert isinstance(method, Mcgs)
    assert isinstance(method.rule, ExpectedImprovement)
    actions = [action for state in method.rule.states.values() for action in state.actions]
    assert {(action.taken, action.under_way) for action in actions} == {(2, 0)}
