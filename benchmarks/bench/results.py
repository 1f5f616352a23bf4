"""The file of results of one bench. One process at a time uses a bench's folder (flock)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from benchmarks.bench.record import BenchResults
from regraph_kg import atomic, locks
from regraph_kg.errors import BadInput, ToolError, file_errors, first_mistake
from regraph_kg.private import make_folder, opener

FILE = "results.json"
_LOCK = ".lock"
_SAME = ("version", "suite", "model", "calls", "final", "prompting")
"""Fields that are equal in all results of one bench."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder, made if missing, for this process; `BadInput` where another has it."""
    with file_errors(folder, "choose another folder: --into", ToolError):
        make_folder(folder)
        file = open(folder / _LOCK, "wb", opener=opener)  # noqa: SIM115 (closed below)
    with file:
        if not locks.take(file):
            raise BadInput(
                f"{folder}: another bench is writing there; wait for it, or give another --into"
            )
        yield


def read(path: Path) -> BenchResults:
    """Results of a file or a bench's folder; `BadInput` for anything else."""
    file = path / FILE if path.is_dir() else path
    with file_errors(file, "give results of python -m benchmarks.bench"):
        content = file.read_bytes()
    try:
        return BenchResults.model_validate_json(content)
    except ValidationError as error:
        mistake = first_mistake(error, "the file")
        raise BadInput(f"{file}: {mistake}; not results of this version") from None


def write(results: BenchResults, folder: Path) -> None:
    """Write results into `folder` atomically; `ToolError` where that fails."""
    path = folder / FILE
    with file_errors(path, "make room and run the same command again", ToolError):
        atomic.write(path, results.model_dump_json(indent=1), synced=True)


def go_on(folder: Path, new: BenchResults) -> BenchResults:
    """`new` with the runs in the folder; `BadInput` where the folder is another bench's.

    Problems, arms and seeds may be others than before.
    """
    if not (folder / FILE).exists():
        return new
    old = read(folder)
    # Runs of other budgets or models are no sample of this bench.
    for name in _SAME:
        if getattr(old, name) != getattr(new, name):
            raise BadInput(
                f"{folder}: a bench with {name} {getattr(old, name)!r}, not {getattr(new, name)!r};"
                " give another --into"
            )
    if old.graph and new.graph and old.graph != new.graph:
        raise BadInput(
            f"{folder}: the graph has changed since; give another --into, or a store as it was"
        )
    changed = {(problem.name, problem.target): problem.digest for problem in new.problems}
    for problem in old.problems:
        if changed.get((problem.name, problem.target), problem.digest) != problem.digest:
            raise BadInput(
                f"{folder}: problem {problem.name} has changed since; give another --into"
            )
    older = [problem for problem in old.problems if (problem.name, problem.target) not in changed]
    targets = {problem.target for problem in new.problems} | {out.target for out in new.left_out}
    return new.model_copy(
        update={
            "created": old.created,
            "arms": tuple(dict.fromkeys((*old.arms, *new.arms))),
            "seeds": max(old.seeds, new.seeds),
            "searches": old.searches | new.searches,
            "problems": (*older, *new.problems),
            "left_out": (
                *(out for out in old.left_out if out.target not in targets),
                *new.left_out,
            ),
            "machine": old.machine | new.machine,
            "graph": new.graph or old.graph,
            "runs": old.runs,
        }
    )
