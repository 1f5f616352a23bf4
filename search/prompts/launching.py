"""How a recipe has a kernel launched, in the names of the function that launches it.

Not here: an answer that left its launch as it was (mends/launched.py).
"""

import re
from collections.abc import Sequence
from string import Template

from tree_sitter import Node

from regraph_kg.models.prompt import NewLaunch
from regraph_kg.search.code.events import events_of
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.launches import launches_of
from regraph_kg.search.code.syntax import arguments, text, tree_of, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.recipe import known, operand

_LAUNCH = re.compile(r"`\$kernelname(\$grid|<<<[^`]*>>>)`")
_COUNTED = re.compile(r"<<<\((.+) \+ 255\) / 256, 256>>>")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_GRID_AND_BLOCK = 2
"""And no shared memory, and no stream."""


def new_launch(code: str, recipe: str) -> NewLaunch | None:
    """The launch that a recipe tells, where the code launches that kernel otherwise.

    None where what the recipe counts is not known, or no argument of the launch.
    """
    found = _LAUNCH.search(recipe)
    said = known(recipe, facts_of(code)) if found else {}
    if found is None or not {*Template(found[0]).get_identifiers()} <= said.keys():
        return None
    root, kernel = tree_of(code).root, said["kernelname"]
    node, calls = events_of(root).functions.get(kernel), launches_of(root, kernel)
    given = _given(node, [call for call, _ in calls])
    old = {normalized(text(shape)) for _, shape in calls}
    new, body = Template(found[1]).substitute(said), normalized(text(node))
    plain = all(len(shape.named_children) == _GRID_AND_BLOCK for _, shape in calls)
    if len(old) != 1 or not plain or not {*_NAME.findall(new)} <= given.keys():
        return None
    new, was = _NAME.sub(lambda one: given[one[0]], new), old.pop()
    counted = _COUNTED.fullmatch(new)
    count = counted[1] if counted else ""
    kept = NewLaunch(kernel=kernel, body=body, old=was, new=new, count=count)
    return kept if normalized(new) != was else None


def _given(kernel: Node | None, calls: Sequence[Node]) -> dict[str, str]:
    """What each parameter of a kernel is in its launches, where that is the same in all."""
    heads = [node for node in walk(kernel) if node.type == "parameter_list"] if kernel else []
    listed = heads[0].named_children if heads else []
    kinds = [one for one in listed if one.type == "parameter_declaration"]
    declarators = [kind.child_by_field_name("declarator") for kind in kinds]
    given = {tuple(map(text, arguments(call))) for call in calls}
    if len(given) != 1 or len(kinds) != len(arguments(calls[0])):
        return {}
    pairs = zip(declarators, arguments(calls[0]), strict=True)
    plain = ((head, one) for head, one in pairs if head is not None and head.type == "identifier")
    return {text(head): operand(text(one)) for head, one in plain if not _does(one)}


def _does(value: Node) -> bool:
    """Whether it does more than to give a value: then it must stand there once."""
    kinds = ("call_expression", "update_expression", "assignment_expression")
    return any(node.type in kinds for node in walk(value))
