"""What an answer comes to that was begun for the model: its code, where that is not what it says.

A model that was to go on may begin anew, say the last line again, or write more than the one loop
that was asked for. What is in doubt stays as it stands. Not here: how an answer begins
(prompts/beginning.py), how code is read (extract.py).
"""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.code.syntax import LOOPS, declared_name, text, tree_of, walk
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
_SHORTEST = 8
"""Characters of a line that is not said twice by chance, as a brace is."""


def continued(prompt: Prompt, reply: Reply) -> Reply:
    """The reply with its code, where that is not what it says."""
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
    repeating = [one for one in blocks(answer) if one.startswith(before)]
    return repeating[-1][len(before) :] if repeating else None


def _anew(before: str, written: str) -> MendedCode | None:
    """The code of a model that defines the function once more whose head stands there already."""
    depth = before.count("{") - before.count("}")
    size = len(before.encode("utf-8", errors="replace"))
    heads = ParsedCode(before + "\n" + "}" * depth)
    opened = next((one for one in heads.functions if one.node.end_byte > size), None)
    if opened is None or not ParsedCode(written).defining(opened.name):
        return None
    return MendedCode(heads.between(0, opened.outer.start_byte) + written, (ANEW,))


def _once(before: str, written: str) -> str:
    """What is written, without the line that stands before it already."""
    first, last = written.lstrip(), (before.splitlines() or [""])[-1].strip()
    again = len(last) >= _SHORTEST and first.startswith(last)
    return first[len(last) :] if again else written


def _one_loop(before: str, written: str, rest: str, *, ended: bool) -> MendedCode | None:
    """The loop that was written between what stands before and behind it.

    None where there is none, where the answer is that already, or means more than one loop.
    """
    begin = len(before.encode("utf-8", errors="replace"))
    answer = ParsedCode(before + written)
    statements = _following(answer.root, begin)
    at = next((n for n, one in enumerate(statements) if any(_loops(one))), None)
    if at is None or any(one.has_error for one in statements[: at + 1]):
        return None  # what was cut has no end to go on from
    kept, behind = statements[: at + 1], statements[at + 1 :]
    end = kept[-1].end_byte
    tail = answer.between(end, len((before + written).encode("utf-8", errors="replace")))
    if ended and normalized(tail) == normalized(rest):
        return None
    head = answer.between(0, end)
    old = [one for one in _following(tree_of(head + rest).root, begin) if one.start_byte >= end]
    more = _up_to(behind, old)
    if more:
        head = answer.between(0, more[-1].end_byte)
    elif _belongs(answer, kept, behind, old):
        return None
    changed = [normalized(text(one)) for one in behind[len(more) :]] != [
        normalized(text(one)) for one in old
    ]
    return MendedCode(head + rest, (ONE_LOOP, LEFT_OUT) if changed else (ONE_LOOP,))


def _following(root: Node, begin: int) -> list[Node]:
    """The statements from a byte on, in the innermost block around it."""
    node: Node | None = root
    while node is not None:
        block = node
        node = next((one for one in node.children if one.start_byte < begin < one.end_byte), None)
    return [one for one in block.named_children if one.start_byte >= begin]


def _up_to(written: Sequence[Node], old: Sequence[Node]) -> Sequence[Node]:
    """What is written before the old code goes on; directives right before that belong to it."""
    if not old:
        return ()
    goes_on = normalized(text(old[0]))
    at = next((n for n, one in enumerate(written) if normalized(text(one)) == goes_on), 0)
    while at and written[at - 1].type == "preproc_call":
        at -= 1
    return written[:at]


def _belongs(
    answer: ParsedCode, kept: Sequence[Node], behind: Sequence[Node], old: Sequence[Node]
) -> bool:
    """Whether the kept statements mean little without those behind them that would be left out."""
    declared = {
        name
        for one in kept
        if one.type == "declaration"
        for part in one.children_by_field_name("declarator")
        if (name := declared_name(part))
    }
    ends = any(one.type == "return_statement" for node in kept for one in _outside_lambdas(node))
    loops = [sum(1 for node in nodes for _ in _loops(node)) for nodes in (behind, old)]
    defined = {one.name for one in answer.functions if one.node.start_byte > kept[-1].end_byte}
    calls_them = any(text(one) in defined for node in kept for one in walk(node))
    uses = any(text(one) in declared for node in behind for one in walk(node))
    return ends or loops[0] > loops[1] or calls_them or uses


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
