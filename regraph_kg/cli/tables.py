"""Tables on any terminal: where it is narrow, words are folded and figures stay whole."""

from collections.abc import Collection

from rich.console import Console
from rich.table import Table

_WORDS = 12
"""Columns that words have at least."""
_HEADING = 5


def print_table(table: Table, figures: Collection[int], console: Console | None = None) -> None:
    """Print `table`; the columns `figures` keep their width, even beyond the terminal's."""
    for index, column in enumerate(table.columns):
        widest = max((len(str(cell)) for cell in column.cells), default=0)
        asked = max(widest, min(len(str(column.header)), _HEADING))
        column.min_width = asked if index in figures else min(widest, _WORDS)
        column.overflow = "fold"
    console = console or Console(highlight=False, markup=False)
    console.print(table, crop=False)
