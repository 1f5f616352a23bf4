"""The user's function of a file that `problem new` made, apart from the entry that calls it.

A model rewrites the function alone; the wrapper around it stays.
Not here: how the wrapper is written (adopt/adapter.py); ports to CUDA (port.py).
"""

from pathlib import Path

from tree_sitter import Node

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.cpp.syntax import CodeFile, functions, parsed
from regraph_kg.evaluation.port.edits import UnportableError
from regraph_kg.evaluation.port.work import view_of, work_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import Port

_PLACE = Path("serial.cpp")


def own_function(problem: Problem) -> Port | None:
    """The file in three parts; None where the entry itself does the work."""
    source = parsed(_PLACE, problem.serial_code.encode())
    try:
        work = work_of(problem, source).function
    except (UnportableError, BadInput):
        return None
    entry = next(
        (function for function in functions(source) if function.name == problem.entry), None
    )
    if entry is None or work.name == problem.entry:
        return None
    first, last = _head_end(source), _top(entry.node).start_byte
    if not first <= work.node.start_byte < last:
        return None
    content = problem.serial_code.encode()
    signature = content[work.node.start_byte : work.body.start_byte].decode()
    return Port(
        entry=problem.entry,
        head=content[:first].decode().rstrip("\n"),
        start=content[first:last].decode().strip("\n") + "\n",
        tail=content[last:].decode(),
        signature=" ".join(signature.split()),
        function=work.name,
    )


def _head_end(source: CodeFile) -> int:
    """The offset where the headers end, and the class of views if there is one."""
    ends = [0]
    for node in source.tree.root_node.children:
        if node.type == "preproc_include":
            ends.append(node.end_byte)
    view = view_of(source)
    if view is not None:
        ends.append(view.end_byte)
    return max(ends)


def _top(node: Node) -> Node:
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
    return node
