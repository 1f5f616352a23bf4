"""Code of an answer as a tree that can be edited, and the functions that it defines.

Not here: the mends.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from regraph_kg.search.code.syntax import MOST_BYTES, declared_name, text, tree_of, walk
from regraph_kg.search.code.tokens import normalized

MOST_NODES = 60_000
MOST_LEVELS = 200
"""Larger or deeper trees are not mended: an answer may be anything."""
_CONTAINERS = frozenset(
    {
        *("translation_unit", "linkage_specification", "declaration_list", "template_declaration"),
        *("namespace_definition", "preproc_if", "preproc_ifdef", "preproc_else", "ERROR"),
    }
)
_SCOPES = frozenset({"namespace_definition", "template_declaration"})
_NO_TYPE = frozenset({"__restrict__", "__restrict", "restrict"})


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of a function's result and parameters."""

    result: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function that code defines outside any other."""

    name: str
    node: Node
    """Its definition."""
    outer: Node
    """The definition with `template <..>` or `extern "C"` before it."""
    top: Node
    """The top-level node that holds it."""
    signature: Signature
    words: frozenset[str]
    """`__global__`, `static` and the like."""
    scoped: bool
    """Whether it is a template, or in a namespace."""
    c_linkage: bool

    @property
    def is_kernel(self) -> bool:
        """Whether the host launches it."""
        return "__global__" in self.words

    @property
    def on_host(self) -> bool:
        """Whether the host can call it."""
        return not self.is_kernel and ("__device__" not in self.words or "__host__" in self.words)

    @property
    def exported(self) -> bool:
        """Whether other files can call it by its name."""
        return self.on_host and not self.scoped and not self.words & {"static", "inline"}


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

    def named(self, name: str) -> list[Node]:
        """Identifiers with a name."""
        return self._names.get(name, [])

    def defining(self, name: str) -> list[DefinedFunction]:
        """Functions with a name."""
        return self._defined.get(name, [])

    def function_at(self, byte: int) -> DefinedFunction | None:
        """The function around a byte."""
        place = bisect_right(self.functions, byte, key=lambda function: function.node.start_byte)
        candidate = self.functions[place - 1] if place else None
        return candidate if candidate is not None and byte < candidate.node.end_byte else None

    @cached_property
    def beside_functions(self) -> dict[str, list[int]]:
        """Name -> its offsets outside functions."""
        return {
            name: [at for node in nodes if self.function_at(at := node.start_byte) is None]
            for name, nodes in self._names.items()
        }

    @cached_property
    def macros(self) -> frozenset[str]:
        """Names of the macros that it defines."""
        kinds = ("preproc_def", "preproc_function_def")
        definitions = (node for node in walk(self.root) if node.type in kinds)
        return frozenset(text(definition.child_by_field_name("name")) for definition in definitions)

    @cached_property
    def c_names(self) -> frozenset[str]:
        """Names under C linkage."""
        names, waiting = set[str](), [(self.root, False)]
        while waiting:
            node, linked = waiting.pop()
            linked = linked or _is_c(node)
            names |= {text(node)} if linked and "identifier" in node.type else set()
            waiting += [(child, linked) for child in node.children]
        return frozenset(names)

    @cached_property
    def _names(self) -> dict[str, list[Node]]:
        by_name: defaultdict[str, list[Node]] = defaultdict(list)
        for node in walk(self.root):
            if "identifier" in node.type and not node.child_count:
                by_name[text(node)].append(node)
        return dict(by_name)

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

    def renamed(self, nodes: Sequence[Node], name: str) -> str:
        """The code with another name at these nodes."""
        return self.edited([(node.start_byte, node.end_byte, name) for node in nodes])

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


def signature_of(source: ParsedCode, definition: Node) -> Signature | None:
    """The types of a function's definition; None where it has no parameters' list."""
    declarator = declarator_of(definition)
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    if listed is None:
        return None
    types, begin, name = list[str](), listed.start_byte + 1, None
    for child in listed.children:
        if child.type.endswith("parameter_declaration"):
            name = _name_node(child.child_by_field_name("declarator"))
        elif child.type in (",", ")"):
            first, last = (name or child).start_byte, (name or child).end_byte
            parameter = f"{source.between(begin, first)} {source.between(last, child.start_byte)}"
            types += filter(None, [_type(normalized(parameter).split())])
            begin, name = child.end_byte, None
    result = text(definition.child_by_field_name("type"))
    return Signature(result, () if types == ["void"] else tuple(types))


def signature_in(head: str) -> Signature | None:
    """The types of a function's head: `extern "C" void f(int n)`."""
    functions = ParsedCode(f"{head.strip().rstrip(';')} {{}}").functions if head.strip() else ()
    return functions[0].signature if len(functions) == 1 else None


def _type(tokens: Sequence[str]) -> str:
    """A parameter's type from its tokens without its name, reduced to what a caller must match."""
    tokens = tokens[: tokens.index("=")] if "=" in tokens else tokens
    words = ["*" if word == "[" else word for word in tokens if word not in _NO_TYPE]
    at = next((place for place, word in enumerate(words) if word in ("*", "&")), None)
    base = words if at is None else words[:at]
    if at is None:  # a value is copied, constant or not
        base = [word for word in base if word != "const"]
    return " ".join([*sorted(base), *([] if at is None else words[at:])]).removesuffix(" ]")


def _name_node(node: Node | None) -> Node | None:
    while node is not None and "identifier" not in node.type:
        inner = node.child_by_field_name("declarator")
        last = node.named_children[-1] if node.named_children else None
        node = inner if inner is not None else last
    return node


def _is_c(node: Node) -> bool:
    """Whether a node gives its contents C linkage."""
    return node.type == "linkage_specification" and text(node.child_by_field_name("value")) == '"C"'


def _functions(source: ParsedCode) -> Iterator[DefinedFunction]:
    """Functions in text order; bodies are skipped."""
    root = source.root
    waiting: list[tuple[Node, Node, Node | None, bool, bool]] = [(root, root, None, False, False)]
    while waiting:
        node, outer, top, scoped, linked = waiting.pop()
        if node.type == "function_definition":
            signature, name = signature_of(source, node), declared_name(declarator_of(node))
            if signature is not None and name and node.child_by_field_name("body") is not None:
                words, part = words_of(node), top if top is not None else node
                yield DefinedFunction(name, node, outer, part, signature, words, scoped, linked)
            continue
        if node.type not in _CONTAINERS:
            continue
        scoped = scoped or node.type in _SCOPES
        linked = linked or _is_c(node)
        head = node.type in ("template_declaration", "linkage_specification")
        for child in reversed(node.children):
            inside = outer if head and child.type != "declaration_list" else child
            waiting.append((child, inside, child if node is root else top, scoped, linked))
