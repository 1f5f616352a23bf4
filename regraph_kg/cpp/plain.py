"""Loops and variables in plain words that mean the same, so that loops have few spellings.

    int i; double t; i = 0; while (i < n) { t = x[i]; y[i] = t; i++; }

becomes `for (int i = 0; i < n; i++) { double t = x[i]; y[i] = t; }`.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.headers import continues
from regraph_kg.cpp.syntax import bare, declared_name, operator, parse, text, walk

_DIRECTIVE = re.compile(r"#\s*pragma(?:\\\r?\n|[^\n])*")  # a clause may name variables
_STEP = re.compile(r"(?:\+\+|--)\s*(\w+)|(\w+)\s*(?:\+\+|--|[-+]=\s*\d+)")


def plain(code: str) -> str:
    """The code in its plain form; a code with kernels stays."""
    for step in (counted, with_own_variables) if "__global__" not in code else ():
        facts, edits = facts_of(code), Edits()
        if facts.read_whole:
            step(parse(code.encode()).root_node, facts, edits)
            code = edits.applied(code.encode())
    return code


def counted(root: Node, _: Facts, edits: Edits) -> None:
    """`while` loops that count are `for` loops."""
    for node in walk(root):
        body = node.child_by_field_name("body")
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


def _set(statement: Node, name: str) -> str:
    """`i = e` where a statement gives a variable its value and does nothing else; else ""."""
    inner = re.fullmatch(rf"([\w: ]*\s)?({name}\s*=[^=,{{].*);", text(statement), re.DOTALL)
    alone = inner is not None and "," not in inner[2] and "const" not in (inner[1] or "")
    kinds = ("declaration", "expression_statement")
    return inner[2] if inner is not None and alone and statement.type in kinds else ""


def with_own_variables(root: Node, facts: Facts, edits: Edits) -> None:
    """Variables that each iteration sets before it reads them are declared where it does."""
    told = {word for line in _DIRECTIVE.findall(text(root)) for word in re.findall(r"\w+", line)}
    set_in = {
        loop.at: {*loop.private, loop.variable} - {*loop.lasting} - told for loop in facts.loops
    }
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
