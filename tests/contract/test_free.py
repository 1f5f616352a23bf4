"""Contract: what a model's free choices came to, summed over its runs on other problems."""

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import EFFECT_SCALE, FreeChoice, FreeRun, FreeSteps
from tests.contract.plans import A100, H200

NOTHING = FreeChoice()


def steps(tried: int, verified: int, log2: float) -> FreeSteps:
    return FreeSteps(tried=tried, verified=verified, sum_log2_effect=round(EFFECT_SCALE * log2))


THREE = steps(3, 2, 5.0)


def ran(name: str = "1", first: FreeSteps = THREE, **fields: object) -> FreeRun:
    usual: dict[str, object] = {
        "run": name,
        "model": "small@1",
        "target": "cuda",
        "device": H200,
        "problem": "saxpy",
        "choice": FreeChoice(first=first, later=steps(1, 1, -0.5)),
    }
    return FreeRun.model_validate(usual | fields)


def known(store: GraphStore, device: str = H200, without: str | None = None) -> FreeChoice:
    return store.free_choice("small@1", "cuda", device=device, exclude_problem=without)


def test_of_an_unknown_model_nothing_is_known(store: GraphStore) -> None:
    assert known(store) == NOTHING
    store.add_free_runs([ran(model="other@1"), ran("2", target="openmp")])
    store.add_free_runs([])
    assert known(store) == NOTHING


def test_runs_add_up_first_steps_and_later_ones_apart(store: GraphStore) -> None:
    store.add_free_runs([ran("1"), ran("2", steps(4, 0, 0.0), problem="gemm")])
    assert known(store) == FreeChoice(first=steps(7, 2, 5.0), later=steps(2, 2, -1.0))


def test_ones_own_problem_is_left_out(store: GraphStore) -> None:
    store.add_free_runs([ran("1"), ran("2", steps(4, 0, 0.0), problem="gemm")])
    assert known(store, without="gemm") == ran().choice
    store.add_free_runs([ran("3", problem="gemm")])
    assert known(store, without="saxpy").first == steps(7, 2, 5.0)


def test_a_run_that_is_taught_again_counts_once(store: GraphStore) -> None:
    store.add_free_runs([ran("1"), ran("1")])
    store.add_free_runs([ran("1", steps(3, 1, 2.0))])  # its codes were judged again
    assert known(store).first == steps(3, 1, 2.0)


def test_another_device_is_asked_where_this_one_knows_nothing(store: GraphStore) -> None:
    store.add_free_runs([ran("1", device=A100)])
    assert known(store) == ran().choice
    store.add_free_runs([ran("1", steps(9, 9, 1.0))])
    assert known(store).first == steps(9, 9, 1.0)
    assert known(store, A100).first == steps(3, 2, 5.0)
