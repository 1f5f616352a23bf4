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
from regraph_kg.search.code.syntax import arguments, declared_name, text, tree_of, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.prompts.recipe import known

_LAUNCH = re.compile(r"`\$kernelname(<<<[^`]*>>>)`")
_NAME = re.compile(r"\b[A-Za-z_]\w*")


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
    count = said.get("count", "") if "$count" in found[1] else ""
    if len(old) != 1 or not {*_NAME.findall(count)} <= given.keys():
        return None
    count = _NAME.sub(lambda one: given[one[0]], count)
    new, body, was = Template(found[1]).substitute(count=count), normalized(text(node)), old.pop()
    kept = NewLaunch(kernel=kernel, body=body, old=was, new=new, count=count)
    return kept if normalized(new) != was else None


def _given(kernel: Node | None, calls: Sequence[Node]) -> dict[str, str]:
    """What each parameter of a kernel is in its launches, where that is the same in all."""
    heads = [one for one in walk(kernel) if one.type == "parameter_list"] if kernel else []
    listed = heads[0].named_children if heads else []
    kinds = [one for one in listed if one.type == "parameter_declaration"]
    names = [declared_name(one.child_by_field_name("declarator")) for one in kinds]
    given = {tuple(map(text, arguments(call))) for call in calls}
    values = given.pop() if len(given) == 1 else ()
    return dict(zip(names, map(_operand, values), strict=True)) if len(values) == len(names) else {}


def _operand(value: str) -> str:
    return value if re.fullmatch(r"\w+", value) else f"({value})"
