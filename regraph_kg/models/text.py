"""Text that somebody else wrote (a candidate, a compiler, a model), made safe to show.

Not covered: letters that look like others; text that lies in words.
"""

from typing import Annotated

from pydantic import AfterValidator

_QUOTED = 200


def plain(text: str) -> str:
    """`text` without what a terminal acts upon or what hides a part of it.

    Control characters but newline and tab, escapes, directions of writing and other characters
    that cannot be printed are dropped.
    """
    return "".join(c for c in text if c.isprintable() or c in "\n\t")


def quoted(text: str) -> str:
    """`text` as data: plain, on one line, in quotes, at most 200 characters of it."""
    line = " ".join(plain(text).split())[:_QUOTED]
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


PlainText = Annotated[str, AfterValidator(plain)]
"""A field that others' words may reach."""
