"""The plan of a bench: its checked problems, its searches in order, its first results.

All arms of a problem begin before those of the next one, so that a stopped bench has
whole problems to compare, but for the searches that were under way.
"""

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks.bench import results
from benchmarks.bench.record import BenchProblem, BenchResults, LeftOut
from benchmarks.bench.run import BenchOrder, BenchSearch
from regraph_kg.errors import BadInput
from regraph_kg.models.target import Target, timed_by
from regraph_kg.runs.choice import usual_settings
from regraph_kg.runs.search import require_graph
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem, find_problem
from regraph_kg.wiring.shipped import corpus_folder
from regraph_kg.wiring.stores import open_store
from tests.recount import transitions

Tell = Callable[[str], None]
_CORES_A_LOOK = 4  # a check uses a core or two, and the machine does other work


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """The searches in order, target by target, and the results so far."""

    searches: tuple[BenchSearch, ...]
    begun: BenchResults

    @property
    def remaining(self) -> tuple[BenchSearch, ...]:
        """Searches without a result."""
        finished = {run.place for run in self.begun.runs}
        return tuple(search for search in self.searches if search.place not in finished)


def plan(order: BenchOrder, tell: Tell) -> BenchPlan:
    """The bench of `order`, with the results in its folder.

    Raises `BadInput` where no good problem is left, the graph holds no first step, or the folder
    is another bench's.
    """
    problems: list[BenchProblem] = []
    left_out: list[LeftOut] = []
    for target in order.targets:
        looked = _looked_at(order.settings, order.problems, target, tell)
        good = [one for one in looked if isinstance(one, BenchProblem)]
        bad = [one for one in looked if isinstance(one, LeftOut)]
        if not good:
            why = f": {bad[0].name}: {bad[0].why}" if bad else ""
            raise BadInput(f"bench: no problem for {target} is left{why}")
        problems += good
        left_out += bad
    searches = tuple(
        BenchSearch(problem.name, problem.address, problem.target, arm, seed)
        for problem in problems
        for seed in range(order.seeds)
        for arm in order.arms
    )
    _require_graph(order, searches)
    begun = BenchResults(
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        version=version("regraph-kg"),
        command=shlex.join(order.command),
        suite="chosen" if order.problems else "shipped",
        model=str(order.choice.model),
        calls=order.choice.limits.verdicts,
        final=order.choice.final,
        prompting={name: str(value) for name, value in order.choice.prompting},
        arms=tuple(map(str, order.arms)),
        seeds=order.seeds,
        # A bench that reads no graph may go on whatever becomes of it.
        graph=_graph(order.settings) if any(arm.walks for arm in order.arms) else {},
        problems=tuple(problems),
        left_out=tuple(left_out),
    )
    begun = results.go_on(order.folder, begun)
    # Searches of earlier commands with other arms count among those that were planned.
    places = {search.place for search in searches} | {run.place for run in begun.runs}
    counts = Counter(target for _, target, _, _ in places)
    return BenchPlan(searches, begun.model_copy(update={"searches": begun.searches | counts}))


def _looked_at(
    settings: Settings, named: Sequence[str], target: Target, tell: Tell
) -> list[BenchProblem | LeftOut]:
    """Each of `named`, names or folders, checked; without any, all problems that are shipped."""
    folder = corpus_folder(settings) / "problems"
    shipped = sorted(path.parent.name for path in folder.glob("*/problem.toml"))
    at_once = max(1, len(os.sched_getaffinity(0)) // _CORES_A_LOOK)
    with ThreadPoolExecutor(at_once, "look") as threads:
        look = partial(_look, settings, target=target, tell=tell)
        looked = [*threads.map(look, _expanded(named or shipped))]
    twice = [name for name, count in Counter(one.name for one in looked).items() if count > 1]
    if twice:
        raise BadInput(f"problem {twice[0]}: named twice, or in two folders; leave one out")
    return looked


def _expanded(names: Sequence[str]) -> Iterator[str]:
    """Names, with a folder of problems replaced by its problems."""
    for name in names:
        inside = sorted(path.parent for path in Path(name).glob("*/problem.toml"))
        if inside and not (Path(name) / "problem.toml").exists():
            yield from (f"{folder}/" for folder in inside)
        else:
            yield name


def _look(settings: Settings, name: str, target: Target, tell: Tell) -> BenchProblem | LeftOut:
    if len(Path(name).parts) > 1 and not Path(name).exists():
        raise BadInput(f"problem {name}: no such folder")
    tell(f"looking at {name}")
    try:
        problem = find_problem(settings, name)
        checkup = check_problem(settings, name, tell)
    except BadInput as error:
        # A name that nobody knows is the user's mistake; a bad folder among good ones is left out.
        if not Path(name).is_dir():
            raise
        return LeftOut(name=Path(name).name, target=target, why=str(error))
    if target not in timed_by(problem.metric):
        return LeftOut(name=problem.name, target=target, why=f"its metric is {problem.metric}")
    if checkup.errors:
        return LeftOut(name=problem.name, target=target, why=str(checkup.errors[0]))
    # A hash of all that a problem's verdicts depend on.
    digest = hashlib.sha256(problem.model_dump_json().encode()).hexdigest()[:12]
    return BenchProblem(name=problem.name, target=target, address=name, digest=digest)


def _require_graph(order: BenchOrder, searches: Sequence[BenchSearch]) -> None:
    """Raise `BadInput` where a method that walks has no first step in the graph."""
    # Said before the first call of the model, not after an hour of other arms.
    walking = {search.target: search for search in searches if search.arm.walks}
    for target, search in walking.items():
        choice = replace(
            order.choice,
            problem=search.address,
            target=target,
            settings=usual_settings(search.arm.method),
        )
        require_graph(order.settings, choice)


def _graph(settings: Settings) -> dict[str, str]:
    with closing(open_store(settings)) as store:
        stats = store.stats()
        statistics = hashlib.sha256(repr(transitions(store)).encode()).hexdigest()[:12]
    return {
        "techniques": str(stats.techniques),
        "examples": str(stats.transitions),
        "trajectories": str(stats.trajectories),
        "statistics": statistics,
    }
