"""The user's function of a file that `problem new` made, apart from the entry that calls it.

A model rewrites the function alone; the wrapper around it stays.
Not here: how the wrapper is written (adopt/adapter.py); ports to CUDA (port.py).
"""

from regraph_kg.cpp.functions import functions, parsed
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import Port
from regraph_kg.port.host import PLACE
from regraph_kg.port.names import UnportableError
from regraph_kg.port.work import view_of, work_of


def own_function(problem: Problem) -> Port | None:
    """The file in three parts; None where the entry itself does the work."""
    source = parsed(PLACE, problem.serial_code.encode())
    try:
        work = work_of(problem, source).function
    except (UnportableError, BadInput):
        return None
    entry = next(
        (function for function in functions(source) if function.name == problem.entry), None
    )
    if entry is None or work.name == problem.entry:
        return None
    top = entry.node
    while top.parent is not None and top.parent.parent is not None:
        top = top.parent
    # The head ends behind the headers, and behind the class of views if there is one.
    heads = [n for n in source.tree.root_node.children if n.type == "preproc_include"]
    ends = [node.end_byte for node in (*heads, view_of(source)) if node is not None]
    first, last = max(ends, default=0), top.start_byte
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
