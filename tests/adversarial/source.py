"""Candidate files and what their header comments declare.

    // tries: what it attempts, in words (further lines are indented)
    // outcome: one outcome, or several with " | "
    // defence: fields of `Defences` with " + "; or one without a switch: "separation", "alignment",
    //   "words", which naive.py lacks; "full_grade": without it the judge screens
    // without: the outcome when exactly these are switched off; "died": it took the judge with it
    // alone: optional, "defence outcome, defence outcome": each with the others of its line off
    // harm: optional, a name from harm.py: what must happen without the defence, and never with it
    // problem: optional, a folder of problem/ (default "smooth")
    // grade: optional, the grade it is judged at (default "screening")

Files lie here, or in benchmarks/suite/exploits: those hold no placeholders.
harm.py says what the placeholders stand for.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from regraph_kg.models.evaluation import Grade
from regraph_kg.models.target import Target

HERE = Path(__file__).parent
SHIPPED = Path(__file__).parents[2] / "benchmarks" / "suite" / "exploits"
NAIVE = frozenset({"separation", "alignment", "words"})
"""Defences that naive.py lacks: they have no switch."""
FULL_GRADE = "full_grade"
UNSWITCHED = NAIVE | {FULL_GRADE}  # defences that are no field of `Defences`
_SUFFIX: dict[Target, str] = {"openmp": "cpp", "cuda": "cu"}
_FIELD = re.compile(r"// (outcome|defence|without|alone|harm|problem|grade): (.+)")


@dataclass(frozen=True, slots=True)
class Adversary:
    """One file and its declarations."""

    path: Path
    outcomes: frozenset[str]
    defences: tuple[str, ...]
    without: frozenset[str]
    alone: tuple[tuple[str, str], ...]
    harm: str | None
    problem: str
    grade: Grade

    @property
    def name(self) -> str:
        """Its mechanism."""
        return self.path.stem

    @property
    def hangs(self) -> bool:
        """Whether it waits for the judge to lose its patience."""
        return "timed_out" in self.outcomes | self.without | {one for _, one in self.alone}

    @property
    def is_for_naive(self) -> bool:
        """Whether it is naive.py that it must get past."""
        return not NAIVE.isdisjoint(self.defences)


@cache
def adversaries(target: Target) -> tuple[Adversary, ...]:
    """Every adversarial candidate for a target, by name."""
    return tuple(sorted(map(_read, _files(target)), key=lambda adversary: adversary.name))


def honest(target: Target) -> list[tuple[Path, str]]:
    """Every honest candidate for a target, and its problem."""
    paths = sorted(_files(target, "honest"), key=lambda path: path.stem)
    return [(path, _fields(path).get("problem", "smooth")) for path in paths]


def problem_folder(name: str) -> Path:
    """Where a problem lies."""
    shipped = SHIPPED / "problem" / name
    return shipped if shipped.exists() else HERE / "problem" / name


def _files(target: Target, under: str = "") -> list[Path]:
    pattern = f"*.{_SUFFIX[target]}"
    return [path for top in (HERE, SHIPPED) for path in (top / under / target).glob(pattern)]


def _read(path: Path) -> Adversary:
    fields = _fields(path)
    alone = [part.split() for part in fields.get("alone", "").split(",") if part]
    grades: dict[str, Grade] = {grade: grade for grade in get_args(Grade)}
    return Adversary(
        path=path,
        outcomes=frozenset(fields["outcome"].split(" | ")),
        defences=tuple(fields["defence"].split(" + ")),
        without=frozenset(fields["without"].split(" | ")),
        alone=tuple((defence, outcome) for defence, outcome in alone),
        harm=fields.get("harm"),
        problem=fields.get("problem", "smooth"),
        grade=grades[fields.get("grade", "screening")],
    )


def _fields(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    return {
        match[1]: match[2].strip() for match in map(_FIELD.fullmatch, text.splitlines()) if match
    }
