"""The code in a model's answer, or the reason why it holds none.

An answer holds one fenced block that defines what is asked for. One that was begun for the model
(`continued`) may be closed for it, too; one that shares a kernel out among threads, and leaves its
launch, gets the step's new launch (`launched`). What is in doubt is not guessed. Not here: whether
the code is right.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.launches import launches_of
from regraph_kg.cpp.syntax import LOOPS, tree_of, walk
from regraph_kg.cpp.syntax import text as text_of
from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.prompt import NewLaunch, Prompt, Reply
from regraph_kg.search.prompts.beginning import FENCE
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.prompts.fences import blocks, loosened

LONGEST_CODE = 60_000  # characters; what is longer is no answer but a model that runs on
CLOSED = "the step's end put behind that loop"
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_BEHIND_CODE = re.compile(r"^(.*[^\s`])(`{3,})[ \t]*$", re.MULTILINE)
_NUMBERS = frozenset({"threadIdx.x", "blockIdx.x"})
_BLOCKS = frozenset({"translation_unit", "compound_statement", "ERROR"})


@dataclass(frozen=True, slots=True)
class MendedCode:
    """Code that can be judged, and notes of what was mended in its form: usually none."""

    code: str
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


def parse(reply: Reply, *entries: str, current: str = "") -> str | ParseFailure:
    """The code of the one fenced block that calls or defines one of `entries`.

    A block that repeats `current`, the code that the prompt showed, does not count beside others.
    Of several that mention an entry the one that defines it counts.
    """
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    if not reply.text.strip():
        return ParseFailure("the answer is empty")
    entry, names = entries[0], "|".join(map(re.escape, entries))
    calls = re.compile(rf"\b(?:{names})\s*\(")
    candidates = _closed_blocks(reply.text)
    named = [block for block in candidates if calls.search(block)]
    for text in () if named else loosened(reply.text):
        named = named or [block for block in _closed_blocks(text) if calls.search(block)]
    distinct = {normalized(block): block for block in named}
    if len(distinct) > 1:
        # models like to say what they start from
        distinct.pop(normalized(current), None)
    chosen = list(distinct.values())
    if len(chosen) > 1:
        defines = re.compile(rf"\b(?:{names})\s*\([^;{{}}]*\)\s*{{")
        chosen = [block for block in chosen if defines.search(block)] or chosen
    if len(chosen) > 1:
        return ParseFailure(f"{len(chosen)} code blocks define {entry}; give exactly one")
    if not chosen:
        whole = "complete code block between two lines of ```"
        what = f"code block that defines {entry}" if candidates else whole
        return ParseFailure(f"the answer has no {what}")
    if len(chosen[0]) > LONGEST_CODE:
        return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")
    return chosen[0]


def _closed_blocks(text: str) -> list[str]:
    """The blocks of an answer; one that its end leaves open is one all the same."""
    # small models often end without the last fence
    if len(_FENCE.findall(text)) % 2:
        text = _BEHIND_CODE.sub(r"\1\n\2", text)
    marks = _FENCE.findall(text)
    end = marks[-1][0] * max(map(len, marks)) if len(marks) % 2 else ""
    return blocks(f"{text}\n{end}")


def read_code(reply: Reply, entries: Sequence[str], current: str = "") -> MendedCode | ParseFailure:
    """The code of an answer to a search's prompt, which showed `current`."""
    if BY_RULE in reply.mended:
        return MendedCode(reply.code, reply.mended)
    # code that only repeats the current one is no answer: the change stands in the text
    if normalized(reply.code) not in ("", normalized(current)):
        return MendedCode(reply.code, reply.mended)
    code = parse(reply, *entries, current=current)
    return code if isinstance(code, ParseFailure) else MendedCode(code)


def continued(prompt: Prompt, reply: Reply) -> Reply:
    """A begun answer with its launch; the end of a step stands behind the loop that was written."""
    if prompt.launch:
        reply = reply.model_copy(update={"launch": prompt.launch})
    before = prompt.begun.removeprefix(FENCE)
    written = _written(prompt.begun, reply.text) if before and prompt.rest else None
    code = None if written is None else _closed(before, written, prompt.rest)
    return reply if code is None else reply.model_copy(update={"code": code, "mended": (CLOSED,)})


def _written(begun: str, answer: str) -> str | None:
    """The text after the beginning; None where the answer begins otherwise."""
    if not answer.startswith(begun):
        before = begun.removeprefix(FENCE)
        repeating = [block for block in blocks(answer) if block.startswith(before)]
        return repeating[-1][len(before) :] if repeating else None
    rest = answer[len(begun) :]
    if rest.lstrip().startswith("```"):  # a fence of its own
        rest = rest.lstrip().partition("\n")[2]
    end = _FENCE.search(rest)
    return rest[: end.start()] if end else rest


def _closed(before: str, written: str, rest: str) -> str | None:
    """The code up to the end of the loop that was written, and `rest`; None where none ends."""
    begin, content = len(before.encode("utf-8", "replace")), before + written
    statements = _following(tree_of(content).root, begin)
    at = next((n for n, statement in enumerate(statements) if _has_loop(statement)), None)
    if at is None or any(statement.has_error for statement in statements[: at + 1]):
        return None  # what was cut has no end to go on from
    whole = content.encode("utf-8", "replace")[: statements[at].end_byte]
    return whole.decode("utf-8", "replace") + rest


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


def _has_loop(node: Node) -> bool:
    """Whether a loop is in it, outside of lambdas."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in LOOPS:
            return True
        if inner.type != "lambda_expression":
            waiting.extend(inner.children)
    return False


def launched(answer: MendedCode, launch: NewLaunch) -> MendedCode | None:
    """The code with the new launch; None where the answer changed the launch.

    None also where it kept the kernel, or where the kernel has no thread numbers. Small models
    rewrite the kernel and leave its launch: one thread would do all the work.
    """
    tree = tree_of(answer.code)
    # nothing is guessed: each condition below rules out an answer that may be meant otherwise
    kernel = events_of(tree.root).functions.get(launch.kernel)
    calls = launches_of(tree.root, launch.kernel)
    if kernel is None or not calls:
        return None
    changed = normalized(text_of(kernel)) != launch.body
    unchanged = all(normalized(text_of(shape)) == launch.old for _, shape in calls)
    dealt = {text_of(node) for node in walk(kernel) if node.type == "field_expression"} >= _NUMBERS
    parents = [call.parent for call, _ in calls]
    starts = [node for node in parents if node is not None and node.type == "expression_statement"]
    if not (changed and unchanged and dealt and len(starts) == len(calls)):
        return None
    edits = [(shape.start_byte, shape.end_byte, launch.new) for _, shape in calls]
    for start in starts if launch.count else ():
        # a grid of no blocks is an error of CUDA, and nothing was to be done
        edits.append((start.start_byte, start.start_byte, f"{{ if ({launch.count} > 0) "))
        edits.append((start.end_byte, start.end_byte, " }"))
    content, parts, at = answer.code.encode("utf-8", "replace"), list[bytes](), 0
    for first, last, new in sorted(edits):
        parts += [content[at:first], new.encode()]
        at = last
    code = b"".join([*parts, content[at:]]).decode("utf-8", "replace")
    return MendedCode(code, (*answer.done, f"{launch.kernel} launched by {launch.new}"))
