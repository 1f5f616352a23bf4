"""The body of a loop for neighbouring iterations at once, as lanes of vectors.

What a compiler's own vectorization of outer loops gives up on: loops within loops, values that an
iteration carries through them, what follows from them in turn. Each statement goes through all
lanes before the next one (loop distribution over lanes; scalar expansion, Allen and Kennedy, 2001).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import LOOPS, declared_name, text, walk
from regraph_kg.search.transform.words import (
    NoFitError,
    Variable,
    changed,
    declared,
    edited,
    head_names,
    indexed,
    moved,
    plus,
    root_of,
    substituted,
    times,
    uses,
    variables,
    varying,
)

_FEW = 16  # a loop of so few turns is unrolled within a lane; of one around all, half of it
_VECTOR = re.compile(
    r"(?P<kind>(?:std::)?vector<[\w: ]+>) (?P<name>\w+)\((?P<given>[^()]*(?:\(\))?)\);"
)
_MADE = ("init_declarator", "function_declarator")
_RUNS = ("run", "deep", "turn")
_NUMBERS = ("primitive_type", "sized_type_specifier")


def laned(code: str, name: str, lane: str, width: int, ordered: Iterable[str] = ()) -> str:
    """A body for `width` values of the loop's variable at once, from the present one on.

    `ordered` are variables outside that an iteration hands to the next one: what uses them stands
    at one place, and goes through the lanes in turn. The iterations must not depend on each other
    otherwise. No fit where no loop within goes in lanes.
    """
    body = _Lanes(code, name, lane, width, ordered)
    written = body.block(root_of(code).named_children, outermost=True)
    if not body.inner:
        raise NoFitError("nothing within it goes in lanes")
    if body.turns > 1:
        raise NoFitError("what goes in turn stands at several places")
    return "\n".join([*body.arrays.values(), written])


class _Lanes:
    def __init__(self, code: str, name: str, lane: str, width: int, ordered: Iterable[str]) -> None:
        nodes = list(walk(root_of(code)))
        if {"return_statement", "goto_statement"} & {node.type for node in nodes}:
            raise NoFitError("a lane would leave for all lanes")
        if "#" in code or {"static", "volatile"} & {text(node) for node in nodes}:
            raise NoFitError("a directive, or a variable of all lanes, stands in it")
        self.code, self.name, self.lane, self.width = code, name, lane, width
        self.own, self.varies = {*declared(code)}, {*varying(code, [name])}
        self.ordered, self.moving = {*ordered}, {*changed(code)}
        wholes = _wholes(nodes)
        if any(_renames(node, self.own, wholes) for node in nodes):
            raise NoFitError("a variable of it has a second name")
        self.arrays = dict[str, str]()  # the lanes of a variable that lives beyond its statements
        self.pointers, self.vectors = list[Variable](), list[str]()
        self.inner, self.turns = 0, 0

    def block(self, nodes: Iterable[Node], outermost: bool = False) -> str:
        """Statements that follow each other, for all lanes."""
        nodes = [node for node in nodes if node.type != "comment"]
        written = list[str]()
        for what, part in self._parts(nodes, outermost):
            if what == "same":
                written.append(text(part[0]))
            elif what == "loop":
                body = part[0].child_by_field_name("body") or part[0]
                inner = body.named_children if body.type == "compound_statement" else [body]
                begins = text(part[0])[: body.start_byte - part[0].start_byte]
                written.append(f"{begins}{{\n{self.block(inner)}\n}}")
            else:
                written.append(self._run(part, nodes, outermost, what))
        return "\n".join(written)

    def _parts(self, nodes: Iterable[Node], outermost: bool) -> list[tuple[str, list[Node]]]:
        """What is the "same" for all, a "loop" of all, and a "run" of statements in each lane.

        A run is "deep" if a loop of one lane stands in it, and "turn" if lanes wait for others.
        """
        parts = list[tuple[str, list[Node]]]()
        for node in nodes:
            what, run = self._what(node, outermost), parts[-1][1] if parts else []
            skips = bool(run) and parts[-1][0] in _RUNS and _skips(run)
            if skips and node.type == "declaration":  # nothing behind this run needs it
                what = parts[-1][0]
            if run and what in _RUNS and what == parts[-1][0]:
                run.append(node)
            elif skips:
                raise NoFitError("a lane would skip one of several parts")
            else:
                parts.append((what, [node]))
        return parts

    def _what(self, node: Node, outermost: bool) -> str:
        if {*names_in(node)} & self.ordered:
            return "turn"
        if self._is_same(node):
            return "same"
        if self._is_loop(node, outermost):
            return "loop"
        deep = any(one.type in LOOPS and not _is_short(one) for one in walk(node))
        return "deep" if deep else "run"

    def _is_same(self, node: Node) -> bool:
        """Whether it does the same in all lanes, once for all."""
        return not {*names_in(node)} & self.varies and {*changed(text(node))} <= self.own

    def _is_loop(self, node: Node, outermost: bool) -> bool:
        """Whether it is a loop of which all lanes take the same turns."""
        if node.type != "for_statement" or head_names(node) & self.varies:
            return False
        begins = node.child_by_field_name("initializer")
        own = begins is not None and begins.type == "declaration"
        left = _has(node.child_by_field_name("body"), "break_statement", "switch_statement")
        return own and not left and not _is_short(node, 2 if outermost else 1)

    def _run(self, run: Sequence[Node], block: Iterable[Node], outermost: bool, what: str) -> str:
        """A loop over the lanes with some statements."""
        if what == "turn" and not outermost:
            raise NoFitError("what goes in turn stands in a loop")
        here, there = (Counter(n for one in many for n in names_in(one)) for many in (run, block))
        once, lines = list[str](), list[str]()
        for node in run:
            kept = {declared_name(one) for one in node.children_by_field_name("declarator")}
            kept = {n for n in kept if here[n] < there[n]} if node.type == "declaration" else set()
            lines += self._kept(node, kept, once) if kept else [text(node)]
        written = "\n".join(lines)
        self.inner += what == "run" and not outermost
        self.turns += what == "turn"
        needed = list[str]()
        for one in reversed(self.pointers):
            if uses("\n".join([*needed, written]), [one.name]):
                needed.insert(0, f"{one.type} {one.name} = {one.value};")
        single = [name for name in self.arrays if name not in self.vectors]
        laned = indexed("\n".join([*needed, written]), single, self.lane)
        if self.vectors:
            laned = self._spread(laned)
        return "\n".join(
            [
                *once,
                *(["#pragma omp simd"] if what == "run" else []),
                f"for (int {self.lane} = 0; {self.lane} < {self.width}; ++{self.lane}) {{",
                substituted(laned, {self.name: plus(self.name, self.lane)}),
                "}",
            ]
        )

    def _kept(self, declaration: Node, kept: Collection[str], once: list[str]) -> list[str]:
        """What a declaration does, its variables in `kept` having an element for each lane.

        Those that are the same in all lanes are declared before, `once`.
        """
        lines = list[str]()
        if self._vector(declaration, kept):
            return lines
        for one in _object(declaration) or variables(text(declaration)):
            length = f"[{one.length}]" if one.length else ""
            kind = one.type.replace("const ", "")
            made = one.value.startswith("(") and kind.split()[-1] not in ("int", "float", "double")
            value = one.value if made else f" = {one.value}" if one.value else ""
            if one.name not in self.varies or one.name not in kept:
                to = lines if one.name in self.varies else once
                to.append(f"{one.type} {one.name}{length}{value};")
            elif one.name in self.arrays or {"auto", "static", "volatile"} & {*one.type.split()}:
                raise NoFitError("its type makes no lanes")
            elif "*" in one.type:
                if one.name in moved(self.code) or uses(one.value, self.moving) or not one.value:
                    raise NoFitError("a pointer moves")
                self.pointers.append(one)
            else:
                self.arrays[one.name] = f"{kind} {one.name}{length}[{self.width}];"
                if made or (one.length and (one.value or not self._only_elements(one.name))):
                    raise NoFitError("an array as a whole has no lanes")
                lines += [f"{one.name}{value};"] if one.value else []
        return lines

    def _vector(self, declaration: Node, kept: Collection[str]) -> bool:
        """Whether a declaration is of a vector, which then has the lanes' elements side by side."""
        found = _VECTOR.fullmatch(text(declaration))
        if found is None or found["name"] not in kept:
            return False
        length, *value = found["given"].split(", ")
        if uses(f"{found['given']};", self.varies) or not self._only_elements(found["name"]):
            raise NoFitError("a vector as a whole has no lanes")
        values = ", ".join([times(length, self.width), *value])
        self.arrays[found["name"]] = f"{found['kind']} {found['name']}({values});"
        self.vectors.append(found["name"])
        return True

    def _spread(self, code: str) -> str:
        """The code with the element of the lane for each element of a vector of lanes."""
        edits = Edits()
        for node in walk(root_of(code)):
            inner = node.child_by_field_name("indices")
            if inner is not None and text(node.child_by_field_name("argument")) in self.vectors:
                plain = text(inner)[1:-1].isidentifier()
                edits.insert(inner.start_byte + 1, "" if plain else "(")
                begins = "" if plain else ")"
                edits.insert(inner.end_byte - 1, f"{begins} * {self.width} + {self.lane}")
        return edited(code, edits)

    def _only_elements(self, name: str) -> bool:
        found = [
            one for one in walk(root_of(self.code)) if text(one) == name and not one.child_count
        ]
        kinds = [one.parent.type for one in found if one.parent is not None]
        return {*kinds} <= {"subscript_expression", "array_declarator", *_MADE}


def _object(declaration: Node) -> list[Variable]:
    """The variable of a declaration that gives one object its members' values; else none."""
    [first, *more] = declaration.children_by_field_name("declarator")
    value = first.child_by_field_name("value")
    name = first.child_by_field_name("declarator")
    braced = value is not None and value.type == "initializer_list"
    if more or name is None or name.type != "identifier" or not braced:
        return []
    kind = text(declaration)[: first.start_byte - declaration.start_byte].strip()
    return [Variable(kind, text(name), text(value), "")]


def _wholes(nodes: Iterable[Node]) -> set[str]:
    """The arrays and objects among the variables that are declared, and what may be one."""
    found = set[str]()
    for node in nodes:
        kind = node.child_by_field_name("type") if node.type == "declaration" else None
        if kind is not None:
            number = kind.type in _NUMBERS or text(kind).endswith("_t")
            for one in node.children_by_field_name("declarator"):
                inner = {it.type for it in (one, one.child_by_field_name("declarator")) if it}
                if "array_declarator" in inner or not (number or "pointer_declarator" in inner):
                    found.add(declared_name(one))
    return found


def _renames(node: Node, own: set[str], wholes: set[str]) -> bool:
    """Whether it gives an own variable a second name, by which it changes unseen."""
    if node.type == "pointer_expression" and text(node).startswith("&"):
        return uses(text(node), own)
    if node.type != "init_declarator" or node.parent is None:
        return False
    value, declarator = node.child_by_field_name("value"), node.child_by_field_name("declarator")
    used = {*names_in(value)} & wholes if value is not None else set()
    if declarator is not None and declarator.type == "identifier":  # of `auto`, it may be a pointer
        return text(value) in used
    return bool(used) and not text(node.parent).startswith("const ")


def _is_short(loop: Node, least: int = 1) -> bool:
    """Whether a loop has so few turns that a compiler unrolls it within a lane."""
    condition = loop.child_by_field_name("condition")
    end = text(condition).rpartition("<")[2].strip("= ")
    return loop.type == "for_statement" and end.isdigit() and int(end) * least <= _FEW


def _skips(run: Iterable[Node]) -> bool:
    return any(_has(node, "continue_statement") for node in run)


def _has(node: Node | None, kind: str, *others: str) -> bool:
    """Whether a statement of some kind stands in it, and not in a loop or `others` within it."""
    if node is None or node.type in (*LOOPS, *others):
        return False
    return node.type == kind or any(_has(one, kind, *others) for one in node.named_children)


def names_in(node: Node) -> list[str]:
    """The identifiers of a node, each as often as it stands there."""
    return [text(one) for one in walk(node) if one.type == "identifier"]
