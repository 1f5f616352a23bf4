"""Steps whose recipe leaves a model nothing to write: they are carried out without asking one.

Such a recipe has the new code, says that all else stays, and its code replaces one part of the text
whole: a directive before a loop, a nest of loops around its body. Not
here: recipes that a model finishes (beginning.py), and whether the result is right (the judge).
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.syntax import LOOPS, statements, text, tree_of, walk
from regraph_kg.search.prompts.beginning import DIRECTIVE, lines_up_to
from regraph_kg.search.prompts.heads import BODY
from regraph_kg.search.prompts.recipe import acts_at, opening

BY_RULE = "written by rule"  # the note on such a step's code
_KEPT = "Leave everything else as it is."
_BINDS = re.compile(r"#[ \t]*pragma[ \t]+omp[ \t]+(?!atomic\b|simd\b|parallel\b)")
"""A directive that cannot stand in a loop that becomes shared."""
_OF_LOOPS = frozenset({"for", "simd", "loop", "ivdep", "unroll", "nounroll"})


def carried_out(code: str, recipe: str) -> str:
    """The code after the step; "" where a model is to write it."""
    facts = facts_of(code)
    place = acts_at(recipe, facts) if recipe.endswith(_KEPT) and facts.read_whole else None
    new = opening(recipe, facts) if place is not None else ""
    if place is None or not new:
        return ""
    source = code.encode("utf-8", errors="replace")
    nodes = [node for node in walk(tree_of(code).root) if node.start_byte == place]
    loop = next((node for node in nodes if node.type in LOOPS), None)
    before, blanks = lines_up_to(code, place)
    if loop is not None and DIRECTIVE.fullmatch(new):
        gone = source[:place].count(b"pragma") - before.encode().count(b"pragma")
        [known] = [two.directives for two in facts.loops if two.at == place]
        fits = gone == len(known) and _takes(loop, known)
        return f"{before}{blanks}{new}\n{blanks}{source[place:].decode()}" if fits else ""
    end = next((end for node in nodes if (end := _end(node, new))), 0)
    read = next(((node.text or b"")[: end - place] for node in nodes if node.end_byte >= end), b"")
    if loop is not None:
        new = _nest(loop, new.replace("\n", f"\n{blanks}"))
    kept = end and new and read == source[place:end]  # else the tree has blanks for parts of it
    return f"{source[:place].decode()}{new}{source[end:].decode()}" if kept else ""


def _takes(loop: Node, directives: Sequence[str]) -> bool:
    """Whether a loop can take another directive in place of those that it has."""
    kept = [words for words in map(str.split, directives) if not _OF_LOOPS & {*words}]
    function = loop
    while function.parent is not None and function.type != "function_definition":
        function = function.parent
    constant = {"constexpr", "consteval"} & {*text(function).partition("{")[0].split()}
    return not (kept or constant or _BINDS.search(text(loop)))


def _end(node: Node, new: str) -> int:
    """The end of the text that `new` replaces, if `node` is the part that it replaces; else 0."""
    return node.end_byte if node.type in LOOPS and new.rstrip().endswith(("}", ";")) else 0


def _nest(loop: Node, new: str) -> str:
    """The new text of a perfect nest; "" if comments or directives between its heads were lost."""
    body = loop.child_by_field_name("body") if BODY in new else None
    while body is not None and len(inside := statements(body)) == 1 and inside[0].type in LOOPS:
        body = inside[0].child_by_field_name("body")
    kept = range(body.start_byte, body.end_byte) if body is not None else range(0)
    lost = (node for node in walk(loop) if node.start_byte not in kept)
    if any(node.type == "comment" or node.type.startswith("preproc") for node in lost):
        return ""
    if body is not None:
        return new.replace(BODY, text(body))
    alone = loop.parent is not None and loop.parent.type == "compound_statement"
    return new if alone else f"{{ {new} }}"
