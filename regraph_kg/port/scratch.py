"""Local arrays that each iteration of a loop sets before it reads them, as arrays of its own.

    std::vector<float> t(n); for (..) { for (j = 0; j < n; ++j) t[j] = ..; .. t[j] .. }

becomes `for (..) { float t[n]; .. }`. Proved is that elements from 0 on are set one after another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.syntax import LOOPS, around, lone, operator, statements, target, text, walk
from regraph_kg.port.names import is_number

_VECTOR = re.compile(r"(?:std::)?vector<([\w: ]+)> (\w+)\(([^,;]+?)(?:, [^,;()]+)?\);")
_ARRAY = re.compile(r"(?:std::)?array<([\w: ]+), ?(\w+)> (\w+)(?:\{\})?;")
_PLAIN = re.compile(r"([\w: ]+) (\w+)\[(.+)\](?: = \{0?\})?;")


def with_own_arrays(root: Node, facts: Facts, edits: Edits) -> None:
    """Move declarations of arrays into the loops whose iterations set them first."""
    heads = {fact.at: fact for fact in facts.loops}
    for function in walk(root):
        inside = [*walk(function)] if function.type == "function_definition" else []
        names = [node for node in inside if node.type == "identifier"]
        for node in [node for node in inside if node.type == "declaration"]:
            flat = " ".join(text(node).split())
            if match := _VECTOR.fullmatch(flat) or _PLAIN.fullmatch(flat):
                kind, name, length = match.groups()
            elif match := _ARRAY.fullmatch(flat):
                kind, length, name = match.groups()
            else:
                continue
            uses = [use for use in names if text(use) == name and use.start_byte > node.end_byte]
            whole = is_number(kind) and is_known(length, inside) and all(map(_indexed, uses))
            for loop in _around(uses, node) if whole else ():
                body = loop.child_by_field_name("body")
                elements = _Elements(name, length, heads)
                if body is not None and elements.are_set_by(statements(body)):
                    edits.put(node, "")
                    block = body.type == "compound_statement"
                    opened = f" {kind} {name}[{length}];"
                    edits.insert(body.start_byte + block, opened if block else f"{{{opened} ")
                    edits.insert(body.end_byte, "" if block else " }")
                    break


def _around(uses: list[Node], declaration: Node) -> Iterator[Node]:
    """The loops around all uses, behind the declaration, from the innermost on."""
    for above in takewhile(lambda it: it != declaration.parent, around(uses[0]) if uses else ()):
        if above.type == "for_statement" and uses[-1].end_byte <= above.end_byte:
            yield above


def is_known(length: str, inside: list[Node]) -> bool:
    """Whether a length stays the same in a function."""
    words = set(re.findall(r"[A-Za-z_]\w*", length))
    return not any(text(target(node)) in words for node in inside)


def _indexed(use: Node) -> Node | None:
    above = use.parent
    if above is None or above.type != "subscript_expression" or above.named_children[0] != use:
        return None
    listed = above.child_by_field_name("indices")
    return listed.named_children[0] if listed is not None and listed.named_children else None


@dataclass(slots=True)
class _Elements:
    """How many elements of an array are set, from the first on, while statements are read."""

    name: str
    length: str
    heads: dict[int, LoopFacts]
    set: str = "0"

    def are_set_by(self, nodes: list[Node]) -> bool:
        """Whether statements read no element that they have not set."""
        return all(self.set == self.length or self._statement(node) for node in nodes)

    def _statement(self, node: Node) -> bool:
        uses = [use for use in walk(node) if use.type == "identifier" and text(use) == self.name]
        fact = self.heads.get(node.start_byte) if node.type == "for_statement" else None
        if not uses:
            return True
        pointers = [inner for inner in walk(node) if inner.type == "pointer_expression"]
        if any(text(pointer).strip("&*( ").startswith(f"{self.name}[") for pointer in pointers):
            return False
        if fact is not None:
            return self._loop(node, fact, uses)
        stored = self._stored(node)
        reads = [text(_indexed(use)) for use in uses if stored is None or use.id != stored.id]
        if node.type in LOOPS or not all(self._has(index) for index in reads):
            return False
        if stored is not None and text(_indexed(stored)) == self.set:
            self.set = str(int(self.set) + 1)
        targets = [text(target(inner)) for inner in walk(node)]
        return stored is not None or not any(text(use.parent) in targets for use in uses)

    def _has(self, index: str) -> bool:
        return index.isdigit() and self.set.isdigit() and int(index) < int(self.set)

    def _stored(self, node: Node) -> Node | None:
        """The array's name where a statement does nothing but store an element."""
        inner = lone(node)
        left = target(inner) if inner is not None and operator(inner) == "=" else None
        base = left.named_children[0] if left is not None and left.named_children else None
        return base if base is not None and text(base) == self.name and _indexed(base) else None

    def _loop(self, node: Node, fact: LoopFacts, uses: list[Node]) -> bool:
        """Read a loop that sets one element after another, or reads those that are set."""
        end = fact.end + " + 1" * (fact.compare == "<=")
        counts = fact.step == "1" and fact.compare in ("<", "<=", "!=") and not fact.exits
        body = node.child_by_field_name("body") or node
        fixed = is_known(f"{end} {fact.variable}", [*walk(body)])
        if not counts or not fixed or not fact.start or fact.continues:
            return False
        inner = statements(node.child_by_field_name("body"))
        stores = [it for each in inner if (it := self._stored(each)) is not None]
        first = next((it for it in stores if text(_indexed(it)) == fact.variable), None)
        known = fact.start.isdigit() and self.set.isdigit() and int(fact.start) <= int(self.set)
        change = first.parent.parent if first is not None and first.parent is not None else None
        for use in uses:
            index = re.fullmatch(rf"{fact.variable}( - [1-9]\d*)?", text(_indexed(use)))
            behind = change is not None and use.start_byte >= change.end_byte
            if index is None or not (self.set == end or use == first or index[1] or behind):
                return False
        if first is not None and known:
            self.set = end
        return self.set == end
