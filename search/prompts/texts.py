"""The text files of prompts, filled in.

Not here: what a prompt is made of (render.py).
"""

from functools import cache
from pathlib import Path
from string import Template

from regraph_kg.search.prompts.fences import fence

FOLDER = Path(__file__).parent


def short(text: str, characters: int) -> str:
    """`text` in one line, cut between words where it is longer than `characters`."""
    text = " ".join(text.split())
    if len(text) <= characters:
        return text
    return text[:characters].rsplit(" ", 1)[0] + " ..."


def fill(template: str, /, folder: Path = FOLDER, **values: str) -> str:
    """The text file `template` of a folder, with `values` in the places of the same names.

    `$fence` becomes a fence that no value closes.
    """
    text = _template(folder / f"{template}.txt")
    return text.substitute(values, fence=fence(*values.values())).strip()


@cache
def _template(path: Path) -> Template:
    return Template(path.read_text(encoding="utf-8"))
