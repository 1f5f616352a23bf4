"""MCGS 3.2: what an iteration buys, learns and closes."""

import math
from collections.abc import Sequence

import pytest
from regraph_kg.search.state import State, Tree

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.answer import commonest_failure
from regraph_kg.search.methods.mcgs import McgsSettings
from tests.search.toy import (
    TASK,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    judge,
    names,
    noisy_script,
    searching,
)

LINE: Graph = {"start": ["a"], "a": ["b"]}
FORK: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def run(
    toy: Toy, budget: int, settings: McgsSettings | None = None, seed: int = 0
) -> tuple[list[SimulationRecord], Tree]:
    tree = Tree()
    head = header(budget, seed, settings=settings or McgsSettings())
    return list(searching(toy.world, head, tree=tree)), tree


def says(**levels: float | str) -> Script:
    """A model that answers by the path's last names: says(a=0.5, a_b="crashed")."""

    def answer(key: PromptKey) -> str | None:
        level = levels.get("_".join(names(key)))
        return None if level is None else fenced(code(level, key.attempt))

    return answer


def paths(records: Sequence[SimulationRecord]) -> list[str]:
    return [" ".join(part.removeprefix("openmp/") for part in r.path) for r in records]


def at(tree: Tree, *path: str) -> State:
    wanted = tuple(f"openmp/{part}" for part in path)
    return next(state for state in tree.states() if state.path == wanted)


def test_the_first_iterations_by_hand() -> None:
    toy = Toy(LINE, says(a=0.5, a_b="wrong_answer"))
    records, tree = run(toy, 4, McgsSettings(repairs=0, samples=1))
    # 1: a, +0.5. 2: enters a, b fails: a is worth 0.5 again, b -0.3. Then all is closed.
    assert paths(records) == ["a", "a b"]
    assert [r.reward for r in records] == pytest.approx([0.5, -0.3])
    start, a = at(tree), at(tree, "a")
    assert (start.n, start.actions[0].n, start.actions[0].total) == (2, 2, pytest.approx(1.0))
    assert (a.n, a.actions[0].n, a.actions[0].total, a.actions[0].best) == (1, 1, -0.3, -0.3)
    edge = tree.edges["openmp/start", "openmp/a"]
    assert (edge.n, edge.total) == (2, pytest.approx(1.0))
    assert not start.open


def test_a_good_step_below_is_credited_to_the_steps_above() -> None:
    toy = Toy(LINE, says(a=-0.2, a_b=1.0))
    records, tree = run(toy, 2, McgsSettings(samples=1))
    assert [step.gain for r in records for step in r.steps] == pytest.approx([-0.2, 1.2])
    assert at(tree).actions[0].total == pytest.approx(-0.2 + 1.0)
    assert records[-1].best_speedup == pytest.approx(math.e)
    assert records[-1].best_path == ("openmp/a", "openmp/b")


def test_an_edge_met_twice_on_a_way_learns_its_last_gain_once() -> None:
    toy = Toy({"start": ["a"], "a": ["a"]}, says(a=0.5, a_a=0.6, a_a_a="crashed"))
    _, tree = run(toy, 4, McgsSettings(samples=1, repairs=0))
    loop = tree.edges["openmp/a", "openmp/a"]
    # a a: +0.1; then a a a fails: -0.3, and not the 0.1 of its first occurrence
    assert (loop.n, loop.total) == (2, pytest.approx(0.1 - 0.3))


def test_an_edge_is_shared_by_the_paths_that_meet_it() -> None:
    graph = {"start": ["a", "b"], "a": ["c"], "b": ["c"], "c": ["d"]}
    toy = Toy(graph, noisy_script(1, failures=0.0))
    _, tree = run(toy, 20, McgsSettings(samples=1))
    edge = tree.edges["openmp/c", "openmp/d"]
    owners = [s for s in tree.states() if s.technique == "openmp/c"]
    assert len(owners) == 2
    assert all(owner.actions[0].edge is edge for owner in owners)
    assert edge.n == sum(owner.actions[0].n for owner in owners)


def test_a_failure_closes_nothing_before_the_last_sample() -> None:
    toy = Toy({"start": ["a"]}, says(a="crashed"))
    records, tree = run(toy, 10, McgsSettings(repairs=0))
    assert [step.sample for r in records for step in r.steps] == [0, 1, 2]
    assert not at(tree).open


def test_a_failed_answer_is_repaired_and_the_repair_is_the_sample() -> None:
    def answer(key: PromptKey) -> str:
        return fenced(code(0.4 if key.repair else "wrong_answer"))

    toy = Toy(LINE, answer)
    (record,), _ = run(toy, 2)
    (step,) = record.steps
    assert (step.outcome, step.cost.calls, step.cost.evaluations) == (Outcome.PASSED, 2, 2)
    repair = toy.prompts[1]
    assert (repair.key.attempt, repair.key.repair) == (0, 1)
    assert "it wrong_answer" in repair.user  # the diagnosis
    assert "x=wrong_answer" in repair.user  # the failed code
    assert repair.seed != toy.prompts[0].seed


def test_a_repair_that_is_not_recorded_ends_the_repairing() -> None:
    toy = Toy({"start": ["a"]}, lambda key: None if key.repair else fenced(code("crashed")))
    records, _ = run(toy, 9, McgsSettings(samples=1))
    (step,) = records[0].steps
    assert (step.outcome, step.cost.calls, step.gain) == (Outcome.CRASHED, 1, -0.3)


def test_an_answer_that_is_not_recorded_costs_and_teaches_nothing() -> None:
    toy = Toy(FORK, says(b=0.5))
    records, tree = run(toy, 10, McgsSettings(samples=1))
    first, second, third = records
    assert (first.steps[0].outcome, first.reward, first.spent) == (None, None, 0)
    assert [r.iteration for r in records] == [0, 0, 1]  # what buys nothing is not counted
    assert (second.spent, third.spent) == (1, 1)
    assert tree.edges["openmp/start", "openmp/a"].n == 0
    assert at(tree).n == 1
    assert not at(tree).open


def test_an_unrecorded_second_sample_leaves_the_first_one_open() -> None:
    toy = Toy(LINE, lambda key: None if key.attempt else fenced(code(0.1 * len(key.path))))
    records, tree = run(toy, 10)
    assert paths(records) == ["a", "a#1", "a b", "a b#1"]
    assert at(tree, "a").n == 1


def test_a_sample_entered_later_is_named_in_the_path() -> None:
    def answer(key: PromptKey) -> str:
        return fenced(code("crashed" if len(key.path) == 1 and key.attempt == 0 else 0.5))

    toy = Toy(LINE, answer)
    run(toy, 3, McgsSettings(repairs=0, samples=2))
    assert [(key.path, key.attempt) for key in toy.asked] == [
        (("openmp/a",), 0),
        (("openmp/a",), 1),
        (("openmp/a#1", "openmp/b"), 0),
    ]


def test_equal_code_is_evaluated_once_and_paid_twice() -> None:
    def answer(key: PromptKey) -> str:
        return fenced("\n  " + code(0.5) + "\n\n" * len(key.path))

    toy = Toy({"start": ["a", "b"]}, answer)
    records, _ = run(toy, 2, McgsSettings(samples=1))
    assert len(toy.evaluated) == 1
    assert [r.spent for r in records] == [1, 2]
    assert records[1].steps[0].outcome is Outcome.PASSED
    assert records[1].steps[0].cost.evaluations == 0


def test_unstable_timing_is_timed_again_and_then_worth_its_lower_bound() -> None:
    verdict = f"unstable_timing:{math.log(2)}"
    toy = Toy({"start": ["a"]}, says(a=verdict))
    (record,), tree = run(toy, 1)
    assert len(toy.evaluated) == 2
    assert record.steps[0].gain == pytest.approx(math.log(1.8))
    assert at(tree, "a").log_speedup == pytest.approx(math.log(1.8))
    assert record.best_speedup == pytest.approx(1.8)


@pytest.mark.parametrize("verdict", ["unstable_timing", f"unstable_timing:{math.log(2)}"])
def test_unstable_timing_is_never_mended_nor_warned_of(verdict: str) -> None:
    toy = Toy({"start": ["a"]}, says(a=verdict))
    records, _ = run(toy, 3, McgsSettings(samples=3, repairs=2))
    assert [key.repair for key in toy.asked] == [0, 0, 0]
    assert commonest_failure(records) is None
    assert not any("Known to fail" in prompt.user for prompt in toy.prompts)


def test_unstable_timing_that_settles_is_a_pass() -> None:
    calls: list[str] = []

    def evaluate(candidate: Candidate) -> EvalReport:
        calls.append(candidate.code)
        verdict = 0.5 if len(calls) == 2 else "unstable_timing:0.1"
        return judge(Candidate("openmp", code(verdict)))

    toy = Toy({"start": ["a"]}, says(a=0.5), evaluate)
    (record,), _ = run(toy, 1)
    assert record.steps[0].outcome is Outcome.PASSED
    assert record.best_speedup == pytest.approx(math.exp(0.5))


def test_the_budget_cuts_a_repair_and_the_failure_is_backed_up() -> None:
    toy = Toy({"start": ["a"]}, says(a="crashed"))
    records, tree = run(toy, 1)
    assert [r.spent for r in records] == [1]
    assert at(tree).actions[0].total == -0.3


def test_a_rollout_buys_further_samples_below_the_new_one_and_stops_at_a_failure() -> None:
    graph = {"start": ["a"], "a": ["b"], "b": ["c"], "c": ["d"]}
    toy = Toy(graph, says(a=0.1, a_b=0.4, a_b_c="crashed", a_b_c_d=1.0))
    records, tree = run(toy, 3, McgsSettings(rollout=3, repairs=0))
    assert [s.path[-1] for s in records[0].steps] == ["openmp/a", "openmp/b", "openmp/c"]
    assert [s.gain for s in records[0].steps] == pytest.approx([0.4, 0.3, -0.3])
    assert at(tree, "a", "b").n == 1


def test_the_budget_cuts_a_rollout_and_what_it_reached_is_backed_up() -> None:
    graph = {"start": ["a"], "a": ["b"], "b": ["c"]}
    toy = Toy(graph, says(a=0.1, a_b=0.4, a_b_c=2.0))
    (record,), tree = run(toy, 2, McgsSettings(rollout=5))
    assert len(record.steps) == 2
    assert at(tree).actions[0].total == pytest.approx(0.4)


def test_an_unrecorded_rollout_step_teaches_nothing_but_ends_the_rollout() -> None:
    toy = Toy(LINE, says(a=0.5))
    records, tree = run(toy, 1, McgsSettings(rollout=1))
    assert [s.gain for s in records[0].steps] == [0.5, *[None] * (len(records[0].steps) - 1)]
    assert at(tree, "a").n == 0


def test_no_path_is_longer_than_the_depth() -> None:
    toy = Toy({"start": ["a"], "a": ["a"]}, noisy_script(3, failures=0))
    records, _ = run(toy, 50, McgsSettings(depth=3, samples=1))
    assert max(len(r.path) for r in records) == 3
    assert records[-1].spent == 3  # then the start is closed


def test_a_neighbourhood_is_read_once_a_run() -> None:
    toy = Toy(FORK, noisy_script(5))
    run(toy, 30)
    assert set(toy.reads.values()) == {1}


def test_an_empty_graph_ends_at_once() -> None:
    records, tree = run(Toy({}, says()), 5)
    assert records == []
    assert not at(tree).open


def test_the_prompt_holds_technique_example_code_and_signature_in_this_order() -> None:
    toy = Toy(LINE, says(a=0.5, a_b=0.6))
    run(toy, 2, McgsSettings(samples=1))
    user = toy.prompts[1].user
    order = [
        "Technique: b",
        "Do b to the loops.",
        "+int bb;",
        "x=0.5",
        TASK.signature,
        "```cpp\n...",
    ]
    positions = [user.rindex(part) for part in order]
    assert positions == sorted(positions)
    assert toy.prompts[0].system == toy.prompts[1].system


def test_the_same_seed_gives_the_same_search_and_another_gives_other_seeds() -> None:
    one, two, three = (Toy(FORK, noisy_script(5)) for _ in range(3))
    settings = McgsSettings(rollout=2, epsilon=0.5)
    assert run(one, 40, settings, seed=7)[0] == run(two, 40, settings, seed=7)[0]
    run(three, 40, settings, seed=8)
    assert [p.seed for p in one.prompts] == [p.seed for p in two.prompts]
    assert one.prompts[0].seed != three.prompts[0].seed
