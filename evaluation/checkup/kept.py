"""What looks at problems found, kept: by problem, compiler, CPU and `CHECKER`.

Not covered: what a project's commands read besides the project, such as installed libraries.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from regraph_kg import atomic
from regraph_kg.evaluation.checkup.findings import ProblemFinding
from regraph_kg.evaluation.compile.compile import HOST_FLAGS
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.gpu.device import openmp_device
from regraph_kg.evaluation.problem.problem import AnyProblem

CHECKER = "3"
"""Version of the rules of these looks."""
_FOLDER = "problems"
_FINDINGS = TypeAdapter(tuple[ProblemFinding, ...])


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found, errors first, and how long that took; `seconds` None: it was known."""

    problem: str
    findings: tuple[ProblemFinding, ...]
    seconds: float | None

    @property
    def errors(self) -> tuple[ProblemFinding, ...]:
        """What must be mended first."""
        return tuple(found for found in self.findings if found.severity == "error")


def checked_once(
    cache: Path,
    problem: AnyProblem,
    look: Callable[[], Iterable[ProblemFinding]],
    *,
    keep_errors: bool = True,
) -> Checkup:
    """What was found earlier, else what `look` finds now, which is kept.

    Without `keep_errors` it is not where there are any: they may be mended outside of the problem.
    """
    entry = cache / _FOLDER / f"{_key(problem)}.json"
    known = _read(entry)
    if known is not None:
        return Checkup(problem.name, known, None)
    start = time.perf_counter()
    found = tuple(sorted(look(), key=lambda each: each.severity))
    if keep_errors or all(each.severity != "error" for each in found):
        _write(entry, found)
    return Checkup(problem.name, found, time.perf_counter() - start)


def is_new(cache: Path, problem: AnyProblem) -> bool:
    """Whether this content has never been looked at with this cache folder and compiler."""
    return not (cache / _FOLDER / f"{_key(problem)}.json").exists()


def _key(problem: AnyProblem) -> str:
    here = (find_gcc().version, *HOST_FLAGS, openmp_device(), CHECKER)
    return hashlib.sha256(repr((problem.model_dump_json(), here)).encode()).hexdigest()


def _read(entry: Path) -> tuple[ProblemFinding, ...] | None:
    """Findings kept earlier; None where there are none that can be read."""
    with contextlib.suppress(OSError, ValidationError):
        return _FINDINGS.validate_json(entry.read_bytes())
    return None


def _write(entry: Path, found: tuple[ProblemFinding, ...]) -> None:
    """Keep them for the next time; what cannot be kept is found anew."""
    with contextlib.suppress(OSError):
        entry.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(entry, _FINDINGS.dump_json(found))
