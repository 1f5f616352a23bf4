"""Steps whose recipe leaves a model nothing to write: they are carried out without asking one.

Such a recipe has the new code, says that all else stays, and its code replaces one part of the text
whole: a directive before a loop, a function's head, a launch, a nest of loops around its body. Not
here: recipes that a model finishes (beginning.py), and whether the result is right (the judge).
"""

from tree_sitter import Node

from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.syntax import LOOPS, statements, tree_of, walk
from regraph_kg.search.prompts.beginning import DIRECTIVE, lines_up_to
from regraph_kg.search.prompts.heads import BODY
from regraph_kg.search.prompts.recipe import acts_at, opening

BY_RULE = "written by rule"
"""The note on such a step's code."""
_KEPT = "Leave everything else as it is."


def carried_out(code: str, recipe: str) -> str:
    """The code after the step; "" where a model is to write it."""
    facts = facts_of(code)
    place = acts_at(recipe, facts) if recipe.endswith(_KEPT) else None
    new = opening(recipe, facts) if place is not None else ""
    source = code.encode("utf-8", errors="replace")
    if place is None or not new:
        return ""
    before, blanks = lines_up_to(code, place)
    new = new.replace("\n", f"\n{blanks}")
    if DIRECTIVE.fullmatch(new):
        return f"{before}{blanks}{new}\n{blanks}{source[place:].decode()}"
    end = next((end for node in walk(tree_of(code).root) if (end := _end(node, place, new))), 0)
    if BODY in new:
        inner = _innermost(tree_of(code).root, place)
        new = new.replace(BODY, source[inner.start_byte : inner.end_byte].decode() if inner else "")
        return f"{before}{blanks}{new}{source[end:].decode()}" if end and inner else ""
    return f"{source[:place].decode()}{new}{source[end:].decode()}" if end else ""


def _end(node: Node, place: int, new: str) -> int:
    """The end of the text that `new` replaces, if `node` is the part that it replaces."""
    if node.start_byte != place:
        return 0
    body = node.child_by_field_name("body")
    if node.type == "function_definition" and body is not None and new.endswith("{"):
        return body.start_byte + 1
    if node.type == "call_expression" and new.endswith("("):
        listed = node.child_by_field_name("arguments")
        return listed.start_byte + 1 if listed is not None else 0
    whole = node.type in LOOPS if new.rstrip().endswith(("}", ";")) else False
    return node.end_byte if whole or (node.type == "declaration" and new.endswith(";")) else 0


def _innermost(root: Node, place: int) -> Node | None:
    """The body of the innermost loop of a perfect nest that begins at a place."""
    loops = (node for node in walk(root) if node.type in LOOPS)
    loop = next((loop for loop in loops if loop.start_byte == place), None)
    body = loop.child_by_field_name("body") if loop is not None else None
    while body is not None and len(inside := statements(body)) == 1 and inside[0].type in LOOPS:
        body = inside[0].child_by_field_name("body")
    return body
