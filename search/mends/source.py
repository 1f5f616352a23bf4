"""Code of an answer as a tree that can be edited, and the functions that it defines.

Not here: which edit mends what.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from regraph_kg.search.code.syntax import MOST_BYTES, declared_name, text, tree_of, walk

MOST_NODES = 60_000
"""What is larger is left as it is: an answer may be anything."""
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
    """What must agree for two functions to be one: the result's type, and those of parameters."""

    result: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function that code defines outside any other."""

    name: str
    node: Node
    """Its definition."""
    outer: Node
    """The definition with what stands before it: `template <..>`, `extern "C"`."""
    top: Node
    """What of the file it is in."""
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
        """Whether all of it was read, and is not too much to look through."""
        return len(self._bytes) <= MOST_BYTES and self.root.descendant_count <= MOST_NODES

    @cached_property
    def functions(self) -> tuple[DefinedFunction, ...]:
        """Those that are defined outside any other, in their order."""
        return tuple(_functions(self.root))

    def named(self, name: str) -> list[Node]:
        """Wherever an identifier stands that is so called."""
        return self._names.get(name, [])

    def defining(self, name: str) -> list[DefinedFunction]:
        """The functions that are so called."""
        return self._defined.get(name, [])

    @cached_property
    def _names(self) -> dict[str, list[Node]]:
        found: defaultdict[str, list[Node]] = defaultdict(list)
        for one in walk(self.root):
            if "identifier" in one.type and not one.child_count:
                found[text(one)].append(one)
        return dict(found)

    @cached_property
    def _defined(self) -> dict[str, list[DefinedFunction]]:
        found: defaultdict[str, list[DefinedFunction]] = defaultdict(list)
        for one in self.functions:
            found[one.name].append(one)
        return dict(found)

    def edited(self, edits: Sequence[tuple[int, int, str]]) -> str:
        """The code with each (first byte, last byte, text) put in; what overlaps is an error."""
        parts, at = [], 0
        for first, last, new in sorted(edits):
            parts += [self._bytes[at:first], new.encode()]
            at = last
        return b"".join([*parts, self._bytes[at:]]).decode("utf-8", errors="replace")

    def renamed(self, nodes: Sequence[Node], name: str) -> str:
        """The code with another name at these nodes."""
        return self.edited([(one.start_byte, one.end_byte, name) for one in nodes])

    def between(self, first: int, last: int) -> str:
        """The text of a span."""
        return self._bytes[first:last].decode("utf-8", errors="replace")


def declarator_of(definition: Node) -> Node | None:
    """The part of a definition or declaration that has its name and parameters."""
    node = definition.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    return node


def words_of(definition: Node) -> frozenset[str]:
    """What stands before a definition's name, as words."""
    head = definition.child_by_field_name("declarator")
    end = definition.end_byte if head is None else head.start_byte
    return frozenset(text(one) for one in definition.children if one.start_byte < end)


def signature_of(definition: Node) -> Signature | None:
    """The types of a function's definition; None where it has no parameters' list."""
    declarator = declarator_of(definition)
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    if listed is None:
        return None
    given = [one for one in listed.named_children if one.type.endswith("parameter_declaration")]
    types = tuple(_type(one) for one in given)
    result = text(definition.child_by_field_name("type"))
    return Signature(result, () if types == ("void",) else types)


def signature_in(head: str) -> Signature | None:
    """The types of a function's head: `extern "C" void f(int n)`."""
    found = ParsedCode(f"{head.strip().rstrip(';')} {{}}").functions if head.strip() else ()
    return found[0].signature if len(found) == 1 else None


def _type(parameter: Node) -> str:
    """A parameter's type: without its name, and where no name changes what a caller gives."""
    name = _name_node(parameter.child_by_field_name("declarator"))
    words: list[str] = []
    for leaf in (one for one in walk(parameter) if not one.child_count):
        word = text(leaf)
        if word == "=":
            break
        if leaf != name and word not in _NO_TYPE:
            words.append("*" if word == "[" else word)
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


def _functions(root: Node) -> Iterator[DefinedFunction]:
    """In the order of the text; bodies are not looked into."""
    waiting: list[tuple[Node, Node, Node | None, bool, bool]] = [(root, root, None, False, False)]
    while waiting:
        node, outer, top, scoped, linked = waiting.pop()
        if node.type == "function_definition":
            signature, name = signature_of(node), declared_name(declarator_of(node))
            if signature is not None and name and node.child_by_field_name("body") is not None:
                words, whole = words_of(node), top if top is not None else node
                yield DefinedFunction(name, node, outer, whole, signature, words, scoped, linked)
            continue
        if node.type not in _CONTAINERS:
            continue
        scoped = scoped or node.type in _SCOPES
        linked = linked or (node.type == "linkage_specification" and '"C"' in text(node)[:40])
        head = node.type in ("template_declaration", "linkage_specification")
        for child in reversed(node.children):
            inside = outer if head and child.type != "declaration_list" else child
            waiting.append((child, inside, child if node is root else top, scoped, linked))
