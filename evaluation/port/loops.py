"""Whether a kernel's one loop may run its iterations as threads, by a test that errs to "no".

It may where each iteration writes only variables of its own, and elements that no other iteration
touches: by the loop's variable i these are p[i], p[i + c], p[K * i + r] with 0 <= r < K, or
p[i * s + j] with j in a loop from 0 to at most s. Arrays do not overlap: the judge's never do.
Not covered: whether any integer overflows; the judge verifies what is made of it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.evaluation.adopt.syntax import CodeFile, Function, declared_name, walk
from regraph_kg.evaluation.port.names import BY_VALUE

_LEAVES = {"return_statement", "goto_statement", "co_return_statement"}
_LOOPS = {"for_statement", "while_statement", "do_statement", "for_range_loop"}
_BOUND = re.compile(r"[\w\s+\-*/()]+")
_POINTER = re.compile(r"(?P<const>const )?[^*]*\*[^*]*")


@dataclass(frozen=True, slots=True)
class SerialLoop:
    """A loop whose iterations are threads."""

    node: Node
    type: str
    variable: str
    first: str
    end: str
    """One more than the last."""
    before: tuple[Node, ...]
    """Declarations before it, which hold for all iterations."""

    @property
    def bounds(self) -> set[str]:
        """Names in its bounds."""
        return set(re.findall(r"[A-Za-z_]\w*", f"{self.first} {self.end}"))


def parallel_loop(function: Function) -> SerialLoop | None:
    """The function's one loop, where its iterations may be threads."""
    source, before = function.source, list[Node]()
    statements = [n for n in function.body.named_children if n.type != "comment"]
    while statements and _is_constant(source, statements[0], function):
        before.append(statements.pop(0))
    if len(statements) != 1 or statements[0].type != "for_statement":
        return None
    header = _header(source, statements[0])
    body = statements[0].child_by_field_name("body")
    if header is None or body is None:
        return None
    kind, variable, first, end = header
    loop = SerialLoop(statements[0], kind, variable, first, end, tuple(before))
    fixed = {name for node in before for name in _declared(source, node)}
    fixed |= {declared_name(source, node) for node in function.parameters}
    if not _BOUND.fullmatch(f"{first} {end}") or loop.bounds - fixed:
        return None
    return loop if _Iteration(function, loop, body, fixed).is_apart() else None


def _is_constant(source: CodeFile, node: Node, function: Function) -> bool:
    """`(void)n;`, or a scalar that nothing changes afterwards."""
    text = source.text(node)
    if re.fullmatch(r"\(void\)\s*\w+;|;", text):
        return True
    if node.type != "declaration" or any(
        n.type in ("call_expression", "lambda_expression") for n in walk(node)
    ):
        return False
    declarators = node.children_by_field_name("declarator")
    plain = all(
        one.type == "init_declarator"
        and (name := one.child_by_field_name("declarator")) is not None
        and name.type == "identifier"
        for one in declarators
    )
    names = set(_declared(source, node))
    changed = {source.text(_base(one)) for one in _targets(function.body)}
    return plain and not names & changed


def _header(source: CodeFile, node: Node) -> tuple[str, str, str, str] | None:
    """Type, variable, first and end of `for (T i = a; i < b; ++i)`."""
    parts = [node.child_by_field_name(n) for n in ("initializer", "condition", "update")]
    if any(part is None for part in parts):
        return None
    texts = [" ".join(source.text(part).split()) for part in parts if part]
    made = re.fullmatch(r"((?:const )?[\w: ]+?) (\w+) = ([^,;]+);", texts[0])
    if made is None:
        return None
    name = made[2]
    asked = re.fullmatch(rf"{name} < (.+)|{name} <= (.+)", texts[1])
    steps = {f"++{name}", f"{name}++", f"{name} += 1"}
    if asked is None or texts[2] not in steps or "auto" in made[1].split():
        return None
    return made[1], name, made[3].strip(), asked[1] or f"{asked[2]} + 1"


def _declared(source: CodeFile, node: Node) -> Iterator[str]:
    """Names that a declaration declares."""
    for declarator in node.children_by_field_name("declarator"):
        inner: Node | None = declarator
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator")
        if inner is not None:
            yield source.text(inner)


def _targets(node: Node) -> Iterator[Node]:
    """What is assigned to, in a node."""
    for one in walk(node):
        side = {"assignment_expression": "left", "update_expression": "argument"}.get(one.type)
        target = one.child_by_field_name(side) if side else None
        if target is not None:
            yield target


def _base(node: Node) -> Node:
    """The variable of `a`, `a[i]`, `a[i].x`, `(a)`."""
    while node.type in ("subscript_expression", "field_expression", "parenthesized_expression"):
        node = node.child_by_field_name("argument") or node.named_children[0]
    return node


class _Iteration:
    """One iteration of a loop: what it writes and reads."""

    def __init__(self, function: Function, loop: SerialLoop, body: Node, fixed: set[str]) -> None:
        self._source, self._loop, self._body, self._fixed = function.source, loop, body, fixed
        self._own = {
            name
            for node in walk(body)
            if node.type == "declaration"
            for name in _declared(self._source, node)
        }
        self._pointers = set[str]()
        """Parameters through which something may be written."""
        for node in function.parameters:
            found = _POINTER.match(self._source.text(node))
            if (found and not found["const"]) or "&" in self._source.text(node):
                self._pointers.add(declared_name(self._source, node))

    def is_apart(self) -> bool:
        """Whether it touches nothing that another iteration writes."""
        tests: tuple[Callable[[Node], bool], ...] = (
            self._stays,
            self._has_no_alias,
            self._is_indexed,
        )
        if self._own & (self._fixed | {self._loop.variable}):  # one name for two things
            return False
        if not all(test(node) for node in walk(self._body) for test in tests):
            return False
        written = self._written()
        return written is not None and all(map(self._is_owned, written))

    def _stays(self, node: Node) -> bool:
        """It ends by its end only."""
        if node.type in _LEAVES:
            return False
        if node.type not in ("break_statement", "continue_statement"):
            return True
        above = node.parent
        inner = (*_LOOPS, *(("switch_statement",) if node.type == "break_statement" else ()))
        while above is not None and above.id != self._loop.node.id and above.type not in inner:
            above = above.parent
        return above is not None and above.id != self._loop.node.id

    def _has_no_alias(self, node: Node) -> bool:
        """No address is taken, and no name stands for what may be written."""
        if node.type == "lambda_expression":
            return False
        if node.type == "pointer_expression":
            return False  # `*p` and `&x`
        if node.type == "reference_declarator":
            above = node.parent
            while above is not None and above.type not in ("declaration", "parameter_declaration"):
                above = above.parent
            return above is not None and "const" in self._source.text(above).split("=")[0]
        return True

    def _is_indexed(self, node: Node) -> bool:
        """What may be written is reached by an index only."""
        if node.type != "identifier" or self._source.text(node) not in self._pointers:
            return True
        above = node.parent
        if above is None or above.type != "subscript_expression":
            return False
        argument = above.child_by_field_name("argument")
        return argument is not None and argument.id == node.id

    def _written(self) -> set[str] | None:
        """Arrays that are written; None where something else is that others see."""
        found = set[str]()
        for target in (*_targets(self._body), *self._given_away()):
            name = self._source.text(_base(target))
            if name in self._pointers:
                found.add(name)
            elif name == self._loop.variable or name not in self._own:
                return None
        return found

    def _given_away(self) -> Iterator[Node]:
        """What functions get that may write it: elements of arrays, scalars, objects of methods."""
        for call in walk(self._body):
            called = call.child_by_field_name("function")
            given = call.child_by_field_name("arguments")
            if call.type != "call_expression" or called is None or given is None:
                continue
            if self._source.text(called).split("::")[-1] in BY_VALUE:
                continue
            is_method = called.type == "field_expression"
            for one in (*given.named_children, *([called] if is_method else [])):
                base = _base(one)
                if base.type == "identifier" and not self._is_fixed(self._source.text(base)):
                    yield one

    def _is_fixed(self, name: str) -> bool:
        """Whether nothing that gets it by name can write it, or it is the loop's own copy."""
        return name == self._loop.variable or name in self._fixed - self._pointers

    def _is_owned(self, array: str) -> bool:
        """Whether each iteration touches elements of its own only, all by one rule."""
        rules = set[str]()
        for node in walk(self._body):
            if node.type != "subscript_expression":
                continue
            argument = node.child_by_field_name("argument")
            index = node.child_by_field_name("indices")
            if argument is None or self._source.text(argument) != array:
                continue
            if index is None or len(index.named_children) != 1:
                return False
            rule = self._rule(index.named_children[0])
            if rule is None:
                return False
            rules.add(rule)
        return len(rules) == 1

    def _rule(self, index: Node) -> str | None:
        """By which rule an index belongs to one iteration; None for by none."""
        text = "".join(self._source.text(index).split())
        i = re.escape(self._loop.variable)
        if found := re.fullmatch(rf"{i}(?:([+-])(\d+))?|(\d+)\+{i}", text):
            return f"i {found[1] or '+'}{found[2] or found[3] or 0}"
        scaled = rf"\(?(?:(\w+)\*{i}|{i}\*(\w+))\)?"
        found = re.fullmatch(rf"{scaled}(?:\+(\w+))?", text) or None
        if found is None:
            swapped = re.fullmatch(rf"(\w+)\+{scaled}", text)
            if swapped is None:
                return None
            stride, rest = swapped[2] or swapped[3], swapped[1]
        else:
            stride, rest = found[1] or found[2], found[3] or "0"
        if stride.isdigit():
            below = int(rest) < int(stride) if rest.isdigit() else False
            return f"i *{stride}" if below or self._runs_below(index, rest, stride) else None
        if stride not in self._fixed or stride in self._own:
            return None
        return f"i *{stride}" if self._runs_below(index, rest, stride) else None

    def _runs_below(self, node: Node, variable: str, stride: str) -> bool:
        """Whether a variable is of a loop from 0 to at most `stride`, which alone changes it."""
        above: Node | None = node
        while above is not None and above.id != self._loop.node.id:
            header = _header(self._source, above) if above.type == "for_statement" else None
            if header and header[1] == variable:
                body = above.child_by_field_name("body")
                changed = {self._source.text(t) for t in _targets(body)} if body else set()
                lowest, end = header[2], "".join(header[3].split())
                within = re.fullmatch(rf"{re.escape(stride)}(?:-\d+)?", end)
                return lowest.isdigit() and bool(within) and variable not in changed
            if any(
                variable in _declared(self._source, one)
                for one in above.named_children
                if one.type == "declaration"
            ):
                return False
            above = above.parent
        return False
