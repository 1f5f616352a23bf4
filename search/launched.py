"""A new launch for a kernel that an answer shares out among threads without changing its launch.

Small models rewrite the kernel and leave the launch in the host code, so that one thread does all
the work. The judge verifies the result. Not here: the text of the launch (prompts/launching.py).
"""

from regraph_kg.models.prompt import NewLaunch
from regraph_kg.search.code.events import events_of
from regraph_kg.search.code.launches import launches_of
from regraph_kg.search.code.syntax import text, tree_of, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.read_answer import MendedCode

_NUMBERS = frozenset({"threadIdx.x", "blockIdx.x"})


def launched(answer: MendedCode, launch: NewLaunch) -> MendedCode | None:
    """The code with the new launch; None where the answer changed the launch.

    None also where it kept the kernel, or where the kernel has no thread numbers.
    """
    tree = tree_of(answer.code)
    # nothing is guessed: each condition below rules out an answer that may be meant otherwise
    kernel = events_of(tree.root).functions.get(launch.kernel)
    calls = launches_of(tree.root, launch.kernel)
    if kernel is None or not calls:
        return None
    changed = normalized(text(kernel)) != launch.body
    unchanged = all(normalized(text(shape)) == launch.old for _, shape in calls)
    dealt = {text(node) for node in walk(kernel) if node.type == "field_expression"} >= _NUMBERS
    parents = [call.parent for call, _ in calls]
    starts = [node for node in parents if node is not None and node.type == "expression_statement"]
    if not (changed and unchanged and dealt and len(starts) == len(calls)):
        return None
    edits = [(shape.start_byte, shape.end_byte, launch.new) for _, shape in calls]
    for start in starts if launch.count else ():
        # a grid of no blocks is an error of CUDA, and nothing was to be done
        edits.append((start.start_byte, start.start_byte, f"{{ if ({launch.count} > 0) "))
        edits.append((start.end_byte, start.end_byte, " }"))
    note = f"{launch.kernel} launched by {launch.new}"
    return MendedCode(_edited(answer.code, edits), (*answer.done, note))


def _edited(code: str, edits: list[tuple[int, int, str]]) -> str:
    """The code with each (first byte, last byte, text) put in."""
    content, parts, at = code.encode("utf-8", "replace"), list[bytes](), 0
    for first, last, new in sorted(edits):
        parts += [content[at:first], new.encode()]
        at = last
    return b"".join([*parts, content[at:]]).decode("utf-8", "replace")
