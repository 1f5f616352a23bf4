"""Contract: what a search reads, in which order, and without whose answers."""

from regraph_kg.backends.store import GraphStore
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import Example, Successor, Tries
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from tests.contract.plans import A100, H200, again, failure, measured, plan, technique
from tests.recount import transitions
from tests.stores import cypher, wipe

ONE = 2**20


def successors(store: GraphStore, device: str = H200, **asked: object) -> list[Successor]:
    return list(store.neighbourhood("cuda/start", device=device, **asked).successors)  # type: ignore[arg-type]


def test_an_unknown_technique_has_no_successors(store: GraphStore) -> None:
    store.merge([plan()])
    assert store.neighbourhood("cuda/nowhere", device=H200).successors == ()
    assert store.neighbourhood("cuda/b", device=H200).successors == ()


def test_successors_come_most_examples_first_then_by_id_up_to_the_limit(store: GraphStore) -> None:
    only_failed = failure("d", after=0)
    store.merge([plan("c", code="1"), plan("c", code="2"), plan("b"), plan("a")])
    store.merge([plan("a", problem="sum", failures=[only_failed]), plan("c", code="3")])
    assert [(s.technique.id, s.examples) for s in successors(store)] == [
        ("cuda/c", 3),
        ("cuda/a", 2),
        ("cuda/b", 1),
    ]
    assert [s.technique.id for s in successors(store, limit=2)] == ["cuda/c", "cuda/a"]
    assert successors(store)[0].technique.name == "Technique c"


def test_statistics_are_the_devices_own_else_the_others_else_none(store: GraphStore) -> None:
    store.merge(
        [
            plan("a", measurements=[measured(H200, effect=4.0), measured(A100, effect=2.0)]),
            plan("b", measurements=[measured(A100, effect=2.0), measured("GPU X", effect=None)]),
            plan("c"),
        ]
    )
    assert [(s.statistics, s.examples, s.here) for s in successors(store, H200)] == [
        ("device", 1, Tries(1, 1, 2 * ONE)),
        ("other-devices", 1, Tries(2, 1, ONE)),
        ("none", 1, Tries()),
    ]


def test_beside_the_devices_own_statistics_stand_those_of_the_others(store: GraphStore) -> None:
    here, there = measured(H200, effect=None), measured(A100, effect=2.0)
    store.merge([plan("a", measurements=[here, there]), plan("b", measurements=[there])])
    assert [(s.here.tried, s.elsewhere) for s in successors(store, H200)] == [
        (1, Tries(1, 1, ONE)),
        (1, Tries()),
    ]


def test_examples_come_verified_here_then_anywhere_then_by_effect_then_by_id(
    store: GraphStore,
) -> None:
    here_slow = plan("a", code="1", measurements=[measured(H200, effect=1.5)])
    here_fast = plan("a", code="2", measurements=[measured(H200, effect=3.0)])
    elsewhere = plan("a", code="3", measurements=[measured(A100, effect=9.0)])
    failed = plan("a", code="4", measurements=[measured(H200, effect=None)])
    never = plan("a", code="5")
    last = sorted((failed, never), key=lambda one: one.trajectory.id)
    broke_later = next(  # verified once, without an effect now, and last by id
        one
        for one in (
            plan("a", code=f"6{i}", measurements=[measured(A100), measured("X", effect=None)])
            for i in range(1000)
        )
        if one.trajectory.id > last[-1].trajectory.id
    )
    store.merge([never, failed, elsewhere, here_slow, here_fast, broke_later])
    order = [one.trajectory.id for one in (here_fast, here_slow, elsewhere, broke_later, *last)]
    found = store.examples("cuda/start", "cuda/a", device=H200, limit=9)
    assert [example.trajectory for example in found] == order
    assert [example.verified for example in found] == [True, True, True, True, False, False]
    assert (found[3].outcome, found[3].effect, found[3].speedup) == ("wrong_answer", None, None)
    anywhere = store.examples("cuda/start", "cuda/a", limit=2)
    assert [example.effect for example in anywhere] == [9.0, 3.0]


def test_an_example_says_all_that_its_trajectory_said(store: GraphStore) -> None:
    sent = plan("ab", measurements=[measured()], model="big").trajectory
    store.merge([plan("ab", measurements=[measured()], model="big")])
    (example,) = store.examples("cuda/a", "cuda/b")
    step = sent.steps[1]
    assert (example.before, example.after) == (sent.steps[0].code, step.code)
    assert (example.reasoning, example.detail) == (step.reasoning, step.detail)
    assert (example.original_label, example.relabel_stage) == (step.label, "exact")
    assert (example.source, example.target, example.step) == ("cuda/a", "cuda/b", 2)
    assert (example.trajectory, example.problem) == (sent.id, "saxpy")
    assert (example.outcome, example.effect, example.speedup) == ("passed", 2.0, 4.0)
    assert (example.device, example.toolchain, example.model) == (H200, "nvcc 13", "big")
    assert example.created == sent.source.created
    assert store.examples("cuda/start", "cuda/a")[0].before == sent.serial


def test_an_example_of_which_a_part_is_gone_is_no_example(
    store: GraphStore, store_settings: Settings
) -> None:
    store.add_techniques([technique("a")])
    store.merge([plan("a")])
    (row,) = cypher(store_settings, "MATCH ()-[r:TRANSITION]->() RETURN properties(r) AS told")
    assert Example.is_complete(row["told"])
    for name in ("after", "reasoning", "verified_on"):
        assert not Example.is_complete(
            {key: told for key, told in row["told"].items() if key != name}
        )


def test_pooled_statistics_are_those_of_all_neighbourhoods_together(store: GraphStore) -> None:
    store.add_techniques([technique("d", needs=("loop",)), technique("a", "openmp")])
    store.merge(
        [
            plan("ab", measurements=[measured(H200, effect=2.0)]),
            plan("cbb", problem="sum", measurements=[measured(A100, effect=8.0)]),
            plan("b", problem="max", measurements=[measured(H200, effect=4.0)]),
        ]
    )
    a, b, c, d = store.pooled("cuda", device=H200)
    assert [one.technique.id for one in (a, b, c, d)] == [f"cuda/{name}" for name in "abcd"]
    assert (b.examples, b.here, b.elsewhere) == (4, Tries(2, 2, 3 * ONE), Tries(2, 2, 6 * ONE))
    assert b.statistics == "device"
    assert (a.after, b.after, c.after, d.after) == ("cuda/start", "cuda/start", "cuda/start", "")
    assert (d.examples, d.here.tried, d.statistics, d.technique.needs) == (0, 0, "none", ("loop",))


def test_pooled_statistics_can_be_told_without_a_problem(store: GraphStore) -> None:
    store.merge([plan("ab", problem="sum")])
    without = store.pooled("cuda", device=H200)
    store.merge([plan("bab", measurements=[measured()])])
    assert store.pooled("cuda", device=H200) != without
    assert store.pooled("cuda", device=H200, exclude_problem="saxpy") == without


def test_a_neighbourhood_without_a_problem_is_that_of_a_graph_without_it(
    store: GraphStore,
) -> None:
    learned = Source(model="m@1", learned=True)
    store.merge(
        [
            plan("ab", problem="sum", measurements=[measured(H200, effect=2.0)]),
            plan("a", problem="sum", source=learned, measurements=[measured(A100, effect=None)]),
        ]
    )
    without = successors(store)
    store.merge(
        [
            plan("ac", measurements=[measured(H200, effect=4.0)], failures=[failure("b", after=0)]),
            plan("a", source=learned, measurements=[measured(A100, effect=8.0)]),
        ]
    )
    store.merge([plan("ac", measurements=[measured(A100, effect=2.0, evaluator="2")])])
    assert successors(store) != without
    assert successors(store, exclude_problem="saxpy") == without
    assert successors(store, exclude_problem="nobody's") == successors(store)


def test_the_limit_holds_after_a_problem_is_excluded(store: GraphStore) -> None:
    store.merge([plan("a", code=f"{i}") for i in range(3)])
    store.merge([plan("b", problem="sum"), plan("c", problem="sum", code="1")])
    found = successors(store, limit=1, exclude_problem="saxpy")
    assert [s.technique.id for s in found] == ["cuda/b"]


def test_export_is_ordered_and_a_fresh_store_exports_the_same(
    store: GraphStore, store_settings: Settings
) -> None:
    plans = [
        plan("aba", ref="r", measurements=[measured(), measured(A100)], failures=[failure("c")]),
        plan("b", problem="sum", target="openmp", model=""),
        plan("aa", code="2", measurements=[measured(effect=None)]),
        plan("ab", code="3", source=Source(model="m@1", learned=True), measurements=[measured()]),
        plan("ab", code="4", failures=[failure("b", outcome=Outcome.DECLINED, diagnosis="no")]),
    ]
    store.merge(plans)
    store.merge([plan("aa", code="2", measurements=[measured(run="r2")])])
    exported, techniques = tuple(store.export()), store.techniques()
    rows, stats = transitions(store), store.stats()
    assert [one.id for one in exported] == sorted(one.id for one in exported)

    wipe(store_settings)
    store.apply_schema()
    store.add_techniques(techniques)
    store.merge([again(one) for one in exported])
    assert tuple(store.export()) == exported
    assert (transitions(store), store.techniques()) == (rows, techniques)
    assert store.stats() == stats
