"""Findings of a check of a problem, as data; they are kept by problem, compiler, CPU and `CHECKER`.

Each is one line, which ends with the line to write.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from regraph_kg import atomic
from regraph_kg.evaluation.compile.compile import HOST_FLAGS
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.gpu.device import openmp_device
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.base import Frozen

CHECKER = "7"  # version of the rules of these looks
_FOLDER = "problems"

Severity = Literal["error", "note"]


class ProblemFinding(Frozen):
    """A fault of a problem (`error`: a search must not start), or a note."""

    severity: Severity
    about: str  # what it is about: "signature", "tolerance", "timing shape", ..
    text: str
    write: str = ""  # the line to write into problem.toml or serial.cpp

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" + (f"; write: {self.write}" if self.write else "")


def _finding(severity: Severity, about: str, text: str, write: str = "") -> ProblemFinding:
    text, write = (" ".join(each.split()) for each in (text, write))
    return ProblemFinding(severity=severity, about=about, text=text, write=write)


error = partial(_finding, "error")
note = partial(_finding, "note")  # it does not stop a search
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
    problem: Problem,
    look: Callable[[], Iterable[ProblemFinding]],
) -> Checkup:
    """The findings on file, else those of `look`, kept."""
    machine = (find_gcc().version, *HOST_FLAGS, openmp_device(), CHECKER)
    key = hashlib.sha256(repr((problem.model_dump_json(), machine)).encode()).hexdigest()
    entry = cache / _FOLDER / f"{key}.json"
    with contextlib.suppress(OSError, ValidationError):
        return Checkup(problem.name, _FINDINGS.validate_json(entry.read_bytes()), None)
    start = time.perf_counter()
    findings = tuple(sorted(look(), key=lambda each: each.severity))
    with contextlib.suppress(OSError):  # a failure to write costs only another check
        entry.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(entry, _FINDINGS.dump_json(findings))
    return Checkup(problem.name, findings, time.perf_counter() - start)
