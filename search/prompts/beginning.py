"""How an answer begins that is begun for the model: with its fence and the head of its code.

Not here: what a server does with it (llm/).
"""

from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.syntax import LOOPS, text, tree_of, walk
from regraph_kg.search.prompts.recipe import acts_at

FENCE = "```cpp\n"
STOP = ("\n```",)
"""What ends such an answer."""


def beginning(code: str, entries: Sequence[str], recipe: str = "") -> str:
    """The fence, and the code up to the first place that a recipe names, pragmas before it aside.

    Where it names none, up to the body of the first function that is a kernel or has a loop, else
    of the one of `entries` that it defines.
    """
    place = acts_at(recipe, facts_of(code)) if recipe else None
    if place is not None:
        before = code.encode("utf-8", errors="replace")[:place].decode("utf-8", errors="replace")
        lines = before.splitlines(keepends=True)
        while lines and (not (line := lines[-1].strip()) or line.startswith("#pragma")):
            lines.pop()
        return FENCE + "".join(lines)
    defined = [
        (node, body)
        for node in walk(tree_of(code).root)
        if node.type == "function_definition" and (body := node.child_by_field_name("body"))
    ]
    working = (body for node, body in defined if _works(node, body))
    named = (body for node, body in defined if _name(node) in entries)
    body = next(working, None) or next(named, None)
    if body is None:
        return FENCE
    head = code.encode("utf-8", errors="replace")[: body.start_byte + 1]
    return FENCE + head.decode("utf-8", errors="replace") + "\n"


def _works(function: Node, body: Node) -> bool:
    """Whether a function does the work: where a thread has one element, no loop does."""
    kernel = any(one.type == "__global__" for one in walk(function))
    return kernel or any(one.type in LOOPS for one in walk(body))


def _name(function: Node) -> str:
    declarator = function.child_by_field_name("declarator")
    found = (one for one in walk(declarator) if "identifier" in one.type) if declarator else ()
    return text(next(iter(found), None))
