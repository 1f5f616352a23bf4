"""Suites: the problems of a bench, each checked before its use."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import AnyProblem
from regraph_kg.models.bench import BenchProblem, LeftOut
from regraph_kg.models.target import Target, timed_by
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem, find_problem
from regraph_kg.wiring.shipped import corpus_folder

Tell = Callable[[str], None]
_CORES_A_LOOK = 4
"""A check uses a core or two, and the machine does other work."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The problems of a bench for one target."""

    problems: tuple[BenchProblem, ...]
    left_out: tuple[LeftOut, ...]


def gather(settings: Settings, named: Sequence[str], target: Target, tell: Tell) -> Suite:
    """The good problems of `named`, names or folders; without any, of all that are shipped.

    Those that fail their check are left out, with the reason.
    """
    folder = corpus_folder(settings) / "problems"
    shipped = sorted(path.parent.name for path in folder.glob("*/problem.toml"))
    at_once = max(1, len(os.sched_getaffinity(0)) // _CORES_A_LOOK)
    with ThreadPoolExecutor(at_once, "look") as threads:
        look = partial(_look, settings, target=target, tell=tell)
        looked = [*threads.map(look, _expanded(named or shipped))]
    names = [item.name for item in looked]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"problem {twice}: named twice, or in two folders; leave one out")
    return Suite(
        problems=tuple(item for item in looked if isinstance(item, BenchProblem)),
        left_out=tuple(item for item in looked if isinstance(item, LeftOut)),
    )


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
    return BenchProblem(name=problem.name, target=target, address=name, digest=digest(problem))


def digest(problem: AnyProblem) -> str:
    """A hash of all that a problem's verdicts depend on."""
    return hashlib.sha256(problem.model_dump_json().encode()).hexdigest()[:12]
