"""Numbers that a loop carries from step to step, found beforehand by the toolkit's own scan.

    for (..) { sum += x[i]; y[i] = sum; }

A first loop stores what each step combines into the number; a scan makes of that what the number
is before each step. With it the steps are apart. So it is with the greatest so far, and with the
place of the next element that is kept. Not covered: updates that are not associative.
"""

import re
from dataclasses import dataclass
from itertools import takewhile

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import LOOPS, around, lone, operator, statements, target, text, walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import declared, words_of
from regraph_kg.port.kernels import Array, Kernels, Scope, replace_scalars
from regraph_kg.port.loops import SerialLoop, counted
from regraph_kg.port.reductions import updates

_BY = {"+": "sum", "*": "product", "max": "greatest", "min": "least", "|": "any_bits"}
_BY |= {"&": "all_bits", "^": "odd_bits"}
_NEUTRAL = {"+": "0", "^": "0", "*": "1"}  # for the others: what the number was at first
_SHORT = 1024  # steps that one thread does as fast
_STORED = "continue /**/;"  # where a step ends early, until it is known what it stores
_PARTS = LOOPS | {"if_statement", "declaration", "expression_statement"}


def running(
    kernels: Kernels, text: str, scope: Scope, places: frozenset[str] = frozenset()
) -> list[str] | None:
    """The lines of a loop that carries numbers. `places`: those that count stored elements."""
    source, function = kernels.read(text, scope)
    loop = function.body.named_children[0]
    head = counted(function, loop, (), dict.fromkeys(scope.arrays, True))
    changed = {source.text(it): it for it in Changes(source).changed_by(loop)}
    if head is None or (head.end.isdigit() and int(head.end) <= _SHORT):
        return None
    mark, fixed = kernels.mark(), re.findall(r"\w+", f"{head.first} {head.end}")
    for name in changed if not {*fixed} & changed.keys() else ():
        lines = _found(kernels, scope, source, (loop, head, name), places)
        if lines is not None:
            return lines
        kernels.undo(mark)
    return _carried(kernels, source, loop, scope) if not places else None


def _found(
    kernels: Kernels,
    scope: Scope,
    source: CodeFile,
    of: tuple[Node, SerialLoop, str],
    places: frozenset[str],
) -> list[str] | None:
    """The lines that find a number, and those of the loop whose steps are apart then."""
    (loop, head, name), body = of, of[0].child_by_field_name("body")
    part = _updating(source, body, name) if body and name in scope.scalars else ""
    if body is None or not part:
        return None
    kind, begin = scope.scalars[name], source.content[loop.start_byte : body.start_byte].decode()
    alone, function = kernels.read(f"{begin}{part}", scope)
    node = function.body.named_children[0]
    others = Changes(alone).names(node) & {*scope.scalars}
    found = updates(alone, node, {name}, scope.scalars, exact=scope.exact)
    sign = found[0].operator if found and others == {name} else "="
    before, count, first = (kernels.new(it) for it in (f"{name}_before", "count", f"{name}_first"))
    inner = replace_scalars(scope, {name})
    inner.arrays[before] = Array(kind, f"{kind}* {before}", may_change=True)
    inner.scalars[first] = kind
    at = head.variable + (f" - ({head.first})" if head.first != "0" else "")
    neutral, stored = _NEUTRAL.get(sign, first), f"{before}[{at} + 1] = {name};"
    one = f"{begin}{{ {kind} {name} = {neutral}; {part.replace(_STORED, stored)} {stored} }}"
    each = f"{begin}{{ {kind} {name} = {before}[{at}]; {source.text(body)} }}"
    counts = all("++" in source.text(update) for update in _updates_of(source, body, name))
    places |= {name} if counts else set()
    made = kernels.threads(one, inner) if sign in _BY else None
    apart = _without_puts(kernels, each, inner, places) if made is not None else ""
    then = (
        (kernels.threads(each, inner, apart) or running(kernels, each, inner, places))
        if apart
        else None
    )
    if made is None or then is None:
        return None
    inside = [
        f"{kind}* {before};",
        f"cudaMalloc(&{before}, sizeof({kind}) * ({count} + 1));",
        f"cudaMemcpy({before}, &{name}, sizeof({kind}), cudaMemcpyHostToDevice);",
        *([f"const {kind} {first} = {name};"] if neutral == first else []),
        *made,
        f"scan_by_cub({before}, {before} + {count} + 1, {before}, {_BY[sign]}_by_cub<{kind}>());",
        f"cudaMemcpy(&{name}, {before} + {count}, sizeof({kind}), cudaMemcpyDeviceToHost);",
        *then,
        f"cudaFree({before});",
    ]
    steps = f"const long long {count} = (long long)({head.end}) - ({head.first});"
    return [steps, f"if ({count} > 0) {{", *(f"    {line}" for line in inside), "}"]


def _updating(source: CodeFile, body: Node, name: str) -> str:
    """The part of a body that updates a number, without what only reads it; "" if nobody knows."""
    edits, kept, gone, waiting = Edits(), list[Node](), dict[str, int](), [body]
    own = {it for node in walk(body) for it in declared(node)}
    while waiting:
        node = waiting.pop()
        found, words = _updates_of(source, node, name), words_of(node)
        changed = Changes(source).names(node)
        ends = any(it.type == "continue_statement" for it in walk(node))
        plain = node.type == "expression_statement"
        if node.type == "continue_statement":
            edits.put(node, f"{{ {_STORED} continue; }}")
        elif (
            node.type in _PARTS
            and not ends
            and ((plain and found) or (not found and (name in words or changed - own)))
        ):
            kept += found
            edits.put(node, " ".join(f"{source.text(update)};" for update in found) or ";")
            for it in {*changed, *declared(node)} - {name}:
                gone[it] = min(gone.get(it, node.end_byte), _changed_from(node, body))
            if any(_may_be_left_out(update, node) for update in found):
                return ""
        else:
            waiting += reversed(node.children)
            kept += [node] if not node.children else []
    late = (
        it
        for node in kept
        for it in walk(node)
        if it.start_byte > gone.get(source.text(it), it.end_byte)
    )
    clear = name not in own and not any(late)
    return edits.applied(source.original, body.start_byte, body.end_byte) if clear else ""


def _changed_from(node: Node, body: Node) -> int:
    """From where on what a statement changes has changed: loops around it in a body come back."""
    around_it = takewhile(lambda it: body not in (node, it), around(node))
    return min([node.end_byte, *(it.start_byte for it in around_it if it.type in LOOPS)])


def _may_be_left_out(update: Node, statement: Node) -> bool:
    """Whether an expression may not come to an update in it: `c && n++`."""
    return any(
        above.type in ("conditional_expression", "lambda_expression")
        or operator(above) in ("&&", "||")
        for above in takewhile(lambda it: it != statement, around(update))
    )


def _updates_of(source: CodeFile, node: Node, name: str) -> list[Node]:
    found = list[Node]()
    for inner in walk(node):
        outer = not found or inner.start_byte >= found[-1].end_byte
        found += [inner] if text(target(inner)) == name and outer else []
    return found


def _carried(kernels: Kernels, source: CodeFile, loop: Node, scope: Scope) -> list[str] | None:
    """The lines where an element carries the number: `y[i] = y[i - 1] + x[i];`."""
    body, name = loop.child_by_field_name("body"), kernels.new("carried")
    for node in statements(body):
        change = lone(node) or node
        element = change.child_by_field_name("left")
        array = source.text(element.children[0]) if element and element.children else ""
        sets = [it for it in walk(loop) if re.match(rf"{re.escape(array)}\b", text(target(it)))]
        if not (body and element) or array not in scope.arrays or sets != [change]:
            continue
        index, sign = source.text(element.children[1])[1:-1], source.text(change.children[1])
        before = {f"{array}[{index} - 1]", f"{array}[{index.removesuffix(' + 1')}]"}
        before -= {source.text(element)}
        reads = [it for it in walk(loop) if source.text(it) in before and it.children]
        if not reads or reads[-1].end_byte > node.end_byte:
            continue
        edits, own = Edits(), f"{source.text(element)} {sign[:-1]} " if sign != "=" else ""
        for read in reads:
            edits.put(read, name)
        edits.put(change.children[1], f"= {name} = {own}")
        begin = source.content[loop.start_byte : body.start_byte].decode()
        kind, inner = scope.arrays[array].element, scope.copy()
        inner.scalars[name] = kind
        first = f"{kind} {name} = 0;\n{begin}{{ {name} = {source.text(reads[0])}; break; }}"
        lines = kernels.one_thread(first, scope, (), {name: kind})
        put = edits.applied(source.original, loop.start_byte, loop.end_byte)
        then = running(kernels, put, inner)
        return [f"{kind} {name};", *lines, *then] if then is not None else None
    return None


@dataclass(frozen=True, slots=True)
class _Put:
    """A store to the next place."""

    statement: Node
    value: str
    place: tuple[str, bool]  # the number, and whether it counts before the store
    step: str


def _without_puts(kernels: Kernels, text: str, scope: Scope, places: frozenset[str]) -> str:
    """The loop without stores to elements of one step, from its `n` on: `kept[n++] = x[i];`."""
    source, function = kernels.read(text, scope)
    loop, edits = function.body.named_children[0], Edits()
    for array in scope.arrays:
        uses = [it for it in walk(loop) if it.type == "identifier" and source.text(it) == array]
        puts = [_put(source, use, places) for use in uses]
        if None not in puts and len({put.place for put in puts if put}) == 1:
            for put in filter(None, puts):
                edits.put(put.statement, f"{{ const auto put = {put.value}; {put.step} }}")
    return edits.applied(source.original, loop.start_byte, loop.end_byte)


def _put(source: CodeFile, use: Node, places: frozenset[str]) -> _Put | None:
    element = target = use.parent
    while target and target.parent and target.parent.type == "field_expression":
        target = target.parent
    change = target.parent if target else None
    statement = change.parent if change else None
    value = change.child_by_field_name("right") if change else None
    if not (element and value and change and statement) or len(element.children) < 2:  # noqa: PLR2004
        return None
    index = source.text(element.children[1]).strip("[] ")
    name, alone = index.strip("+ "), statement.type == "expression_statement"
    if not alone or change.children[0] != target or change.children[1].type != "=":
        return None
    behind = statement.next_named_sibling
    while behind and behind.type in ("expression_statement", "declaration", "comment"):
        if _updates_of(source, behind, name):
            break
        behind = behind.next_named_sibling
    else:
        behind = None
    if name not in places or element.children[0] != use or (index == name and behind is None):
        return None
    step = f"{name}++;" if index != name else ""
    return _Put(statement, source.text(value), (name, index.startswith("++")), step)
