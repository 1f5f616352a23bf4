"""The graph that the method's published implementation saves becomes trajectories."""

import io
import itertools
import json
from typing import Any

import pytest

from regraph_kg.ingest.read import Accepted, Rejected, read_file

SERIAL = "void axpy(const float* x, float* y, float a, int n) {\n  y[0] += a * x[0];\n}\n"
THREADS = "__global__ void axpy(const float* x, float* y, float a, int n) {}\n"
WIDE = THREADS.replace("float*", "float4*")


def example(old: str, new: str, **fields: Any) -> dict[str, Any]:
    usual = {"name": "axpy", "think": "It pays.", "detail": "So.", "before": old, "after": new}
    return {name: value for name, value in (usual | fields).items() if value is not None}


def edge(src: object, tgt: object, *examples: object) -> dict[str, Any]:
    return {"src": src, "tgt": tgt, "examples": list(examples)}


def graph(*edges: dict[str, Any], names: tuple[str, ...] = ("Threads", "Wide loads")) -> Any:
    nodes = [{"index": at, "name": name} for at, name in enumerate(("init state", *names))]
    return {"node": nodes, "edge": list(edges)}


CHAIN = graph(edge(0, 1, example(SERIAL, THREADS)), edge(1, 2, example(THREADS, WIDE)))


def outcomes(content: Any, indent: int | None = 4) -> list[Accepted | Rejected]:
    return list(read_file(io.BytesIO(json.dumps(content, indent=indent).encode())))


def ways(content: Any) -> list[tuple[str, str, list[str]]]:
    """Problem, target and labels of each trajectory."""
    good = [one.trajectory for one in outcomes(content) if isinstance(one, Accepted)]
    return [(one.problem, one.target, [step.label for step in one.steps]) for one in good]


def reasons(content: Any) -> list[str]:
    return [one.reason for one in outcomes(content) if isinstance(one, Rejected)]


@pytest.mark.parametrize("indent", [None, 4])
def test_steps_that_follow_each_other_are_one_trajectory(indent: int | None) -> None:
    (one,) = outcomes(CHAIN, indent)
    assert isinstance(one, Accepted)
    told = one.trajectory
    assert (told.target, told.problem, told.serial) == ("cuda", "axpy", SERIAL)
    assert [(step.label, step.code) for step in told.steps] == [
        ("Threads", THREADS),
        ("Wide loads", WIDE),
    ]
    assert (told.steps[0].reasoning, told.steps[0].detail) == ("It pays.", "So.")
    assert not any(step.measurements or step.technique for step in told.steps)


def test_kernels_and_branches_are_trajectories_of_their_own() -> None:
    other = THREADS.replace("axpy", "dot")
    tree = graph(
        edge(0, 1, example(SERIAL, THREADS), example("int dot;", other, name="dot")),
        edge(1, 2, example(THREADS, WIDE), example(THREADS, WIDE + "//")),
    )
    assert sorted(labels for _, _, labels in ways(tree)) == [
        ["Threads"],
        ["Threads", "Wide loads"],
        ["Threads", "Wide loads"],
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"nodes": CHAIN["node"], "links": CHAIN["edge"]},
        {"nodes": {"0": "init", "1": "Threads", "2": "Wide loads"}, "edges": CHAIN["edge"]},
        {"nodes": ["init", "Threads", "Wide loads"], "edges": CHAIN["edge"]},
        {
            "nodes": [{"id": "a"}, {"id": "Threads"}, {"id": "Wide loads"}],
            "edges": [
                {"source": "a", "target": "Threads", "steps": [example(SERIAL, THREADS)]},
                {"source": "Threads", "target": "Wide loads", "steps": example(THREADS, WIDE)},
            ],
        },
    ],
)
def test_graphs_under_usual_other_names_are_read_likewise(content: Any) -> None:
    assert ways(content) == [("axpy", "cuda", ["Threads", "Wide loads"])]


def test_a_graph_of_openmp_steps_is_for_openmp() -> None:
    code = "void f() {\n#pragma omp parallel for\n}\n"
    assert ways(graph(edge(0, 1, example("void f() {}", code)))) == [
        ("axpy", "openmp", ["Threads"])
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"node": CHAIN["node"]}, 'lacks "edge"'),
        (graph(), 'lacks "edge"'),
        (graph(edge(0, 1)), 'lack "examples"'),
        ({"node": 7, "edge": "x"}, 'lack "examples"'),
        ({"node": CHAIN["node"], "edge": [{"src": 0, "tgt": 1}]}, 'lack "examples"'),
        (graph(edge(0, 1, example("int x;", "int y;"))), "neither CUDA nor OpenMP"),
        (graph(edge(0, 1, example(SERIAL, THREADS, after=None))), 'lacks "after"'),
        (graph(edge(0, 1, example(SERIAL, THREADS, after=[1], before=""))), '"before" and "after"'),
        (graph(edge(0, 1, "text")), '"before" and "after"'),
        (graph(edge(0, 9, example(SERIAL, THREADS))), 'a node for "tgt"'),
        (graph(edge(1, 2, example(THREADS, WIDE))), "the step before it is not in the file"),
        (
            graph(edge(1, 2, example(THREADS, WIDE)), edge(2, 1, example(WIDE, THREADS))),
            "round in a circle",
        ),
    ],
)
def test_what_a_graph_lacks_is_named(content: Any, said: str) -> None:
    assert ways(content) == []
    assert said in reasons(content)[0]


def test_one_example_without_code_stops_no_other() -> None:
    mixed = graph(*CHAIN["edge"], edge(0, 2, example(SERIAL, THREADS, before=None)))
    assert len(ways(mixed)) == 1
    (reason,) = reasons(mixed)
    assert reason.startswith('edge 2 (0 to 2), example 3: lacks "before"')


def test_a_graph_of_ten_thousand_nodes_is_read() -> None:
    names = tuple(f"Trick {number}" for number in range(10_000))
    edges = [
        edge(0, at, example(SERIAL, f"{THREADS}// {at}", name=f"k{at}"))
        for at in range(1, len(names))
    ]
    assert len(ways(graph(*edges, names=names))) == 9_999


def test_steps_behind_very_many_others_are_left_out() -> None:
    codes = [THREADS.replace("n)", f"n{at})") for at in range(150)]
    steps = [example(old, new) for old, new in itertools.pairwise(codes)]
    ends = [example(codes[at], THREADS.replace("n)", f"e{at})")) for at in (50, 98, 99, 120)]
    given = graph(edge(0, 1, example(SERIAL, codes[0])), edge(1, 1, *steps), edge(1, 1, *ends))
    assert sorted(len(labels) for _, _, labels in ways(given)) == [52, 100]
    assert len(reasons(given)) == 3
    assert "more than 100 steps" in reasons(given)[0]
