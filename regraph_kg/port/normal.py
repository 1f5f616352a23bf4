"""Serial code in a plain form that means the same, so that loops have few spellings for a port.

    int i; double t; i = 0; while (i < n) { t = x[i]; y[i] = t; i++; }

becomes `for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t; }`. Not here: macros, which are
written out before (cpp/macros.py).
"""

import re
from functools import partial

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.headers import continues
from regraph_kg.cpp.macros import filled, with_macros
from regraph_kg.cpp.syntax import bare, declared_name, operator, parse, text, walk
from regraph_kg.port.grown import with_lengths
from regraph_kg.port.names import fresh, is_integer
from regraph_kg.port.scratch import with_own_arrays
from regraph_kg.port.walks import with_counters

_STEP = re.compile(r"(?:\+\+|--)\s*(\w+)|(\w+)\s*(?:\+\+|--|[-+]=\s*\d+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_INDEX = re.compile(  # a function or a lambda that returns a sum of products, or an element
    r"\b(?:(?:const )?auto |(?:static |inline |constexpr )*(?P<kind>\w[\w: ]*?) )(?P<name>\w+)"
    r"(?: = \[[=&\w, ]*\] ?)?\((?P<taken>[\w:,\s]+)\)(?: const| noexcept)*(?: ?-> ?[\w: ]+&?)?"
    r"\s*\{\s*return (?P<value>[\w\s+*/()\[\]-]+);\s*\};?"
)
_DOWN = re.compile(r"(\w+)--(?:\s*(?:>|!=)\s*0)?")


def plain(code: str) -> str:
    """The code in its plain form."""
    code = with_counters(with_lengths(_with_indices(code)))
    for step in (_counted, _with_own_variables, with_own_arrays):
        facts, edits = facts_of(code), Edits()
        if facts.read_whole:
            step(parse(code.encode()).root_node, facts, edits)
            code = edits.applied(code.encode())
    return code


def _with_indices(code: str) -> str:
    """The text with what functions and lambdas compute in place of their calls, if an index."""
    for match in [*_INDEX.finditer(code)]:
        name, kind, value = match["name"], match["kind"], match["value"]
        pairs = [part.strip().rpartition(" ")[::2] for part in match["taken"].split(",")]
        rest = code.replace(match[0], "", 1)
        said = re.sub(r"//[^\n]*|/\*.*?\*/", "", rest, flags=re.DOTALL)
        uses = re.findall(rf"(return|[\w.]|->|::)?\s*\b{name}\b *(\(?)", said)
        calls = all(before in ("", "return") and bracket for before, bracket in uses)
        calls = calls and not re.search(rf"\b{name}\([^;]*(?:\+\+|--)", rest)
        own = {*_WORD.findall(value)} - {word for _, word in pairs}
        fixed = kind or not any(re.search(rf"\b{w}\s*(?:[-+*/]?=[^=]|\+\+|--)", rest) for w in own)
        whole = all(map(is_integer, [kind or "int", *(kind for kind, _ in pairs)]))
        if whole and fixed and calls:
            casts = {word: f"({kind.removeprefix('std::')})({word})" for kind, word in pairs}
            body = _WORD.sub(partial(filled, casts), value.strip())
            body = body if re.fullmatch(r"\w+\[[^\[\]]*\]", value.strip()) else f"({body})"
            code = with_macros(rest, {name: (tuple(casts), body)})
    return code


def _counted(root: Node, _: Facts, edits: Edits) -> None:
    """`while` loops that count are `for` loops, and those that count down to 0 count up."""
    for node in walk(root):
        body = node.child_by_field_name("body")
        if node.type == "for_statement" and body is not None:
            _down_to_zero(node, body, edits)
        if node.type != "while_statement" or body is None or continues(node):
            continue
        inside = [child for child in body.named_children if child.type != "comment"]
        step = _STEP.fullmatch(text(inside[-1]).rstrip("; ")) if inside else None
        condition = text(node.child_by_field_name("condition"))[1:-1]
        name = (step[1] or step[2]) if step else ""
        first = node.prev_named_sibling
        if not name or name not in re.findall(r"\w+", condition):
            continue
        begin = _set(first, name) if first is not None else ""
        if first is not None and begin:
            kind = text(first.child_by_field_name("type"))
            edits.put(first, f"{kind} {name};" if first.type == "declaration" else "")
        head = f"for ({begin}; {condition}; {text(inside[-1]).rstrip('; ')}) "
        edits.replacements.append((node.start_byte, body.start_byte, head))
        edits.put(inside[-1], "")


def _down_to_zero(loop: Node, body: Node, edits: Edits) -> None:
    """`for (T i = n; i-- > 0;)` as a loop that counts up."""
    first, down = loop.child_by_field_name("initializer"), loop.child_by_field_name("condition")
    step = _DOWN.fullmatch(text(down))
    if first is None or step is None or loop.child_by_field_name("update") is not None:
        return
    name, start = step[1], _set(first, step[1]).partition("=")[2].strip()
    changed = re.compile(
        rf"[-+]{{2}}\s*{name}\b|\b{name}\s*(?:[-+]{{2}}|[-+*/]?=(?!=))|&\s*{name}\b"
    )
    if first.type != "declaration" or not start or changed.search(text(body)):
        return
    kind = text(first.child_by_field_name("type"))
    at = fresh(f"{name}_at", {text(node) for node in walk(loop) if node.type == "identifier"})
    block = body.type == "compound_statement"
    head = f"for ({kind} {at} = 0; {at} < {start}; ++{at}) {{"
    head += f" const {kind} {name} = ({start}) - 1 - {at};" + " " * (not block)
    edits.replacements.append((loop.start_byte, body.start_byte + block, head))
    edits.insert(body.end_byte, "" if block else " }")


def _set(statement: Node, name: str) -> str:
    """`i = e` where a statement gives a variable its value and does nothing else; else ""."""
    inner = re.fullmatch(rf"([\w: ]*\s)?({name}\s*=[^=,{{].*);", text(statement), re.DOTALL)
    alone = inner is not None and "," not in inner[2] and "const" not in (inner[1] or "")
    kinds = ("declaration", "expression_statement")
    return inner[2] if inner is not None and alone and statement.type in kinds else ""


def _with_own_variables(root: Node, facts: Facts, edits: Edits) -> None:
    """Variables that each iteration sets before it reads them are declared where it does."""
    set_in = {loop.at: {*loop.private, loop.variable} - {*loop.lasting} for loop in facts.loops}
    for function in walk(root):
        inside = [*walk(function)] if function.type == "function_definition" else []
        names = [node for node in inside if node.type == "identifier"]
        if not any(node.type in ("lambda_expression", "goto_statement") for node in inside):
            for declaration in [node for node in inside if node.type == "declaration"]:
                _moved(declaration, names, set_in, edits)


def _moved(declaration: Node, names: list[Node], set_in: dict[int, set[str]], edits: Edits) -> None:
    """Move variables into the innermost loops that set them (`set_in`), if all uses are there."""
    listed, kept = declaration.children_by_field_name("declarator"), list[str]()
    begin = listed[0].start_byte - declaration.start_byte if listed else 0
    block, head = declaration.parent, text(declaration).encode()[:begin].decode()
    if block is None or block.type != "compound_statement" or "static" in head:
        return
    for declarator in listed:
        value, name = declarator.child_by_field_name("value"), declared_name(declarator)
        spelled = head + text(declarator.child_by_field_name("declarator") if value else declarator)
        left = [use for use in names if text(use) == name]
        moves = list[tuple[Node, list[Node]]]()
        for loop in reversed([*walk(block)]):  # inner ones first
            end = loop.end_byte if name in set_in.get(loop.start_byte, ()) else 0
            within = [use for use in left if loop.start_byte <= use.start_byte < end]
            left = [use for use in left if use not in within]
            moves += [(loop, within)] if within else []
        made = value is not None and re.search(r"[({]", text(value))  # by a call, a constructor
        own = [declaration.start_byte <= use.start_byte < declaration.end_byte for use in left]
        plain_ = own == [True] and not made and not re.search(r"[&\[(<]", spelled)
        if not (plain_ and moves and all(_is_whole(loop, uses) for loop, uses in moves)):
            kept.append(text(declarator))
            continue
        for loop, uses in moves:
            _declared_in(loop, spelled, uses[0], edits)
    if len(kept) < len(listed):
        edits.put(declaration, f"{head}{', '.join(kept)};" if kept else "")


def _is_whole(loop: Node, uses: list[Node]) -> bool:
    """Whether a variable can be declared in a loop's head or body, and nothing has its address."""
    body, head = loop.child_by_field_name("body"), bare(loop.child_by_field_name("initializer"))
    for use in uses:
        above = use.parent
        again = above is not None and above.child_by_field_name("declarator") == use
        if again or text(above)[:1] == "&":
            return False
    if head is not None and head.child_by_field_name("left") == uses[0]:
        return True
    span = (body.start_byte, body.end_byte) if body is not None else (0, 0)
    # the condition of `do` stands behind its body
    return span[0] <= uses[0].start_byte and uses[-1].start_byte < span[1]


def _declared_in(loop: Node, spelled: str, first: Node, edits: Edits) -> None:
    """Declare a variable in a loop: in its head, at its first use, or at the body's begin."""
    body, change = loop.child_by_field_name("body"), first.parent
    if body is None or change is None:
        return
    sets = operator(change) == "=" and change.child_by_field_name("left") == first
    is_statement = sets and change.parent is not None and change.parent.parent == body
    if first.start_byte < body.start_byte or is_statement:
        edits.put(first, spelled)
    elif body.type == "compound_statement":
        edits.insert(body.start_byte + 1, f" {spelled};")
    else:
        edits.insert(body.start_byte, f"{{ {spelled}; ")
        edits.insert(body.end_byte, " }")
