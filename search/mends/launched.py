"""A new launch for a kernel that an answer shares out among threads without changing its launch.

Small models rewrite the kernel and leave the launch in the host code, so that one thread does all
the work. The judge verifies the result. Not here: the text of the launch (prompts/launching.py).
"""

from regraph_kg.models.prompt import NewLaunch
from regraph_kg.search.code.launches import launches_of
from regraph_kg.search.code.syntax import text, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.mends.source import ParsedCode

_NUMBERS = frozenset({"threadIdx.x", "blockIdx.x"})


def launched(answer: MendedCode, launch: NewLaunch) -> MendedCode | None:
    """The code with the new launch; None where the answer changed the launch.

    None also where it kept the kernel, or where the kernel has no thread numbers.
    """
    source = ParsedCode(answer.code)
    kernels, calls = source.defining(launch.kernel), launches_of(source.root, launch.kernel)
    if len(kernels) != 1 or not calls or not source.small:
        return None
    kernel = kernels[0].node
    changed = normalized(text(kernel)) != launch.body
    unchanged = all(normalized(text(shape)) == launch.old for _, shape in calls)
    dealt = {text(node) for node in walk(kernel) if node.type == "field_expression"} >= _NUMBERS
    parents = [call.parent for call, _ in calls]
    starts = [node for node in parents if node is not None and node.type == "expression_statement"]
    if not (changed and unchanged and dealt and len(starts) == len(calls)):
        return None
    edits = [(shape.start_byte, shape.end_byte, launch.new) for _, shape in calls]
    for start in starts if launch.count else ():
        edits.append((start.start_byte, start.start_byte, f"{{ if ({launch.count} > 0) "))
        edits.append((start.end_byte, start.end_byte, " }"))
    note = f"{launch.kernel} launched by {launch.new}"
    return MendedCode(source.edited(edits), (*answer.done, note))
