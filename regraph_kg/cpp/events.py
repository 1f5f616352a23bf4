"""One walk over a tree: loops, names, reads and writes, calls and directives, in text order.

Not here: the meaning of an index (`indices.py`), and a loop's dependences (`dependences.py`).
"""

import re
from dataclasses import replace

from tree_sitter import Node

from regraph_kg.cpp.escapes import given_away, is_variable
from regraph_kg.cpp.guards import guarded, self_update
from regraph_kg.cpp.hidden import Hidden
from regraph_kg.cpp.occurrences import (
    LONGEST,
    NO_LOOP,
    CodePlace,
    Declared,
    Events,
    Loop,
    Mode,
    Occurrence,
)
from regraph_kg.cpp.reached import callers
from regraph_kg.cpp.syntax import (
    LOOPS,
    arguments,
    around,
    bare,
    called,
    declared_name,
    inside_of,
    operator,
    parameters,
    short,
    target,
    text,
    walk,
)
from regraph_kg.cpp.watched import seen

MOST_LOOPS = 200
MOST_EVENTS = 6_000
MOST_DEPTH = 12
_HOLDS = re.compile(r"[*&]|\b(?:span|string_view|View|reference_wrapper)\b")
_WORD = re.compile(r"\w+")
_UPDATES = frozenset({"+=", "-=", "*=", "|=", "&=", "^="})
_SCOPES = frozenset({"compound_statement", "function_definition", "lambda_expression"}) | LOOPS


def events_of(root: Node) -> Events:
    """Walk a tree. Never raises."""
    reader = _Walk(Hidden(root))
    reader.run(root)
    reader.events.text = root.text or b""
    for use in reader.events.names:
        if use.mode != "read":
            declared = reader.events.find(text(use.node), use.node)
            if declared is not None:
                declared.writes += 1
    for use in reader.events.names:
        _set_once(reader.events, use)
    _note_holders(reader.events, root)
    _note_hidden(reader.events, root)
    _note_exposed(reader.events, root)
    return reader.events


def _note_hidden(events: Events, root: Node) -> None:
    """Note what the tree hides, and the functions that do or reach it, or throw."""
    throws = [node for node in walk(root) if node.type == "throw_statement"]
    found = {
        name
        for name, nodes in events.overloads.items()
        for node in nodes
        if events.hidden.within(node) or any(node in around(one) for one in throws)
    }
    events.unclear = callers(events, found)


def _note_exposed(events: Events, root: Node) -> None:
    """Note the variables that something else may change: by a reference, an address, a method."""
    given = given_away(root, events)
    for use in events.names:
        base = use.node.child_by_field_name("argument") or use.node
        declared = events.find(text(base), base)
        if declared is None or use.mode != "read" or not is_variable(declared):
            continue
        if base.id in given and target(base.parent or base) != base:
            declared.writes += 1
            events.exposed.append((text(base), use.place))


def _note_holders(events: Events, root: Node) -> None:
    """Note the objects that may hold a pointer or a reference to storage of others."""
    fields = dict[str, str]()  # class of the text -> the text of its fields
    for node in walk(root):
        body = node.child_by_field_name("body")
        events.classes |= {"union"} if node.type == "union_specifier" else set()
        if node.type == "field_declaration":
            name, kind = declared_name(node.child_by_field_name("declarator")), text(node)
            events.fields.setdefault(name, set()).add(kind[: kind.rfind(name)].strip())
        if node.type in ("struct_specifier", "class_specifier") and body is not None:
            plain = [text(n) for n in body.named_children if n.type == "field_declaration"]
            fields[text(node.child_by_field_name("name"))] = " ".join(
                field for field in plain if "(" not in field
            )
    events.classes |= fields.keys()
    holders = {name for name, listed in fields.items() if _HOLDS.search(listed)}
    holders |= {name for name, listed in fields.items() if holders & {*_WORD.findall(listed)}}
    events.holders = holders
    for declared in events.symbols:
        words = {*_WORD.findall(declared.kind)}
        if declared.refers or declared.parameter or not declared.function:
            continue
        given = declared.arguments if not words & {*fields, "std"} else ""
        named = (name[0] for name in _WORD.finditer(given) if given[name.end() :][:1] not in "[.(")
        arrays = (d.pointer or d.array for name in named for d in events.declared.get(name, ()))
        declared.holds = bool(words & holders or _HOLDS.search(declared.kind)) or any(arrays)


def _set_once(events: Events, use: Occurrence) -> None:
    """Give a pointer without an initial value the value of its only assignment."""
    declared = events.find(text(use.node), use.node) if use.mode == "write" else None
    if declared is None or not declared.pointer or declared.parameter:
        return
    if declared.value is not None or declared.writes > 1:
        return
    change = use.node.parent
    plain = change is not None and change.type == "assignment_expression"
    if change is not None and plain and declared.loop == use.place.loop and not use.place.branches:
        declared.value, declared.writes = change.child_by_field_name("right"), 0


class _Walk:
    def __init__(self, hidden: Hidden) -> None:
        self.events = Events(hidden)
        self._waiting: list[tuple[Node, CodePlace, Mode]] = []
        self._directives: list[str] = []
        self._order = 0
        self._modes: dict[int, Mode] = {}
        """Modes that another node set: the guard of a maximum, `x` in `x = x + 1`."""

    def run(self, root: Node) -> None:
        self._waiting.append((root, CodePlace(), "read"))
        steps = 0
        while self._waiting and steps < 60 * MOST_EVENTS:
            node, place, mode = self._waiting.pop()
            steps += 1
            if node.type in _SCOPES:
                place = replace(place, scope=(node.start_byte, node.end_byte))
            self._visit(node, place, mode)
        self.events.complete &= not self._waiting

    def _visit(self, node: Node, place: CodePlace, mode: Mode) -> None:
        kind = node.type
        if kind == "preproc_call":
            self._directive(node, place)
            return
        directives = self._directives
        if node.is_named and kind != "comment":
            self._directives = []
        if kind in LOOPS:
            self._loop(node, place, directives)
            return
        if any(_opens_region(directive) for directive in directives):
            place = replace(place, region=place.region + 1)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, node, place, mode)
        else:
            self._push(node.children, place)

    def _push(self, nodes: list[Node], place: CodePlace, mode: Mode = "read") -> None:
        self._waiting.extend((node, place, mode) for node in reversed(nodes))

    def _add(self, listed: list[Occurrence], node: Node, place: CodePlace, mode: Mode) -> None:
        if len(listed) < MOST_EVENTS:
            self._order += 1
            listed.append(Occurrence(node, self._modes.get(node.id, mode), place, self._order))
        else:
            self.events.complete = False

    def _directive(self, node: Node, place: CodePlace) -> None:
        line = short(node, LONGEST).replace("\\", " ")
        words = " ".join(line.split())
        if words.startswith(("#pragma", "# pragma")):
            words = words.partition("pragma")[2].strip()
            self._directives.append(words)
            self.events.directives.append((words, place))

    def _loop(self, node: Node, place: CodePlace, directives: list[str]) -> None:
        loops = self.events.loops
        depth = loops[place.loop].depth + 1 if place.loop != NO_LOOP else 0
        region = place.region + any(_opens_region(directive) for directive in directives)
        if len(loops) >= MOST_LOOPS or depth >= MOST_DEPTH:
            self.events.complete = False
            self._push(node.children, place)
            return
        inside = replace(place, loop=len(loops), region=region)
        comments = (text(child) for child in node.children if child.type == "comment")
        shared = next(filter(None, map(seen, comments)), None)
        loops.append(Loop(len(loops), node, place, depth, tuple(directives), shared))
        first = node.child_by_field_name("initializer")
        body = node.child_by_field_name("body")
        children = [child for child in node.named_children if child not in (first, body)]
        parts = [(first, place)] if first is not None else []
        if node.type == "for_range_loop":
            children = self._range(node, inside)
        parts += [(child, inside) for child in children]
        if body is not None:
            parts.append((body, inside))
        self._waiting.extend((child, where, "read") for child, where in reversed(parts))

    def _range(self, node: Node, place: CodePlace) -> list[Node]:
        declarator = node.child_by_field_name("declarator")
        value = node.child_by_field_name("right")
        kind = short(node.child_by_field_name("type"))
        declared = self._declare(node, declarator, value, kind, place)
        if declared is not None:
            declared.element = True
        self._add(self.events.elements, node, place, "read")
        return [value] if value is not None and value.type != "identifier" else []

    def _declare(
        self, node: Node, declarator: Node | None, value: Node | None, kind: str, place: CodePlace
    ) -> Declared | None:
        for bound in walk(declarator) if declarator is not None else ():
            if bound.type == "structured_binding_declarator":  # each may name the whole
                for each in bound.named_children:
                    named = (text(each), place.scope, place.function, place.loop, value, kind)
                    self.events.declare(
                        Declared(*named, pointer=False, reference=True, array=False)
                    )
        name = declared_name(declarator)
        if not name or declarator is None:
            return None
        parts: dict[str, Node] = {}
        inner: Node | None = declarator
        while inner is not None:
            parts.setdefault(inner.type, inner)
            inner = inner.child_by_field_name("declarator")
        array = parts.get("array_declarator")
        declared = Declared(
            name,
            place.scope,
            place.function,
            place.loop,
            value,
            kind,
            "pointer_declarator" in parts,
            "reference_declarator" in parts,
            array is not None,
            node.type in ("parameter_declaration", "optional_parameter_declaration"),
            width=array.child_by_field_name("size") if array is not None else None,
            region=place.region > 0,
        )
        self.events.declare(declared)
        return declared

    def _function(self, node: Node, place: CodePlace, mode: Mode) -> None:
        kernel = any(text(part) == "__global__" for part in node.children)
        name = declared_name(node.child_by_field_name("declarator"))
        self.events.functions.setdefault(name, node)
        self.events.overloads.setdefault(name, []).append(node)
        self._push(node.children, CodePlace(name, kernel, scope=place.scope))

    def _declaration(self, node: Node, place: CodePlace, mode: Mode) -> None:
        parts = node.children_by_field_name("declarator")
        heads = [child for child in node.children if child not in parts]
        kind = " ".join(short(head) for head in heads if head.type not in (";", ","))
        values: list[Node] = []
        for part in parts:
            value = part.child_by_field_name("value") if part.type == "init_declarator" else None
            plain = value is not None and value.type not in ("argument_list", "initializer_list")
            declared = self._declare(node, part, value if plain else None, kind, place)
            if value is not None and not plain and declared is not None:
                declared.arguments = short(value)
            if declared is not None and part.type == "function_declarator" and place.function:
                declared.arguments = short(part.child_by_field_name("parameters"))  # `View v(y);`
            values += [value] if value is not None else []
        self._push(values, place)

    def _condition(self, node: Node, place: CodePlace, mode: Mode) -> None:
        condition = node.child_by_field_name("condition")
        inside = replace(place, branches=place.branches + 1)
        if place.loop != NO_LOOP and node.type != "conditional_expression":
            self.events.loops[place.loop].branches = True  # a conditional expression is a selection
        if condition is not None:
            self._modes |= dict.fromkeys(guarded(node, condition), "update")
            self._add(self.events.conditions, condition, place, mode)
        children = [child for child in node.children if child != condition]
        self._push(children, inside, mode if node.type == "conditional_expression" else "read")
        if condition is not None:
            self._push([condition], place)

    def _assignment(self, node: Node, place: CodePlace, mode: Mode) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = operator(node)
        new: Mode = "write"
        if left is None or right is None:
            self._push(node.children, place)
            return
        if sign in _UPDATES:
            new = "update"
        elif sign == "=":
            _, same = self_update(left, right)
            self._modes |= dict.fromkeys(same, "update")
            new = "update" if same else "write"
        inside = replace(place, stored=left.type in ("subscript_expression", "pointer_expression"))
        if sign != "=" and (new == "write" or not _stands_alone(node)):
            self._push([left], place)
        if sign in ("/=", "%="):
            self._add(self.events.divisions, node, place, "read")
        self._push([left], place, new)
        self._push([right], inside)

    def _step(self, node: Node, place: CodePlace, mode: Mode) -> None:
        target = node.child_by_field_name("argument")
        if target is not None and mode == "read" and not _stands_alone(node):
            self._push([target], place)
        self._push([target] if target is not None else node.children, place, "update")

    def _element(self, node: Node, place: CodePlace, mode: Mode) -> None:
        """Enter an element (`a[i]`, `a[i][j]`, `*p`), then the reads of its index."""
        self._add(self.events.elements, node, place, mode)
        base: Node | None = node
        inside = replace(place, stored=place.stored or mode != "read")
        while base is not None and base.type in ("subscript_expression", "pointer_expression"):
            indices = base.child_by_field_name("indices")
            self._push([indices] if indices is not None else [], inside)
            base = base.child_by_field_name("argument")
        if base is not None and base.type not in ("identifier", "field_expression"):
            self._push([base], inside)
        declared = self.events.find(text(base), base) if base is not None else None
        later = declared is not None and declared.pointer and declared.value is None
        if base is not None and declared is not None and later and not declared.parameter:
            self._add(self.events.names, base, place, "read")

    def _pointer(self, node: Node, place: CodePlace, mode: Mode) -> None:
        if operator(node) == "*":
            self._element(node, place, mode)
        else:
            self._push(node.children, place)

    def _field(self, node: Node, place: CodePlace, mode: Mode) -> None:
        inner = node.child_by_field_name("argument")
        if inner is not None and inner.type in ("identifier", "this"):
            self._add(self.events.names, node, place, mode)
        elif inner is not None:
            self._push([inner], place, mode)

    def _is_cast(self, call: Node) -> bool:
        """Whether it is `(name)(value)` of a name that is no variable and no function seen here."""
        outer = call.child_by_field_name("function")
        inner = bare(outer)
        if outer is None or inner is None or outer.type != "parenthesized_expression":
            return False
        known = text(inner) in self.events.functions or self.events.find(text(inner), inner)
        return inner.type == "identifier" and not known and len(arguments(call)) == 1

    def _call(self, node: Node, place: CodePlace, mode: Mode) -> None:
        listed = node.child_by_field_name("arguments")
        if listed is not None and self._is_cast(node):
            return self._push(listed.named_children, place)
        self._add(self.events.calls, node, place, mode)
        function = node.child_by_field_name("function")
        launch = [child for child in node.children if child.type == "kernel_call_syntax"]
        access = _access_mode(called(node))
        if access is not None and listed is not None and listed.named_children:
            target, *values = listed.named_children
            inner = target.child_by_field_name("argument") if operator(target) == "&" else None
            self._push(values, replace(place, stored=place.stored or access != "read"))
            if inner is not None:
                self._push([inner], place, access)
            else:
                self._add(self.events.elements, target, place, access)
                self._push(target.named_children, place)
            return
        known = self.events.functions.get(called(node))
        for number, parameter in enumerate(parameters(known)):
            plain = "&" not in text(parameter) or "const" in text(parameter).split()
            given = bare(arguments(node)[number]) if number < len(arguments(node)) else None
            if not plain and given is not None and given.type == "subscript_expression":
                self._modes[given.id] = "update"
        if called(node) == "swap" and listed is not None:
            self._push(listed.named_children, place, "write")
        self._push([*launch, *([listed] if listed is not None else [])], place)
        if function is not None and function.type in (
            "field_expression",
            "parenthesized_expression",
        ):
            self._push([function], place)

    def _binary(self, node: Node, place: CodePlace, mode: Mode) -> None:
        if operator(node) in ("/", "%"):
            self._add(self.events.divisions, node, place, mode)
        self._push(node.children, place)

    def _exit(self, node: Node, place: CodePlace, mode: Mode) -> None:
        """Mark the loops that a statement leaves: one for break, all around it for others."""
        is_break, loop = node.type == "break_statement", place.loop
        self.events.jumping |= {place.function} if node.type == "goto_statement" else set()
        stops = {"lambda_expression"} | ({*LOOPS, "switch_statement"} if is_break else set())
        above = inside_of(node, stops)
        if is_break:
            if loop != NO_LOOP and above is not None and above.type in LOOPS:
                self.events.loops[loop].exits = True
        else:
            start = above.start_byte if above is not None else 0  # of the innermost lambda
            while loop != NO_LOOP and self.events.loops[loop].node.start_byte >= start:
                self.events.loops[loop].exits = True
                loop = self.events.loops[loop].place.loop
        self._push(node.children, place)

    def _same(self, node: Node, place: CodePlace, mode: Mode) -> None:
        self._push(node.named_children, place, mode)

    def _name(self, node: Node, place: CodePlace, mode: Mode) -> None:
        self._add(self.events.names, node, place, mode)


def _stands_alone(change: Node) -> bool:
    """Whether nothing uses the value of an assignment."""
    kinds = ("expression_statement", "for_statement", "comma_expression")
    return change.parent is None or change.parent.type in kinds


def _access_mode(name: str) -> Mode | None:
    if name.startswith("atomic"):
        return "update"
    if name.startswith("_mm") and ("store" in name or "stream" in name):
        return "write"
    return "read" if name.startswith("_mm") and "load" in name else None


def _opens_region(directive: str) -> bool:
    words = directive.replace("(", " ").split()
    return words[:1] == ["omp"] and "parallel" in words[1:3]


_HANDLERS = {
    "function_definition": _Walk._function,
    "declaration": _Walk._declaration,
    "parameter_declaration": _Walk._declaration,
    "optional_parameter_declaration": _Walk._declaration,
    "if_statement": _Walk._condition,
    "conditional_expression": _Walk._condition,
    "switch_statement": _Walk._condition,
    "assignment_expression": _Walk._assignment,
    "update_expression": _Walk._step,
    "subscript_expression": _Walk._element,
    "pointer_expression": _Walk._pointer,
    "field_expression": _Walk._field,
    "call_expression": _Walk._call,
    "binary_expression": _Walk._binary,
    "break_statement": _Walk._exit,
    "return_statement": _Walk._exit,
    "goto_statement": _Walk._exit,
    "throw_statement": _Walk._exit,
    "parenthesized_expression": _Walk._same,
    "identifier": _Walk._name,
}
