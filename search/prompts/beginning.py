"""How an answer begins that is begun for the model, and what follows the loop that it is to write.

Not here: what a server does with it (llm/).
"""

from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.syntax import LOOPS, text, tree_of, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.recipe import acts_at, opening

FENCE = "```cpp\n"
STOP = ("\n```",)
"""What ends such an answer."""
_KEPT = "Leave everything else as it is."
"""Ends a recipe that changes the one loop that it names."""


def beginning(code: str, entries: Sequence[str], recipe: str = "") -> str:
    """The fence, and the code up to the first place that a recipe names, pragmas before it aside.

    There follows the new code that the recipe has for that place, where it has any. Where it
    names none, up to the body of the first function that is a kernel or has a loop, else of the one
    of `entries` that it defines.
    """
    place = acts_at(recipe, facts_of(code)) if recipe else None
    if place is not None:
        before = code.encode("utf-8", errors="replace")[:place].decode("utf-8", errors="replace")
        lines = before.splitlines(keepends=True)
        indent = " " * (len(lines[-1]) if lines and not lines[-1].strip("\t ") else 0)
        while lines and (not (line := lines[-1].strip()) or line.startswith("#pragma")):
            lines.pop()
        opened = opening(recipe, facts_of(code))
        return FENCE + "".join(lines) + (indent + opened if opened else "")
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


def rest(code: str, recipe: str) -> str:
    """The code after the loop that a recipe names, where all else is to stay; else ""."""
    place = acts_at(recipe, facts_of(code)) if recipe.endswith(_KEPT) else None
    loops = (one for one in walk(tree_of(code).root) if one.type in LOOPS)
    end = next((one.end_byte for one in loops if one.start_byte == place), None)
    return "" if end is None else code.encode("utf-8", errors="replace")[end:].decode()


def put_together(prompt: Prompt, reply: Reply) -> Reply:
    """A reply with the code that its loop makes, where it changes more than the loop asked for."""
    before = prompt.begun.removeprefix(FENCE)
    at = reply.text.find(before)
    if not prompt.rest or not before or at < 0:
        return reply
    answer = reply.text[at:].encode("utf-8", errors="replace")
    begin = len(before.encode("utf-8", errors="replace"))
    nodes = walk(tree_of(answer.decode("utf-8", errors="replace")).root)
    node = next((one for one in nodes if one.type in LOOPS and one.start_byte >= begin), None)
    while node is not None and node.parent is not None and node.parent.start_byte >= begin:
        node = node.parent
    if node is None or node.has_error:  # what was cut has no end to go on from
        return reply
    written, after = (
        part.decode("utf-8", errors="replace")
        for part in (answer[: node.end_byte], answer[node.end_byte :])
    )
    if normalized(after.strip().removesuffix(STOP[0].strip())) == normalized(prompt.rest):
        return reply
    return reply.model_copy(update={"code": written + prompt.rest})


def _works(function: Node, body: Node) -> bool:
    """Whether a function does the work: where a thread has one element, no loop does."""
    kernel = any(one.type == "__global__" for one in walk(function))
    return kernel or any(one.type in LOOPS for one in walk(body))


def _name(function: Node) -> str:
    declarator = function.child_by_field_name("declarator")
    found = (one for one in walk(declarator) if "identifier" in one.type) if declarator else ()
    return text(next(iter(found), None))
