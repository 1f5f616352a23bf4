"""Parts of a text where its tree does not say what the compiler reads.

These are uses of the text's own macros, branches of the preprocessor, and `try`, which an iteration
may leave. A macro is clear if its body is one number or a type. Not covered: macros of headers,
which count as names of constants.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.cpp.macros import DEFINES, TYPE, Macro, definitions, words_in
from regraph_kg.cpp.syntax import inside_of, text, walk

_BRANCHES = frozenset({"preproc_if", "preproc_ifdef"})
_STILL = frozenset({"preproc_call", "preproc_include", "comment", "preproc_else"})
_NUMBER = re.compile(r"-?\.?\d(?:[\w.']|(?<=[eE])[-+])*|'\\?.'|\"[^\"]*\"")


class Hidden:
    """What the tree of one text hides."""

    def __init__(self, root: Node) -> None:
        self.macros = definitions(root)
        uses = [*self._uses(root)]
        self._clear = {name for name, found in self.macros.items() if all(map(_is_clear, found))}
        parts = [node for node in uses if text(node) not in self._clear]
        for node in walk(root):
            if node.type == "try_statement":
                parts.append(node)
            function = inside_of(node, {"function_definition"}) if node.type in _BRANCHES else None
            if function is not None and any(map(_speaks, node.named_children[1:])):
                parts.append(function)
        self.spans = [(part.start_byte, part.end_byte) for part in parts]
        macros = [macro for found in self.macros.values() for macro in found if macro is not None]
        names = ({*words_in(body)} - {*(taken or ())} for taken, body in macros)
        self.names = frozenset[str]().union(*names)  # in bodies of macros

    def within(self, node: Node) -> bool:
        """Whether a statement or function holds such a part, or stands in one."""
        return any(a < node.end_byte and node.start_byte < b for a, b in self.spans)

    def number(self, name: str) -> int | None:
        """The whole number that a macro always stands for; None for anything else."""
        ((taken, body),) = [one or ((), "") for one in self.macros.get(name, {None})][:1]
        plain = len(self.macros.get(name, ())) == 1 and taken is None and body.strip("()").isdigit()
        return int(body.strip("()")) if plain else None

    def _uses(self, root: Node) -> Iterator[Node]:
        """The leaves that name a macro outside of directives."""
        for leaf in walk(root) if self.macros else ():
            if leaf.child_count or text(leaf) not in self.macros:
                continue
            outer = leaf.parent or root
            defines = outer.type in DEFINES or outer.type in _BRANCHES
            if not defines or outer.child_by_field_name("name") != leaf:
                yield leaf


def _speaks(node: Node) -> bool:
    """Whether a part of a branch is code, not a directive or a comment."""
    inner = node.named_children if node.type == "preproc_else" else [node]
    return any(part.type not in _STILL for part in inner)


def _is_clear(macro: Macro | None) -> bool:
    """Whether a macro is no more than what it looks like."""
    return macro is not None and any(one.fullmatch(macro[1]) for one in (_NUMBER, TYPE))
