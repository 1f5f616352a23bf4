"""What the user's function looks at before it calls the new code; else its own code runs.

Looked at: sizes are what was tested (at least 1, as extents need them), containers have the lengths
that were told, what is written lies apart from all else, no pointer is null, and macros that a
build may set are what they were.
Not covered: how much a pointer points to, which no code can see: a person must know.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from regraph_kg.adopt.adapter import MARK, Given, Plain
from regraph_kg.adopt.draft import Draft
from regraph_kg.adopt.sizes import relations

_WORD = re.compile(r"[A-Za-z_]\w*(?:\.size\(\)|\[\w+\])?")
_PARTS = Path(__file__).with_name("guard.h").read_text("utf-8")


def guarded(draft: Draft, plain: Plain, call: str) -> str:
    """A block that calls the new code where it may be called; the function's own code follows."""
    condition = " &&\n        ".join(dict.fromkeys(_asked(draft, plain))) or "true"
    told = _PARTS.replace("regraph_", draft.own).replace("REGRAPH_", draft.own.upper())
    macros, *helpers, end = (f"{part.strip(chr(10))}\n" for part in told.split("\n\n"))
    above = "".join(line for line in helpers if f"{line.split()[2]}(" in condition)
    inner = "".join(f"        {line}\n" for line in call.splitlines())
    leaves = "" if plain.result else "        return;\n"
    block = f"{above}    {MARK}\n    if ({condition}) {{\n{inner}{leaves}    }}\n"
    if instance := " && ".join(_instance(draft)):
        block = f"    if constexpr ({instance}) {{\n{block}    }}\n"
    return f"\n{macros}{block}{end}" if draft.read.switches else f"\n{block}"


def _instance(draft: Draft) -> Iterator[str]:
    """What tells a template's instance from the others, which keep their own code."""
    function = draft.read.function
    listed = function.outer.child_by_field_name("parameters") if function.templates else None
    nodes = listed.named_children if listed is not None else []
    for name, node, said in zip(function.templates, nodes, draft.read.instance, strict=False):
        is_type = "type_parameter" in node.type
        yield f"std::is_same<{name}, {said}>::value" if is_type else f"{name} == {said}"


def _asked(draft: Draft, plain: Plain) -> Iterator[str]:
    yield from (f"{draft.own.upper()}SAME({n}, {t})" for n, t in draft.read.switches.items())
    # a const reference to a number may be an element of what is written
    given = [o for o in plain.given if o.passed.form != "scalar" or not o.passed.by_value]
    yield from (f"{one.name} != nullptr" for one in given if one.passed.form in ("pointer", "rows"))
    extents = [text for name in draft.names for text in draft.shape(name)]
    yield from (f"{said} >= 1" for said in draft.sizes.values())
    if draft.said.powers:
        yield from (f"({said} & ({said} - 1)) == 0" for said in draft.sizes.values())
    yield from (_wide(draft, text) for text in relations(extents))
    body = draft.read.function.source.text(draft.read.function.body)
    scalars = [n for n, o in draft.read.passed.items() if o.counts and n not in draft.sizes]
    factors = (n for n in scalars if re.search(rf"\b{n}\s*\*|\*\s*{n}\b", body))
    yield from (f"{name} != 0" for name in factors)  # as a stride 0 leads each turn to one element
    owners = {said.removesuffix(".size()") for said in draft.sizes.values()}
    for one in given:
        if one.counted and not one.reads:
            yield f"{one.name}.empty()"
        elif one.holds and not (one.passed.fixed or one.name in owners or one.sized):
            # a longer one will do where the function asks for nothing but its elements
            sign = "==" if re.search(rf"\b{one.name}\b(?!\s*\[)", body) else ">="
            long = _wide(draft, draft.length(one.name))
            yield f"{draft.own}len({one.name}.size()) {sign} {long}"
    placed = [one for one in given if not one.passed.by_value]
    for place, one in enumerate(placed):
        for other in placed[place + 1 :]:
            if one.writes or other.writes:
                yield from _apart(draft, one, other)


def _apart(draft: Draft, one: Given, other: Given) -> Iterator[str]:
    """That two arrays do not overlap, where they could: bytes may lie under two types."""
    pair = one.passed, other.passed
    if {o.form for o in pair} == {"vector"}:
        if len({o.element.spelled for o in pair}) == 1:
            yield f"&{one.name} != &{other.name}"
    elif not any(o.form == "vector" and o.element.type == "bool" for o in pair):
        ends = (f"{at}, {at} + {long}" for at, long in (_placed(draft, o) for o in (one, other)))
        yield f"{draft.own}apart({', '.join(ends)})"


def _placed(draft: Draft, one: Given) -> tuple[str, str]:
    """Where an array begins, and how many elements it has, in C++."""
    if not one.lies:  # a reference to a number, or to a whole array
        return f"&{one.name}", "1"
    if one.holds:
        return f"{one.name}.data()", f"{one.name}.size()"
    return "*" * len(one.passed.fixed) + one.name, _wide(draft, draft.length(one.name))


def _wide(draft: Draft, text: str) -> str:
    """An expression over sizes as C++ over the user's parameters that does not overflow."""
    return _WORD.sub(lambda word: f"{draft.own}len({word[0]})", draft.wrapped(text))
