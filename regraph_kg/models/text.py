"""Foreign text (of a candidate, a compiler, a model), made safe to show.

Not covered: letters that look like others; false statements.
"""

from typing import Annotated

from pydantic import AfterValidator

_QUOTED = 200


def plain(text: str) -> str:
    """`text` without characters that cannot be printed, except newline and tab.

    A terminal acts upon control characters and escapes; directions of writing hide parts.
    """
    return "".join(c for c in text if c.isprintable() or c in "\n\t")


def quoted(text: str) -> str:
    """`text` as data: plain, on one line, in quotes, at most 200 characters of it."""
    line = " ".join(plain(text).split())[:_QUOTED]
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


PlainText = Annotated[str, AfterValidator(plain)]
"""A field that may hold foreign text."""
