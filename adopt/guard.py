"""What the user's function looks at before it calls the new code; else its own code runs.

Looked at: sizes are what was tested (at least 1, as extents need them), containers have the lengths
that were told, what is written lies apart from all else, no pointer is null.
Not covered: how much a pointer points to, which no code can see: a person must know.
"""

import re
from collections.abc import Iterator

from regraph_kg.adopt.adapter import Given, Plain
from regraph_kg.adopt.draft import Draft
from regraph_kg.adopt.sizes import relations

_WORD = re.compile(r"[A-Za-z_]\w*(?:\.size\(\)|\[\w+\])?")
_LENGTH = "const auto regraph_len = [](long long length) { return length; };"
_APART = (
    "const auto regraph_apart = [](const void* b1, const void* e1, const void* b2, const void* e2)"
    " { return e1 <= b2 || e2 <= b1; };"
)


def guarded(draft: Draft, plain: Plain, call: str) -> str:
    """A block that calls the new code where it may be called; the function's own code follows."""
    asked = list(dict.fromkeys(_asked(draft, plain)))
    condition = " &&\n        ".join(asked) or "true"
    above = "".join(f"    {one}\n" for one in (_LENGTH, _APART) if one.split()[2] in condition)
    inner = "".join(f"        {line}\n" for line in call.splitlines())
    leaves = "" if plain.result else "        return;\n"
    block = (
        f"{above}    // what the new code was tested for; everything else does the code below\n"
        f"    if ({condition}) {{\n{inner}{leaves}    }}\n"
    )
    instance = " && ".join(_instance(draft))
    return f"\n    if constexpr ({instance}) {{\n{block}    }}\n" if instance else f"\n{block}"


def _instance(draft: Draft) -> Iterator[str]:
    """What tells a template's instance from the others, which keep their own code."""
    function = draft.read.function
    listed = function.outer.child_by_field_name("parameters") if function.templates else None
    nodes = listed.named_children if listed is not None else []
    for name, node, said in zip(function.templates, nodes, draft.read.instance, strict=False):
        is_type = "type_parameter" in node.type
        yield f"std::is_same<{name}, {said}>::value" if is_type else f"{name} == {said}"


def _asked(draft: Draft, plain: Plain) -> Iterator[str]:
    # a const reference to a number may be an element of what is written
    given = [o for o in plain.given if o.passed.form != "scalar" or not o.passed.by_value]
    yield from (f"{one.name} != nullptr" for one in given if one.passed.form in ("pointer", "rows"))
    extents = [text for name in draft.names for text in draft.shape(name)]
    yield from (f"{said} >= 1" for said in draft.sizes.values())
    if draft.said.powers:
        yield from (f"({said} & ({said} - 1)) == 0" for said in draft.sizes.values())
    yield from (_wide(draft, text) for text in relations(extents))
    owners = {said.removesuffix(".size()") for said in draft.sizes.values()}
    for one in given:
        if one.counted and not one.reads:
            yield f"{one.name}.empty()"
        elif one.holds and not (one.passed.fixed or one.name in owners or one.sized):
            # a longer one will do where the function asks for nothing but its elements
            body = draft.read.function.source.text(draft.read.function.body)
            sign = "==" if re.search(rf"\b{one.name}\b(?!\s*\[)", body) else ">="
            yield f"regraph_len({one.name}.size()) {sign} {_wide(draft, draft.length(one.name))}"
    for place, one in enumerate(given):
        for other in given[place + 1 :]:
            if one.writes or other.writes:
                yield from _apart(draft, one, other)


def _apart(draft: Draft, one: Given, other: Given) -> Iterator[str]:
    """That two arrays do not overlap, where they could."""
    pair = one.passed, other.passed
    if {o.form for o in pair} == {"vector"} and len({o.element.spelled for o in pair}) == 1:
        yield f"&{one.name} != &{other.name}"
    elif len({o.element.type for o in pair}) == 1 and all(map(_has_place, (one, other))):
        ends = (f"{at}, {at} + {long}" for at, long in (_placed(draft, o) for o in (one, other)))
        yield f"regraph_apart({', '.join(ends)})"


def _has_place(one: Given) -> bool:
    return one.lies or one.passed.form in ("reference", "scalar")


def _placed(draft: Draft, one: Given) -> tuple[str, str]:
    """Where an array begins, and how many elements it has, in C++."""
    if not one.lies:  # a reference to a number
        return f"&{one.name}", "1"
    if one.holds:
        return f"{one.name}.data()", f"{one.name}.size()"
    return "*" * len(one.passed.fixed) + one.name, _wide(draft, draft.length(one.name))


def _wide(draft: Draft, text: str) -> str:
    """An expression over sizes as C++ over the user's parameters that does not overflow."""
    return _WORD.sub(lambda word: f"regraph_len({word[0]})", draft.wrapped(text))
