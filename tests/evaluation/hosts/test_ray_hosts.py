"""The judges, on a real Ray cluster whose hosts are processes of this machine."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.hosts.ray_hosts import RayJudges
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, Outcome
from regraph_kg.wiring.judges import cache_here

from ...requirement import require
from ..conftest import SOON, passed, problem_named, scale_source

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("ray")]

PROBLEM = problem_named("scale")
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
LONGEST = 120.0


def scaled(text: str, body: str = RIGHT) -> Candidate:
    return Candidate("openmp", scale_source(body, f"// {text}"))


def ray_or_skip() -> None:
    if not find_spec("ray"):
        require("ray", "Ray is not installed")


@pytest.fixture(scope="module")
def cluster(cache: Path) -> Iterator[Any]:
    """A head that judges nothing; quick to notice that a host is gone."""
    ray_or_skip()
    os.environ |= {"RAY_AUTH_MODE": "disabled", "REGRAPH_CACHE_DIR": str(cache)}
    cluster = import_module("ray.cluster_utils").Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": {
                "health_check_initial_delay_ms": 0,
                "health_check_period_ms": 300,
                "health_check_failure_threshold": 3,
            },
        },
    )
    yield cluster
    cluster.shutdown()
    del os.environ["REGRAPH_CACHE_DIR"], os.environ["RAY_AUTH_MODE"]


@pytest.fixture
def host(cluster: Any) -> Iterator[Callable[[], Any]]:
    """host() adds one to the cluster; those that are left go at the end."""
    added: list[Any] = []

    def add() -> Any:
        added.append(cluster.add_node(num_cpus=1, include_dashboard=False))
        return added[-1]

    yield add
    for node in added:
        if node in cluster.worker_nodes:
            cluster.remove_node(node, allow_graceful=False)


def fleet_of(cluster: Any, patience: float = LONGEST) -> RayJudges:
    return RayJudges(cluster.address, cache_here, limits=SOON, patience=patience)


def test_a_lost_host_costs_only_a_try_and_a_host_that_joins_is_used(
    cluster: Any, host: Callable[[], Any], problem_folder: Callable[..., Path]
) -> None:
    first = host()
    with fleet_of(cluster) as judges, ThreadPoolExecutor(6) as threads:
        report = judges.evaluate(scaled("first"), PROBLEM)
        assert passed(report), report.diagnosis
        assert report.facts["host"]
        assert report.device == judges.device("openmp")
        assert report.toolchain == judges.toolchain("openmp")
        wrong = judges.evaluate(scaled("wrong", RIGHT.replace("a *", "3 * a *")), PROBLEM)
        assert wrong.outcome is Outcome.WRONG_ANSWER
        with pytest.raises(BadInput):
            judges.evaluate(scaled("b"), load_problem(problem_folder(serial=("] =", "] +="))))

        under_way = [
            threads.submit(judges.evaluate, scaled(f"{number}"), PROBLEM) for number in range(6)
        ]
        under_way[0].result(LONGEST)
        cluster.remove_node(first, allow_graceful=False)  # SIGKILL to all that runs there
        host()
        reports = [one.result(LONGEST) for one in under_way]
        assert all(passed(one) for one in reports), [one.diagnosis for one in reports]
        assert len({one.device for one in reports}) == 1


def test_without_a_host_candidates_fail_after_a_while(cluster: Any) -> None:
    with fleet_of(cluster, patience=0.5) as judges:
        with pytest.raises(ToolError):
            judges.evaluate(scaled("alone"), PROBLEM)
        with pytest.raises(ToolError):
            judges.device("openmp")


def test_an_address_without_a_cluster_is_an_error() -> None:
    ray_or_skip()
    with pytest.raises(ToolError):
        RayJudges("127.0.0.1:1", cache_here)


@pytest.mark.parametrize("address", ["host", "host:", ":1", "host:port"])
def test_an_address_needs_host_and_port(address: str) -> None:
    ray_or_skip()
    with pytest.raises(BadInput):
        RayJudges(address, cache_here)
