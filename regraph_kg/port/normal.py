"""Serial code in a plain form that means the same, so that loops have few spellings for a port.

    int i; double t; i = 0; while (i < n) { t = x[i]; y[i] = t; i++; }

becomes

    for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t; }

Loops by other steps than 1 whose iterations are apart count from 0. Not here: macros, which are
written out before (cpp/macros.py), and whether iterations are apart (cpp/dependences.py).
"""

from collections.abc import Iterable

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.loop_facts import LoopFacts
from regraph_kg.cpp.syntax import LOOPS, bare, declared_name, operator, parse, text, walk
from regraph_kg.port.names import fresh, is_integer

_STEPS = frozenset({"update_expression", "assignment_expression"})
_LONG = 200
_STAYS = frozenset({"lambda_expression", "goto_statement"})
_UNSIGNED = ("unsigned", "size_t", "uint")


def plain(code: str) -> str:
    """The code in its plain form."""
    for step in (_counted, _with_own_variables, _from_zero):
        content = code.encode()
        edits, root = Edits(), parse(content).root_node
        if root.has_error:
            break
        step(content, root, edits)
        code = edits.applied(content)
    return code


def _counted(content: bytes, root: Node, edits: Edits) -> None:
    """`while` loops that count are `for` loops, and so are those that count down to 0."""
    for node in walk(root):
        body = node.child_by_field_name("body")
        if node.type == "for_statement" and body is not None:
            _down_to_zero(node, body, edits)
        if node.type != "while_statement" or body is None or body.type != "compound_statement":
            continue
        condition = bare(node.child_by_field_name("condition"))
        inside = [child for child in body.named_children if child.type != "comment"]
        step = inside[-1].named_children[0] if inside and inside[-1].named_children else None
        if condition is None or step is None or inside[-1].type != "expression_statement":
            continue
        if condition.type == "condition_clause":
            condition = condition.named_children[0]
        name = _stepped(step)
        compared = [text(bare(condition.child_by_field_name(s))) for s in ("left", "right")]
        others = [other for other in inside[:-1] if _changes(other, name)]
        if not name or name not in compared or others or _goes_on(node):
            continue
        first, end = node.prev_named_sibling, inside[-1]
        begin = _set(first, name) if first is not None else ""
        if first is not None and begin:
            declares = first.type == "declaration"
            kind = text(first.child_by_field_name("type"))
            edits.put(first, f"{kind} {name};" if declares else "")
        head = f"for ({begin}; {text(condition)}; {text(step)}) "
        edits.replacements.append((node.start_byte, body.start_byte, head))
        edits.put(end, "")


def _stepped(step: Node) -> str:
    """The variable that a statement steps by a fixed number; "" for another statement."""
    side = step.child_by_field_name("argument") or step.child_by_field_name("left")
    fixed = step.type == "update_expression" or (
        operator(step) in ("+=", "-=") and text(step.child_by_field_name("right")).isdigit()
    )
    is_name = side is not None and side.type == "identifier"
    return text(side) if step.type in _STEPS and fixed and is_name else ""


def _changes(node: Node, name: str) -> bool:
    """Whether a statement may change a variable."""
    for inner in walk(node):
        side = inner.child_by_field_name("argument") or inner.child_by_field_name("left")
        if inner.type in (*_STEPS, "pointer_expression") and text(side) == name:
            return True
    return False


def _goes_on(loop: Node) -> bool:
    """Whether a `continue` of the loop itself leaves out its last statement."""
    for node in walk(loop):
        above = node.parent if node.type == "continue_statement" else None
        while above is not None and above.type not in LOOPS:
            above = above.parent
        if above is not None and above.id == loop.id:
            return True
    return False


def _set(statement: Node, name: str) -> str:
    """`i = e` where a statement gives a variable its value and does nothing else; else ""."""
    inner = statement.named_children[0] if statement.named_child_count else None
    if statement.type == "declaration":
        listed = statement.children_by_field_name("declarator")
        value = listed[0].child_by_field_name("value") if len(listed) == 1 else None
        named = value is not None and declared_name(listed[0]) == name
        fixed = any(child.type == "type_qualifier" for child in statement.children)
        simple = named and not fixed and value is not None and "list" not in value.type
        return f"{name} = {text(value)}" if simple else ""
    if statement.type != "expression_statement" or inner is None or operator(inner) != "=":
        return ""
    return text(inner) if text(inner.child_by_field_name("left")) == name else ""


def _down_to_zero(loop: Node, body: Node, edits: Edits) -> None:
    """`for (T i = n; i-- > 0;)` as a loop that counts up."""
    first, condition = (loop.child_by_field_name(n) for n in ("initializer", "condition"))
    if first is None or condition is None or loop.child_by_field_name("update") is not None:
        return
    step = condition.child_by_field_name("left") or condition
    to_zero = step is condition or text(condition).replace(" ", "").endswith(("-->0", "--!=0"))
    name = text(step.child_by_field_name("argument"))
    is_down = step.type == "update_expression" and text(step) == f"{name}--"
    start = _set(first, name).partition("=")[2].strip() if first.type == "declaration" else ""
    if is_down and to_zero and start and not _changes(body, name):
        kind = text(first.child_by_field_name("type"))
        _rewritten(loop, (kind, kind), name, start, f"({start}) - 1 - @", edits)


def _rewritten(
    loop: Node, kinds: tuple[str, str], name: str, count: str, value: str, edits: Edits
) -> None:
    """A loop from 0 to `count` in place of another one.

    `kinds`: types of its variable and the old one; `value`: the old one's, with `@` for the new.
    """
    body = loop.child_by_field_name("body")
    assert body is not None
    at = fresh(f"{name}_at", {text(node) for node in walk(loop) if node.type == "identifier"})
    is_block = body.type == "compound_statement"
    head = f"for ({kinds[0]} {at} = 0; {at} < {count}; ++{at}) {{"
    head += f" const {kinds[1]} {name} = {value.replace('@', at)};" + " " * (not is_block)
    edits.replacements.append((loop.start_byte, body.start_byte + is_block, head))
    if not is_block:
        edits.insert(body.end_byte, " }")


def _from_zero(content: bytes, root: Node, edits: Edits) -> None:
    """Loops by steps other than 1, whose iterations are apart, count from 0."""
    facts = facts_of(content.decode())
    apart = {loop.number for loop in facts.loops if loop.carries == "no" and loop.canonical}
    parents = {loop.number: loop.parent for loop in facts.loops}
    by_place = {loop.at: loop for loop in facts.loops}
    for node in walk(root):
        fact, body = by_place.get(node.start_byte), node.child_by_field_name("body")
        if node.type != "for_statement" or fact is None or body is None:
            continue
        above, around = fact.parent, set[int]()
        while above >= 0:
            around.add(above)
            above = parents[above]
        is_plain = fact.step == "1" or not fact.step.lstrip("-").isdigit()
        if fact.number in apart and not around & apart and not is_plain and is_integer(fact.type):
            _stepwise(node, fact, edits)


def _stepwise(loop: Node, fact: LoopFacts, edits: Edits) -> None:
    size, down = int(fact.step.lstrip("-")), fact.step.startswith("-")
    first, last = (fact.end, fact.start) if down else (fact.start, fact.end)
    if len(first + last) > _LONG:  # a fact may be cut
        return
    extra = size if fact.compare in ("<=", ">=") else size - 1
    wide = "long long" if any(word in fact.type for word in _UNSIGNED) else fact.type
    cast = f"({wide})" if wide != fact.type else ""
    count = f"{cast}({last}) - {cast}({first})" + (f" + {extra}" if extra else "")
    count = f"({count}) / {size}" if size > 1 else count
    times = f" * {size}" if size > 1 else ""
    sign = "-" if down else "+"
    value = f"({fact.start}) {sign} @{times}"
    _rewritten(loop, (wide, fact.type), fact.variable, count, value, edits)


def _with_own_variables(content: bytes, root: Node, edits: Edits) -> None:
    """Variables that each iteration sets before it reads them are declared where it does."""
    for node in walk(root):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is None or any(n.type in _STAYS for n in walk(body)):
            continue
        inside = [n for n in walk(node) if n.type == "identifier"]
        for declaration in [n for n in walk(body) if n.type == "declaration"]:
            _moved(declaration, inside, edits)


def _moved(declaration: Node, names: list[Node], edits: Edits) -> None:
    """Move what a declaration declares into the loops, where all uses are there."""
    block, kind = declaration.parent, declaration.child_by_field_name("type")
    listed = declaration.children_by_field_name("declarator")
    qualified = {"storage_class_specifier"} & {child.type for child in declaration.children}
    if block is None or block.type != "compound_statement" or kind is None or qualified:
        return
    kept = list[str]()
    head = text(declaration)[: listed[0].start_byte - declaration.start_byte].strip()
    for declarator in listed:
        value = declarator.child_by_field_name("value")
        inner = declarator.child_by_field_name("declarator") if value is not None else declarator
        named = inner if inner is not None else declarator
        name = declared_name(named)
        uses = [node for node in names if text(node) == name and _is_variable(node)]
        own = [u for u in uses if declaration.start_byte <= u.start_byte < declaration.end_byte]
        uses = [use for use in uses if use not in own]
        simple = {n.type for n in walk(named)} <= {"identifier", "pointer_declarator", "*"}
        fixed = value is not None and any(n.type == "call_expression" for n in walk(value))
        within = all(block.start_byte <= use.start_byte < block.end_byte for use in uses)
        loops = _loops_of(block, uses) if simple and within and not fixed else []
        if not loops or any(_declares(use) for use in uses):
            kept.append(text(declarator))
            continue
        spelled = f"{head}{'' if text(named)[0] == '*' else ' '}{text(named)}"
        for loop in loops:
            _declared_in(loop, spelled, uses, edits)
    if len(kept) < len(listed):
        edits.put(declaration, f"{head} {', '.join(kept)};" if kept else "")


def _is_variable(node: Node) -> bool:
    above = node.parent
    called = above.child_by_field_name("function") if above is not None else None
    return called is None or called.id != node.id


def _declares(use: Node) -> bool:
    """Whether a name is declared anew, or its address taken."""
    above = use.parent
    while above is not None and above.type in ("pointer_declarator", "array_declarator"):
        above = above.parent
    if above is None or above.type in ("declaration", "parameter_declaration", "for_range_loop"):
        return above is None or any(
            declared_name(d) == text(use) for d in above.children_by_field_name("declarator")
        )
    if above.type in ("init_declarator", "reference_declarator"):
        return above.child_by_field_name("declarator") == use or above.type[0] == "r"
    return above.type == "pointer_expression" and operator(above) == "&"


def _loops_of(block: Node, uses: list[Node]) -> list[Node]:
    """The innermost loops that set a variable first and hold all uses; none if some do not."""
    chosen, left = list[Node](), [*uses]
    loops = [node for node in walk(block) if node.type in LOOPS]
    for loop in reversed(loops):  # inner ones first
        inside = [use for use in left if loop.start_byte <= use.start_byte < loop.end_byte]
        fits = bool(inside) and _sets_first(loop, inside)
        if fits and not _read_after(loop, block, uses):
            chosen.append(loop)
            left = [use for use in left if use not in inside]
    return chosen if uses and not left else []


def _sets_first(loop: Node, uses: list[Node]) -> bool:
    """Whether each iteration, or the loop's head, begins by setting a variable."""
    body, head = loop.child_by_field_name("body"), loop.child_by_field_name("initializer")
    if head is not None and _is_set_by(head, uses[0]):
        return True
    end = body.end_byte if body is not None else 0  # the condition of `do` stands behind its body
    return body is not None and _writes(uses[0], body) and uses[-1].start_byte < end


def _is_set_by(head: Node, use: Node) -> bool:
    """Whether `use` is the target of the assignment `head`, whose value does not name it."""
    value = head.child_by_field_name("right")
    return (
        operator(head) == "="
        and head.child_by_field_name("left") == use
        and all(text(n) != text(use) for n in (walk(value) if value is not None else ()))
    )


def _writes(use: Node, block: Node) -> bool:
    """Whether a use is a plain assignment that each run of a block makes."""
    change = use.parent
    statement = change.parent if change is not None else None
    if change is None or statement is None or not _is_set_by(change, use):
        return False
    is_head = statement.type == "for_statement" and change == statement.child_by_field_name(
        "initializer"
    )
    plain_ = is_head or statement.type == "expression_statement"
    return plain_ and block in (statement, statement.parent)


def _read_after(loop: Node, block: Node, uses: Iterable[Node]) -> bool:
    """Whether the value that a loop leaves may be read: behind it, or in a loop around it."""
    around, above = list[Node](), loop.parent
    while above is not None:
        around.append(above)
        if above.id == block.id:
            break
        above = above.parent
    later = [use for use in uses if use.start_byte >= loop.end_byte]
    again = list[Node]()
    for outer in [node for node in around if node.type in LOOPS]:
        again = [u for u in uses if outer.start_byte <= u.start_byte < outer.end_byte]
    ends = [listed[0] for listed in (later, again) if listed]
    return not all(
        loop.start_byte <= use.start_byte < loop.end_byte or any(_writes(use, b) for b in around)
        for use in ends
    )


def _declared_in(loop: Node, spelled: str, uses: list[Node], edits: Edits) -> None:
    """Declare a variable in a loop: in its head, at its first use, or at the body's begin."""
    inside = [use for use in uses if loop.start_byte <= use.start_byte < loop.end_byte]
    body, first = loop.child_by_field_name("body"), inside[0]
    if body is None:
        return
    statement = first.parent.parent if first.parent is not None else None
    in_head = first.start_byte < body.start_byte
    is_statement = statement is not None and statement.type == "expression_statement"
    if in_head or (is_statement and statement is not None and statement.parent == body):
        edits.put(first, spelled)
    elif body.type == "compound_statement":
        edits.insert(body.start_byte + 1, f" {spelled};")
    else:
        edits.insert(body.start_byte, f"{{ {spelled}; ")
        edits.insert(body.end_byte, " }")
