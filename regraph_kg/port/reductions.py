"""Scalars and elements that the iterations of a loop only add to, or only take the greatest of.

Not covered: what is combined and read in the same loop, as a running sum is.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import declared_name, inside_of, operator, text, walk
from regraph_kg.port.host import flat, words_of
from regraph_kg.port.loops import fact_of
from regraph_kg.port.names import is_integer

_ADDED = re.compile(r"int|unsigned(?: int)?|float|double|(?:std::)?u?int32_t")
"""Types that a GPU adds to atomically."""
_WIDE = re.compile(r"(?:unsigned )?long(?: long| int)?|(?:std::)?(?:size_t|ptrdiff_t|u?int64_t)")
_GREATEST = {"max": "{a} < {b} ? {b} : {a}", "min": "{b} < {a} ? {b} : {a}"}
_WHOLE = {"<", ">", "<=", ">=", "==", "!=", "&&", "||", "!"}
_TO_WHOLE = r"\((?:std::)?(?:u?int\w*|long|size_t|unsigned)\b[\w ]*\)|static_cast<(?!float|double)"
_ROW = re.compile(r"[\w: ]+\* ?(?:const )?(\w+) = &?(\w+)(?:\[([^;]+)\]| \+ ([^;]+));")
_CONSTANT = re.compile(r"true|false|-?\d+")


@dataclass(frozen=True, slots=True)
class Update:
    """A place that iterations only combine values into, by one operator."""

    name: str
    kind: str
    operator: str  # "+", "max", .., or "=": all store one constant
    element: str = ""  # the place where it is an element of an array

    def ended(self, place: str, before: str) -> str:
        """What a thread does with the value that it has."""
        if self.operator == "=":
            return f"if ({self.name} != {before}) {place} = {self.name};"
        if self.operator == "+":
            return added(self.kind, place, self.name)
        sign = _GREATEST.get(self.operator, "{a} " + self.operator + " {b}")
        wide = self.kind == "double" or _WIDE.fullmatch(self.kind)
        word = "unsigned long long" if wide else "unsigned"
        way = f"[]({self.kind} a, {self.kind} b) {{ return {sign.format(a='a', b='b')}; }}"
        return f"combine<{word}>(&{place}, {self.name}, {way});"


def can_add(kind: str) -> bool:
    """Whether a GPU adds to such a number atomically."""
    return bool(_ADDED.fullmatch(kind) or _WIDE.fullmatch(kind))


def added(kind: str, place: str, value: str) -> str:
    """An addition that several threads may make at once."""
    if _WIDE.fullmatch(kind):
        word = "unsigned long long"
        return f"atomicAdd(({word}*)&{place}, ({word}){value});"
    return f"atomicAdd(&{place}, {value});"


def updates(
    source: CodeFile, loop: Node, names: Collection[str], kinds: Mapping[str, str], *, exact: bool
) -> list[Update] | None:
    """How a loop combines numbers; None for more. `exact`: whether another order would be seen."""
    fact, found = fact_of(source, loop), list[Update]()
    operators = dict(zip(fact.reduces, fact.combines, strict=True)) if fact is not None else {}
    for name in sorted(names):
        if name not in operators:
            return None
        sign = operators[name] or ("=" if _is_flag(source, loop, name) else "")
        if not sign or (sign != "=" and (kinds[name] == "bool" or not can_add(kinds[name]))):
            return None
        if _is_cut(source, loop, name) if is_integer(kinds[name]) else exact and sign in "+*":
            return None
        found.append(Update(name, kinds[name], sign))
    return found


def _is_cut(source: CodeFile, loop: Node, name: str) -> bool:
    """Whether an integer gets a fraction, of which each step leaves the whole part."""
    fractions = {"float", "double"}
    for node in walk(source.tree.root_node):
        if re.search(r"\b(?:float|double)\b", text(node.child_by_field_name("type"))):
            fractions |= {declared_name(it) for it in node.children_by_field_name("declarator")}
    for change in walk(loop):
        if change.type == "assignment_expression" and text(change.children[0]) == name:
            waiting = [change.children[2]]
            while waiting:
                node = waiting.pop()
                if text(node) in fractions or re.match(r"[\d.]+(?:[.eE]|f$)", text(node)):
                    return True
                is_whole = operator(node) in _WHOLE or re.match(_TO_WHOLE, text(node))
                waiting += (
                    [] if is_whole or node.type == "subscript_argument_list" else node.children
                )
    return False


def _is_flag(source: CodeFile, loop: Node, name: str) -> bool:
    """Whether all changes of a variable store one constant."""
    uses = [n for n in walk(loop) if n.type == "identifier" and source.text(n) == name]
    changes = {flat(source, use.parent) for use in uses if use.parent is not None}
    return len(changes) == 1 and bool(_CONSTANT.fullmatch(changes.pop().removeprefix(f"{name} = ")))


@dataclass(frozen=True, slots=True)
class Scattered:
    """A loop whose additions to elements are atomic, and a loop with as many effects besides."""

    text: str
    proved: str
    sums: tuple[Update, ...] = ()  # elements that all iterations add to


def scattered(source: CodeFile, loop: Node, elements: Mapping[str, str]) -> Scattered | None:
    """The loop with additions to the arrays' elements made atomic, where it only adds to them."""
    written, proved, sums = Edits(), Edits(), dict[str, Update]()
    made = [node for node in walk(loop) if node.type == "declaration"]
    counted = {name for node in made for name in words_of(node)}
    for array, kind in elements.items():
        uses = [n for n in walk(loop) if n.type == "identifier" and source.text(n) == array]
        rows = {row[1]: row for use in uses if (row := _row(use, array))}
        uses = [use for use in uses if _row(use, array) is None]
        named = [n for n in walk(loop) if n.type == "identifier" and text(n) in rows]
        uses += [n for n in named if n.parent and n.parent.type != "pointer_declarator"]
        adds = [_addition(source, use, text(use)) for use in uses]
        if not can_add(kind) or any(add is None for add in adds):
            continue
        for declaration, name, begin in rows.values():
            proved.put(declaration, f"const auto {name}_at = {begin};")
        for add in adds:
            assert add is not None
            statement, place, value, sign = add
            words, element = words_of(place), source.text(place)
            if not words & counted and len({it[1].text for it in adds if it}) == 1:
                name = f"sum_of_{array}"
                sums[array] = Update(name, kind, "+", element)
                written.put(place, name)
            else:
                written.put(statement, added(kind, element, f"{sign}({kind})({value})"))
            index = source.text(place.named_children[-1]).strip("[]")
            index = index if place.type == "subscript_expression" else "0"
            proved.put(statement, f"{{ const auto put_at = {index}; const auto put = {value}; }}")
    start, end = loop.start_byte, loop.end_byte
    if elements and not proved.replacements:
        return None
    return Scattered(
        written.applied(source.original, start, end),
        proved.applied(source.original, start, end),
        tuple(sums.values()),
    )


def _row(use: Node, array: str) -> tuple[Node, str, str] | None:
    """The declaration of a pointer to a place in an array, its name, and the place."""
    made = inside_of(use, {"declaration"})
    found = _ROW.fullmatch(" ".join(text(made).split()))
    begin = (found[3] or found[4]) if found else ""
    apart = found is not None and found[2] == array and not re.search(rf"\b{array}\b", begin)
    return (made, found[1], begin) if made and found and apart else None


def _addition(  # noqa: PLR0911 (a return for each way)
    source: CodeFile, use: Node, array: str
) -> tuple[Node, Node, str, str] | None:
    """Statement, element, value and its sign where a use of an array is `a[i] += v;`."""
    place = use.parent
    if place is None or place.type not in ("subscript_expression", "pointer_expression"):
        return None
    change = place.parent
    statement = change.parent if change is not None else None
    if change is None or statement is None or statement.type != "expression_statement":
        return None
    if change.type == "update_expression":
        return statement, place, "1", "" if "++" in source.text(change) else "-"
    left, right = change.child_by_field_name("left"), change.child_by_field_name("right")
    if change.type != "assignment_expression" or left is None or right is None:
        return None
    sign = source.text(change.children[1])
    if left.id != place.id or sign not in ("+=", "-=") or array in words_of(right):
        return None
    index = place.named_children[-1]
    if place.type == "subscript_expression" and array in words_of(index):
        return None
    return statement, place, source.text(right), "" if sign == "+=" else "-"
