"""Code of an answer as a tree that can be edited, and the functions that it defines.

Not here: the mends.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from regraph_kg.search.code.syntax import MOST_BYTES, declared_name, text, tree_of

MOST_NODES = 60_000
MOST_LEVELS = 200
"""Larger or deeper trees are not mended: an answer may be anything."""
_CONTAINERS = frozenset(
    {
        *("translation_unit", "linkage_specification", "declaration_list", "template_declaration"),
        *("namespace_definition", "preproc_if", "preproc_ifdef", "preproc_else", "ERROR"),
    }
)


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function that code defines outside any other."""

    name: str
    node: Node
    """Its definition."""
    outer: Node
    """The definition with `template <..>` or `extern "C"` before it."""
    words: frozenset[str]
    """`__global__`, `static` and the like."""

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches it."""
        return "__global__" in self.words

    @property
    def on_host(self) -> bool:
        """Whether the host can call it."""
        return not self.is_kernel and ("__device__" not in self.words or "__host__" in self.words)


class ParsedCode:
    """Code, read once."""

    def __init__(self, code: str) -> None:
        self.code = code
        self._bytes = code.encode("utf-8", errors="replace")
        self._tree = tree_of(code)
        self.root = self._tree.root

    @cached_property
    def small(self) -> bool:
        """Whether the code was read to its end, and is small enough to mend."""
        if len(self._bytes) > MOST_BYTES or self.root.descendant_count > MOST_NODES:
            return False
        level = [self.root]
        for _ in range(MOST_LEVELS):
            level = [child for node in level for child in node.children]
        return not level

    @cached_property
    def functions(self) -> tuple[DefinedFunction, ...]:
        """Functions that are defined outside any other, in text order."""
        return tuple(_functions(self))

    def defining(self, name: str) -> list[DefinedFunction]:
        """Functions with a name."""
        return self._defined.get(name, [])

    @cached_property
    def _defined(self) -> dict[str, list[DefinedFunction]]:
        by_name: defaultdict[str, list[DefinedFunction]] = defaultdict(list)
        for function in self.functions:
            by_name[function.name].append(function)
        return dict(by_name)

    def edited(self, edits: Sequence[tuple[int, int, str]]) -> str:
        """The code with each (first byte, last byte, text) put in; what overlaps is an error."""
        parts, at = [], 0
        for first, last, new in sorted(edits):
            parts += [self._bytes[at:first], new.encode()]
            at = last
        return b"".join([*parts, self._bytes[at:]]).decode("utf-8", errors="replace")

    def between(self, first: int, last: int) -> str:
        """The original text of a span: nodes lack the words that were blanked."""
        return self._bytes[first:last].decode("utf-8", errors="replace")

    def begin_of(self, node: Node) -> int:
        """The first byte of a node, or of the words before it that were blanked to read it."""
        last = node.start_byte
        read = b" " * self.root.start_byte + (self.root.text or b"")
        return last - len(self._bytes[len(read[:last].rstrip()) : last].lstrip())

    def text_of(self, node: Node) -> str:
        """The node's text, with the words before it that were blanked."""
        return self.between(self.begin_of(node), node.end_byte)


def declarator_of(definition: Node) -> Node | None:
    """The part of a definition or declaration that has its name and parameters."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    return node


def words_of(definition: Node) -> frozenset[str]:
    """The words before a definition's name."""
    head = definition.child_by_field_name("declarator")
    end = definition.end_byte if head is None else head.start_byte
    return frozenset(text(child) for child in definition.children if child.start_byte < end)


def _functions(source: ParsedCode) -> Iterator[DefinedFunction]:
    """Functions in text order; bodies are skipped."""
    waiting = [(source.root, source.root)]
    while waiting:
        node, outer = waiting.pop()
        if node.type == "function_definition":
            name = declared_name(declarator_of(node))
            if name and node.child_by_field_name("body") is not None:
                yield DefinedFunction(name, node, outer, words_of(node))
        elif node.type in _CONTAINERS:
            head = node.type in ("template_declaration", "linkage_specification")
            for child in reversed(node.children):
                waiting.append(
                    (child, outer if head and child.type != "declaration_list" else child)
                )
