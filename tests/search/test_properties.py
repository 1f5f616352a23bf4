"""On random graphs with cycles, self-loops, dead ends and steps that always fail: it ends, it never
spends more than its budget, and it never answers code that the judge did not pass."""

import random

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.context import Method
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.final_answer import final_answer
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import (
    ExpectedImprovement,
    Mcgs,
    McgsSettings,
    NextStep,
    PaperSettings,
)
from regraph_kg.search.run import begin
from tests.search.toy import (
    SERIAL,
    TASK,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    names,
    noisy_script,
)


def random_graph(rng: random.Random) -> Graph:
    nodes = [f"t{number}" for number in range(rng.randint(1, 6))]
    density = rng.random()
    return {
        source: [node for node in nodes if rng.random() < density] for source in ("start", *nodes)
    }


def random_script(rng: random.Random, graph: Graph) -> Script:
    """Some transitions always fail; some answers are not recorded."""
    pairs = [(source, target) for source in graph for target in graph[source]]
    broken = {pair for pair in pairs if rng.random() < 0.25}
    usual = noisy_script(rng.randrange(10**6), rng.random() * 0.6, rng.choice([0.0, 0.2]))

    def answer(key: PromptKey) -> str | None:
        last = (["start", *names(key)][-2], names(key)[-1])
        return fenced(code("crashed", key)) if last in broken else usual(key)

    return answer


def random_settings(rng: random.Random) -> MethodSettings:
    if rng.random() < 0.3:
        return PaperSettings(epsilon=rng.random(), steps=rng.randint(1, 5))
    return McgsSettings(
        samples=rng.randint(1, 3),
        repairs=rng.randint(0, 2),
        depth=rng.randint(1, 5),
        free=False,
    )


def search(rng: random.Random, toy: Toy, ledger: Ledger) -> tuple[Method, Driver]:
    calls, parallel = ledger.limits.calls, rng.choice([1, 1, 2, 8])
    settings = random_settings(rng)
    head = header(calls, rng.randrange(1000), settings=settings, parallel=parallel)
    method = begin(TASK, head, toy.world, ledger)
    return method, Driver(method, Alone(toy.world), ledger, parallel)


@pytest.mark.parametrize("seed", range(150))
def test_any_search_ends_within_its_budget_with_verified_code(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng)
    toy = Toy(graph, random_script(rng, graph))
    ledger = Ledger(SearchLimits(calls=rng.randint(1, 60)))
    method, driver = search(rng, toy, ledger)
    records = []
    for record in driver.run():
        records.append(record)
        assert len(records) <= 2000, "it does not end"
    assert ledger.spent.calls == len(toy.asked) <= ledger.limits.calls
    assert ledger.spent.calls == sum(step.cost.calls for r in records for step in r.steps)
    check_counts(method)
    passed = {s.code for r in records for s in r.steps if s.outcome is Outcome.PASSED}
    answer = final_answer(TASK, records, toy.final)
    assert answer.code == SERIAL or answer.code in passed
    assert (answer.code == SERIAL) == (answer.report is None)


def check_counts(method: Method) -> None:
    """Nothing is under way at the end, no action has more samples than it may."""
    for action in actions_of(method):
        assert action.under_way == 0
        assert action.failed + action.idle <= 2 * action.taken <= 6


def actions_of(method: Method) -> list[NextStep]:
    rule = method.rule if isinstance(method, Mcgs) else None
    states = rule.states.values() if isinstance(rule, ExpectedImprovement) else ()
    return [action for state in states for action in state.actions]


def test_an_exhausted_search_has_sampled_every_step_so_often() -> None:
    graph: Graph = {"start": ["a", "b"], "a": ["b", "a"], "b": ["a"]}
    toy = Toy(graph, noisy_script(1, failures=0.4))
    head = header(10**6, settings=McgsSettings(depth=3, samples=2, free=False))
    ledger = Ledger(head.limits)
    method = begin(TASK, head, toy.world, ledger)
    list(Driver(method, Alone(toy.world), ledger).run())
    assert ledger.left
    taken = [action.taken for action in actions_of(method)]
    assert taken
    assert set(taken) == {2}
