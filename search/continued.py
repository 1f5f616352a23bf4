"""The code of an answer that was begun for the model, where its text is not the code.

A model that was to go on may begin anew, say the last line again, or write another end than the
step has. What is in doubt stays as it stands. Not here: how an answer begins
(prompts/beginning.py), how code is read (extract.py).
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.code.syntax import LOOPS
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.mends.source import ParsedCode
from regraph_kg.search.prompts.beginning import FENCE
from regraph_kg.search.prompts.fences import blocks

ANEW = "begun again at the function's head"
TWICE = "a line said twice at the beginning"
CLOSED = "the step's end put behind that loop"
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_BLOCKS = frozenset({"translation_unit", "compound_statement", "ERROR"})
_SHORTEST = 8
"""Fewest characters of a line whose repetition is no chance, as a brace's is."""


def continued(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with its code, where that is not what it says, and how that is to be launched."""
    meant = _meant(prompt, reply)
    return meant.model_copy(update={"launch": prompt.launch}) if prompt.launch else meant


def _meant(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with the code that it means."""
    before = prompt.begun.removeprefix(FENCE)
    written = _written(prompt.begun, reply.text) if before else None
    if written is None:
        return reply
    ended = reply.finish != "length"
    meant = _anew(before, written) if ended else None
    if meant is None:
        once = _once(before, written)
        notes = (TWICE,) if once != written else ()
        meant = MendedCode(before + once, notes) if notes and ended else None
        if prompt.rest and (closed := _closed(before, once, prompt.rest)):
            meant = MendedCode(closed.code, notes + closed.done)
    return reply.model_copy(update={"code": meant.code, "mended": meant.done}) if meant else reply


def _written(begun: str, answer: str) -> str | None:
    """The text after the beginning; None where the answer begins otherwise."""
    if answer.startswith(begun):
        rest = answer[len(begun) :]
        if rest.lstrip().startswith("```"):  # a fence of its own
            rest = rest.lstrip().partition("\n")[2]
        end = _FENCE.search(rest)
        return rest[: end.start()] if end else rest
    before = begun.removeprefix(FENCE)
    repeating = [block for block in blocks(answer) if block.startswith(before)]
    return repeating[-1][len(before) :] if repeating else None


def _anew(before: str, written: str) -> MendedCode | None:
    """The code of a model that defines the function once more whose head stands there already."""
    depth = before.count("{") - before.count("}")
    size = len(before.encode("utf-8", errors="replace"))
    heads, again = ParsedCode(before + "\n" + "}" * depth), ParsedCode(written)
    opened = next((function for function in heads.functions if function.node.end_byte > size), None)
    if opened is None:
        return None
    same = again.defining(opened.name)
    if not same:
        return None
    first = [
        child for child in again.root.named_children if child.end_byte <= same[0].node.end_byte
    ]
    if any(child.has_error or child.type.endswith("statement") for child in first):
        return None  # it went on, and says it all once more behind that
    theirs = {normalized(again.text_of(child)) for child in again.root.children}
    front, at = "", 0
    for child in heads.root.children:
        if child.end_byte <= opened.outer.start_byte:
            repeated = normalized(heads.text_of(child)) in theirs
            front += "" if repeated else heads.between(at, child.end_byte)
            at = child.end_byte
    return MendedCode(f"{front}\n{written}".lstrip("\n"), (ANEW,))


def _once(before: str, written: str) -> str:
    """The continuation without a repeated last line of the beginning."""
    first, last = written.lstrip(), (before.splitlines() or [""])[-1].strip()
    goes_on = not before.endswith("\n") and first.startswith(last)
    again = goes_on or first.partition("\n")[0].strip() == last
    if not again or len(last) < _SHORTEST:
        return written
    return first[len(last) :].removeprefix("\n" if before.endswith("\n") else "")


def _closed(before: str, written: str, rest: str) -> MendedCode | None:
    """The loop that was written, with the code that stands behind it; None where none ends."""
    begin = len(before.encode("utf-8", errors="replace"))
    answer = ParsedCode(before + written)
    statements = _following(answer.root, begin)
    at = next((n for n, statement in enumerate(statements) if any(_loops(statement))), None)
    if at is None or any(statement.has_error for statement in statements[: at + 1]):
        return None  # what was cut has no end to go on from
    return MendedCode(answer.between(0, statements[at].end_byte) + rest, (CLOSED,))


def _following(root: Node, begin: int) -> list[Node]:
    """The statements that end behind a byte, in the innermost block around it."""
    node: Node | None = root
    block = root
    while node is not None:
        block = node if node.type in _BLOCKS else block
        node = next(
            (child for child in node.children if child.start_byte < begin < child.end_byte), None
        )
    return [child for child in block.named_children if child.end_byte > begin]


def _loops(node: Node) -> Iterator[Node]:
    return (inner for inner in _outside_lambdas(node) if inner.type in LOOPS)


def _outside_lambdas(node: Node) -> Iterator[Node]:
    """A node and its descendants outside of lambdas."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type != "lambda_expression":
            yield inner
            waiting.extend(reversed(inner.children))
