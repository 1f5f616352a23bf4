"""Values as HTML for notebooks (`_repr_html_`): tables whose every text is escaped.

Code and diagnoses come from models and strangers: none of it can become markup.
"""

from collections.abc import Sequence
from html import escape

Cell = str | float | int | None
"""Numbers with three digits, None as nothing, the rest as text."""


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Rows below a head."""
    names = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def facts(title: str, rows: Sequence[tuple[str, Cell]]) -> str:
    """A title and named values; empty values are left out."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>{_cell(value)}</tr>"
        for name, value in rows
        if value not in (None, "")
    )
    return f"<b>{escape(title)}</b><table><tbody>{body}</tbody></table>"


def code(title: str, text: str) -> str:
    """Folded code."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def times(ratio: float | None) -> str | None:
    """A ratio of times: "2.5x"."""
    return None if ratio is None else f"{ratio:.3g}x"


def _cell(value: Cell) -> str:
    text = f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)
    return f"<td style='text-align:left;white-space:pre-wrap'>{escape(text)}</td>"
