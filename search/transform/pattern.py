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

from tree_sitter import Node

from regraph_kg.cpp.syntax import statements, text, tree_of, walk
from regraph_kg.cpp.tokens import normalized

_ONE = re.compile(r"\$[A-Za-z_]\w*")
_MANY = re.compile(r"\$\$\$[A-Za-z_]\w*;?")
_IGNORED = ("comment", "type_qualifier", "storage_class_specifier", "preproc_call")
_EITHER_ORDER = frozenset({"+", "*", "==", "!=", "&", "|", "^"})
_FUNCTIONS = ("function_definition", "linkage_specification", "template_declaration")
_COMPARED = 3  # an operand, a sign, an operand
MOST_TRIES = 100_000  # comparisons of two nodes for one pattern in one code


class PatternError(ValueError):
    """A pattern that is not C++, or a code in which matching takes too long."""


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
    tries: int = 0

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

    def places(self, root: Node) -> Iterator[tuple[Part, Bound]]:
        """Each place below a node that matches: its part of the code, and what the names hold."""
        self.tries = 0
        expression = not self.whole and len(self.nodes) == 1 and not _is_statement(self.nodes[0])
        for node in walk(root):
            if self.whole or expression:
                if node.type == self.nodes[0].type or expression:
                    for bound in self._node(self.nodes[0], node, {}):
                        yield Part((node,)), bound
                        break
            elif node.type == "compound_statement":
                yield from self._in_block(statements(node))
            elif is_lone(node):
                yield from self._in_block([node])

    def _in_block(self, block: list[Node]) -> Iterator[tuple[Part, Bound]]:
        for first in range(len(block)):
            for bound, count in self._sequence(self.nodes, block[first:], {}):
                if count:
                    yield Part(tuple(block[first : first + count])), bound
                    break

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
        self.tries += 1
        if self.tries > MOST_TRIES:
            raise PatternError("matching takes too long")
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
        elif pattern.type == code.type or (_step(pattern) and _step(code)):
            yield from self._inside(pattern, code, bound)

    def _inside(self, pattern: Node, code: Node, bound: Bound) -> Iterator[Bound]:
        steps = _step(pattern), _step(code)
        if steps[0] and steps[1]:
            variable, by = steps[0]
            other, other_by = steps[1]
            for inner in self._node(variable, other, bound):
                if isinstance(by, Node) and isinstance(other_by, Node):
                    yield from self._node(by, other_by, inner)
                elif isinstance(by, Node) and _ONE.fullmatch(text(by)):
                    held = _held(inner, text(by)[1:], Part((), str(other_by)))
                    yield from [held] if held is not None else []
                elif _number(by) == _number(other_by):
                    yield inner
            return
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


def _children(node: Node) -> list[Node]:
    return [child for child in node.children if child.type not in _IGNORED]


def _is_statement(node: Node) -> bool:
    return node.type.endswith("_statement") or node.type == "declaration"


def is_lone(node: Node) -> bool:
    """Whether it is a statement that stands in no block: a loop's whole body, for one."""
    inside = node.parent is not None and node.parent.type == "compound_statement"
    return node.type.endswith("_statement") and not inside


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


def _step(node: Node) -> tuple[Node, Node | str] | None:
    """The variable and the step of `++i`, `i++`, `--i`, `i += k`, where that is a whole update."""
    if node.type == "update_expression":
        variable = node.child_by_field_name("argument")
        by: Node | str | None = "1" if text(node.child_by_field_name("operator")) == "++" else "-1"
    elif node.type == "assignment_expression" and text(node.children[1]) == "+=":
        variable, by = node.child_by_field_name("left"), node.child_by_field_name("right")
    else:
        return None
    return (variable, by) if variable is not None and by is not None else None


def _number(by: Node | str) -> str:
    return by if isinstance(by, str) else text(by)
