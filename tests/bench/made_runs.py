"""Results that nobody measured, for what reads results."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.bench.record import BenchAnswer, BenchProblem, BenchResults, BenchRun
from regraph_kg.models.evaluation import Interval
from regraph_kg.models.run import Cost
from regraph_kg.models.target import Target


def bench_run(  # noqa: PLR0913 (what tests vary)
    problem: str = "a",
    *,
    target: Target = "openmp",
    arm: str = "standard",
    seed: int = 0,
    answers: Sequence[BenchAnswer] = (),
    speedup: float = 1.0,
    model: str = "ollama:small@1",
    judge: str = "3",
    start: float | None = None,
) -> BenchRun:
    return BenchRun(
        problem=problem,
        target=target,
        arm=arm,
        seed=seed,
        answers=tuple(answers),
        speedup=speedup,
        speedup_interval=Interval(low=speedup * 0.9, high=speedup * 1.1),
        improved=speedup > 1,
        start=start,
        start_interval=start and Interval(low=start * 0.9, high=start * 1.1),
        cost=Cost(calls=len(answers), prompt_tokens=100, output_tokens=10),
        stopped="calls",
        metric="call",
        device="a CPU",
        toolchain="g++",
        judge=judge,
        prompts="5:abc",
        model=model,
        trace="runs/a/1.jsonl",
    )


def bench_results(*runs: BenchRun, calls: int = 5, suite: str = "shipped") -> BenchResults:
    problems = sorted({(run.problem, run.target) for run in runs})
    return BenchResults(
        created="2026-11-25T00:00:00Z",
        version="0.1.0",
        command="python -m benchmarks.bench",
        suite=suite,
        model="ollama:small",
        calls=calls,
        final="full",
        arms=tuple(dict.fromkeys(run.arm for run in runs)),
        seeds=1,
        searches=dict(Counter(run.target for run in runs)),
        machine={"openmp": "two threads"},
        problems=tuple(
            BenchProblem(name=name, target=target, address=name, digest="1")
            for name, target in problems
        ),
        runs=runs,
    )
