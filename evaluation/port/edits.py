"""Edits of a text by the offsets of its bytes, made at once; and what cannot be ported."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tree_sitter import Node


class UnportableError(Exception):
    """Serial code that no port is made of: its text is the reason, in one line."""


@dataclass(slots=True)
class Edits:
    """Replacements that do not overlap; of nested ones the outer holds."""

    made: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, node: Node, text: str) -> None:
        """Write a text in place of a node."""
        self.made.append((node.start_byte, node.end_byte, text))

    def insert(self, at: int, text: str) -> None:
        """Write a text at an offset."""
        self.made.append((at, at, text))

    def applied(self, content: bytes, start: int = 0, end: int | None = None) -> str:
        """The text between two offsets, with the edits in it."""
        end = len(content) if end is None else end
        parts, at = list[bytes](), start
        for first, last, text in _outer(self.made):
            if first < at or last > end:
                continue
            parts += [content[at:first], text.encode()]
            at = last
        return b"".join((*parts, content[at:end])).decode()


def _outer(made: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """In the order of the text; a longer one before those in it."""
    return sorted(made, key=lambda edit: (edit[0], -edit[1]))
