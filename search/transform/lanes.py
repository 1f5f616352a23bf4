"""The body of a loop for neighbouring iterations at once, as lanes of vectors.

What a compiler's own vectorization of outer loops gives up on: loops within loops, values that an
iteration carries through them, what follows from them in turn. Each statement goes through all
lanes before the next one (loop distribution over lanes; scalar expansion, Allen and Kennedy, 2001).

Not covered: bodies with other syntax than `_SYNTAX`; variables with a second name; objects but
aggregates of the text; arrays whose length is no number.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import LOOPS, declared_name, root_name, text, walk
from regraph_kg.search.transform import words
from regraph_kg.search.transform.words import NoFitError, Variable

_SYNTAX = frozenset(
    re.findall(
        r"\w+",
        """
        declaration init_declarator pointer_declarator reference_declarator array_declarator
        function_declarator parameter_list parameter_declaration abstract_pointer_declarator
        primitive_type sized_type_specifier type_identifier type_qualifier type_descriptor
        placeholder_type_specifier auto template_type template_argument_list qualified_identifier
        namespace_identifier template_function expression_statement compound_statement if_statement
        else_clause condition_clause for_statement while_statement do_statement for_range_loop
        break_statement continue_statement switch_statement case_statement identifier
        field_identifier number_literal char_literal character true false null binary_expression
        unary_expression update_expression assignment_expression call_expression argument_list
        subscript_expression subscript_argument_list field_expression parenthesized_expression
        conditional_expression cast_expression pointer_expression comma_expression initializer_list
        compound_literal_expression comment nullptr
        """,
    )
)
"""The syntax of which it is known what it changes."""
_TARGETS = ("identifier", "subscript_expression", "field_expression", "pointer_expression")
_VECTOR = re.compile(
    r"(?P<kind>(?:std::)?vector<[\w: ]+>) (?P<name>\w+)\((?P<given>[^()]*(?:\(\))?)\);"
)
_NUMBER = re.compile(
    r"(?:(?:unsigned|signed|long|short|int|char|float|double|bool)\s?)+|(?:std::)?\w+_t|_Float16"
    r"|std::complex<\w+>"
)
_MADE = ("init_declarator", "function_declarator")
_RUNS = ("run", "deep", "turn")
_FEW = 16  # a loop of so few turns is unrolled within a lane; of one around all, half of it
_ROOM = 512  # elements of a lane's own arrays and variables: all lie on the stack


def laned(
    code: str,
    name: str,
    lane: str,
    width: int,
    ordered: Iterable[str] = (),
    objects: Iterable[str] = (),
) -> str:
    """A body for `width` values of the loop's variable at once, from the present one on.

    `ordered` are variables outside that an iteration hands to the next one: what uses them stands
    at one place, and goes through the lanes in turn. The iterations must not depend on each other
    otherwise. `objects` are the types of which a lane may have an object. No fit where no loop
    within goes in lanes.
    """
    _refuse(code, name)
    seeds = {name}
    while True:
        body = _Lanes(code, name, seeds, lane, width, {*ordered}, {*objects})
        written = body.block(words.root_of(code).named_children, outermost=True)
        if body.changing <= body.varies:
            break
        seeds |= body.changing  # what each lane changes is no longer the same for all
    if not body.inner:
        raise NoFitError("nothing within it goes in lanes")
    if body.turns > 1:
        raise NoFitError("what goes in turn stands at several places")
    return "\n".join([*body.arrays.values(), written])


@dataclass(slots=True)
class _Lanes:
    code: str
    name: str  # of the loop's variable
    seeds: set[str]  # what differs from lane to lane, with all that depends on it
    lane: str
    width: int
    ordered: set[str]
    objects: set[str]
    arrays: dict[str, str] = field(default_factory=dict)
    """The lanes of each variable that lives beyond its statements, as they are declared."""
    pointers: list[Variable] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)
    changing: set[str] = field(default_factory=set)  # own variables that single lanes change
    room: int = _ROOM
    inner: int = 0  # runs in loops within
    turns: int = 0
    own: set[str] = field(init=False)
    varies: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.own, self.varies = (
            {*words.declared(self.code)},
            {*words.varying(self.code, self.seeds)},
        )

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
                written.append(f"{words.before(part[0], body)}{{\n{self.block(inner)}\n}}")
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
        if {*_identifiers(node)} & self.ordered:
            return "turn"
        if self._is_same(node):
            return "same"
        if self._is_loop(node, outermost):
            return "loop"
        deep = any(one.type in LOOPS and not _is_short(one) for one in walk(node))
        return "deep" if deep else "run"

    def _is_same(self, node: Node) -> bool:
        """Whether it does the same in all lanes, once for all."""
        return not {*_identifiers(node)} & self.varies and {*words.changed(text(node))} <= self.own

    def _is_loop(self, node: Node, outermost: bool) -> bool:
        """Whether it is a loop of which all lanes take the same turns."""
        if node.type != "for_statement" or words.head_names(node) & self.varies:
            return False
        begins = node.child_by_field_name("initializer")
        own = begins is not None and begins.type == "declaration"
        left = _has(node.child_by_field_name("body"), "break_statement", "switch_statement")
        return own and not left and not _is_short(node, 2 if outermost else 1)

    def _run(self, run: Sequence[Node], block: Iterable[Node], outermost: bool, what: str) -> str:
        """A loop over the lanes with some statements."""
        if what == "turn" and not outermost:
            raise NoFitError("what goes in turn stands in a loop")
        here, there = (
            Counter(n for one in many for n in _identifiers(one)) for many in (run, block)
        )
        once, lines, lasting = list[str](), list[str](), set[str]()
        for node in run:
            kept = {declared_name(one) for one in node.children_by_field_name("declarator")}
            kept = {n for n in kept if here[n] < there[n] or n in _bases(self.code)}
            kept = kept if node.type == "declaration" else set()
            lines += self._kept(node, kept, once, outermost) if kept else [text(node)]
            lasting |= kept
        if what == "turn" and lasting:
            raise NoFitError("what goes in turn is needed later")
        whole = "\n".join(map(text, run))
        self.changing |= ({*words.changed(whole)} & self.own) - ({*words.declared(whole)} - lasting)
        self.inner += what == "run" and not outermost
        self.turns += what == "turn"
        return self._written(what, once, "\n".join(lines))

    def _written(self, what: str, once: list[str], written: str) -> str:
        needed = list[str]()
        for one in reversed(self.pointers):
            if words.uses("\n".join([*needed, written]), [one.name]):
                needed.insert(0, f"{one.type} {one.name} = {one.value};")
        single = [name for name in self.arrays if name not in self.vectors]
        laned = words.indexed("\n".join([*needed, written]), single, self.lane)
        laned = self._spread(laned) if self.vectors else laned
        return "\n".join(
            [
                *once,
                *(["#pragma omp simd"] if what == "run" else []),
                f"for (int {self.lane} = 0; {self.lane} < {self.width}; ++{self.lane}) {{",
                words.substituted(laned, {self.name: words.plus(self.name, self.lane)}),
                "}",
            ]
        )

    def _kept(
        self, declaration: Node, kept: Collection[str], once: list[str], outermost: bool
    ) -> list[str]:
        """What a declaration does, its variables in `kept` having an element for each lane.

        Those that are the same in all lanes are declared before, `once`.
        """
        if outermost and self._vector(declaration, kept):
            return []
        lines = list[str]()
        for one in _object(declaration) or words.variables(text(declaration)):
            length = f"[{one.length}]" if one.length else ""
            value = f" = {one.value}" if one.value else ""
            if one.name not in self.varies or one.name not in kept:
                to = lines if one.name in self.varies else once
                to.append(f"{one.type} {one.name}{length}{value};")
            elif one.name in self.arrays or re.search(rf"\b{one.name}\s*\(", text(declaration)):
                raise NoFitError("its type makes no lanes")
            elif "*" in one.type:
                if (
                    one.name in words.moved(self.code)
                    or words.uses(one.value, words.changed(self.code))
                    or not one.value
                ):
                    raise NoFitError("a pointer moves")
                self.pointers.append(one)
            else:
                self._array(one, outermost)
                lines += [f"{one.name}{value};"] if one.value else []
        return lines

    def _array(self, one: Variable, outermost: bool) -> None:
        """An element for each lane, of a number, an object or each element of an array."""
        kind = " ".join(word for word in one.type.split() if word != "const")
        length = f"[{one.length}]" if one.length else ""
        if not _NUMBER.fullmatch(kind) and (
            kind not in self.objects or one.length or not (one.value or outermost)
        ):
            raise NoFitError("its type makes no lanes")
        if one.length and (one.value or not self._only_elements(one.name)):
            raise NoFitError("an array as a whole has no lanes")
        self.room -= int(one.length or 1) if (one.length or "1").isdigit() else self.room + 1
        if self.room < 0:
            raise NoFitError("its length is not known, or too large")
        if not one.length and one.name in self._subscripted():
            raise NoFitError("it has elements of its own")
        self.arrays[one.name] = f"{kind} {one.name}{length}[{self.width}];"

    def _vector(self, declaration: Node, kept: Collection[str]) -> bool:
        """Whether a declaration is of a vector, which then has the lanes' elements side by side."""
        found = _VECTOR.fullmatch(text(declaration))
        if found is None or found["name"] not in kept:
            return False
        length, *value = found["given"].split(", ")
        if words.uses(f"{found['given']};", self.own) or not self._only_elements(found["name"]):
            raise NoFitError("a vector as a whole has no lanes")
        values = ", ".join([words.times(length, self.width), *value])
        self.arrays[found["name"]] = f"{found['kind']} {found['name']}({values});"
        self.vectors.append(found["name"])
        return True

    def _spread(self, code: str) -> str:
        """The code with the element of the lane for each element of a vector of lanes."""
        edits = Edits()
        for node in walk(words.root_of(code)):
            inner = node.child_by_field_name("indices")
            if inner is not None and text(node.child_by_field_name("argument")) in self.vectors:
                plain = text(inner)[1:-1].isidentifier()
                edits.insert(inner.start_byte + 1, "" if plain else "(")
                begins = "" if plain else ")"
                edits.insert(inner.end_byte - 1, f"{begins} * {self.width} + {self.lane}")
        return words.edited(code, edits)

    def _subscripted(self) -> set[str]:
        nodes = (node.child_by_field_name("argument") for node in _subscripts(self.code))
        return {text(node) for node in nodes}

    def _only_elements(self, name: str) -> bool:
        found = [one for one in walk(words.root_of(self.code)) if text(one) == name]
        kinds = [one.parent.type for one in found if one.parent and not one.child_count]
        return {*kinds} <= {"subscript_expression", "array_declarator", *_MADE}


def _refuse(code: str, name: str) -> None:
    """Raise `NoFitError` for a body of which it is not known what each statement changes."""
    own, seen, wholes = {*words.declared(code)}, set[str](), _wholes(code)
    for node in walk(words.root_of(code)):
        if node.is_named and node.type not in _SYNTAX:
            raise NoFitError(f"a {node.type} is not followed")
        to = words.target(node)
        if to is not None and (to.type not in _TARGETS or root_name(to) is None):
            raise NoFitError("what it changes has no name")
        if node.type == "pointer_expression" and text(node).startswith("&"):
            raise NoFitError("a variable of it has a second name")
        if node.type in ("declaration", "for_range_loop"):
            kinds = {one.type for one in walk(node)}
            if "reference_declarator" in kinds and not text(node).startswith("const "):
                raise NoFitError("a variable of it has a second name")
            if node.type == "declaration" and _renames(node, wholes):
                raise NoFitError("a variable of it has a second name")
        parent = node.parent.type if node.parent is not None else ""
        if node.type == "identifier" and text(node) in own and text(node) not in seen:
            if not (parent.endswith("declarator") or parent in ("declaration", "for_range_loop")):
                raise NoFitError("a name means two things")
            seen.add(text(node))


def _bases(code: str) -> set[str]:
    """The names of which the values of pointers are made."""
    nodes = [node for node in walk(words.root_of(code)) if node.type == "init_declarator"]
    of = [node for node in nodes if node.children and node.children[0].type == "pointer_declarator"]
    return {name for node in of for name in _identifiers(node)[1:]}


def _object(declaration: Node) -> list[Variable]:
    """The variable of a declaration that gives one object its members' values; else none."""
    [first, *more] = declaration.children_by_field_name("declarator")
    value = first.child_by_field_name("value")
    name = first.child_by_field_name("declarator")
    braced = value is not None and value.type == "initializer_list" and "=" in text(first)
    if more or name is None or name.type != "identifier" or not braced:
        return []
    return [Variable(words.before(declaration, first).strip(), text(name), text(value), "")]


def _wholes(code: str) -> set[str]:
    """The arrays and objects among the variables that a code declares, and what may be one."""
    found = set[str]()
    for node in walk(words.root_of(code)):
        kind = node.child_by_field_name("type") if node.type == "declaration" else None
        if kind is not None:
            for one in node.children_by_field_name("declarator"):
                inner = {it.type for it in (one, one.child_by_field_name("declarator")) if it}
                number = _NUMBER.fullmatch(text(kind)) or "pointer_declarator" in inner
                if "array_declarator" in inner or not number:
                    found.add(declared_name(one))
    return found


def _renames(declaration: Node, wholes: set[str]) -> bool:
    """Whether it gives an array or an object a second name, by which it changes unseen."""
    for one in declaration.children_by_field_name("declarator"):
        value, inner = (one.child_by_field_name(part) for part in ("value", "declarator"))
        used = {*_identifiers(value)} & wholes if value is not None else set()
        if inner is not None and inner.type == "identifier":  # of `auto`, it may be a pointer
            if text(value) in used:
                return "auto" in text(declaration)
        elif used and not text(declaration).startswith("const "):
            return True
    return False


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


def _subscripts(code: str) -> list[Node]:
    return [node for node in walk(words.root_of(code)) if node.type == "subscript_expression"]


def _identifiers(node: Node) -> list[str]:
    """The identifiers of a node, each as often as it stands there."""
    return [text(one) for one in walk(node) if one.type == "identifier"]
