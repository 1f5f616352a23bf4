"""The table of docs/cheats.md and the files that it names say the same."""

import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from regraph_kg.evaluation.rules import Defences
from regraph_kg.models.target import Target
from tests.adversarial.source import SHIPPED, UNSWITCHED, adversaries

DOCUMENT = Path(__file__).parents[2] / "docs" / "cheats.md"
TARGETS: tuple[Target, ...] = ("cuda", "openmp")


@dataclass(frozen=True)
class Row:
    """A cheat, its defences, and the names of its files by target."""

    cheat: str
    defences: frozenset[str]
    files: dict[Target, frozenset[str]]


def rows() -> list[Row]:
    table = re.findall(r"^\| (.*?) ?\|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return [row_of(*(cell.strip() for cell in f"{line} ".split("|"))) for line in table[1:]]


def row_of(cheat: str, defences: str, cuda: str, openmp: str) -> Row:
    return Row(cheat, names(defences), {"cuda": names(cuda), "openmp": names(openmp)})


def names(cell: str) -> frozenset[str]:
    return frozenset(filter(None, cell.split(", ")))


def test_the_table_is_found() -> None:
    assert len(rows()) > 30


@pytest.mark.parametrize("target", TARGETS)
def test_every_file_is_named_and_every_name_is_a_file(target: Target) -> None:
    named = frozenset[str]().union(*(row.files[target] for row in rows()))
    assert named == {adversary.name for adversary in adversaries(target)}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.cheat)
def test_a_row_has_a_file_and_the_defences_of_its_files(row: Row) -> None:
    assert any(row.files.values())
    declared = {
        defence
        for target in TARGETS
        for adversary in adversaries(target)
        if adversary.name in row.files[target]
        for defence in adversary.defences
    }
    assert row.defences == declared


def test_defences_are_those_of_the_judge() -> None:
    known = {field.name for field in fields(Defences)} | UNSWITCHED
    assert frozenset[str]().union(*(row.defences for row in rows())) == known


@pytest.mark.parametrize("target", TARGETS)
def test_a_name_means_one_file(target: Target) -> None:
    found = [adversary.name for adversary in adversaries(target)]
    assert sorted(set(found)) == found


@pytest.mark.parametrize("target", TARGETS)
def test_a_dozen_files_are_shipped_and_hold_no_placeholders(target: Target) -> None:
    shipped = [a.path for a in adversaries(target) if SHIPPED in a.path.parents]
    assert len(shipped) == 12
    assert not [path for path in shipped if re.search(r"@[A-Z_]+@", path.read_text())]


@pytest.mark.parametrize("target", TARGETS)
def test_every_file_says_what_it_tries(target: Target) -> None:
    for adversary in adversaries(target):
        assert adversary.path.read_text().startswith("// tries: "), adversary.path
