"""Progress of a search in a notebook.

IPython is looked up, never imported: a notebook has loaded it.
"""

import sys
from collections.abc import Callable
from html import escape

from regraph_kg.models.run import SimulationRecord
from regraph_kg.models.text import times

Heard = Callable[[SimulationRecord], object]


def in_notebook(calls: int) -> Heard | None:
    """Shows the spent calls of `calls` in the running cell; None outside of notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or not hasattr(shell, "kernel"):
        return None
    show = ipython.display.HTML
    bar = ipython.display.display(show(_bar(0, calls, "")), display_id=True)

    def hear(record: SimulationRecord) -> None:
        best = f"{times(record.best_speedup)} by {' > '.join(record.best_path) or 'no step yet'}"
        bar.update(show(_bar(record.spent, calls, best)))

    return hear


def _bar(spent: int, calls: int, best: str) -> str:
    bar = f"<progress value='{spent}' max='{calls}'></progress>"
    return f"{bar} {spent} of {calls} calls {escape(best)}"
