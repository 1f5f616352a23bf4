"""Suites: the problems of a bench, each checked before its use.

Not here: problems made from ParEval's tasks (pareval.py).
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from regraph_kg import jsonl
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.bench import BenchProblem, LeftOut, Tier
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import Target, timed_by
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem, find_problem
from regraph_kg.wiring.shipped import corpus_files, corpus_folder

Tell = Callable[[str], None]
_CORES_A_LOOK = 4
EASY, MEDIUM = 2, 5
"""Most steps of the longest verified trajectory (CUDAEval's tiers, ReGraphT section 4.1)."""


@dataclass(frozen=True, slots=True)
class SuiteChoice:
    """The chosen suite: names or folders of problems, all that are shipped, or ParEval."""

    name: str
    """The suite's name in results."""
    problems: tuple[str, ...] = ()
    checkout: Path | None = None
    """The checkout of ParEval."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The problems of a bench for one target."""

    problems: tuple[BenchProblem, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...] = ()


def gather(
    settings: Settings, choice: SuiteChoice, target: Target, into: Path, tell: Tell
) -> Suite:
    """The suite's good problems; those that fail their check are left out, with the reason."""
    if choice.checkout is not None:
        return _pareval(settings, choice.checkout, choice.problems, target, into, tell)
    names = choice.problems or _shipped(settings)
    longest = dict(_longest(settings))
    with _threads() as threads:
        looks = partial(_look, settings, target=target, longest=longest, tell=tell)
        problems = [*threads.map(looks, _expanded(names))]
    _require_distinct(problems)
    return _suite(problems)


def _suite(results: Iterable[BenchProblem | LeftOut], *notes: str) -> Suite:
    looked = [*results]
    return Suite(
        problems=tuple(item for item in looked if isinstance(item, BenchProblem)),
        left_out=tuple(item for item in looked if isinstance(item, LeftOut)),
        notes=notes,
    )


def _shipped(settings: Settings) -> tuple[str, ...]:
    folder = corpus_folder(settings) / "problems"
    return tuple(sorted(path.parent.name for path in folder.glob("*/problem.toml")))


def _expanded(names: Sequence[str]) -> Iterator[str]:
    """Names, with a folder of problems replaced by its problems."""
    for name in names:
        inside = sorted(path.parent for path in Path(name).glob("*/problem.toml"))
        if inside and not (Path(name) / "problem.toml").exists():
            yield from (f"{folder}/" for folder in inside)
        else:
            yield name


def _threads() -> ThreadPoolExecutor:
    """Threads for a few checks at once: a check uses a core or two."""
    return ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // _CORES_A_LOOK), "look")


def _look(
    settings: Settings, name: str, target: Target, longest: dict[tuple[str, str], int], tell: Tell
) -> BenchProblem | LeftOut:
    if len(Path(name).parts) > 1 and not Path(name).exists():
        raise BadInput(f"problem {name}: no such folder")
    tell(f"looking at {name}")
    try:
        problem = find_problem(settings, name)
        checkup = check_problem(settings, name, tell)
    except BadInput as error:
        if not Path(name).is_dir():
            raise
        return LeftOut(name=Path(name).name, target=target, why=str(error))
    if target not in timed_by(problem.metric):
        return LeftOut(name=problem.name, target=target, why=f"its metric is {problem.metric}")
    if checkup.errors:
        return LeftOut(name=problem.name, target=target, why=str(checkup.errors[0]))
    steps = longest.get((problem.name, target), 0)
    return BenchProblem(
        name=problem.name,
        target=target,
        address=name,
        digest=digest(problem),
        tier=tier(steps),
    )


def digest(problem: AnyProblem) -> str:
    """A hash of all that a problem's verdicts depend on."""
    return hashlib.sha256(problem.model_dump_json().encode()).hexdigest()[:12]


def _require_distinct(items: Sequence[BenchProblem | LeftOut]) -> None:
    names = [item.name for item in items]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"problem {twice}: named twice, or in two folders; leave one out")


def tier(steps: int) -> Tier:
    """The tier of a problem by the steps of its longest verified trajectory; "" for none."""
    if steps <= 0:
        return ""
    return "easy" if steps <= EASY else "medium" if steps <= MEDIUM else "hard"


def _longest(settings: Settings) -> Iterator[tuple[tuple[str, str], int]]:
    """Steps of the longest verified trajectory, by problem and target of the corpus."""
    longest: dict[tuple[str, str], int] = {}
    for file in corpus_files(settings):
        for _, trajectory in jsonl.parsed(file, file.read_bytes().split(b"\n"), Trajectory):
            place = trajectory.problem, trajectory.target
            longest[place] = max(longest.get(place, 0), _verified(trajectory))
    yield from longest.items()


def _verified(trajectory: Trajectory) -> int:
    """Steps before the first one that never passed."""
    for count, step in enumerate(trajectory.steps):
        if not any(measurement.outcome is Outcome.PASSED for measurement in step.measurements):
            return count
    return len(trajectory.steps)


def _pareval(
    settings: Settings,
    checkout: Path,
    named: Sequence[str],
    target: Target,
    into: Path,
    tell: Tell,
) -> Suite:
    """ParEval's tasks as problems in `into`; existing ones are used again."""
    from regraph_kg.bench import pareval  # noqa: PLC0415 (the parser comes with it)

    tasks = pareval.tasks(checkout)
    named = tuple(dict.fromkeys(named))
    unknown = [name for name in named if name not in tasks]
    if unknown:
        raise BadInput(f"{unknown[0]}: no task of {checkout}; it has {tasks[0]} to {tasks[-1]}")

    def look(task: str) -> BenchProblem | LeftOut:
        tell(f"ParEval's {task}")
        problem = pareval.make(settings, checkout, task, target, into / "problems", tell)
        if isinstance(problem, pareval.NotMade):
            return LeftOut(name=problem.name, target=target, why=problem.why)
        looked = _look(settings, f"{problem.folder}/", target, {}, tell)
        if isinstance(looked, LeftOut):
            return looked
        address = f"{problem.folder.relative_to(into)}/"
        return looked.model_copy(update={"note": problem.note, "address": address})

    with _threads() as threads:
        return _suite(threads.map(look, named or tasks), pareval.VALIDATION_NOTE)
