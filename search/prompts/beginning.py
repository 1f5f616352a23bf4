"""The beginning of an answer that the model continues, and the code after the loop it writes.

Not here: the server's part (llm/), and the finished answer (search/read_answer.py).
"""

import re
from collections.abc import Sequence
from textwrap import indent

from tree_sitter import Node

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.syntax import LOOPS, text, tree_of, walk
from regraph_kg.search.prompts.heads import BODY
from regraph_kg.search.prompts.recipe import acts_at, opening

FENCE = "```cpp\n"
STOP = ("\n```",)  # text that ends such an answer
_LINES = re.compile(r"(?:[^\\\n]|\\\r?\n|\\)+\n?|\n")  # lines, backslashes followed
_BLANKS = re.compile(r"[ \t]*")
_OF_LOOP = re.compile(
    r"[ \t]*#[ \t]*pragma\s+(?:(?:GCC\s+)?(?:ivdep|(?:no)?unroll)|clang\s+loop"
    r"|omp\s+(?!declare|cancel)(?:\w+\s+)*(?:for|simd|loop|parallel))\b"
)
"""A directive that belongs to the loop behind it, and goes with a new one."""
DIRECTIVE = re.compile(r"#.*")


def beginning(code: str, entries: Sequence[str], recipe: str = "") -> str:
    """The fence, and the code up to the first place that a recipe names, without pragmas before it.

    The recipe's new code for that place follows, if it has any. Without a place the code goes up to
    the body of the first function that is a kernel or has a loop, else of one of `entries`.
    """
    place = acts_at(recipe, facts_of(code)) if recipe else None
    if place is not None:
        before, blanks = lines_up_to(code, place)
        opened = opening(recipe, facts_of(code))
        ended = "\n" if DIRECTIVE.fullmatch(opened) else ""  # else models add clauses to it
        return FENCE + before + indent(opened, blanks) + ended
    defined = [
        (node, body)
        for node in walk(tree_of(code).root)
        if node.type == "function_definition" and (body := node.child_by_field_name("body"))
    ]
    # it does the work: it is a kernel or has a loop
    working = (
        body
        for node, body in defined
        if any(inner.type == "__global__" or inner.type in LOOPS for inner in walk(node))
    )
    named = (body for node, body in defined if _name(node) in entries)
    body = next(working, None) or next(named, None)
    if body is None:
        return FENCE
    head = code.encode("utf-8", errors="replace")[: body.start_byte + 1]
    return FENCE + head.decode("utf-8", errors="replace") + "\n"


def lines_up_to(code: str, place: int) -> tuple[str, str]:
    """The lines before a place, without pragmas right before it, and the blanks of its line."""
    before = code.encode("utf-8", errors="replace")[:place].decode("utf-8", errors="replace")
    blanks = _BLANKS.match(before.rpartition("\n")[2])
    return _without_directives(before), blanks[0] if blanks else ""


def _without_directives(before: str) -> str:
    """Complete lines, without the directives of the loop behind them."""
    lines = _LINES.findall(before)
    if lines and not lines[-1].strip(" \t"):
        lines.pop()
    kept = len(lines)
    for at in reversed(range(len(lines))):
        if _OF_LOOP.match(lines[at]):
            kept = at
        elif lines[at].strip():
            break
    prefix = "".join(lines[:kept])
    return prefix if not prefix or prefix.endswith("\n") else f"{prefix.rstrip()}\n"


def remainder(code: str, recipe: str) -> str:
    """The code after the loop that a recipe names, if the recipe has what ends it; else ""."""
    facts = facts_of(code)
    ending = opening(recipe, facts, "$end")
    place = acts_at(recipe, facts) if ending else None
    loops = (node for node in walk(tree_of(code).root) if node.type in LOOPS)
    loop = next((loop for loop in loops if loop.start_byte == place), None)
    if loop is None:
        return ""
    source = code.encode("utf-8", errors="replace")
    ending = indent(ending, lines_up_to(code, loop.start_byte)[1])
    ending = ending.replace(BODY, text(loop.child_by_field_name("body")))
    return f"\n{ending}{source[loop.end_byte :].decode()}"


def _name(function: Node) -> str:
    declarator = function.child_by_field_name("declarator")
    names = (node for node in walk(declarator) if "identifier" in node.type) if declarator else ()
    return text(next(iter(names), None))
