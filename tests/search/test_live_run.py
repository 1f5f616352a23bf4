"""A search as a Python caller has it: record by record, left at any time, ended, gone on with."""

from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.runs.choice import traced_choice, usual_choice
from regraph_kg.runs.search import open_run
from regraph_kg.settings import read_settings
from tests.search.lab import FASTER, Lab


def test_a_search_is_iterated_and_ended(grown: Lab) -> None:
    with open_run(read_settings(), usual_choice("scale", "recorded"), Path("runs")) as run:
        spent = [record.spent for record in run.records()]
        ended = run.finish()
    assert spent == sorted(spent)
    assert ended.code == FASTER
    assert ended.summary.improved


def test_it_may_be_left_and_gone_on_with(grown: Lab) -> None:
    settings = read_settings()
    with open_run(settings, usual_choice("scale", "recorded"), Path("runs")) as run:
        next(run.records())
        assert run.verdicts >= 1
    choice = traced_choice(usual_choice("scale", "recorded"), run.trace)
    with open_run(settings, choice, Path("runs"), resume=run.trace) as again:
        list(again.records())
        assert again.trace == run.trace
        assert again.finish().code == FASTER


def test_the_graph_is_looked_at_before_the_problem(lab: Lab) -> None:
    lab.judge_live()
    with (
        pytest.raises(BadInput, match="holds no openmp technique"),
        open_run(read_settings(), usual_choice("scale", "recorded"), Path("runs")),
    ):
        pass
    assert not (lab.folder / "cache").exists()
