"""Vectors that grow, as vectors of a length, or as arrays of the most that they may hold.

    std::vector<T> v; for (int i = 0; i < n; ++i) { ..; v.push_back(e); }

becomes `std::vector<T> v(n); for (..) { ..; v[i] = e; }` where each step adds one element. If not,
it becomes `T v[n]; size_t v_count = 0; for (..) { ..; { v[v_count] = e; ++v_count; } }`, `n` being
how often the loops around an addition go through it at most. It stands in the loop that clears it
first. A vector of vectors of one length becomes one of all rows. Not covered: loops whose steps
nobody counts, vectors that functions are given.
"""

import re
from collections.abc import Iterator
from itertools import product, takewhile
from math import prod

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import Facts
from regraph_kg.cpp.functions import split
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.syntax import LOOPS, around, declared_name, inside_of, parse, short, text, walk
from regraph_kg.port.loops import ends
from regraph_kg.port.names import fresh
from regraph_kg.port.scratch import is_known

_LONGEST = 400
_EMPTY = re.compile(r"(?:std::)?vector<([\w: ]+)> (\w+);")
_CONTAINER = r"\b(?:vector|span|View|array)<[^;{{}}()]*> ?&? ?{}\b"
_NEAR = re.compile(r"(\w+)((?: [+-]\d+)*)")
_TOLD = re.compile(r"(?:[\w +\-*/()]|\.size\(\))+")
_ADDS = ("push_back", "emplace_back")
_ACTS = re.compile(r"(?:push_back|emplace_back|pop_back|clear|resize)$")
_ROWS = re.compile(
    r"(?:const )?(?:std::)?vector<(?:std::)?vector<([\w: ]+)> ?> (\w+)\(([^;]+), "
    r"(?:std::)?vector<\1>\(([^;]+)\)\);"
)


def with_rows(code: str) -> str:
    """The text with vectors of vectors of one length as vectors of all rows."""
    edits = Edits()
    for function in walk(parse(code.encode()).root_node):
        inside = [*walk(function)] if function.type == "function_definition" else []
        for node in [node for node in inside if node.type == "declaration"]:
            _of_rows(node, inside, edits)
    return edits.applied(code.encode())


def with_lengths(root: Node, facts: Facts, edits: Edits) -> None:
    """Give vectors that grow their lengths, or room and a count."""
    heads = {fact.at: fact for fact in facts.loops}
    for function in walk(root):
        inside = [*walk(function)] if function.type == "function_definition" else []
        leaps = any(node.type == "goto_statement" for node in inside)
        for node in [node for node in inside if node.type == "declaration" and not leaps]:
            if empty := _EMPTY.fullmatch(short(node, _LONGEST)):
                _Grown(node, empty[1], empty[2], inside, heads).rewrite(edits)


class _Grown:
    """One vector of a function. `inside`: the function's nodes."""

    def __init__(
        self, made: Node, kind: str, name: str, inside: list[Node], heads: dict[int, LoopFacts]
    ) -> None:
        self.made, self.kind, self.name, self.inside, self.heads = made, kind, name, inside, heads
        words = {text(node) for node in inside if node.type == "identifier"}
        self.count, self.at = fresh(f"{name}_count", words), fresh(f"{name}_at", words)
        named = [it for it in inside if it.type == "identifier" and text(it) == name]
        self.uses = [it for it in named if it.start_byte >= made.end_byte]
        self.alone = len(named) == len(self.uses) + 1
        kept = [it for it in self.uses if text(it.parent).endswith(".reserve")]
        self.idle = [inside_of(it, {"expression_statement"}) or it for it in kept]
        self.uses = [it for it in self.uses if it not in kept]
        self.place, self.own = self._place(), Edits()

    def rewrite(self, edits: Edits) -> None:
        """Add what becomes of it to the edits, where its uses are known, and its length."""
        adds = [it for it in self.uses if text(it.parent).endswith(_ADDS)]
        ways = [self._one_by_one, self._with_count]
        for way in ways if inside_of(self.place, LOOPS) is None else reversed(ways):
            self.own = Edits()
            if self.alone and adds and (made := way(adds)):
                for node in (self.made, *self.idle):
                    self.own.put(node, made if node == self.place else "")
                edits.replacements += self.own.replacements
                return

    def _with_count(self, adds: list[Node]) -> str:
        """The declaration of an array of the most elements, and of their number."""
        rooms = [self._times(it) for it in adds]
        # a loop that never runs, from n to m < n, would take room from others
        known = all(rooms) and (len({*rooms}) == 1 or not any(" - " in it for it in rooms))
        known = known and all([self._use(use) for use in self.uses])
        fixed = all(it.isdigit() for it in rooms)
        room = str(sum(map(int, rooms))) if fixed else " + ".join(rooms)
        return f"{self.kind} {self.name}[{room}]; size_t {self.count} = 0;" if known else ""

    def _place(self) -> Node:
        """Where it is declared: where each step of the loop around all uses clears it first."""
        first = inside_of(self.uses[0], {"expression_statement"}) if self.uses else None
        block = first.parent if first is not None else None
        loop = block.parent if block is not None else None
        cleared = first is not None and text(first) == f"{self.name}.clear();"
        if not (first and block and loop and cleared and loop.type in LOOPS):
            return self.made
        if self.made.end_byte > loop.start_byte or self.uses[-1].end_byte > block.end_byte:
            return self.made
        self.idle.append(first)
        del self.uses[0]
        return first

    def _one_by_one(self, adds: list[Node]) -> str:
        """The declaration where each step of a loop adds one element, whose place is told then."""
        call = inside_of(adds[0], {"expression_statement"})
        body = call.parent if call is not None else None
        loop = body.parent if body is not None and body.type == "compound_statement" else body
        fact = self.heads.get(loop.start_byte) if loop is not None else None
        bounds = ends(fact, loop) if fact is not None and loop is not None else None
        if call is None or body is None or loop is None or fact is None or bounds is None:
            return ""
        first, end = bounds
        within = [it for it in self.uses if loop.start_byte <= it.start_byte < loop.end_byte]
        others = [it for it in self.uses if it not in within]
        behind = [it.parent.parent for it in within if it.parent and it.start_byte > call.end_byte]
        if (
            loop.parent != self.place.parent
            or fact.exits
            or fact.continues
            or not is_known(f"{fact.variable} {first} {end}", [*walk(loop.named_children[-1])])
            or len(within) != len(behind) + 1
            or any(text(it) != f"{self.name}.back()" for it in behind)
            or any(
                it.start_byte < loop.start_byte or _ACTS.search(text(it.parent)) for it in others
            )
        ):
            return ""
        place = f"{self.name}[{fact.variable} - ({first})]"
        value = text(call).partition("(")[2].rpartition(")")[0]
        self.own.put(call, f"{place} = {value};")
        for node in filter(None, behind):
            self.own.put(node, place)
        return (
            f"std::vector<{self.kind}> {self.name}(({end}) > ({first}) ? ({end}) - ({first}) : 0);"
        )

    def _use(self, use: Node) -> bool:
        """Rewrite one use; whether it is one that is known."""
        name, count, member = self.name, self.count, use.parent
        call = member.parent if member is not None else None
        holder = inside_of(use, {"lambda_expression"})
        if member is None or call is None or (holder and not text(holder).startswith("[&]")):
            return False
        if member.type == "for_range_loop":
            return self._each(member, use)
        method, given = text(member.child_by_field_name("field")), call.named_children[-1]
        if member.type != "field_expression" or call.type != "call_expression":
            return member.type == "subscript_expression" and member.named_children[0] == use
        values = {"size": count, "empty": f"({count} == 0)", "back": f"{name}[{count} - 1]"}
        values |= {"front": f"{name}[0]", "data": name, "begin": name, "end": f"({name} + {count})"}
        acts = {"pop_back": (f"--{count}", ";"), "clear": (f"{count} = 0", ";")}
        one = len(given.named_children) == 1
        acts |= dict.fromkeys(_ADDS if one else (), (f"{{ {name}[{count}] = ", f"; ++{count}; }}"))
        acts |= {"resize": (f"{count} = ", ";")} if self._shrinks(call, text(given)[1:-1]) else {}
        statement = call.parent
        if method in values and not given.named_children:
            self.own.put(call, values[method])
        elif method in acts and statement is not None and statement.type == "expression_statement":
            begin, end = given.start_byte + 1, given.end_byte - 1
            self.own.replacements.append((statement.start_byte, begin, acts[method][0]))
            self.own.replacements.append((end, statement.end_byte, acts[method][1]))
        else:
            return False
        return True

    def _each(self, loop: Node, over: Node) -> bool:
        """`for (T x : v)` over its elements."""
        body = loop.child_by_field_name("body")
        if body is None or loop.child_by_field_name("right") != over:
            return False
        element = text(loop).partition("(")[2].partition(" :")[0].strip()
        steps = f"size_t {self.at} = 0; {self.at} < {self.count}; ++{self.at}"
        begin = f"for ({steps}) {{ {element} = {self.name}[{self.at}]; "
        self.own.replacements.append((loop.start_byte, body.start_byte, begin))
        self.own.insert(body.end_byte, " }")
        return True

    def _shrinks(self, call: Node, given: str) -> bool:
        """Whether a new length is less than the last one, from which it is told."""
        own, block = re.escape(f"{self.name}.size()"), inside_of(call, {"compound_statement"})
        told = re.fullmatch(r"(\w+) - [1-9]\d*", given)
        if told is None or block is None:
            return bool(re.fullmatch(rf"{own} - [1-9]\d*", given))
        before = text(block).encode()[: call.start_byte - block.start_byte].decode()
        behind = re.split(rf"const [\w:]+ {told[1]} = {own};", before)[1:]
        changes = rf"\b{self.name}\.(?:\w+_back\(\w|pop_back|clear|resize)"
        return len(behind) == 1 and not re.search(changes, behind[0])

    def _times(self, added: Node) -> str:
        """How often an addition is made at most, once the vector is declared; "" for unknown."""
        factors, block, made = list[str](), self.place.parent or self.place, self.place.end_byte
        inner = [it for it in walk(block) if it.type == "declaration" and it.start_byte > made]
        listed = (one for it in inner for one in it.children_by_field_name("declarator"))
        hidden = {*map(declared_name, listed)}
        for above in takewhile(lambda it: it != block, around(added)):
            if above.type in {*LOOPS, "lambda_expression"}:
                ways = [it for it in self._steps(above) if _TOLD.fullmatch(it)]
                ways = [way for way in ways if is_known(way, self.inside)]
                ways = [way for way in ways if not hidden & {*re.findall(r"[A-Za-z_]\w*", way)}]
                factors.append(min(ways, key=lambda it: not it.isdigit(), default=""))
        if all(it.isdigit() for it in factors):
            return str(prod(map(int, factors)))
        return " * ".join(factors) if all(factors) else ""

    def _steps(self, loop: Node) -> Iterator[str]:
        """Numbers of steps that a loop does not exceed."""
        over, fact = text(loop.child_by_field_name("right")), self.heads.get(loop.start_byte)
        head, body = text(self.inside[0]).partition("{")[0], loop.child_by_field_name("body")
        if over.isidentifier() and re.search(_CONTAINER.format(over), head):
            yield f"{over}.size()"
        bounds = ends(fact, loop) if fact is not None else None
        if fact is not None and (fact.step, fact.compare) in (("-1", ">"), ("-1", ">=")):
            bounds = f"{fact.end} + {int(fact.compare == '>')}", f"{fact.start} + 1"
        if fact is None or body is None or bounds is None or not all(bounds):
            return
        if is_known(f"{fact.variable} {' '.join(bounds)}", [*walk(body)]):
            for low, high in product(_parts(bounds[0], "max"), _parts(bounds[1], "min")):
                yield _distance(low, high)


def _parts(bound: str, of: str) -> list[str]:
    """What a bound is the greatest or the least of."""
    found = re.fullmatch(rf"std::{of}(?:<\w+>)?\((.+)\)( \+ 1)?", bound)
    return [f"{it}{found[2] or ''}" for it in split(found[1])] if found else [bound]


def _distance(low: str, high: str) -> str:
    """A number that is no less than that of the numbers from `low` to before `high`."""
    one, other = (_NEAR.fullmatch(it.replace("- ", "-").replace("+ ", "+")) for it in (low, high))
    if one and other and (one[1] == other[1] or one[1].isdigit()):
        first, last = (sum(map(int, re.findall(r"[+-]\d+", it[2]))) for it in (one, other))
        if one[1] == other[1]:
            return str(max(last - first, 0))
        more = last - first - int(one[1])  # n - 4 may be negative, n is not
        return f"({other[1]} + {more})" if more > 0 else other[1]
    return f"({high})" if low.isdigit() else f"({high} - ({low}))"


def _of_rows(node: Node, inside: list[Node], edits: Edits) -> None:
    rows, own = _ROWS.fullmatch(short(node, _LONGEST)), Edits()
    if rows is None or not is_known(f"{rows[3]} {rows[4]}", inside):
        return
    kind, name, count, (width, *filled) = rows[1], rows[2], rows[3], split(rows[4])
    uses = [it for it in inside if it.type == "identifier" and text(it) == name]
    for use in [it for it in uses if not node.start_byte <= it.start_byte < node.end_byte]:
        row = use.parent
        element = row.parent if row is not None else None
        above = element.parent if element is not None else None
        if row is None or element is None or len(re.findall(rf"\b{name}\b", text(element))) > 1:
            return
        if text(element) == f"{name}.size()":
            own.put(element, f"std::size_t({count})")
        elif row.type == element.type == "subscript_expression" and element.children[0] == row:
            across, along = (text(it.child_by_field_name("indices"))[1:-1] for it in (row, element))
            own.put(element, f"{name}[({across}) * ({width}) + ({along})]")
        elif above is not None and text(above) == f"{text(row)}.size()":
            own.put(above, f"std::size_t({width})")
        else:
            return
    more = "".join(f", {it}" for it in filled)
    edits.put(node, f"std::vector<{kind}> {name}(({count}) * ({width}){more});")
    edits.replacements += own.replacements
