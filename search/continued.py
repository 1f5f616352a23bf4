"""The code of an answer that was begun for the model, where its text is not the code.

A model that was to go on may begin anew, say the last line again, or write more than the one loop
that was asked for. What is in doubt stays as it stands. Not here: how an answer begins
(prompts/beginning.py), how code is read (extract.py).
"""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.code.syntax import LOOPS, text, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.mends.source import ParsedCode
from regraph_kg.search.prompts.beginning import FENCE
from regraph_kg.search.prompts.fences import blocks

ANEW = "begun again at the function's head"
TWICE = "a line said twice at the beginning"
ONE_LOOP = "all but one loop left as it was"
CLOSED = "the step's end put behind that loop"
LEFT_OUT = "left out what the answer changes behind that loop"
BEHIND = "left out what is no code behind the function"
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
        if prompt.rest and (loop := _one_loop(before, once, prompt, ended=ended)):
            meant = MendedCode(loop.code, notes + loop.done)
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
    namesakes = again.defining(opened.name)
    same = [function for function in namesakes if function.signature == opened.signature]
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


def _one_loop(before: str, written: str, prompt: Prompt, *, ended: bool) -> MendedCode | None:
    """The loop that was written between what stands before and behind it.

    None where there is none, where the answer is that already, or changes what is behind the loop:
    that may belong to it, unless the prompt says what is there.
    """
    rest = prompt.rest
    begin = len(before.encode("utf-8", errors="replace"))
    answer = ParsedCode(before + written)
    statements = _following(answer.root, begin)
    at = next((n for n, statement in enumerate(statements) if any(_loops(statement))), None)
    if at is None or any(statement.has_error for statement in statements[: at + 1]):
        return None  # what was cut has no end to go on from
    head, tail = statements[: at + 1], statements[at + 1 :]
    end = head[-1].end_byte
    whole = len((before + written).encode("utf-8", errors="replace"))
    if ended and normalized(answer.between(end, whole)) == normalized(rest):
        return None
    if prompt.closed:
        return MendedCode(answer.between(0, end) + rest, (CLOSED,))
    return _with_rest(answer, begin, head, tail, rest, ended=ended)


def _with_rest(
    answer: ParsedCode,
    begin: int,
    head: Sequence[Node],
    tail: Sequence[Node],
    rest: str,
    *,
    ended: bool,
) -> MendedCode | None:
    """The statements up to the loop, `head`, with the old rest; None for a change in `tail`."""
    end = head[-1].end_byte
    put = ParsedCode(answer.between(0, end) + rest)
    old = [node for node in _following(put.root, begin) if node.start_byte >= end]
    more = _up_to(tail, old)
    end = more[-1].end_byte if more else end
    theirs, ours = _own(answer, begin, end), _own(put, begin, head[-1].end_byte)
    function = _around(answer, begin)
    if ended and not function.has_error and theirs != ours:
        if not answer.root.has_error or function == answer.root:
            return None
        last = len(put.code.encode("utf-8", errors="replace"))
        behind = put.between(_around(put, begin).end_byte, last)
        return MendedCode(answer.between(0, function.end_byte) + behind, (BEHIND,))
    if _defined_behind(answer, begin, head):
        return None
    whole = len(answer.code.encode("utf-8", errors="replace"))
    changed = _words(answer.between(end, whole)) != _words(rest)
    mends = (ONE_LOOP, LEFT_OUT) if changed else (ONE_LOOP,)
    return MendedCode(answer.between(0, end) + rest, mends)


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


def _around(code: ParsedCode, begin: int) -> Node:
    """The file's top-level node around a byte."""
    tops = (child for child in code.root.children if child.start_byte < begin < child.end_byte)
    return next(tops, code.root)


def _own(code: ParsedCode, begin: int, end: int) -> list[str]:
    """The words behind a byte in the same function; braces and directives do not count."""
    lines = code.between(end, _around(code, begin).end_byte).splitlines()
    return _words("\n".join(line for line in lines if not line.lstrip().startswith("#")))


def _words(code: str) -> list[str]:
    return [word for word in normalized(code).split() if word not in "{}"]


def _defined_behind(answer: ParsedCode, begin: int, statements: Sequence[Node]) -> bool:
    """Whether `statements` name a function that is defined after their own."""
    end = _around(answer, begin).end_byte
    defined = {function.name for function in answer.functions if function.node.start_byte >= end}
    return any(text(node) in defined for statement in statements for node in walk(statement))


def _up_to(written: Sequence[Node], old: Sequence[Node]) -> Sequence[Node]:
    """The statements before the old code goes on; directives right before it belong to it."""
    if not old:
        return ()
    goes_on = normalized(text(old[0]))
    at = next((n for n, node in enumerate(written) if normalized(text(node)) == goes_on), 0)
    while at and written[at - 1].type == "preproc_call":
        at -= 1
    return written[:at]


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
