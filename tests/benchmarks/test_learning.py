"""What a search teaches, another one uses: the mechanism that benchmarks/learning.py measures."""

import math
from collections.abc import Iterable
from dataclasses import replace

import pytest

from benchmarks import made_up
from benchmarks.learning import SETTINGS, Ratio, alike, evaluations, examples_alone
from benchmarks.taught import Graph, Problem, best, head, learned, plan, reached, search
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Step, Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "c", "d", "e")
USEFUL = "openmp/e"
"""The one that the neighbourhood lists last."""


def problem(name: str) -> Problem:
    """`USEFUL` makes it three times as fast; everything else slower."""

    def answer(prompt: Prompt) -> Reply:
        key = prompt.key
        assert isinstance(key, PromptKey)
        level = math.log(3) if USEFUL in key.path else -0.1
        held = f'const char* held = "{level} {" ".join(key.path)} {key.attempt}";'
        text = f"```cpp\n{made_up.SIGNATURE} {{ {held} }}\n```"
        return Reply(text=text, finish="stop", model="recorded")

    return replace(made_up.Made(name, 0, 0.0).problem, complete=answer)


def given() -> list[Trajectory]:
    """A graph's beginning: each technique once, measured by nobody."""
    return [
        Trajectory(
            schema=1,
            target="openmp",
            problem="given",
            serial=made_up.SERIAL,
            steps=(Step(label=name, technique=f"openmp/{name}", code=f"// {name}"),),
        )
        for name in NAMES
    ]


@pytest.fixture
def graph() -> Graph:
    techniques = [Technique(id=f"openmp/{name}", name=name, target="openmp") for name in NAMES]
    return Graph({technique.id: technique for technique in techniques}).told(given())


def taught(graph: Graph) -> list[Trajectory]:
    """What a search of problem "first" teaches."""
    first = problem("first")
    return list(learned(first, search(first, graph, head(first, SETTINGS, 5, 0))))


def tries_until_useful(graph: Graph, name: str) -> int:
    """Evaluations of a search of problem `name` until it was three times as fast."""
    one = problem(name)
    found = reached(search(one, graph, head(one, SETTINGS, 9, 0)).records, 2.9)
    assert found is not None
    return found


def test_a_taught_transition_is_tried_earlier_on_a_similar_problem(graph: Graph) -> None:
    after = graph.told(taught(graph))
    assert tries_until_useful(graph, "second") == len(NAMES)
    assert tries_until_useful(after, "second") == 1


def test_examples_without_measurements_change_no_order(graph: Graph) -> None:
    after = graph.told(examples_alone(taught(graph)))
    assert tries_until_useful(after, "second") == len(NAMES)


def test_what_was_learned_of_a_problem_does_not_help_itself(graph: Graph) -> None:
    after = graph.told(taught(graph))
    assert tries_until_useful(after, "first") == len(NAMES)


def test_a_graph_in_memory_answers_as_a_store(embedded_settings: Settings) -> None:
    graph = made_up.graph(3)
    one = made_up.Made("a", 3, 0.8).problem
    told = learned(one, search(one, graph, head(one, SETTINGS, 40, 0)))
    store = open_store(embedded_settings)
    store.add_techniques(list(graph.techniques.values()))
    store.merge([plan(example) for example in (*made_up.examples(3), *told)])
    here = graph.told(told).neighbours(made_up.DEVICE)
    for technique in (made_up.START, *graph.techniques):
        there = store.neighbourhood(technique, device=made_up.DEVICE)
        assert _statistics(here(technique).successors) == _statistics(there.successors)
    store.close()


def _statistics(successors: Iterable[object]) -> list[str]:
    """What a search sees of them; a store notes when it made a technique."""
    return [repr(replace(successor, technique=successor.technique.id)) for successor in successors]  # type: ignore


def test_what_is_known_is_what_the_problem_gains() -> None:
    made = made_up.Made("b", 5, 0.8)
    told = made_up.known(made_up.graph(5), made).neighbours(made_up.DEVICE)
    for successor in told(made_up.START).successors:
        edge = (made_up.START, successor.technique.id)
        gain = successor.sum_log2_effect / 2**20 * math.log(2) / successor.verified
        assert gain == pytest.approx(made.gain(edge), abs=1e-6)
        assert successor.verified / successor.tried == pytest.approx(
            1 - made.failing(edge) ** 2, abs=1e-3
        )


def test_problems_have_in_common_what_they_are_said_to() -> None:
    def gains(similar: float) -> float:
        problems = (made_up.Made(name, seed, similar) for seed in range(40) for name in "ab")
        found = [
            {e: (problem.gain(e), problem.failing(e)) for e in _edges(problem.seed)}
            for problem in problems
        ]
        correlation = alike("", zip(found[::2], found[1::2], strict=True))["gains"]
        assert isinstance(correlation, float)
        return correlation

    assert gains(0.8) == pytest.approx(0.8, abs=0.05)
    assert gains(0.0) == pytest.approx(0.0, abs=0.05)


def _edges(seed: int) -> list[made_up.Pair]:
    return list(made_up.graph(seed).rows)


def test_ninety_percent_of_the_best_that_any_search_found(graph: Graph) -> None:
    one = problem("second")
    quick = search(one, graph, head(one, SETTINGS, 9, 0)).records
    short = search(one, graph, head(one, SETTINGS, 2, 0)).records
    assert best(quick) == pytest.approx(3)
    assert best(quick, 4) == 1
    assert evaluations({"before": short, "taught": quick}) == {
        "before": (2, False),
        "taught": (5, True),
    }


def test_the_interval_of_a_mean_ratio() -> None:
    assert Ratio.of([math.log(2)] * 5) == Ratio(2, 2, 2)
    spread = Ratio.of([math.log(one) for one in (0.5, 1, 2, 4)])
    assert spread.mean == pytest.approx(math.sqrt(2), abs=1e-3)
    assert 0.5 < spread.low < spread.mean < spread.high < 4
