"""A function of a user's file: its types by its text, and what it does with its arrays."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from regraph_kg.adopt.preprocessed import preprocessed, switches
from regraph_kg.adopt.probe import Probe, glue
from regraph_kg.adopt.refusals import refuse, uncompiled
from regraph_kg.adopt.seen import Watched, watch
from regraph_kg.adopt.types import UNNAMED, Names, Passed, Types
from regraph_kg.cpp.functions import CodeFile, Function, choose, parse_query
from regraph_kg.cpp.slice import Slice, sliced
from regraph_kg.cpp.syntax import declared_name, walk
from regraph_kg.errors import BadInput


class Read(NamedTuple):
    """A function, its types, and what it does when it runs."""

    function: Function
    instance: tuple[str, ...]
    part: Slice
    source: CodeFile  # the file with the headers beside it in their places
    passed: Mapping[str, Passed]
    returned: Passed | None
    watched: Watched
    left_out: tuple[str, ...]  # headers that are not here and not needed
    switches: Mapping[str, str]  # macros that a build may set, and what they are, as C++ strings


def understand(source: CodeFile, text: str) -> Read:
    """Find the function and look at it. Raises `BadInput`: line and reason, where unfit."""
    alone, whole, missing = preprocessed(source)
    here = choose(alone, text)
    _whole(here)
    instance = parse_query(text).instance
    if here.templates and not instance:
        example = f"{here.qualified}<{', '.join('float' for _ in here.templates)}>"
        raise BadInput(
            f"{source.path}, line {here.line}: {here.qualified} is a template; name its instance:"
            f" --function '{example}'"
        )
    function = choose(whole, text)
    names = Names(whole, dict(zip(function.templates, instance, strict=False)))
    types = Types(whole, names)
    passed = {}
    for index, node in enumerate(function.parameters):
        one, name = types.parameter(node), declared_name(node)
        if not name and (one.form != "scalar" or one.element.in_arrays):
            raise BadInput(
                f"{source.path}, line {here.line}: parameter {index + 1} has no name; give it one"
            )
        passed[name or f"{UNNAMED}{index + 1}"] = one
    try:
        returned = types.returned(function.node)
    except BadInput as error:
        place = f"{source.path}, line {function.line}"
        raise BadInput(f"{place}: {function.qualified}: {error}") from None
    part = sliced(function)
    refuse(function, part)
    asked = switches(source, part.spans)
    call = f"{function.qualified}<{', '.join(instance)}>" if instance else function.qualified
    elements = [one.element for one in (*passed.values(), returned) if one is not None]
    layouts = "".join({one.record.layout: None for one in elements if one.record})
    with TemporaryDirectory(prefix="regraph-") as folder:
        try:
            code = f"{part.text}{glue(call, passed, returned)}{layouts}"
            headers = "#include <cstddef>\n#include <cstring>\n"
            probe = Probe(Path(folder), headers + code, passed)
        except BadInput as error:
            raise uncompiled(here, str(error), missing) from None
        watched = watch(probe, passed, returned)
    return Read(here, instance, part, whole, passed, returned, watched, missing, asked)


def _whole(function: Function) -> None:
    """Raise `BadInput` where the definition itself is no C++ that can be read."""
    if function.node.has_error:
        broken = next(n for n in walk(function.node) if n.type == "ERROR" or n.is_missing)
        line = function.source.line(broken)
        said = function.source.text(broken).strip().split("\n")[0][:40]
        raise BadInput(
            f"{function.source.path}, line {line}: {function.qualified} cannot be read as C++"
            f" at {said!r}"
        )
    if function.templates and function.method_of is not None:
        raise BadInput(
            f"{function.source.path}, line {function.line}: a template's method; make it a function"
        )
