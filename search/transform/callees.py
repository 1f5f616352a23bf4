"""Bodies in place of calls, and counting `while` loops as `for`: a form of a code for patterns.

A pattern sees one function, and people put a loop into a helper. In place of a call within a loop
stands the body of a function of the same file that has a loop itself. What is taken is a short
list: one return at the end, no methods, overloads, templates, statics, macros, lambdas, recursion
or names that the caller has, too. Names are new, and arguments are read once.
"""

import re
from functools import lru_cache

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import (
    LOOPS,
    arguments,
    called,
    declared_name,
    inside_of,
    operator,
    statements,
    target,
    text,
    tree_of,
    walk,
)
from regraph_kg.cpp.syntax import parameters as parameters_of
from regraph_kg.search.transform import words
from regraph_kg.search.transform.words import COMPUTING, NoFitError

MOST_STEPS, LONGEST = 12, 2000  # calls and loops rewritten in a code; characters of a body
_ODD = re.compile(
    r"\b(static|goto|asm|throw|try|this|struct|class|union|enum|using|typedef|volatile|register|"
    r"decltype|template|case|\w*(lock|mutex|atomic)\w*|__func__)\b|[#\\]"
)
_SCOPES = ("struct_specifier", "class_specifier", "lambda_expression", "template_declaration")
_NAMES = ("identifier", "type_identifier", "namespace_identifier")
_BETWEEN = (  # from a call up to its statement: what is evaluated once
    *("parenthesized_expression", "binary_expression", "unary_expression", "argument_list"),
    *("call_expression", "cast_expression", "init_declarator", "assignment_expression"),
)
_HOLDERS = ("declaration", "expression_statement", "return_statement")


@lru_cache(maxsize=8)
def inlined(code: str) -> str:
    """The code with bodies in place of calls in loops, and `for` in place of `while`."""
    # a destructor would run later than it does
    for _ in range(0 if re.search(r"__global__|~\w+\(", code) else MOST_STEPS):
        edits, root = Edits(), tree_of(code).root
        for node in walk(root):
            try:
                if node.type == "while_statement":
                    _count(node, edits)
                elif node.type == "call_expression" and inside_of(node, LOOPS) is not None:
                    _inline(root, node, edits)
            except NoFitError:
                continue
            if edits.replacements:
                break
        if not edits.replacements:
            break
        code = edits.applied(code.encode())
    return code


def _demand(holds: object) -> None:
    if not holds:
        raise NoFitError


def _child(node: Node | None, field: str) -> Node:
    child = node.child_by_field_name(field) if node is not None else None
    if child is None:
        raise NoFitError
    return child


def _count(loop: Node, edits: Edits) -> None:
    """Make `int k = 0; while (k < n) { ..; ++k; }` a `for`, where `k` is not read after it."""
    before, body, block = loop.prev_named_sibling, _child(loop, "body"), loop.parent
    name, inner = declared_name(_child(before, "declarator")), statements(body)
    if before is None or before.type != "declaration" or block is None or not inner:
        raise NoFitError
    _demand(block.type == "compound_statement" and not re.search(r"[&,]|static", text(before)))
    last = inner[-1].named_children[0] if inner[-1].named_children else loop
    _demand(inner[-1].type == "expression_statement" and text(target(last)) == name)
    _demand(operator(last) in ("++", "--", "+=", "-="))
    _demand(all(node.type != "continue_statement" for node in walk(loop)))
    later = [node for node in block.children if node.start_byte >= loop.end_byte]
    _demand(name not in {text(one) for node in later for one in walk(node)})
    head = f"for ({text(before)} {text(_child(loop, 'condition')).strip()[1:-1]}; {text(last)}) "
    edits.put(before, "")
    edits.replacements.append((loop.start_byte, body.start_byte, head))
    edits.put(inner[-1], "")


def _inline(root: Node, call: Node, edits: Edits) -> None:
    """Put a body before a call's statement, and what it returns in the call's place."""
    functions = [node for node in walk(root) if node.type == "function_definition"]
    named = [declared_name(node.child_by_field_name("declarator")) for node in functions]
    _demand(named.count(called(call)) == 1 and _child(call, "function").type == "identifier")
    function = functions[named.index(called(call))]
    caller = inside_of(call, ("function_definition",))
    parameters = parameters_of(_child(function, "declarator"))
    # a macro may hold a name of the body
    used = {text(node) for node in walk(function) if node.type in _NAMES}
    _demand(not used & {*re.findall(r"#[ \t]*define[ \t]+(\w+)", text(root))})
    _check(function, caller, call, [declared_name(one) for one in parameters])
    statement, alone = _statement(function, call)
    taken = " ".join({text(node) for node in walk(root) if not node.child_count})
    number = next(one for one in range(1, 100) if not re.search(rf"_{one}\b", taken))
    inner, kind = statements(_child(function, "body")), text(_child(function, "type"))
    first, last = inner[0].start_byte - function.start_byte, inner[-1].end_byte
    code = (function.text or b"")[first : last - function.start_byte].decode()
    result = f"{called(call)}_result"
    if "return" in code:
        head, _, value = code.rpartition("return ")
        code = f"{head}const {kind} {result} = {value}"
    body, lines, values = code, "", dict[str, str]()
    shared = any("&" in text(one) and "const" not in text(one) for one in parameters)
    steady = not shared and {*words.calls(code)} <= COMPUTING
    offsets = dict[str, str]()
    for parameter, argument in zip(parameters, arguments(call), strict=True):
        written, name, base, offset = text(parameter), declared_name(parameter), argument, ""
        _demand(name and written.endswith(name))
        values[name] = f"{name}_{number}"
        elements = rf"(?<![\w.>]){name}\[[\w\s+*/%().-]*\]"  # of an index that is no sum's end
        pointer = len(re.findall(elements, body)) == len(re.findall(rf"\b{name}\b", body))
        if pointer and "*" in written and operator(argument) == "+":
            base, offset = argument.children[0], text(argument.children[2])
        stays = name not in words.changed(body) or pointer
        same = steady and stays and "&" not in written and ("*" not in written or pointer)
        if not same or _is_aliased(name, body) or not _is(text(base), _kind(parameter), caller):
            lines += f"{written.removesuffix(name)}{values[name]} = {text(argument)};\n"
        elif offset:
            lines += f"const long {name}_at_{number} = {offset};\n"
            offsets[f"{values[name]}["] = f"{text(base)}[{name}_at_{number} + "
        else:
            values[name] = text(base)
    code = words.copy(code, number, values=values)
    for before, after in offsets.items():
        code = code.replace(before, after)
    block = statement.parent is not None and statement.parent.type == "compound_statement"
    edits.insert(statement.start_byte, f"{'' if block else '{'}{lines}{code}\n")
    edits.put(*((statement, "") if alone else (call, f"{result}_{number}")))
    edits.insert(statement.end_byte, "" if block else "\n}")


def _check(function: Node, caller: Node | None, call: Node, given: list[str]) -> None:
    """Refuse functions and callers that are not of the list."""
    body, declarator = _child(function, "body"), _child(function, "declarator")
    if caller is None or len(text(body)) > LONGEST or _ODD.search(text(body)):
        raise NoFitError
    nodes, space = [*walk(body)], inside_of(function, ("namespace_definition",))
    _demand(declarator.type == "function_declarator" and text(_child(function, "type")) != "auto")
    _demand(any(node.type in LOOPS for node in nodes) and function.end_byte < call.start_byte)
    _demand(called(call) not in words.calls(text(body)) and "goto" not in text(caller))
    _demand(space is None or not text(space.child_by_field_name("name")))
    _demand(inside_of(function, _SCOPES) is inside_of(call, _SCOPES) is None)
    _demand("::" not in text(_child(caller, "declarator")).partition("(")[0])
    listed = _child(declarator, "parameters").named_children
    _demand(len(listed) == len(given) == len(arguments(call)))
    returns = [node for node in nodes if node.type == "return_statement"]
    _demand(text(body).count("return") == text(body).count("return ") == len(returns) <= 1)
    _demand(not returns or (returns[0] == statements(body)[-1] and returns[0].named_children))
    _demand(not any(node.type in ("labeled_statement", "function_declarator") for node in nodes))
    own = {*words.declared(text(body))}
    free = {text(node) for node in nodes if node.type in _NAMES} - own - {*given}
    known = {*words.declared(text(_child(caller, "body")))}
    known |= {*map(declared_name, parameters_of(caller))}
    _demand(not (free | {called(call)}) & known and not own & {*given})


def _statement(function: Node, call: Node) -> tuple[Node, bool]:
    """The statement before which a body may run, and whether it is the call alone."""
    node = call
    while node.parent is not None and node.parent.type in _BETWEEN:
        above = node.parent
        late = above.type == "binary_expression" and operator(above) in ("&&", "||", "<<", ">>")
        _demand(not late or above.children[0] == node)
        _demand(above.type != "assignment_expression" or _child(above, "right") == node)
        node = above
    holder = node.parent
    if holder is None or holder.type not in _HOLDERS or holder.parent is None:
        raise NoFitError
    around = holder.parent.type in ("compound_statement", "else_clause", "if_statement")
    _demand(around or holder == _child(holder.parent, "body"))
    last = holder.prev_sibling
    _demand(last is None or last.type != "preproc_call")  # a directive
    _demand(not re.match(r"(static|thread_local|constexpr)\b", text(holder)))
    _demand(len(holder.children_by_field_name("declarator")) <= 1)
    _demand(not any(target(one) is not None and one != node for one in walk(node)))
    # another function may read what the body writes, or write what it reads
    whole = node.child_by_field_name("right") or node.child_by_field_name("value") or node
    body = text(_child(function, "body"))
    writes = {*words.changed(body)} - {*words.declared(body)} or {*words.calls(body)} - COMPUTING
    others = [one for one in walk(node) if one.type == "call_expression" and one != call]
    mild = {*map(called, others)} <= COMPUTING | {called(call)}
    _demand(whole == call or (mild and not writes))
    within = [one for one in others if call.start_byte <= one.start_byte < call.end_byte]
    _demand({*map(called, within)} <= COMPUTING)
    alone = node == call and holder.type == "expression_statement"
    _demand(alone == (text(_child(function, "type")) == "void"))
    return holder, alone


def _is(name: str, kind: str, caller: Node | None) -> bool:
    """Whether a variable of a caller has a type, is declared once, and has no second name."""
    kinds = list[str]()
    for node in walk(caller) if caller is not None else ():
        listed = node.children_by_field_name("declarator")
        if node.type.endswith("declaration") and name in map(declared_name, listed):
            kinds.append(_kind(node))
    return name.isidentifier() and kinds == [kind] and not _is_aliased(name, text(caller))


def _is_aliased(name: str, code: str) -> bool:
    """Whether a variable may have a second name, by its address or a reference."""
    second = rf"(?<!&)&(?!&)\s*\(?\s*{name}\b(?!\s*[\[.-])|&\s*\w+\s*[=({{]\s*{name}\b"
    return re.search(second, code) is not None


def _kind(declaration: Node) -> str:
    """A variable's type without qualifiers; that of several variables is no type."""
    found = declaration.children_by_field_name("declarator")
    written = text(found[0]).partition("=")[0] if len(found) == 1 else "?"
    return text(declaration.child_by_field_name("type")) + re.sub(r"\w+|\s", "", written)
