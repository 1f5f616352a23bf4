"""The beginning of an answer that the model continues: its fence, and the code up to the body.

Not here: the server's part (llm/), and the finished answer (search/read_answer.py).
"""

from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.cpp.syntax import LOOPS, declared_name, tree_of, walk

FENCE = "```cpp\n"
STOP = ("\n```",)  # text that ends such an answer


def beginning(code: str, entries: Sequence[str]) -> str:
    """The fence, and the code up to the body of the first function that does the work.

    That is a kernel or has a loop; else one of `entries` counts.
    """
    defined = [
        (node, body)
        for node in walk(tree_of(code).root)
        if node.type == "function_definition" and (body := node.child_by_field_name("body"))
    ]
    working = (body for node, body in defined if _works(node))
    named = (body for node, body in defined if _name(node) in entries)
    body = next(working, None) or next(named, None)
    if body is None:
        return FENCE
    head = code.encode("utf-8", errors="replace")[: body.start_byte + 1]
    return FENCE + head.decode("utf-8", errors="replace") + "\n"


def _works(function: Node) -> bool:
    return any(node.type == "__global__" or node.type in LOOPS for node in walk(function))


def _name(function: Node) -> str:
    return declared_name(function.child_by_field_name("declarator"))
