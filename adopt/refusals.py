"""What cannot be a problem: input and output, objects, state, chance.

By names, in what the function reaches; the sandbox stops what hides from that.
Not covered: state behind pointers of global objects.
"""

import re
from collections.abc import Mapping, Sequence

from tree_sitter import Node

from regraph_kg.adopt.adapter import MARK
from regraph_kg.cpp.functions import CodeFile, Function, names_of
from regraph_kg.cpp.reached import Reached
from regraph_kg.cpp.slice import Slice
from regraph_kg.cpp.syntax import walk
from regraph_kg.errors import BadInput

_DOES = {
    "prints": "printf puts putchar cout cerr clog perror",
    "writes a file": "fprintf fwrite fputs fputc ofstream fstream",
    "reads a file": "fopen fread fscanf fgets ifstream open mmap",
    "reads input": "scanf cin getline getchar",
    "draws at random": "rand srand drand48 random_device",
    "starts a process": "system popen fork execv execl",
    "ends the program": "exit abort _exit quick_exit",
    "reads its environment": "getenv setenv",
}
_SPEAKS = {name: does for does, names in _DOES.items() for name in names.split()}
_LEADING = {"pointer_declarator", "reference_declarator"}  # to what may change elsewhere
_UNDEFINED = re.compile(r"undefined reference to [`'](.*)'")


def uncompiled(function: Function, said: str, headers: Sequence[str]) -> BadInput:
    """What a compiler says of its code, by the user's line; `headers`: those that are not here."""
    first, shown, *_ = [*said.splitlines(), "", ""]
    path, what = function.source.path, f"{function.qualified} does not compile"
    if missing := _UNDEFINED.search(said):
        return BadInput(
            f"{path}: {function.qualified} calls {missing[1]}, which neither the file nor a header"
            " beside it defines; put its definition there"
        )
    said = re.sub(r"^candidate\.cpp:[\d:]* (?:fatal )?(?:error: )?", "", first)[:300]
    why = f"; headers that are not here: {', '.join(headers[:5])}" if headers else ""
    if path.suffix == ".c":
        why += "; a .c file is read as C++: cast what is void*, rename what C++ keeps for itself"
    return BadInput(f"{path}{own_line(function, shown)}: {what}: {said}{why}")


def own_line(function: Function, text: str) -> str:
    """The line of the user's file that a line of other code came from, and what it says."""
    text = re.sub(r"^\s*\d+ \| ?", "", text).strip()  # g++ shows a line behind its number
    if not text:
        return ""
    own = function.source.original.decode().split("\n")
    inside = range(function.outer.start_point.row, function.outer.end_point.row + 1)
    rows = [row for row, said in enumerate(own) if said.strip() == text]
    row = next((row for row in rows if row in inside), rows[0] if rows else None)
    return f" ({text[:80]})" if row is None else f", line {row + 1} ({text[:80]})"


def refuse(function: Function, part: Slice) -> None:
    """Raise `BadInput` with line and reason where the function cannot be a problem."""
    source, node = function.source, function.node
    is_static = any(source.text(child) == "static" for child in node.children)
    if function.method_of is not None and not is_static:  # there is no object to call it on
        why = f"{function.qualified} is called on an object; make it static, and pass what it reads"
        raise _refused(source, node, why)
    known = {one.name: one for one in part.reached if one.name != "main"}
    reached = Reached(source.tree.root_node, {name: one.node for name, one in known.items()})
    shared = _changing(source, reached)
    for node in (node for node in source.outline if node.type == "function_definition"):
        if source.text(node).replace("\r\n", "\n") in part.text:  # operators, too
            head = source.text(node.child_by_field_name("declarator") or node)
            _keeps_no_state(source, node, head.partition("(")[0].lstrip("*& "), shared)
    names = reached.of(function.name)
    for one in (one for one in part.reached if one.name in names):
        own = {one.source.text(n) for p in one.parameters for n in walk(p) if not n.child_count}
        for node in walk(one.body):
            is_name = node.type in ("identifier", "type_identifier")
            name = one.source.text(node) if is_name else ""
            is_member = node.parent is not None and node.parent.type == "field_expression"
            if name in _SPEAKS and not is_member and name not in own:
                why = f"{one.qualified} {_SPEAKS[name]} ({name}); take that out of the function"
                raise _refused(one.source, node, why)
            if name == "const_cast":
                why = "const_cast: what is const may be written; pass it without const"
                raise _refused(one.source, node, why)
            if node.type in ("co_await_expression", "co_yield_statement", "asm_declaration"):
                raise _refused(one.source, node, f"{node.type.split('_')[0]} is not understood")


def _refused(source: CodeFile, node: Node, why: str) -> BadInput:
    return BadInput(f"{source.path}, line {source.line(node)}: {why}")


def _keeps_no_state(
    source: CodeFile, function: Node, called: str, shared: Mapping[str, str]
) -> None:
    """Raise `BadInput` where it keeps or uses what may change, or calls an answer already."""
    own = set[str]()
    if MARK in source.text(function):
        why = "calls an answer already; take that back first (regraph apply RUN --undo)"
        raise _refused(source, function, f"{called} {why}")
    for node in walk(function):
        words = {source.text(child) for child in node.children}
        is_kept = node.type == "declaration" and {"static", "thread_local"} & words
        if is_kept and not {"const", "constexpr"} & words:
            raise _refused(source, node, f"{called} keeps a static variable between calls")
        for declarator in node.children_by_field_name("declarator"):
            if node.type.endswith(("declaration", "loop")):
                own |= {source.text(name) for name in names_of(declarator)}
    for node in walk(function):
        name, above = source.text(node) if node.type == "identifier" else "", node.parent
        is_scoped = above is not None and above.type == "qualified_identifier"
        if name in shared and (is_scoped or name not in own):
            why = f"{called} uses {shared[name]}, which is global and may change"
            raise _refused(source, node, f"{why}: pass it, or make it constexpr or const")


def _changing(source: CodeFile, reached: Reached) -> dict[str, str]:
    """Variables outside of functions that may change, by their names and those of macros."""
    found = dict[str, str]()
    for node in source.outline:
        words = {source.text(child) for child in node.children}
        is_member = node.type == "field_declaration" and "static" in words
        if not (is_member or node.type == "declaration") or {"constexpr", "extern"} & words:
            continue
        for declarator in node.children_by_field_name("declarator"):
            kinds, value = set[str](), declarator.child_by_field_name("value")
            name = at = next(iter(names_of(declarator)), None)
            while at is not None and at.id != node.id:
                kinds.add(at.type)
                at = at.parent
            is_function = "function_declarator" in kinds and "parenthesized_declarator" not in kinds
            is_function = is_function or (value is not None and value.type == "lambda_expression")
            if name and not (is_function or ("const" in words and not kinds & _LEADING)):
                found[source.text(name)] = source.text(name)
    macros = ((m, w) for m in reached.macros for w in reached.words_of(m) if w in found)
    return dict(macros) | found
