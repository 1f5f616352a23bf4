"""Patterns: C++ with metavariables, and the places of a code where one matches.

`$x` stands for one part of the syntax, `$$$x` for any number of statements, arguments or
parameters, `name: for (..)` gives a statement a name, and `for ($$$head;;)` is a loop of any head.
The same metavariable twice means the same text twice. Braces around one statement, comments,
`const`, parentheses around an operand, the order of a sum's or product's operands, and the
spelling of a loop's step do not matter. Not here: conditions and rewriting (transform.py).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from tree_sitter import Node

from regraph_kg.cpp.syntax import parse, statements, text, tree_of, walk
from regraph_kg.cpp.tokens import normalized

_ONE = re.compile(r"\$[A-Za-z_]\w*")
_MANY = re.compile(r"\$\$\$[A-Za-z_]\w*;?")
_IGNORED = ("comment", "type_qualifier", "storage_class_specifier", "preproc_call")
_EITHER_ORDER = frozenset({"+", "*", "==", "!=", "&", "|", "^"})
_FUNCTIONS = ("function_definition", "linkage_specification", "template_declaration")
METAVARIABLE = re.compile(r"\$\$\$?([A-Za-z_]\w*);?|\$([A-Za-z_]\w*)")
_STEPS = {  # a step by one, written out: its sign and number
    sign: parse(f"_ += {by};".encode()).root_node.children[0].children[0].children[1:]
    for sign, by in (("++", "1"), ("--", "-1"))
}


class PatternError(ValueError):
    """A pattern that is not C++."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a metavariable holds: neighbouring nodes, or the text of none."""

    nodes: tuple[Node, ...]
    written: str = ""  # a text that stands in the code in another spelling: the step of `++i`

    @property
    def begin(self) -> int:
        """Bytes before it, directives of its first statement included."""
        return begin(self.nodes[0])

    @property
    def end(self) -> int:
        """Bytes up to its end."""
        return self.nodes[-1].end_byte

    @property
    def text(self) -> str:
        """Its text, with comments and directives between its nodes."""
        if not self.nodes:
            return self.written
        root = self.nodes[0]
        while root.parent is not None:
            root = root.parent
        first = root.start_byte
        return (root.text or b"")[self.begin - first : self.end - first].decode(errors="replace")

    @property
    def plain(self) -> str:
        """Its tokens, without parentheses around one expression."""
        alone = len(self.nodes) == 1 and self.nodes[0].type == "parenthesized_expression"
        return normalized(text(_bare(self.nodes[0])) if alone else self.text)


Bound = Mapping[str, Part]
Place = tuple[Part, Bound]  # a part of a code that matches, and what the names hold


def filled(pattern: str, values: Mapping[str, object]) -> str:
    """A pattern with the texts of some metavariables in it."""
    return METAVARIABLE.sub(lambda it: str(values.get(it[1] or it[2], it[0])), pattern)


def begin(node: Node) -> int:
    """Bytes before a statement, with the directives that stand right before it."""
    start, before = node.start_byte, node.prev_sibling
    while before is not None and before.type in ("preproc_call", "comment"):
        # a comment in front belongs to the code before unless a directive is above it
        start = before.start_byte if before.type == "preproc_call" else start
        before = before.prev_sibling
    return start


@dataclass(slots=True)
class Pattern:
    """A pattern that was read; `whole` for one that is a function, else it is statements."""

    nodes: list[Node]
    whole: bool

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, written: str) -> "Pattern":
        """Read a pattern; PatternError if it is no C++."""
        for code in (written, f"void _() {{ {written}\n}}", f"void _() {{ ({written}); }}"):
            tree = tree_of(code)
            top = [node for node in tree.root.named_children if node.type != "comment"]
            if not tree.complete or len(top) != 1 or top[0].type not in _FUNCTIONS:
                continue
            if code is written:
                return cls(top, whole=True)
            body = statements(top[0].child_by_field_name("body"))
            alone = body[0].named_children if code.endswith("); }") else []
            if alone or body:
                return cls([_bare(alone[0])] if alone else body, whole=False)
        raise PatternError(f"no C++: {' '.join(written.split())[:60]}")

    def places(self, root: Node, given: Bound = MappingProxyType({})) -> Iterator[Place]:
        """Each place below a node that matches, where names that are given hold what they do."""
        expression = len(self.nodes) == 1 and not _is_statement(self.nodes[0])
        for node in walk(root):
            if self.whole or expression:
                if node.type == self.nodes[0].type or not self.whole:
                    for bound in islice(self._node(self.nodes[0], node, given), 1):
                        yield Part((node,)), bound
            elif node.type == "compound_statement":
                yield from self._in_block(statements(node), given)
            elif is_lone(node):
                yield from self._in_block([node], given)

    def _in_block(self, block: list[Node], given: Bound) -> Iterator[Place]:
        for first in range(len(block)):
            found = self._sequence(self.nodes, block[first:], given)
            for bound, count in islice((one for one in found if one[1]), 1):
                yield Part(tuple(block[first : first + count])), bound

    def _sequence(
        self, pattern: Sequence[Node], code: Sequence[Node], bound: Bound
    ) -> Iterator[tuple[Bound, int]]:
        """Ways to match nodes from the first on, and how many each takes; longest lists last."""
        if not pattern:
            yield bound, 0
            return
        name = _many(pattern[0])
        if not name:
            for inner in self._node(pattern[0], code[0], bound) if code else ():
                for rest, count in self._sequence(pattern[1:], code[1:], inner):
                    yield rest, count + 1
            return
        for count in range(len(code) + 1) if len(pattern) > 1 else [len(code)]:
            held = _held(bound, name, Part(tuple(code[:count])))
            if held is not None:
                for rest, more in self._sequence(pattern[1:], code[count:], held):
                    yield rest, count + more

    def _all(self, pattern: list[Node], code: list[Node], bound: Bound) -> Iterator[Bound]:
        for inner, count in self._sequence(pattern, code, bound):
            if count == len(code):
                yield inner

    def _node(self, pattern: Node, code: Node, bound: Bound) -> Iterator[Bound]:
        """Ways in which a node of the pattern matches a node of the code."""
        if pattern.type == "labeled_statement":
            label, inside = pattern.named_children
            held = _held(bound, text(label), Part((code,)))
            yield from self._node(inside, code, held) if held is not None else ()
            return
        if _ONE.fullmatch(text(pattern)):
            held = _held(bound, text(pattern)[1:], Part((code,)))
            yield from [held] if held is not None else []
            return
        pattern, code = _bare(pattern), _bare(code)
        blocks = [node.type == "compound_statement" for node in (pattern, code)]
        if any(blocks):
            if all(blocks) or _is_statement(code if blocks[0] else pattern):
                yield from self._all(statements(pattern), statements(code), bound)
        elif pattern.type == code.type == "for_statement":
            yield from self._loop(pattern, code, bound)
        elif _kind(pattern) == _kind(code):
            yield from self._inside(pattern, code, bound)

    def _inside(self, pattern: Node, code: Node, bound: Bound) -> Iterator[Bound]:
        if not pattern.child_count or not code.child_count:
            if text(pattern) == text(code):
                yield bound
            return
        left, right = _children(pattern), _children(code)
        yield from self._all(left, right, bound)
        if pattern.type == "binary_expression" and text(left[1]) in _EITHER_ORDER:
            yield from self._all(left, right[::-1], bound)

    def _loop(self, pattern: Node, code: Node, bound: Bound) -> Iterator[Bound]:
        heads = [_head(node) for node in (pattern, code)]
        name = _many(heads[0][0]) if heads[0] else ""
        states = [bound]
        if name:
            last = code.child_by_field_name("body")
            inside = (code.text or b"")[: (last.start_byte if last else 0) - code.start_byte]
            written = inside.decode().partition("(")[2].rpartition(")")[0]
            held = _held(bound, name, Part((), written))
            states = [held] if held is not None else []
        elif [node is None for node in heads[0]] != [node is None for node in heads[1]]:
            return
        else:
            for mine, its in zip(*heads, strict=True):
                if mine is not None and its is not None:
                    states = [more for state in states for more in self._in_head(mine, its, state)]
        bodies = [node.child_by_field_name("body") for node in (pattern, code)]
        for state in states:
            yield from self._all(statements(bodies[0]), statements(bodies[1]), state)

    def _in_head(self, pattern: Node, code: Node, bound: Bound) -> Iterator[Bound]:
        """A part of a loop's head; `i <= n` is `i < n + 1`."""
        left, right = _children(pattern), _children(code)
        signs = [text(side) for sides in (left, right) for side in sides[1:-1]]
        if signs != ["<", "<="] or not _ONE.fullmatch(text(left[2])):
            yield from self._node(pattern, code, bound)
            return
        for inner in self._node(left[0], right[0], bound):
            held = _held(inner, text(left[2])[1:], Part((), f"({text(right[2])}) + 1"))
            yield from [held] if held is not None else []


def _head(loop: Node) -> list[Node | None]:
    return [loop.child_by_field_name(field) for field in ("initializer", "condition", "update")]


def _kind(node: Node) -> str:
    return "assignment_expression" if node.type == "update_expression" else node.type


def _children(node: Node) -> list[Node]:
    """Its parts; `i++` has those of `i += 1`."""
    if node.type == "update_expression":
        variable, sign = (node.child_by_field_name(field) for field in ("argument", "operator"))
        return [variable, *_STEPS[text(sign)]] if variable is not None else []
    return [child for child in node.children if child.type not in _IGNORED]


def _is_statement(node: Node) -> bool:
    return node.type.endswith("_statement") or node.type == "declaration"


def is_lone(node: Node) -> bool:
    """Whether it is a statement that stands in no block: a loop's whole body, for one."""
    if not node.type.endswith("_statement"):  # a parent is far to seek in a deep code
        return False
    return node.parent is None or node.parent.type != "compound_statement"


def _many(node: Node | None) -> str:
    """The name of a metavariable for several nodes; "" for another node."""
    return text(node).strip("$;") if node is not None and _MANY.fullmatch(text(node)) else ""


def _bare(node: Node) -> Node:
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def _held(bound: Bound, name: str, part: Part) -> Bound | None:
    """The names with one more; None if it holds another text already."""
    if name in bound:
        return bound if bound[name].plain == part.plain else None
    return {**bound, name: part}
