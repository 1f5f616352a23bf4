"""Tables on any terminal: a narrow one folds words and keeps figures whole.

Strangers wrote a graph's texts: nothing of them steers the terminal (`PlainConsole`).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from regraph_kg.models.text import plain

_WORDS = 12  # least columns of words
_HEADING = 5
_WIDE = 120
_LONGEST = 80  # characters of a value that a table shows


class PlainConsole(Console):
    """Prints text as it is (no markup, no emoji names), without invisible characters.

    Where the output is no terminal, ids stay whole for copying.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, tab_size=4, **options)
        if not self.is_terminal:
            self.width = max(self.width, _WIDE)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """See `Console`. Each part of a table passes here before its width is measured."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))


def print_rows(
    headings: Iterable[str],
    rows: Iterable[Iterable[str]],
    figures: Collection[int] = (),
    console: Console | None = None,
) -> None:
    """Print rows below headings; words fold, the columns `figures` keep their width."""
    table = Table(*headings, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    for index, column in enumerate(table.columns):
        widest = max((len(str(cell)) for cell in column.cells), default=0)
        width = max(widest, min(len(str(column.header)), _HEADING))
        column.min_width = width if index in figures else min(widest, _WORDS)
        column.overflow = "fold"
    console = console or PlainConsole()
    console.print(table, crop=False)


def print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns that no terminal folds: paths stay whole for copying."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def one_line(text: str) -> str:
    """Text in one line that a table has room for."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
