"""Launches of kernels as nodes of the tree. Not here: facts of a launch (cuda_host.py)."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.models.base import Frozen
from regraph_kg.search.code.occurrences import Events
from regraph_kg.search.code.syntax import called, text, walk

_WARP, _LARGE = 32, 256


class ResizedBlock(Frozen):
    """A statement that gives a launch's blocks another number of threads."""

    at: int
    """Bytes of the text before the statement that it replaces."""
    code: str
    follows: bool
    """Whether the grid's size follows."""


def launches_of(root: Node, kernel: str) -> list[tuple[Node, Node]]:
    """Each launch of a kernel: the call, and in it `<<<..>>>`."""
    calls = [
        node for node in walk(root) if node.type == "call_expression" and called(node) == kernel
    ]
    return [
        (call, shape)
        for call in calls
        for shape in call.children
        if shape.type == "kernel_call_syntax"
    ]


def resized_block(events: Events, call: Node, parts: Sequence[Node]) -> ResizedBlock | None:
    """Half of a launch's threads a block, or 256 where they are a warp or less.

    `parts` are the grid, the block and what follows. None where the number is no literal, neither
    in the launch nor in a variable's declaration.
    """
    grid, block = parts[:2]
    if block.type == "number_literal":
        if grid.type == "identifier" or not text(block).isdigit():
            return None
        old, new = int(text(block)), _other(int(text(block)))
        resized = re.sub(rf"\b{old}\b", str(new), text(grid))
        resized = re.sub(rf"\b{old - 1}\b", str(new - 1), resized)
        rest = "".join(f", {text(part)}" for part in parts[2:])
        code = f"{text(call.child_by_field_name('function'))}<<<{resized}, {new}{rest}>>>("
        return ResizedBlock(at=call.start_byte, code=code, follows=resized != text(grid))
    declared = events.find(text(block), block) if block.type == "identifier" else None
    value = declared.value if declared is not None and not declared.writes else None
    statement = value.parent.parent if value is not None and value.parent is not None else None
    if statement is None or statement.type != "declaration" or not text(value).isdigit():
        return None
    code = re.sub(rf"\b{text(value)}\b", str(_other(int(text(value)))), text(statement))
    grids = grid if grid.type != "identifier" else _value(events, grid)
    follows = any(text(node) == text(block) for node in (walk(grids) if grids is not None else ()))
    return ResizedBlock(at=statement.start_byte, code=code, follows=follows)


def _other(threads: int) -> int:
    return threads // 2 if threads > _WARP and threads % 2 == 0 else _LARGE


def _value(events: Events, name: Node) -> Node | None:
    declared = events.find(text(name), name)
    return declared.value if declared is not None and not declared.writes else None
