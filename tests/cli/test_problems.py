"""Which problem a name means: a folder of the user's goes before a shipped one."""

from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import chosen_problem, find_problem
from regraph_kg.wiring.shipped import problem_names
from tests.search.lab import SERIAL, TOML

SHIPPED = Settings(corpus=None)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "problem.toml").write_text(TOML.replace('"scale"', f'"{folder.name}"', 1))
    (folder / "serial.cpp").write_text(SERIAL)
    return folder


@pytest.mark.usefixtures("here")
def test_any_folder_has_the_shipped_problems() -> None:
    assert find_problem(SHIPPED, "matmul").entry == "matmul"
    assert chosen_problem(SHIPPED, "matmul") == "matmul, shipped with regraph"
    assert {"matmul", "stencil"} <= set(problem_names(SHIPPED))


def test_a_folder_of_the_users_beats_a_shipped_problem_and_that_is_said(here: Path) -> None:
    make(here / "matmul")
    assert find_problem(SHIPPED, "matmul").entry == "scale"
    assert chosen_problem(SHIPPED, "matmul") == "matmul/, not the shipped matmul"


def test_a_folder_of_something_else_does_not_hide_a_shipped_problem(here: Path) -> None:
    (here / "matmul").mkdir()
    assert find_problem(SHIPPED, "matmul").entry == "matmul"
    (here / "matmul" / "serial.cpp").write_text(SERIAL)  # the beginnings of one
    with pytest.raises(BadInput, match=r"problem\.toml"):
        find_problem(SHIPPED, "matmul")


def test_a_corpus_of_the_users_takes_the_shipped_ones_place(here: Path) -> None:
    make(here / "mine" / "problems" / "blur")
    settings = Settings(corpus=here / "mine")
    assert problem_names(settings) == ["blur"]
    assert chosen_problem(settings, "blur") == f"{here}/mine/problems/blur/"


def test_an_unknown_name_is_answered_with_the_nearest_known(here: Path) -> None:
    make(here / "blur")
    with pytest.raises(BadInput, match=r"did you mean matmul\?"):
        find_problem(SHIPPED, "matmull")
    with pytest.raises(BadInput, match=r"did you mean blur\?"):
        find_problem(SHIPPED, "blurr")
