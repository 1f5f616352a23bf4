"""Findings of a check of a problem, as data: one line each, which ends with the line to write."""

from typing import Literal

from regraph_kg.models.base import Frozen

Severity = Literal["error", "note"]


class ProblemFinding(Frozen):
    """A fault of a problem (`error`: a search must not start), or a note."""

    severity: Severity
    about: str
    """What it is about: "signature", "tolerance", "timing shape", ..."""
    text: str
    write: str = ""
    """The line to write into problem.toml or serial.cpp."""

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" + (f"; write: {self.write}" if self.write else "")


def error(about: str, text: str, write: str = "") -> ProblemFinding:
    return ProblemFinding(severity="error", about=about, text=_line(text), write=_line(write))


def note(about: str, text: str, write: str = "") -> ProblemFinding:
    """A finding that does not stop a search."""
    return ProblemFinding(severity="note", about=about, text=_line(text), write=_line(write))


def _line(text: str) -> str:
    return " ".join(text.split())
