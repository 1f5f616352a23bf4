"""Launches of kernels as nodes of the tree. Not here: facts of a launch (cuda_host.py)."""

from tree_sitter import Node

from regraph_kg.cpp.syntax import called, walk


def launches_of(root: Node, kernel: str) -> list[tuple[Node, Node]]:
    """Each launch of a kernel: the call, and in it `<<<..>>>`."""
    return [
        (call, shape)
        for call in walk(root)
        if call.type == "call_expression" and called(call) == kernel
        for shape in call.children
        if shape.type == "kernel_call_syntax"
    ]
