"""Between a user's signature and a plain C entry: the adapter one way, the wrapper the other.

The adapter, in serial.cpp, is the entry and calls the user's function. It copies no array that the
function does not copy itself, or the baseline's time would hold what the user's program never
does: a parameter that is a vector becomes a view of the judge's memory. The wrapper, for home.toml,
is the user's function and calls the entry.
Not covered: vectors whose length depends on the data, vectors of bool, results, and vectors with
which a function does more than a view can: they are copied.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.adopt.types import UNNAMED, Element, Passed, PlainStruct

_NEEDED = "algorithm cstddef cstdio cstdlib iterator type_traits utility vector"
_HEADERS = [f"<{name}>" for name in _NEEDED.split()]  # of views, spans and copies
MARK = "// what the new code was tested for; everything else does the code below"
_FORWARD = "regraph_own"  # what passes on to a function whose name is hidden
_VIEW, _SPAN = (Path(__file__).with_name(name).read_text("utf-8") for name in ("view.h", "span.h"))


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter of the user's function, or its result, and what the entry takes for it."""

    name: str
    passed: Passed
    writes: bool  # the function writes it
    sized: bool = False  # the function gives it its length, which sizes say
    counted: bool = False  # its length after the call depends on the data; `length` is room for it
    reads: bool = True  # what it holds before the call matters
    length: str = ""  # elements, in C++ over the entry's parameters
    is_owned: bool = False  # the function needs a vector of its own, though its length is known

    @property
    def is_array(self) -> bool:
        """Whether the entry takes a pointer."""
        return self.passed.form != "scalar" or self.passed.element.in_arrays

    def declared(self, kind: str) -> str:
        """The entry's parameter, of elements that are called `kind`."""
        const = "" if self.writes else "const "
        star = "*" if self.is_array else ""
        return f"{const if star else ''}{kind}{star} {self.name}"

    @property
    def is_returned(self) -> bool:
        """Whether the entry returns it where it is the result; else it has a parameter for it."""
        element = self.passed.element
        return self.passed.form == "scalar" and element.type not in ("float16", "struct")

    @property
    def holds(self) -> bool:
        """Whether it knows its own length."""
        return self.passed.form in ("vector", "span")

    @property
    def lies(self) -> bool:
        """Whether its elements lie side by side in memory that another one may have, too."""
        is_bits = self.passed.form == "vector" and self.passed.element.type == "bool"
        return self.passed.form in ("vector", "span", "pointer", "rows") and not is_bits

    @property
    def copied(self) -> bool:
        """Whether the adapter must make a container of its own."""
        is_owned = self.is_owned or self.counted or self.passed.element.type == "bool"
        return self.passed.form == "vector" and is_owned

    @property
    def viewed(self) -> bool:
        """Whether a view takes the place of a vector."""
        return self.passed.form == "vector" and not (self.copied or self.passed.by_value)

    @property
    def view(self) -> str:
        return f"View<{'const ' if self.passed.const else ''}{self.passed.element.spelled}>"


@dataclass(frozen=True, slots=True)
class Plain:
    """A function as it was and as the entry has it."""

    call: str  # how it is called: `image::blur<float>`
    entry: str
    given: Sequence[Given]
    result: Given | None
    sizes: Sequence[str]  # sizes that the entry takes besides, as `long long`

    def declared(self, kind: Callable[[Element], str]) -> str:
        """The entry's declaration, without a semicolon, of elements that `kind` names."""
        parts = [one.declared(kind(one.passed.element)) for one in self.given]
        returned, result = "void", self.result
        if result and result.is_returned:
            returned = result.passed.element.c
        elif result:
            parts.append(result.declared(kind(result.passed.element)))
        parts += [f"long long* {counter(name)}" for name in self.counted]
        parts += [f"long long {name}" for name in self.sizes]
        return f'extern "C" {returned} {self.entry}({", ".join(parts)})'

    @property
    def counted(self) -> list[str]:
        """Outputs whose lengths depend on the data."""
        return [one.name for one in self.passed if one.counted]

    @property
    def records(self) -> list[PlainStruct]:
        """Structs that the entry takes, each once."""
        found = [one.passed.element.record for one in self.passed]
        return list({record.c: record for record in found if record}.values())

    @property
    def passed(self) -> list[Given]:
        return [*self.given, *([self.result] if self.result else [])]


def counter(name: str) -> str:
    """The entry's parameter that says how many elements of an output there are."""
    return f"{name}_count"


def adapter(plain: Plain) -> str:
    """The entry, which calls the user's function."""
    before, arguments, after = list[str](), list[str](), list[str]()
    for one in plain.given:
        lines, argument, ends = _inward(one)
        before, after = [*before, *lines], [*after, *ends]
        arguments.append(argument)
    hidden = any(one.name == re.split(r"::|<", plain.call)[0] for one in plain.given)
    call = f"{_FORWARD if hidden else plain.call}({', '.join(arguments)})"
    kept, returned = _kept(plain.result, call)
    body = "".join(f"    {line}\n" for line in (*before, *kept, *after, *returned))
    names = "".join(f"using {r.c} = {r.qualified};\n" for r in plain.records if r.c != r.qualified)
    if hidden:  # by a parameter that is called like it
        forwards = "(auto&&... a) -> decltype(auto)"
        passes = f"return {plain.call}(static_cast<decltype(a)>(a)...);"
        names += f"static const auto {_FORWARD} = []{forwards} {{ {passes} }};\n"
    return f"{names}{plain.declared(lambda element: element.c)} {{\n{body}}}\n"


def needs(plain: Plain, code: str) -> str:
    """What must stand above the user's code and the adapter."""
    forms = {one.passed.form for one in plain.passed}
    headers = _HEADERS if forms & {"vector", "span", "array"} else ["<cstddef>"]
    missing = (header for header in headers if f"#include {header}" not in code)
    text = "".join(f"#include {header}\n" for header in missing)
    text += f"\n{_SPAN}" if "span" in forms else ""
    return text + (f"\n{_VIEW}" if any(one.viewed for one in plain.given) else "")


def _inward(one: Given) -> tuple[list[str], str, list[str]]:
    """Lines before the call, the argument, lines after."""
    if one.passed.form != "vector" or one.viewed:
        return [], argument(one), []
    pointer, name = _user_pointer(one), one.name
    held = f"std::vector<{one.passed.element.spelled}>"
    if one.passed.by_value:
        return [], f"{held}({pointer}, {pointer} + {one.length})", []
    given = f"({pointer}, {pointer} + {one.length})" if one.reads or not one.counted else ""
    back = _copied_back(one, f"{name}_copy_", pointer) if one.writes else []
    return [f"{held} {name}_copy_{given};"], f"{name}_copy_", back


def argument(one: Given) -> str:
    """What the user's function is given for anything but a vector of its own."""
    element, form, name = one.passed.element, one.passed.form, one.name
    if form == "scalar":
        given = f"static_cast<{element.spelled}>({name})" if element.among is not None else name
        return f"{name}[0]" if element.in_arrays else given
    pointer = _user_pointer(one)
    if form in ("pointer", "reference"):
        return pointer if form == "pointer" else f"*{pointer}"
    const = "const " if one.passed.const else ""
    if form == "vector":
        return f"{one.view}({pointer}, {one.length})"
    if form == "span":
        fixed = f", {one.passed.fixed[0]}" if one.passed.fixed else ""
        return f"std::span<{const}{element.spelled}{fixed}>({pointer}, {one.length})"
    extents = "".join(f"[{extent}]" for extent in one.passed.fixed)
    held = f"{element.spelled}(*){extents}"
    if form == "array":
        held = f"std::array<{element.spelled}, {one.passed.fixed[0]}>*"
    return f"{'' if form == 'rows' else '*'}reinterpret_cast<{const}{held}>({_unconst(one)})"


def _copied_back(one: Given, held: str, pointer: str) -> list[str]:
    """What a container holds goes where the entry's parameter points; not more than it has room."""
    sign = ">" if one.counted else "!="
    counts = [f"{counter(one.name)}[0] = {held}.size();"] if one.counted else []
    said = f"{one.name} is {'longer than' if one.counted else 'not'} {one.length}"
    return [
        f"if ({held}.size() {sign} std::size_t({one.length}))",
        f'    std::fputs("{said}; say how long with --shape", stderr), std::abort();',
        f"std::copy({held}.begin(), {held}.end(), {pointer});",
        *counts,
    ]


def _unconst(one: Given) -> str:
    """The entry's pointer, for a function that could write but does not."""
    if one.writes or one.passed.const:
        return one.name
    return f"const_cast<{one.passed.element.c}*>({one.name})"


def _user_pointer(one: Given) -> str:
    """The entry's pointer as one to the user's elements."""
    is_passed = one.viewed or one.passed.form in ("pointer", "span", "reference")
    name = _unconst(one) if is_passed else one.name
    if one.passed.element.is_plain:
        return name
    const = "const " if not one.writes and name == one.name else ""
    return f"reinterpret_cast<{const}{one.passed.element.spelled}*>({name})"


def _kept(result: Given | None, call: str) -> tuple[list[str], list[str]]:
    """The call, with its result where the entry's parameter points; and what is returned."""
    if result is None:
        return [f"{call};"], []
    if result.is_returned:
        kind = result.passed.element.c  # of an enumeration its integer
        return [f"const auto returned_ = static_cast<{kind}>({call});"], ["return returned_;"]
    form, at = result.passed.form, _user_pointer(result)
    if form == "scalar":
        return [f"{at}[0] = {call};"], []
    lines = [f"const auto returned_ = {call};"]
    if form == "vector":
        return [*lines, *_copied_back(result, "returned_", at)], []
    return [*lines, f"std::copy(returned_.begin(), returned_.end(), {at});"], []


def wrapper(plain: Plain, sizes: Mapping[str, str], extents: Mapping[str, str]) -> str:
    """Lines of the user's function that call the entry.

    `sizes`: C++ for each size that the entry takes besides, over the user's parameters; `extents`:
    for the result and each vector whose length the function sets how many elements it gets.
    """
    before, arguments, after = list[str](), list[str](), list[str]()
    for one in plain.given:
        lines, argument, ends = _outward(one, extents)
        before, after = [*before, *lines], [*after, *ends]
        arguments.append(argument)
    result, takes = plain.result, ""
    if result and result.is_returned:
        back = f"static_cast<{result.passed.element.spelled}>({result.name})"
        back = back if result.passed.element.among is not None else result.name
        takes, after = f"const auto {result.name} = ", [*after, f"return {back};"]
    elif result:
        lines, argument, ends = _outward(result, {})
        kind, name = result.passed.element.spelled, result.name
        made = {"vector": f"std::vector<{kind}> {name}({extents.get(name, '')});"}
        made["array"] = f"std::array<{kind}, {next(iter(result.passed.fixed), 0)}> {name};"
        before += [made.get(result.passed.form, f"{kind} {name};"), *lines]
        after += [*ends, f"return {result.name};"]
        arguments.append(argument)
    before = [*before, *(f"long long {counter(name)} = 0;" for name in plain.counted)]
    arguments += [f"&{counter(name)}" for name in plain.counted]
    arguments += [f"static_cast<long long>({sizes[name]})" for name in plain.sizes]
    return "\n".join([*before, f"{takes}{plain.entry}({', '.join(arguments)});", *after])


def _outward(one: Given, extents: Mapping[str, str]) -> tuple[list[str], str, list[str]]:
    """Lines before the call, the argument, lines after."""
    element, form, name = one.passed.element, one.passed.form, one.name
    const = "" if one.writes else "const "
    if name.startswith(UNNAMED):
        return [], "{}", []
    if not one.is_array:
        return [], f"static_cast<{element.c}>({name})" if element.among is not None else name, []
    sets = one.sized or (one.counted and not one.reads)
    before = [f"{name}.resize({extents[name]});"] if sets and name in extents else []
    after = [f"{name}.resize({counter(name)});"] if one.counted else []
    if form == "vector" and element.spelled == "bool":  # which has none side by side
        made = f"std::vector<unsigned char> {name}_bytes_({name}.begin(), {name}.end());"
        back = [f"std::copy({name}_bytes_.begin(), {name}_bytes_.end(), {name}.begin());"]
        bools = f"reinterpret_cast<{const}bool*>({name}_bytes_.data())"
        return [*before, made], bools, [*back, *after] if one.writes else []
    pointer = {"scalar": f"&{name}", "reference": f"&{name}", "pointer": name}.get(
        form, f"{name}.data()"
    )
    if form in ("rows", "bounded"):
        return before, f"reinterpret_cast<{const}{element.opaque}*>(&{name}[0])", after
    cast = f"reinterpret_cast<{const}{element.c}*>({pointer})"
    return before, pointer if element.is_plain else cast, after
