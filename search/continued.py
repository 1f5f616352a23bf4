"""What an answer comes to that was begun for the model: its code, where that is not what it says.

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
LEFT_OUT = "left out what the answer changes behind that loop"
_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_BLOCKS = frozenset({"translation_unit", "compound_statement", "ERROR"})
_SHORTEST = 8
"""Characters of a line that is not said twice by chance, as a brace is."""


def continued(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with its code, where that is not what it says, and how that is to be launched."""
    meant = _meant(prompt, reply)
    return meant.model_copy(update={"launch": prompt.launch}) if prompt.launch else meant


def _meant(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with what of it is meant."""
    before = prompt.begun.removeprefix(FENCE)
    written = _written(prompt.begun, reply.text) if before else None
    if written is None:
        return reply
    ended = reply.finish != "length"
    found = _anew(before, written) if ended else None
    if found is None:
        once = _once(before, written)
        said = (TWICE,) if once != written else ()
        found = MendedCode(before + once, said) if said and ended else None
        if prompt.rest and (loop := _one_loop(before, once, prompt.rest, ended=ended)):
            found = MendedCode(loop.code, said + loop.done)
    return reply.model_copy(update={"code": found.code, "mended": found.done}) if found else reply


def _written(begun: str, answer: str) -> str | None:
    """What follows the beginning; None where the answer has another one."""
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
    same = [one for one in again.defining(opened.name) if one.signature == opened.signature]
    if not same:
        return None
    first = [
        child for child in again.root.named_children if child.end_byte <= same[0].node.end_byte
    ]
    if any(one.has_error or one.type.endswith("statement") for one in first):
        return None  # it went on, and says it all once more behind that
    theirs = {normalized(again.text_of(child)) for child in again.root.children}
    front, at = "", 0
    for one in heads.root.children:
        if one.end_byte <= opened.outer.start_byte:
            known = normalized(heads.text_of(one)) in theirs
            front += "" if known else heads.between(at, one.end_byte)
            at = one.end_byte
    return MendedCode(f"{front}\n{written}".lstrip("\n"), (ANEW,))


def _once(before: str, written: str) -> str:
    """What is written, without the line that stands before it already."""
    first, last = written.lstrip(), (before.splitlines() or [""])[-1].strip()
    goes_on = not before.endswith("\n") and first.startswith(last)
    again = goes_on or first.partition("\n")[0].strip() == last
    return first[len(last) :] if again and len(last) >= _SHORTEST else written


def _one_loop(before: str, written: str, rest: str, *, ended: bool) -> MendedCode | None:
    """The loop that was written between what stands before and behind it.

    None where there is none, where the answer is that already, or changes what is behind the loop:
    that may belong to it.
    """
    begin = len(before.encode("utf-8", errors="replace"))
    answer = ParsedCode(before + written)
    statements = _following(answer.root, begin)
    at = next((n for n, one in enumerate(statements) if any(_loops(one))), None)
    if at is None or any(statement.has_error for statement in statements[: at + 1]):
        return None  # what was cut has no end to go on from
    kept, behind = statements[: at + 1], statements[at + 1 :]
    end = kept[-1].end_byte
    whole = len((before + written).encode("utf-8", errors="replace"))
    if ended and normalized(answer.between(end, whole)) == normalized(rest):
        return None
    put = ParsedCode(answer.between(0, end) + rest)
    old = [one for one in _following(put.root, begin) if one.start_byte >= end]
    more = _up_to(behind, old)
    end = more[-1].end_byte if more else end
    theirs, ours = _own(answer, begin, end), _own(put, begin, kept[-1].end_byte)
    if ended and not answer.root.has_error and theirs != ours:
        return None
    if _defined_behind(answer, begin, kept):
        return None
    changed = _words(answer.between(end, whole)) != _words(rest)
    done = (ONE_LOOP, LEFT_OUT) if changed else (ONE_LOOP,)
    return MendedCode(answer.between(0, end) + rest, done)


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
    """What of the file a byte is in."""
    tops = (child for child in code.root.children if child.start_byte < begin < child.end_byte)
    return next(tops, code.root)


def _own(code: ParsedCode, begin: int, end: int) -> list[str]:
    """The words behind a byte in the same function; braces and directives do not count."""
    lines = code.between(end, _around(code, begin).end_byte).splitlines()
    return _words("\n".join(line for line in lines if not line.lstrip().startswith("#")))


def _words(code: str) -> list[str]:
    return [word for word in normalized(code).split() if word not in "{}"]


def _defined_behind(answer: ParsedCode, begin: int, kept: Sequence[Node]) -> bool:
    """Whether kept statements name a function that is defined behind their own."""
    end = _around(answer, begin).end_byte
    defined = {function.name for function in answer.functions if function.node.start_byte >= end}
    return any(text(one) in defined for node in kept for one in walk(node))


def _up_to(written: Sequence[Node], old: Sequence[Node]) -> Sequence[Node]:
    """What is written before the old code goes on; directives right before that belong to it."""
    if not old:
        return ()
    goes_on = normalized(text(old[0]))
    at = next((n for n, one in enumerate(written) if normalized(text(one)) == goes_on), 0)
    while at and written[at - 1].type == "preproc_call":
        at -= 1
    return written[:at]


def _loops(node: Node) -> Iterator[Node]:
    return (one for one in _outside_lambdas(node) if one.type in LOOPS)


def _outside_lambdas(node: Node) -> Iterator[Node]:
    """A node and all in it that is done where it stands."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type != "lambda_expression":
            yield one
            waiting.extend(reversed(one.children))
