"""Edits of a text by byte offsets, applied at once."""

from dataclasses import dataclass, field

from tree_sitter import Node


@dataclass(slots=True)
class Edits:
    """Replacements in a text; of nested ones the outer one is applied."""

    replacements: list[tuple[int, int, str]] = field(default_factory=list)

    def put(self, node: Node, text: str) -> None:
        """Write a text in place of a node."""
        self.replacements.append((node.start_byte, node.end_byte, text))

    def insert(self, at: int, text: str) -> None:
        """Write a text at an offset."""
        self.replacements.append((at, at, text))

    def applied(self, content: bytes, start: int = 0, end: int | None = None) -> str:
        """The text between two offsets, with the edits in it."""
        end = len(content) if end is None else end
        parts, at = list[bytes](), start
        # In text order: what is inserted, then a longer one before those inside it.
        order = sorted(self.replacements, key=lambda it: (it[0], it[1] > it[0], -it[1]))
        for first, last, text in order:
            if first < at or last > end:
                continue
            parts += [content[at:first], text.encode()]
            at = last
        return b"".join((*parts, content[at:end])).decode()
