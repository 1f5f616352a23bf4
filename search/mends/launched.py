"""The launch of a kernel that an answer deals out among threads, and launches as it was before.

Small models rewrite the kernel and leave the launch, which is the host's part of the same step: one
thread goes on to do all. Not here: what the launch is to be (prompts/launching.py).
"""

from collections.abc import Sequence

from tree_sitter import Node

from regraph_kg.models.prompt import NewLaunch
from regraph_kg.search.code.facts import Facts, facts_of
from regraph_kg.search.code.launches import launches_of
from regraph_kg.search.code.loop_facts import LoopFacts
from regraph_kg.search.code.syntax import text, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.mends.source import ParsedCode


def launched(code: str, wanted: NewLaunch) -> MendedCode | None:
    """The code with its kernel launched as wanted.

    None where the kernel or its launch is not as this is about, or where more threads would do
    something twice.
    """
    source = ParsedCode(code)
    kernels, calls = source.defining(wanted.kernel), launches_of(source.root, wanted.kernel)
    if len(kernels) != 1 or not calls or not source.small:
        return None
    changed = normalized(text(kernels[0].node)) != wanted.body
    left = all(normalized(text(shape)) == wanted.old for _, shape in calls)
    if not (changed and left and _dealt_out(facts_of(code), wanted) and _placed(calls, wanted)):
        return None
    edits = [(shape.start_byte, shape.end_byte, wanted.new) for _, shape in calls]
    if wanted.count:
        guard = f"if ({wanted.count} > 0) "
        edits += [(call.start_byte, call.start_byte, guard) for call, _ in calls]
    return MendedCode(source.edited(edits), (f"{wanted.kernel} launched by {wanted.new}",))


def _dealt_out(facts: Facts, wanted: NewLaunch) -> bool:
    """Whether the kernel is right with the threads wanted, where it is with those it had.

    A grid that nothing is computed from has too few threads, or too many: the kernel must walk.
    """
    for one in facts.kernels:
        if one.name == wanted.kernel:
            plain = one.apart and not (one.shared or one.barriers or one.shuffles or one.bounds)
            shared = [loop for loop in facts.loops if loop.function == one.name and loop.shared_out]
            return plain and (_walks(shared) if shared else bool(wanted.count))
    return False


def _walks(loops: Sequence[LoopFacts]) -> bool:
    """Whether the loops that begin at a thread's number are one in steps of the grid, and all."""
    (first, *others) = loops
    steps = {*first.step.split("*")} == {"blockDim.x", "gridDim.x"}
    return steps and first.alone and first.carries != "yes" and not others


def _placed(calls: Sequence[tuple[Node, Node]], wanted: NewLaunch) -> bool:
    """Whether each launch is a statement of a block, and has all that is counted as arguments."""
    counted = {*filter(str.isidentifier, normalized(wanted.count).split())}
    return not counted or all(
        _in_block(call.parent)
        and counted <= {text(one) for one in walk(call) if one.type == "identifier"}
        for call, _ in calls
    )


def _in_block(node: Node | None) -> bool:
    around = node.parent if node is not None and node.type == "expression_statement" else None
    return around is not None and around.type == "compound_statement"
