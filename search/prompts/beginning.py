"""How an answer begins that is begun for the model: with its fence and the head of its code.

Not here: what a server does with it (llm/).
"""

from regraph_kg.search.code.syntax import LOOPS, tree_of, walk

FENCE = "```cpp\n"
STOP = ("\n```",)
"""What ends such an answer."""


def beginning(code: str) -> str:
    """The fence, and all of the code up to the body of the first function that has a loop."""
    root = tree_of(code).root
    for node in walk(root):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None and any(one.type in LOOPS for one in walk(body)):
            head = code.encode("utf-8", errors="replace")[: body.start_byte + 1]
            return FENCE + head.decode("utf-8", errors="replace") + "\n"
    return FENCE
