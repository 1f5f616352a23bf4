"""Candidate files and what their header comments declare.

    // tries: what it attempts, in words (further lines are indented)
    // outcome: one outcome, or several with " | "
    // defence: fields of `Defences` with " + ", or "separation": naive.py has none
    // without: the outcome when exactly these are switched off; "died": it took the judge with it
    // harm: optional, a name from harm.py: what must happen without the defence, and never with it
    // problem: optional, a folder of problem/ (default "smooth")

`@SCRATCH@` stands for a folder of ours with one file, "ours"; `@PORT@` for a port we listen on.
"""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SEPARATION = ("separation",)
_FIELD = re.compile(r"// (outcome|defence|without|harm|problem): (.+)")


@dataclass(frozen=True, slots=True)
class Adversary:
    """One file and its declarations."""

    path: Path
    outcomes: frozenset[str]
    defences: tuple[str, ...]
    without: frozenset[str]
    harm: str | None
    problem: str

    @property
    def name(self) -> str:
        """Its mechanism."""
        return self.path.stem


def adversaries(target: str) -> list[Adversary]:
    """Every adversarial candidate for a target, by name."""
    suffix = {"openmp": "cpp", "cuda": "cu"}[target]
    return [_read(path) for path in sorted((HERE / target).glob(f"*.{suffix}"))]


def honest(target: str) -> list[tuple[Path, str]]:
    """Every honest candidate for a target, and its problem."""
    paths = sorted((HERE / "honest" / target).iterdir())
    return [(path, _fields(path).get("problem", "smooth")) for path in paths]


def _read(path: Path) -> Adversary:
    fields = _fields(path)
    return Adversary(
        path=path,
        outcomes=frozenset(fields["outcome"].split(" | ")),
        defences=tuple(fields["defence"].split(" + ")),
        without=frozenset(fields["without"].split(" | ")),
        harm=fields.get("harm"),
        problem=fields.get("problem", "smooth"),
    )


def _fields(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    return {
        match[1]: match[2].strip() for match in map(_FIELD.fullmatch, text.splitlines()) if match
    }
