"""Tables on a narrow terminal."""

from io import StringIO

import pytest
from rich.console import Console

from regraph_kg.cli.tables import PlainConsole, print_rows


def test_text_of_others_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    PlainConsole().print("a::key::b [red]\x1b[2J")
    assert capsys.readouterr().out == "a::key::b [red][2J\n"


def test_figures_stay_whole_where_words_are_folded() -> None:
    told = StringIO()
    headings = ("followed by", "examples", "effect")
    rows = [("openmp/multiple-accumulators", "123", "18.8x")]
    print_rows(headings, rows, (1, 2), Console(file=told, width=20))
    assert "123" in told.getvalue()
    assert "18.8x" in told.getvalue()
    folded = "".join(line[:13].strip() for line in told.getvalue().splitlines()[2:])
    assert "openmp/multiple-accumulators" in folded
