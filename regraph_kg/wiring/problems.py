"""Problems by name or folder: finding them, checking them, what a search makes of them."""

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

from regraph_kg.cpp.watched import with_atomic_sums
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.findings import Checkup
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.rows import remarks
from regraph_kg.models.port import Port
from regraph_kg.models.run import Task
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.shipped import corpus_folder, nobody_hears, problem_names


def find_problem(settings: Settings, name: str) -> Problem:
    """The problem in the folder `name`, or the one of the corpus of that name."""
    return load_problem(problem_folder(settings, name))


def chosen_problem(settings: Settings, name: str) -> str:
    """The problem of `name` in words: the user's own folder, or one of the corpus."""
    folder, other = problem_folder(settings, name), _of_corpus(settings, name)
    if folder == other:
        return f"{name}, shipped with regraph" if settings.corpus is None else f"{folder}/"
    return f"{folder}/, not the shipped {name}" if other else f"{folder}/"


def check_problem(
    settings: Settings, name: str, tell: Callable[[str], None] = nobody_hears
) -> Checkup:
    """Check it, or recall that. `BadInput` where there is none, `ToolError` without a compiler."""
    problem = find_problem(settings, name)
    from regraph_kg.evaluation.checkup.checkup import Checker  # noqa: PLC0415

    return Checker(settings.cache_dir, tell).check(problem)


def good_problem(settings: Settings, name: str) -> Problem:
    """`find_problem`, after its check; `BadInput` where that finds an error."""
    checkup = check_problem(settings, name)
    if checkup.errors:
        raise BadInput(f"problem {checkup.problem}: {checkup.errors[0]}")
    return find_problem(settings, name)


def problem_folder(settings: Settings, name: str) -> Path:
    """The folder of a problem; the user's own with problem.toml or serial.cpp goes first."""
    folder, other = Path(name), _of_corpus(settings, name)
    if other and not any((folder / file).exists() for file in ("problem.toml", "serial.cpp")):
        return other
    if folder.is_dir():
        return folder
    raise BadInput(f"problem {name}: {_missing(settings, folder)}")


def _of_corpus(settings: Settings, name: str) -> Path | None:
    folder = corpus_folder(settings) / "problems" / name
    return folder if "/" not in name and (folder / "problem.toml").exists() else None


def _missing(settings: Settings, folder: Path) -> str:
    """Why there is no such problem, and what to write instead."""
    if folder.is_file():
        beside = (folder.parent / "problem.toml").exists()
        remedy = f"; give {folder.parent}" if beside else ""
        return (
            f"a file; a problem is a folder with problem.toml and serial.cpp{remedy}; of one of its"
            f" functions regraph problem new {folder} --function NAME makes one"
        )
    names = problem_names(settings)
    near = difflib.get_close_matches(str(folder), names, 1)
    meant = f"did you mean {near[0]}? " if near else ""
    return f"neither a folder nor in the corpus ({meant}known: {', '.join(names) or 'none'})"


def task_of(problem: Problem, target: Target, cache: Path | None = None) -> Task:
    """The task of a search on a problem. With a cache, what its loops share is seen in runs."""
    on_gpu = TARGETS[target].on_gpu
    seen = _seen(problem, cache, on_gpu=on_gpu)
    return Task(
        problem=problem.name,
        target=target,
        serial=problem.serial_code,
        begun=seen.serial_code,
        entry=problem.entry,
        signature=problem.signature(on_gpu) + remarks(problem),
        metric=problem.metric,
        ports=tuple(_ports(seen, on_gpu=on_gpu)),
    )


def _seen(problem: Problem, cache: Path | None, *, on_gpu: bool) -> Problem:
    """The problem with what its loops were seen to share; a port to a GPU adds atomically."""
    from regraph_kg.evaluation.watch import with_seen  # noqa: PLC0415

    code = with_seen(cache, problem) if cache is not None else problem.serial_code
    code = with_atomic_sums(code) if problem.adds_in_any_order and not on_gpu else code
    return problem.model_copy(update={"serial_code": code})


def _ports(problem: Problem, *, on_gpu: bool) -> Iterator[Port]:
    """On a GPU a thread an iteration, then one thread for all; else the user's own function."""
    # the parser of C++ comes with them
    from regraph_kg.port.own_function import own_function  # noqa: PLC0415
    from regraph_kg.port.port import port  # noqa: PLC0415

    if not on_gpu:
        function_port = own_function(problem)
        if function_port is not None:
            yield function_port
        return
    first = port(problem)
    if isinstance(first, Port):
        yield first
        second = port(problem, one_thread=True) if first.parallel else None
        if isinstance(second, Port):
            yield second
