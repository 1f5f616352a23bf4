"""Code that can be judged, with what was mended in its form.

Not here: which part of an answer is its code (extract.py).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MendedCode:
    """Code that can be judged, and notes of its mends: usually none."""

    code: str
    done: tuple[str, ...] = ()
