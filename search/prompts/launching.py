"""The launch that a recipe gives a kernel, in names of the launching function.

Not here: an answer that kept its launch (search/read_answer.py).
"""

import re
from collections.abc import Sequence
from string import Template

from tree_sitter import Node

from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.launches import launches_of
from regraph_kg.cpp.syntax import arguments, text, tree_of, walk
from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.prompt import NewLaunch
from regraph_kg.search.prompts.heads import operand
from regraph_kg.search.prompts.recipe import recipe_values

_LAUNCH = re.compile(r"`\$kernelname(\$grid|<<<[^`]*>>>)`")
_COUNTED = re.compile(r"<<<\((.+) \+ 255\) / 256, 256>>>")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_GRID_AND_BLOCK = 2  # number of a launch's arguments, without shared memory and stream


def new_launch(code: str, recipe: str) -> NewLaunch | None:
    """The launch in a recipe, if the code launches that kernel otherwise.

    None where a name in the recipe's launch is unknown, or is no argument of the current launch.
    """
    match = _LAUNCH.search(recipe)
    values = recipe_values(recipe, facts_of(code)) if match else {}
    if match is None or not {*Template(match[0]).get_identifiers()} <= values.keys():
        return None
    root, kernel = tree_of(code).root, values["kernelname"]
    node, calls = events_of(root).functions.get(kernel), launches_of(root, kernel)
    by_parameter = _parameter_values(node, [call for call, _ in calls])
    old = {normalized(text(shape)) for _, shape in calls}
    new, body = Template(match[1]).substitute(values), normalized(text(node))
    plain = all(len(shape.named_children) == _GRID_AND_BLOCK for _, shape in calls)
    # two launches may mean two sizes, and a stream or shared memory says that somebody chose
    if len(old) != 1 or not plain or not {*_NAME.findall(new)} <= by_parameter.keys():
        return None
    new, was = _NAME.sub(lambda match: by_parameter[match[0]], new), old.pop()
    counted = _COUNTED.fullmatch(new)
    count = counted[1] if counted else ""
    launch = NewLaunch(kernel=kernel, body=body, old=was, new=new, count=count)
    return launch if normalized(new) != was else None


def _parameter_values(kernel: Node | None, calls: Sequence[Node]) -> dict[str, str]:
    """Parameter of a kernel -> its argument, if that is the same in all launches."""
    heads = [node for node in walk(kernel) if node.type == "parameter_list"] if kernel else []
    listed = heads[0].named_children if heads else []
    kinds = [parameter for parameter in listed if parameter.type == "parameter_declaration"]
    declarators = [kind.child_by_field_name("declarator") for kind in kinds]
    distinct = {tuple(map(text, arguments(call))) for call in calls}
    # one parameter with two arguments has no name in the host function
    if len(distinct) != 1 or len(kinds) != len(arguments(calls[0])):
        return {}
    pairs = zip(declarators, arguments(calls[0]), strict=True)
    plain = ((head, item) for head, item in pairs if head is not None and head.type == "identifier")
    # a value with side effects must not be repeated
    effects = {"call_expression", "update_expression", "assignment_expression"}
    return {
        text(head): operand(text(item))
        for head, item in plain
        if not effects & {node.type for node in walk(item)}
    }
