"""Launches of kernels as nodes of the tree. Not here: facts of a launch (cuda_host.py)."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.cpp.occurrences import Events
from regraph_kg.cpp.syntax import called, text, walk
from regraph_kg.models.base import Frozen

_WARP, _LARGE = 32, 256
_SIZE = re.compile(r"[1-9]\d{0,3}")
_DIGITS = re.compile(r"\b\d+")


class ResizedBlock(Frozen):
    """A statement that gives a launch's blocks another number of threads."""

    at: int  # bytes of the text before the statement that it replaces
    code: str
    follows: bool  # whether the grid's size follows


def launches_of(root: Node, kernel: str) -> list[tuple[Node, Node]]:
    """Each launch of a kernel: the call, and in it `<<<..>>>`."""
    return [
        (call, shape)
        for call in walk(root)
        if call.type == "call_expression" and called(call) == kernel
        for shape in call.children
        if shape.type == "kernel_call_syntax"
    ]


def resized_block(events: Events, call: Node, parts: Sequence[Node]) -> ResizedBlock | None:
    """Half of a launch's threads a block, or 256 where that would be no whole warps.

    `parts` are the grid, the block and what follows. None where the number is no literal, neither
    in the launch nor in a variable that it alone uses, or where other code may count on it.
    """
    grid, block = parts[:2]
    named = block.type == "identifier"
    number = _value(events, block) if named else block
    extent = _value(events, grid) if grid.type == "identifier" else grid
    listed = call.child_by_field_name("arguments")
    if number is None or listed is None or not _SIZE.fullmatch(text(number)):
        return None
    own = [node for node in (number, grid, block, extent) if node is not None]
    old, name = int(text(number)), text(block)
    if _is_known(events, call, own, text(number), name if named else ""):
        return None
    new = old // 2 if old % (2 * _WARP) == 0 else _LARGE
    rounded = rf"\+\s*(?:{old - 1}|{name}\s*-\s*1)\s*\)\s*/\s*"
    ceiling = rf"(?:{rounded}|(?:ceil|up|cdiv)\w*\([^,]*,\s*){name}\b"
    rest = re.sub(ceiling, "", text(extent))
    follows = rest != text(extent) and not re.search(rf"\b(?:{name}|{old - 1})\b", rest)
    statement = number.parent.parent if named and number.parent is not None else None
    if statement is not None and statement.type == "declaration":
        code = _changed(statement, statement.end_byte, (number, str(new)))
        return ResizedBlock(at=statement.start_byte, code=code, follows=follows)
    if named or grid.type == "identifier":
        return None
    resized = re.sub(rf"\b{old}\b", str(new), text(grid)) if follows else text(grid)
    resized = re.sub(rf"\b{old - 1}\b", str(new - 1), resized) if follows else resized
    code = _changed(call, listed.start_byte + 1, (grid, resized), (block, str(new)))
    return ResizedBlock(at=call.start_byte, code=code, follows=follows)


def _is_known(events: Events, call: Node, own: Sequence[Node], number: str, name: str) -> bool:
    """Whether other code than a launch's `own` may count on the name or the number of threads.

    In host functions a number means that of a launch only in the launch itself.
    """
    host = [
        function
        for function in events.functions.values()
        if not {"__global__", "__device__"} & {*text(function).partition("{")[0].split()}
    ]
    root, declared = call, events.find(name, call)
    while root.parent is not None:
        root = root.parent
    uses = [use.node for use in events.names if text(use.node) == name]
    if any(events.find(name, use) is declared and not _within(use, own) for use in uses):
        return True
    leaves = [node for node in walk(root) if not node.child_count and not _within(node, own)]
    near = [leaf for leaf in leaves if _within(leaf, [call]) or not _within(leaf, host)]
    return any(number in _DIGITS.findall(text(leaf)) for leaf in near)


def _within(node: Node, parts: Sequence[Node]) -> bool:
    return any(part.start_byte <= node.start_byte < part.end_byte for part in parts)


def _changed(whole: Node, end: int, *changes: tuple[Node, str]) -> str:
    """The text of a node up to a byte of the file, with new texts for parts of it."""
    source, begin, at = whole.text or b"", whole.start_byte, whole.start_byte
    pieces = []
    for part, new in changes:
        pieces += [source[at - begin : part.start_byte - begin].decode(), new]
        at = part.end_byte
    return "".join([*pieces, source[at - begin : end - begin].decode()])


def _value(events: Events, name: Node) -> Node | None:
    declared = events.find(text(name), name)
    return declared.value if declared is not None and not declared.writes else None
