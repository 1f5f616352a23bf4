"""Conservative test whether the iterations of a loop may run as threads.

They may if each iteration writes only its own variables, and elements that no other iteration
touches. With the loop's variable i these elements are p[i], p[i + c], p[K * i + r] with
0 <= r < K, p[i * s + j] with j in a loop from 0 to at most s, and p[j * s + i] where i runs from
0 to at most s. Arrays do not overlap, since the judge's never do. Not covered: integer overflow.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, Function, declared_name
from regraph_kg.cpp.syntax import LOOPS, walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import declared, is_plain, needed
from regraph_kg.port.names import is_integer

_LEAVES = {"return_statement", "goto_statement", "co_return_statement"}
_BOUND = re.compile(r"[\w\s+\-*/()]+")


@dataclass(frozen=True, slots=True)
class SerialLoop:
    """A loop whose iterations are threads."""

    node: Node
    type: str
    variable: str
    first: str
    end: str  # one more than the last value
    before: tuple[Node, ...]  # declarations before it that its bounds need

    @property
    def head(self) -> Node | None:
        """The declaration of its variable."""
        return self.node.child_by_field_name("initializer")


def as_threads(
    function: Function, node: Node, before: Sequence[Node], arrays: Mapping[str, bool]
) -> SerialLoop | None:
    """A loop of a function whose iterations may be threads; None for another statement.

    `before`: constants before it, and heads of loops around it. `arrays`: the function's array
    parameters -> whether anything may write them.
    """
    source, changes = function.source, Changes(function.source)
    loop = counted(function, node, before, arrays) if node.type == "for_statement" else None
    body = node.child_by_field_name("body")
    if loop is None or body is None or changes.are_hidden(arrays):
        return None
    fixed = {name for constant in before for name in declared(source, constant)}
    fixed |= {declared_name(source, parameter) for parameter in function.parameters}
    return (
        loop if _Iteration(function, loop, body, fixed, arrays, changes).is_independent() else None
    )


def counted(
    function: Function, node: Node, before: Sequence[Node], arrays: Mapping[str, bool]
) -> SerialLoop | None:
    """A loop whose bounds the host can compute beforehand."""
    header = _header(function.source, node)
    nodes = _needed(function, before, " ".join(header[2:]), arrays) if header else None
    return SerialLoop(node, *header, tuple(nodes)) if header and nodes is not None else None


def is_constant(
    source: CodeFile, node: Node, changed: set[str], arrays: Mapping[str, bool]
) -> bool:
    """Whether a node is `(void)n;`, or declares a number that nothing changes afterwards."""
    if re.fullmatch(r"\(void\)\s*\w+;|;", source.text(node)):
        return True
    return (
        is_plain(source, node)
        and not changed & set(declared(source, node))
        and not any(
            inner.type in ("call_expression", "lambda_expression", "pointer_expression")
            or (source.text(inner) in arrays and not is_indexed(inner))
            for inner in walk(node)
        )
    )


def _needed(
    function: Function, before: Sequence[Node], bounds: str, arrays: Mapping[str, bool]
) -> list[Node] | None:
    """Declarations that the bounds need; None where the host has no such integers."""
    source, words = function.source, set(re.findall(r"[A-Za-z_]\w*", bounds))
    kinds = {
        name: source.text(kind)
        for node in (*before, *function.parameters)
        if (kind := node.child_by_field_name("type"))
        for name in declared(source, node)
    }
    if not _BOUND.fullmatch(bounds) or not all(
        is_integer(kinds.get(word, "auto")) for word in words
    ):
        return None
    nodes = needed(source, [*before], words)
    changes, hidden = Changes(source), set[str]()
    while more := changes.words(words | hidden) - hidden:
        hidden |= more
    if nodes is None or words & arrays.keys() or hidden & kinds.keys():
        return None
    return [node for node in nodes if node.parent is None or node.parent.type != "for_statement"]


def leaves(statement: Node) -> bool:
    """Whether a statement may leave the code around it."""
    for node in walk(statement):
        if node.type in _LEAVES:
            return True
        if node.type in ("break_statement", "continue_statement"):
            ends = LOOPS | ({"switch_statement"} if node.type == "break_statement" else set())
            above = node.parent
            while above is not None and above.type not in ends:
                above = above.parent
            if above is None or above.start_byte < statement.start_byte:
                return True
    return False


def is_indexed(node: Node) -> bool:
    """Whether a name is that of a subscripted array."""
    above = node.parent
    argument = above.child_by_field_name("argument") if above else None
    is_subscript = above is not None and above.type == "subscript_expression"
    return is_subscript and argument is not None and argument.id == node.id


def _header(source: CodeFile, node: Node) -> tuple[str, str, str, str] | None:
    """Type, variable, first and end of `for (T i = a; i < b; ++i)`."""
    parts = [node.child_by_field_name(n) for n in ("initializer", "condition", "update")]
    if any(part is None for part in parts):
        return None
    texts = [" ".join(source.text(part).split()) for part in parts if part]
    initializer = re.fullmatch(r"((?:const )?[\w: ]+?) (\w+) = ([^,;]+);", texts[0])
    if initializer is None:
        return None
    name = initializer[2]
    condition = re.fullmatch(rf"{name} < (.+)|{name} <= (.+)", texts[1])
    steps = {f"++{name}", f"{name}++", f"{name} += 1"}
    if condition is None or texts[2] not in steps or not is_integer(initializer[1]):
        return None
    return initializer[1], name, initializer[3].strip(), condition[1] or f"{condition[2]} + 1"


class _Iteration:
    """Reads and writes of one iteration of a loop."""

    def __init__(
        self,
        function: Function,
        loop: SerialLoop,
        body: Node,
        fixed: set[str],
        arrays: Mapping[str, bool],
        changes: Changes,
    ) -> None:
        self._source, self._loop, self._body, self._fixed = function.source, loop, body, fixed
        self._arrays = arrays
        self._own, self._plain = set[str](), set[str]()
        """Names that it declares, and those among them that are no inner loop's variables."""
        for node in walk(body):
            if node.type == "declaration":
                names = set(declared(self._source, node))
                self._own |= names
                is_loops = node.parent is not None and node.parent.type == "for_statement"
                self._plain |= set() if is_loops else names
        self._changed: dict[str, list[int]] = {}  # variable -> offsets where it may change
        for node in changes.changed_by(body):
            self._changed.setdefault(self._source.text(node), []).append(node.start_byte)

    def is_independent(self) -> bool:
        """Whether it touches nothing that another iteration writes."""
        if self._own & (self._fixed | {self._loop.variable}):  # one name for two things
            return False
        if leaves(self._body):
            return False
        for node in walk(self._body):
            if not self._has_no_alias(node):
                return False
            is_array = node.type == "identifier" and self._arrays.get(self._source.text(node))
            if is_array and not is_indexed(node):  # reached otherwise than by an index
                return False
        written = {name for name in self._changed if self._arrays.get(name, True)} - self._own
        return written <= self._arrays.keys() and all(map(self._is_owned, written))

    def _has_no_alias(self, node: Node) -> bool:
        """Whether a node takes no address, and makes no other name for writable memory."""
        if node.type == "lambda_expression":
            return False
        if node.type in ("pointer_expression", "function_declarator"):
            return False  # `*p` and `&x`; `View v(y);`
        if node.type == "reference_declarator":
            above = node.parent
            while above is not None and above.type not in ("declaration", "parameter_declaration"):
                above = above.parent
            return above is not None and "const" in self._source.text(above).split("=")[0]
        return True

    def _is_owned(self, array: str) -> bool:
        """Whether all accesses to an array follow one rule, so that iterations share no element."""
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
        """The rule by which an index belongs to one iteration; None where there is none."""
        text = "".join(self._source.text(index).split())
        i = re.escape(self._loop.variable)
        if match := re.fullmatch(rf"{i}(?:([+-])(\d+))?|(\d+)\+{i}", text):
            return f"i {match[1] or '+'}{match[2] or match[3] or 0}"
        if row := re.fullmatch(rf"\(?(?:\w+\*(\w+)|(\w+)\*\w+)\)?\+{i}", text):
            width = next((group for group in row.groups() if group and self._is_below(group)), None)
            return f"i of {width}" if width else None
        scaled = rf"\(?(?:(\w+)\*{i}|{i}\*(\w+))\)?"
        match = re.fullmatch(rf"{scaled}(?:\+(\w+))?", text) or None
        if match is None:
            swapped = re.fullmatch(rf"(\w+)\+{scaled}", text)
            if swapped is None:
                return None
            stride, offset = swapped[2] or swapped[3], swapped[1]
        else:
            stride, offset = match[1] or match[2], match[3] or "0"
        if stride.isdigit():
            below = int(offset) < int(stride) if offset.isdigit() else False
            return f"i *{stride}" if below or self._runs_below(index, offset, stride) else None
        if stride not in self._fixed or stride in self._own:
            return None
        return f"i *{stride}" if self._runs_below(index, offset, stride) else None

    def _is_below(self, width: str) -> bool:
        """Whether the loop runs from 0 or more to at most `width`, which is fixed."""
        fixed = width.isdigit() or (width in self._fixed and width not in self._own)
        end = re.fullmatch(rf"{re.escape(width)}(?:-\d+)?", "".join(self._loop.end.split()))
        return fixed and bool(end) and self._loop.first.isdigit()

    def _runs_below(self, node: Node, variable: str, stride: str) -> bool:
        """Whether a variable runs in a loop from 0 to at most `stride`, and changes only there."""
        above: Node | None = None if variable in self._plain else node
        while above is not None and above.id != self._loop.node.id:
            header = _header(self._source, above) if above.type == "for_statement" else None
            if header and header[1] == variable:
                first, last = above.start_byte, above.end_byte
                changed = [at for at in self._changed.get(variable, ()) if first <= at < last]
                lowest, end = header[2], "".join(header[3].split())
                within = re.fullmatch(rf"{re.escape(stride)}(?:-\d+)?", end)
                return lowest.isdigit() and bool(within) and len(changed) == 1  # its own step
            above = above.parent
        return False
