"""What cannot be a problem: input and output, objects, state, chance.

By names, in what the function reaches; the sandbox stops what hides from that.
Not covered: state behind pointers of global objects.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.cpp.functions import CLASSES, CodeFile, Function
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
_UNDEFINED = re.compile(r"undefined reference to '(.*)'")


def uncompiled(function: Function, said: str, headers: Sequence[str]) -> BadInput:
    """What a compiler says of its code, by the user's line; `headers`: those that are not here."""
    first, shown, *_ = [*said.splitlines(), "", ""]
    path, what = function.source.path, f"{function.qualified} does not compile"
    if missing := _UNDEFINED.search(first):
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
    text = text.strip()
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
    for one in _reachable(function, [one for one in part.reached if one.name != "main"]):
        _writes_globals(one)
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


def _reachable(function: Function, known: list[Function]) -> list[Function]:
    """The function and those that it calls, by name."""
    by_name: dict[str, list[Function]] = {}
    for one in known:
        by_name.setdefault(one.name, []).append(one)
    found, waiting = [function], [function]
    while waiting:
        caller = waiting.pop()
        calls = (node for node in walk(caller.body) if node.type == "call_expression")
        named = (node.child_by_field_name("function") for node in calls)
        names = {caller.source.text(node).split("<")[0].split("::")[-1] for node in named if node}
        for one in (one for name in names for one in by_name.get(name, [])):
            if all(one.node.start_byte != other.node.start_byte for other in found):
                found.append(one)
                waiting.append(one)
    return found


def _writes_globals(function: Function) -> None:
    """Variables outside functions, and static ones in them, must not be written."""
    source = function.source
    own = {source.text(n) for p in function.parameters for n in walk(p) if n.type == "identifier"}
    for node in walk(function.body):
        if node.type == "declaration":
            kept = any(source.text(child) in ("static", "thread_local") for child in node.children)
            fixed = any(source.text(child) in ("const", "constexpr") for child in node.children)
            if kept and not fixed:
                raise _refused(
                    source, node, f"{function.qualified} keeps a static variable between calls"
                )
            if not kept:
                own |= {source.text(n) for n in walk(node) if n.type == "identifier"}
    shared = _globals(source) - own
    for node in walk(function.body):
        side = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
        target = node.child_by_field_name(side) if side else None
        while target is not None and target.type in ("subscript_expression", "field_expression"):
            target = target.child_by_field_name("argument")
        if target is not None and source.text(target) in shared:
            raise _refused(
                source,
                node,
                f"{function.qualified} writes {source.text(target)}, which is global; pass it",
            )


def _globals(source: CodeFile) -> set[str]:
    """Variables of file or namespace scope."""
    found, waiting = set[str](), [source.tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.type == "declaration":
            for declarator in node.children_by_field_name("declarator"):
                names = [n for n in walk(declarator) if n.type == "identifier"]
                if names and not any(n.type == "function_declarator" for n in walk(declarator)):
                    found.add(source.text(names[0]))
        elif node.type not in {"function_definition", *CLASSES}:
            waiting.extend(node.named_children)
    return found
