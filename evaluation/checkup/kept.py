"""Findings of earlier checks, kept by problem, compiler, CPU and `CHECKER`.

Not covered: files that a project's commands read outside the project, such as libraries.
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

CHECKER = "6"
"""Version of the rules of these looks."""
_FOLDER = "problems"
_FINDINGS = TypeAdapter(tuple[ProblemFinding, ...])


@dataclass(frozen=True, slots=True)
class Checkup:
    """Findings, errors first, and the check's duration; `seconds` None: they were on file."""

    problem: str
    findings: tuple[ProblemFinding, ...]
    seconds: float | None

    @property
    def errors(self) -> tuple[ProblemFinding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")


def checked_once(
    cache: Path,
    problem: AnyProblem,
    look: Callable[[], Iterable[ProblemFinding]],
    *,
    keep_errors: bool = True,
) -> Checkup:
    """The findings on file, else those of `look`, which are then kept.

    Without `keep_errors`, findings with an error are not kept: it may be mended elsewhere.
    """
    entry = cache / _FOLDER / f"{_key(problem)}.json"
    earlier = _read(entry)
    if earlier is not None:
        return Checkup(problem.name, earlier, None)
    start = time.perf_counter()
    findings = tuple(sorted(look(), key=lambda each: each.severity))
    if keep_errors or all(each.severity != "error" for each in findings):
        _write(entry, findings)
    return Checkup(problem.name, findings, time.perf_counter() - start)


def is_new(cache: Path, problem: AnyProblem) -> bool:
    """Whether this content has never been looked at with this cache folder and compiler."""
    return not (cache / _FOLDER / f"{_key(problem)}.json").exists()


def _key(problem: AnyProblem) -> str:
    machine = (find_gcc().version, *HOST_FLAGS, openmp_device(), CHECKER)
    return hashlib.sha256(repr((problem.model_dump_json(), machine)).encode()).hexdigest()


def _read(entry: Path) -> tuple[ProblemFinding, ...] | None:
    """Findings kept earlier; None where there are none that can be read."""
    with contextlib.suppress(OSError, ValidationError):
        return _FINDINGS.validate_json(entry.read_bytes())
    return None


def _write(entry: Path, findings: tuple[ProblemFinding, ...]) -> None:
    """Keep findings; a failure to write costs only another check."""
    with contextlib.suppress(OSError):
        entry.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(entry, _FINDINGS.dump_json(findings))
