"""Contract: what a merge adds, once, wholly, whoever sends it again."""

import pytest

from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.models.graph import MergeCounts, MergePlan
from regraph_kg.models.trajectory import Step
from tests.contract.plans import A100, H200, failure, measured, plan, technique
from tests.recount import TransitionStats, transitions

ONE = 2**20  # log2(2) as the graph holds it


def rows(store: GraphStore) -> dict[tuple[str, str, str], TransitionStats]:
    return {(row.source, row.target, row.device): row for row in transitions(store)}


def test_a_merge_counts_what_it_added(store: GraphStore) -> None:
    assert store.merge([]) == MergeCounts()
    counts = store.merge([plan("ab", measurements=[measured()]), plan("b", problem="sum")])
    assert counts == MergeCounts(added=2, known=0, examples=3, techniques=2, measurements=2)


def test_the_same_batch_twice_changes_nothing(store: GraphStore) -> None:
    batch = [plan("ab", measurements=[measured()], failures=[failure()]), plan("ba", ref="r")]
    store.merge(batch)
    before = (store.stats(), transitions(store), tuple(store.export()))
    assert store.merge(batch) == MergeCounts(known=2)
    assert (store.stats(), transitions(store), tuple(store.export())) == before


def test_a_trajectory_twice_in_a_batch_counts_once_with_all_its_measurements(
    store: GraphStore,
) -> None:
    once = plan("a", measurements=[measured()])
    twice = plan("a", measurements=[measured(), measured(A100)])
    assert store.merge([once, twice, once]) == MergeCounts(
        added=1, known=2, examples=1, techniques=1, measurements=2
    )
    assert store.stats().transitions == 1


def test_a_new_measurement_is_added_to_a_known_trajectory(store: GraphStore) -> None:
    store.merge([plan("a")])
    assert rows(store)["cuda/start", "cuda/a", "unmeasured"].examples == 1

    assert store.merge([plan("a", measurements=[measured(effect=2.0)])]).measurements == 1
    assert list(rows(store)) == [("cuda/start", "cuda/a", H200)]

    later = measured(A100, effect=4.0, run="2026-11-22T10:00:00Z")
    counts = store.merge([plan("a", measurements=[later])])
    assert counts == MergeCounts(known=1, measurements=1)
    on_h200, on_a100 = (rows(store)["cuda/start", "cuda/a", device] for device in (H200, A100))
    assert (on_h200.examples, on_h200.tried, on_h200.sum_log2_effect) == (0, 1, ONE)
    assert (on_a100.examples, on_a100.tried, on_a100.sum_log2_effect) == (1, 1, 2 * ONE)
    (example,) = store.examples("cuda/start", "cuda/a")
    assert (example.device, example.effect, example.speedup) == (A100, 4.0, 8.0)
    (exported,) = store.export()
    assert [measurement.device for measurement in exported.steps[0].measurements] == [H200, A100]


def test_a_measurement_with_a_known_key_is_not_added_again(store: GraphStore) -> None:
    store.merge([plan("a", measurements=[measured(effect=2.0)])])
    assert store.merge([plan("a", measurements=[measured(effect=8.0)])]) == MergeCounts(known=1)
    beside_a_new_one = plan("a", measurements=[measured(effect=8.0), measured(A100)])
    assert store.merge([beside_a_new_one]) == MergeCounts(known=1, measurements=1)
    assert rows(store)["cuda/start", "cuda/a", H200].sum_log2_effect == ONE


def test_failures_are_counted_and_kept(store: GraphStore) -> None:
    failures = [failure("b", 1), failure("c", 0, outcome="timed_out"), failure("b", 1, device=None)]
    store.merge([plan("a", failures=failures)])
    found = rows(store)
    crashed = found["cuda/a", "cuda/b", H200]
    assert (crashed.examples, crashed.tried, crashed.verified) == (0, 1, 0)
    assert found["cuda/start", "cuda/c", H200].tried == 1
    assert found["cuda/a", "cuda/b", "unmeasured"].tried == 1
    (exported,) = store.export()
    assert exported.failures == tuple(failures)


def test_a_failure_without_a_technique_is_kept_and_not_counted(store: GraphStore) -> None:
    nameless = failure().model_copy(update={"technique": None})
    store.merge([plan("a", failures=[nameless])])
    assert [row.tried for row in transitions(store)] == [0]
    assert next(iter(store.export())).failures == (nameless,)


def test_a_ref_that_names_other_content_is_refused_and_the_rest_goes_on(store: GraphStore) -> None:
    store.merge([plan("a", ref="mine")])
    clash, fine = plan("b", ref="mine"), plan("c", ref="other")
    counts = store.merge([clash, fine])
    assert (counts.added, counts.known) == (1, 0)
    assert list(counts.conflicts) == [clash.trajectory.id]
    assert {row.target for row in transitions(store)} == {"cuda/a", "cuda/c"}
    assert [found.id for found in store.techniques()] == ["cuda/a", "cuda/c"]


def test_an_unknown_technique_fails_the_whole_batch(store: GraphStore) -> None:
    stray = plan("z")
    with pytest.raises(StoreError, match="knows cuda/z; nothing was written"):
        store.merge([plan("a"), MergePlan(stray.trajectory, stray.labels)])
    assert (store.stats().trajectories, store.techniques(), transitions(store)) == (0, (), ())


def test_a_known_trajectory_relabelled_otherwise_keeps_its_path(store: GraphStore) -> None:
    known, other = plan("a"), plan("a", measurements=[measured()])
    store.merge([known, plan("b")])
    relabelled = MergePlan(other.trajectory, plan("b").labels)
    assert store.merge([relabelled]).measurements == 1
    assert rows(store)["cuda/start", "cuda/a", H200].tried == 1


def test_cycles_and_self_loops_are_transitions_like_others(store: GraphStore) -> None:
    store.merge([plan("aabab", measurements=[measured()])])
    found = {pair[:2]: row.examples for pair, row in rows(store).items()}
    assert found == {
        ("cuda/start", "cuda/a"): 1,
        ("cuda/a", "cuda/a"): 1,
        ("cuda/a", "cuda/b"): 2,
        ("cuda/b", "cuda/a"): 1,
    }
    assert [e.step for e in store.examples("cuda/a", "cuda/b", limit=9)] == [3, 5]
    (exported,) = store.export()
    assert [step.technique for step in exported.steps] == [f"cuda/{name}" for name in "aabab"]


HOSTILE = "'}) DETACH DELETE n // \" \\ ` $x {y} \u2028 \U0001f680 naïve Größe 核"


def test_text_is_data_whatever_it_says(store: GraphStore) -> None:
    base = plan("a").trajectory
    step = Step(label=HOSTILE, reasoning=HOSTILE, detail=HOSTILE, code=HOSTILE)
    sent = base.model_copy(
        update={"problem": HOSTILE, "ref": HOSTILE, "serial": HOSTILE, "steps": (step,)}
    )
    named = technique("a", definition=HOSTILE, aliases=(HOSTILE,))
    store.merge([MergePlan(sent, plan("a").labels, new=(named,))])
    (exported,) = store.export()
    assert exported.steps[0].code == exported.problem == exported.ref == HOSTILE
    assert store.techniques() == (named,)
    assert store.neighbourhood("cuda/start", device=HOSTILE).successors[0].examples == 1
    without = store.neighbourhood("cuda/start", device=HOSTILE, exclude_problem=HOSTILE)
    assert without.successors == ()


def test_long_code_comes_back_whole(store: GraphStore) -> None:
    code = "".join(chr(0x21 + i * 31 % 90) for i in range(199_980))
    sent = plan("a", code=code)
    store.merge([sent])
    (example,) = store.examples("cuda/start", "cuda/a")
    assert example.after == sent.trajectory.steps[0].code


def test_a_large_batch_is_one_merge(store: GraphStore) -> None:
    batch = [plan("abc", code=f"int x{i};" * 100, measurements=[measured()]) for i in range(300)]
    assert store.merge(batch).examples == 900
    assert store.stats().transitions == 900
    assert rows(store)["cuda/b", "cuda/c", H200].sum_log2_effect == 300 * ONE
