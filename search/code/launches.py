"""Launches of kernels as nodes of the tree. Not here: facts of a launch (cuda_host.py)."""

from tree_sitter import Node

from regraph_kg.search.code.syntax import called, walk


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
