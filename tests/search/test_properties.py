"""On random graphs with cycles, self-loops, dead ends and steps that always fail: it ends, it never
spends more than its budget, and it never answers code that the judge did not pass."""

import random
from collections.abc import Iterator

import pytest
from regraph_kg.search.state import Tree

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.answer import final_answer
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.methods.mcgs_paper import PaperSettings
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
    searching,
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


def random_settings(rng: random.Random) -> McgsSettings:
    return McgsSettings(
        samples=rng.randint(1, 3),
        repairs=rng.randint(0, 2),
        rollout=rng.randint(0, 3),
        epsilon=rng.random(),
        depth=rng.randint(1, 5),
        exploration=rng.choice([0.0, 0.5, 5.0]),
    )


def search(rng: random.Random, toy: Toy, ledger: Ledger, tree: Tree) -> Iterator[SimulationRecord]:
    settings: MethodSettings = random_settings(rng)
    if rng.random() < 0.3:
        settings = PaperSettings(epsilon=rng.random(), steps=rng.randint(1, 5))
    calls, parallel = ledger.limits.calls, rng.choice([1, 1, 2, 8])
    head = header(calls, rng.randrange(1000), settings=settings, parallel=parallel)
    return searching(toy.world, head, ledger=ledger, tree=tree)


@pytest.mark.parametrize("seed", range(150))
def test_any_search_ends_within_its_budget_with_verified_code(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng)
    toy = Toy(graph, random_script(rng, graph))
    ledger, tree = Ledger(SearchLimits(calls=rng.randint(1, 60))), Tree()
    records = []
    for record in search(rng, toy, ledger, tree):
        records.append(record)
        assert len(records) <= 2000, "it does not end"
    assert ledger.spent.calls == len(toy.asked) <= ledger.limits.calls
    assert ledger.spent.calls == sum(step.cost.calls for r in records for step in r.steps)
    check_counts(tree)
    passed = {s.code for r in records for s in r.steps if s.outcome is Outcome.PASSED}
    answer = final_answer(TASK, records, toy.final)
    assert answer.code == SERIAL or answer.code in passed
    assert (answer.code == SERIAL) == (answer.report is None)


def check_counts(tree: Tree) -> None:
    """n(p) = sum of n(p,a); an action is visited iff something was sampled; no gain is lost."""
    for state in tree.states() if tree.start else ():
        assert state.n == sum(action.n for action in state.actions)
        for action in state.actions:
            assert bool(action.n) == bool(action.samples)
            assert action.under_way == 0
            assert len(action.samples) <= 3
    assert all(edge.n > 0 or edge.total == 0 for edge in tree.edges.values())


def test_an_exhausted_search_has_closed_every_state() -> None:
    graph: Graph = {"start": ["a", "b"], "a": ["b", "a"], "b": ["a"]}
    toy = Toy(graph, noisy_script(1, failures=0.4))
    tree, ledger = Tree(), Ledger(SearchLimits(calls=10**6))
    head = header(10**6, settings=McgsSettings(depth=3, samples=2))
    list(searching(toy.world, head, ledger=ledger, tree=tree))
    assert ledger.left
    assert not any(state.open for state in tree.states())
    for state in tree.states():
        assert all(len(action.samples) == 2 for action in state.actions)
