"""Errors of g++, nvcc, ptxas and the linker, cut to the parts that help to mend a candidate.

Each error once: its place in the candidate, its text, the source line and a caret. An error inside
a header is told with the candidate's line that led there, the first for each such line. Symbols are
given as they are in the source where the linker or ptxas mangles them.

The text is untrusted: unprintable characters are dropped (models/text.py).

Not covered: notes and candidate overloads; the line of an error that ptxas finds (it names none).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regraph_kg.models.text import plain

_OWN = re.compile(
    r"(candidate\.c(?:pp|u))(?::(\d{1,7}):(\d{1,7}): (?:fatal )?error"
    r"|\((\d{1,7})\): (?:catastrophic )?error)"
    r"(?:\s*#[\w-]+)?: (.*)"
)
_HEADER = re.compile(r"(?:\S*/)?([^/\s]+?)(?::\d+:\d+: (?:fatal )?error|\(\d+\): error)[^:]*: (.*)")
_BEFORE = re.compile(r"candidate\.c(?:pp|u):(\d{1,7}):\d+:\s+required from here")
_AFTER = re.compile(r"at line (\d{1,7})(?: of candidate\.cu)?$")
_LINKER = re.compile(r"(undefined reference to|multiple definition of) [`']([^']+)'")
_PTXAS = re.compile(r"ptxas (?:error|\S+, line \d+; error)\s*: (.*)")
_ENDING = re.compile(r"At end of source: error: (.*)")
# A source can put anything into these texts (#line, #error): numbers of places are short ones.
_WIDTH, _TEXT = 120, 300


@dataclass(frozen=True, slots=True)
class _Complaint:
    """One error; `column` 0 is not known, `line` 0 is nowhere in the candidate."""

    text: str
    file: str = ""
    line: int = 0
    column: int = 0

    def show(self, source: Sequence[str]) -> str:
        if not self.line:
            return self.text
        column = f":{self.column}" if self.column else ""
        head = f"{self.file}:{self.line}{column}: error: {self.text}"
        if not 0 < self.line <= len(source):
            return head
        shown = source[self.line - 1].expandtabs(8).rstrip()
        start = max(0, min(self.column - _WIDTH // 2, len(shown) - _WIDTH))
        at = self.column - 1 - start
        caret = f"\n    {' ' * at}^" if 0 <= at <= _WIDTH else ""
        return f"{head}\n    {shown[start : start + _WIDTH]}{caret}"


def trimmed(errors: str, code: str = "", limit: int = 1200) -> str:
    """Errors of one compilation of `code` in at most `limit` characters, whole ones if possible."""
    lines = [line.rstrip() for line in plain(errors).split("\n") if line.strip()]
    # blanks for unprintable characters, so that a caret keeps its column
    shown = "".join(char if char.isprintable() or char in "\t\n" else " " for char in code)
    source = shown.split("\n")
    texts = list(dict.fromkeys(complaint.show(source) for complaint in _complaints(lines, source)))
    if not texts:
        texts = [f"error in {m[1]}: {m[2][:_TEXT]}" for m in map(_HEADER.match, lines) if m][:1]
    if not texts:
        return "\n".join(line.strip() for line in lines[-8:])[:limit]
    chosen = texts[:1]
    for text in texts[1:]:
        if sum(map(len, chosen)) + len(chosen) + len(text) > limit:
            break
        chosen.append(text)
    return "\n".join(chosen)[:limit]


def _complaints(lines: Sequence[str], source: Sequence[str]) -> Iterator[_Complaint]:
    origin, reported = 0, set[int]()
    for index, line in enumerate(lines):
        before = _BEFORE.match(line)
        location, header = _OWN.search(line), _HEADER.match(line)
        if before:
            origin = int(before[1])
        elif location:
            yield _at_line(location, lines[index + 1 :], source, origin)
            origin = 0
        elif header:
            led = origin or _instantiated(lines[index + 1 :])
            if led and led not in reported:
                reported.add(led)
                file = "candidate.cu" if not origin else "candidate.cpp"
                yield _Complaint(f"{header[2][:_TEXT]} (in {header[1]})", file, led)
            origin = 0
        elif linker := _LINKER.search(line):  # this and what follows belongs to no line
            yield _Complaint(f"{linker[1]} '{_demangled(linker[2])}'")
        elif ptxas := _PTXAS.match(line):
            yield _Complaint(f"ptxas: {_demangled(ptxas[1])}"[:_TEXT])
        elif ending := _ENDING.search(line):
            yield _Complaint(f"at the end of the source: {ending[1]}"[:_TEXT])


def _at_line(
    match: re.Match[str], following: Sequence[str], source: Sequence[str], origin: int
) -> _Complaint:
    """An error at a line of the candidate; nvcc shows the line and a caret below it."""
    file, row, column, other, text = match.groups()
    if row:
        text += f" (required from line {origin})" if origin else ""
        return _Complaint(text[:_TEXT], file, int(row), int(column))
    number, at = int(other), 0
    if len(following) > 1 and following[1].strip() == "^" and 0 < number <= len(source):
        shown, original = following[0].strip(), source[number - 1].expandtabs(8)
        indent = len(following[0]) - len(following[0].lstrip())
        if shown == original.strip():  # not so where macros were expanded
            at = following[1].index("^") - indent + len(original) - len(original.lstrip()) + 1
    led = _instantiated(following)
    text += f" (required from line {led})" if led and led != number else ""
    return _Complaint(text[:_TEXT], file, number, at)


def _instantiated(following: Sequence[str]) -> int:
    """The candidate's line that nvcc names below an error, before the next one; 0 without."""
    for line in following:
        if _OWN.search(line) or _HEADER.match(line):
            return 0
        match = _AFTER.search(line)
        if match:
            return int(match[1])
    return 0


def _demangled(text: str) -> str:
    """Mangled names of free functions as in the source: _Z6kernelPf -> kernel."""
    return re.sub(r"\b_Z(\d{1,4})(\w+)", lambda m: m[2][: int(m[1])], text)
