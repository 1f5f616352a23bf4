"""Between a user's signature and a plain C entry: the adapter one way, the wrapper the other.

The adapter, in serial.cpp, is the entry and calls the user's function. It copies no array that the
function does not copy itself, or the baseline's time would hold what the user's program never
does: a std::vector is lent the judge's memory. The wrapper, for home.toml, is the user's function
and calls the entry.
Not covered: vectors that the function resizes, vectors of bool, results: they are copied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regraph_kg.evaluation.adopt.types import Passed

LENT = """\
// A std::vector over memory of somebody else, as libstdc++ lays it out (three pointers): the
// function works on the caller's arrays, none is copied. It must not be resized.
template <class T>
struct Lent {
    alignas(std::vector<T>) unsigned char bytes[sizeof(std::vector<T>)];
    Lent(const T* data, std::size_t count) {
        const T* ends[] = {data, data + count, data + count};
        static_assert(sizeof ends == sizeof bytes, "another std::vector than that of libstdc++");
        std::memcpy(bytes, ends, sizeof ends);
    }
    std::vector<T>& vector() { return *std::launder(reinterpret_cast<std::vector<T>*>(bytes)); }
};
"""
SPAN = """\
// std::span for C++17, which the judge compiles.
#if __cplusplus < 202002L
namespace std {
inline constexpr size_t dynamic_extent = size_t(-1);
template <class T, size_t N = dynamic_extent>
class span {
    T* data_;
    size_t size_;
public:
    using element_type = T;
    using value_type = remove_cv_t<T>;
    constexpr span(T* data, size_t size) : data_(data), size_(size) {}
    template <class U, size_t M>
    constexpr span(const span<U, M>& other) : data_(other.data()), size_(other.size()) {}
    constexpr T* data() const { return data_; }
    constexpr size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T* begin() const { return data_; }
    constexpr T* end() const { return data_ + size_; }
    constexpr T& operator[](size_t i) const { return data_[i]; }
    constexpr T& front() const { return data_[0]; }
    constexpr T& back() const { return data_[size_ - 1]; }
    constexpr span<T> first(size_t n) const { return {data_, n}; }
    constexpr span<T> last(size_t n) const { return {data_ + size_ - n, n}; }
    constexpr span<T> subspan(size_t at) const { return {data_ + at, size_ - at}; }
    constexpr span<T> subspan(size_t at, size_t n) const { return {data_ + at, n}; }
};
}
#endif
"""


@dataclass(frozen=True, slots=True)
class Given:
    """One parameter of the user's function, and what the entry takes for it."""

    name: str
    passed: Passed
    writes: bool
    """The function writes it."""
    resized: bool = False
    length: str = ""
    """Elements, in C++ over the entry's parameters; of complex numbers, how many."""

    @property
    def is_array(self) -> bool:
        """Whether the entry takes a pointer."""
        return self.passed.form != "scalar" or self.passed.element.is_complex

    @property
    def c(self) -> str:
        """The entry's parameter."""
        const = "" if self.writes else "const "
        star = "*" if self.is_array else ""
        return f"{const if star else ''}{self.passed.element.c}{star} {self.name}"

    @property
    def copied(self) -> bool:
        """Whether the adapter must make a container of its own."""
        return self.passed.form == "vector" and (
            self.resized or self.passed.element.spelled == "bool"
        )


@dataclass(frozen=True, slots=True)
class ReturnValue:
    """What the user's function returns, and the entry's parameter that takes it."""

    name: str
    passed: Passed
    length: str
    """Elements, in C++ over the entry's parameters."""

    @property
    def c(self) -> str:
        """The entry's parameter."""
        return f"{self.passed.element.c}* {self.name}"


@dataclass(frozen=True, slots=True)
class Plain:
    """A function as it was and as the entry has it."""

    call: str
    """How it is called: `image::blur<float>`."""
    entry: str
    given: Sequence[Given]
    result: ReturnValue | None
    sizes: Sequence[str]
    """Sizes that the entry takes besides, as `long long`."""

    @property
    def signature(self) -> str:
        """The entry's declaration, without a semicolon."""
        parts = [one.c for one in self.given] + ([self.result.c] if self.result else [])
        parts += [f"long long {name}" for name in self.sizes]
        return f'extern "C" void {self.entry}({", ".join(parts)})'


def adapter(plain: Plain) -> str:
    """The entry, which calls the user's function."""
    before, arguments, after = list[str](), list[str](), list[str]()
    for one in plain.given:
        lines, argument, ends = _inward(one)
        before, after = [*before, *lines], [*after, *ends]
        arguments.append(argument)
    call = f"{plain.call}({', '.join(arguments)})"
    lines = [*before, *_kept(plain.result, call), *after]
    body = "".join(f"    {line}\n" for line in lines)
    return f"{plain.signature} {{\n{body}}}\n"


def needs(plain: Plain, code: str) -> str:
    """What must stand above the user's code and the adapter."""
    forms = {one.passed.form for one in plain.given}
    lends = any(
        one.passed.form == "vector" and not one.copied and not one.passed.by_value
        for one in plain.given
    )
    headers = ["<cstddef>"]
    headers += ["<cstring>", "<new>", "<vector>"] if lends else []
    sized = plain.result is not None and plain.result.passed.form == "vector"
    headers += ["<cstdlib>"] if sized or any(one.copied for one in plain.given) else []
    headers += ["<type_traits>"] if "span" in forms else []
    headers += (
        ["<algorithm>", "<vector>"]
        if any(one.copied for one in plain.given) or plain.result
        else []
    )
    lines = [
        f"#include {header}\n"
        for header in dict.fromkeys(headers)
        if f"#include {header}" not in code
    ]
    text = "".join(lines)
    text += f"\n{SPAN}" if "span" in forms else ""
    return text + (f"\n{LENT}" if lends else "")


def _inward(one: Given) -> tuple[list[str], str, list[str]]:
    """Lines before the call, the argument, lines after."""
    if one.passed.form == "vector":
        return _vector_inward(one, _user_pointer(one))
    return [], _argument(one), []


def _argument(one: Given) -> str:
    """What the user's function is given for anything but a vector."""
    element, form, name = one.passed.element, one.passed.form, one.name
    if form == "scalar":
        if element.is_complex:
            return f"{element.spelled}({name}[0], {name}[1])"
        return name if element.spelled != "bool" else f"{name} != 0"
    pointer = _user_pointer(one)
    if form in ("pointer", "reference"):
        return pointer if form == "pointer" else f"*{pointer}"
    const = "const " if one.passed.const else ""
    if form == "span":
        fixed = f", {one.passed.fixed[0]}" if one.passed.fixed else ""
        return f"std::span<{const}{element.spelled}{fixed}>({pointer}, {one.length})"
    extents = "".join(f"[{extent}]" for extent in one.passed.fixed)
    held = f"{element.spelled}(*){extents}"
    if form == "array":
        held = f"std::array<{element.spelled}, {one.passed.fixed[0]}>*"
    return f"{'' if form == 'rows' else '*'}reinterpret_cast<{const}{held}>({_unconst(one)})"


def _vector_inward(one: Given, pointer: str) -> tuple[list[str], str, list[str]]:
    held, name = f"std::vector<{one.passed.element.spelled}>", one.name
    if one.passed.by_value:
        return [], f"{held}({pointer}, {pointer} + {one.length})", []
    if one.copied:
        lines = [f"{held} {name}_copy({pointer}, {pointer} + {one.length});"]
        back = []
        if one.writes:
            back.append(f"if ({name}_copy.size() != std::size_t({one.length})) std::abort();")
            back.append(f"std::copy({name}_copy.begin(), {name}_copy.end(), {pointer});")
        return lines, f"{name}_copy", back
    return (
        [f"Lent<{one.passed.element.spelled}> {name}_lent({pointer}, {one.length});"],
        f"{name}_lent.vector()",
        [],
    )


def _unconst(one: Given) -> str:
    """The entry's pointer, for a function that could write but does not."""
    if one.writes or one.passed.const:
        return one.name
    return f"const_cast<{one.passed.element.c}*>({one.name})"


def _user_pointer(one: Given) -> str:
    """The entry's pointer as one to the user's elements."""
    name = _unconst(one) if one.passed.form in ("pointer", "span", "reference") else one.name
    if one.passed.element.is_plain:
        return name
    const = "const " if not one.writes and name == one.name else ""
    return f"reinterpret_cast<{const}{one.passed.element.spelled}*>({name})"


def _kept(result: ReturnValue | None, call: str) -> list[str]:
    """The call, and its result where the entry's parameter points."""
    if result is None:
        return [f"{call};"]
    element, form = result.passed.element, result.passed.form
    at = result.name if element.is_plain else f"reinterpret_cast<{element.spelled}*>({result.name})"
    if form == "scalar":
        return [f"{at}[0] = {call};"]
    lines = [f"const auto returned = {call};"]
    if form == "vector":
        lines.append(f"if (returned.size() != std::size_t({result.length})) std::abort();")
    return [*lines, f"std::copy(returned.begin(), returned.end(), {at});"]


def wrapper(plain: Plain, sizes: Mapping[str, str], extents: Mapping[str, str]) -> str:
    """The user's function's new body: calls the entry.

    `sizes`: C++ for each size that the entry takes besides, over the user's parameters; `extents`:
    for the result and each resized vector how many elements it gets.
    """
    before, arguments, after = list[str](), list[str](), list[str]()
    for one in plain.given:
        lines, argument, ends = _outward(one, extents)
        before, after = [*before, *lines], [*after, *ends]
        arguments.append(argument)
    result = plain.result
    if result:
        made, argument, returned = _fresh(result, extents.get(result.name, ""))
        before, after = [*before, made], [*after, returned]
        arguments.append(argument)
    arguments += [f"static_cast<long long>({sizes[name]})" for name in plain.sizes]
    lines = [*before, f"{plain.entry}({', '.join(arguments)});", *after]
    return "{\n" + "".join(f"    {line}\n" for line in lines) + "}"


def _outward(one: Given, extents: Mapping[str, str]) -> tuple[list[str], str, list[str]]:
    """Lines before the call, the argument, lines after."""
    element, form, name = one.passed.element, one.passed.form, one.name
    const = "" if one.writes else "const "
    if form == "scalar" and not element.is_complex:
        return [], name, []
    if form == "vector" and element.spelled == "bool":
        lines = [f"std::vector<unsigned char> {name}_bytes({name}.begin(), {name}.end());"]
        back = [f"std::copy({name}_bytes.begin(), {name}_bytes.end(), {name}.begin());"]
        return lines, f"{name}_bytes.data()", back if one.writes else []
    before = [f"{name}.resize({extents[name]});"] if one.resized and name in extents else []
    pointer = {"scalar": f"&{name}", "reference": f"&{name}", "pointer": name}.get(
        form, f"{name}.data()"
    )
    if form in ("rows", "bounded"):
        return before, f"reinterpret_cast<{const}{element.c}*>(&{name}[0])", []
    return (
        before,
        pointer if element.is_plain else f"reinterpret_cast<{const}{element.c}*>({pointer})",
        [],
    )


def _fresh(result: ReturnValue, extent: str) -> tuple[str, str, str]:
    """Where the result goes, the argument, and how it is returned."""
    element, name = result.passed.element, result.name
    held = {
        "vector": f"std::vector<{element.spelled}> {name}({extent});",
        "array": f"std::array<{element.spelled}, {(*result.passed.fixed, 0)[0]}> {name};",
    }.get(result.passed.form, f"{element.spelled} {name};")
    is_scalar = result.passed.form == "scalar"
    if result.passed.form == "vector" and element.spelled == "bool":
        made = f"std::vector<unsigned char> {name}({extent});"
        return made, f"{name}.data()", f"return std::vector<bool>({name}.begin(), {name}.end());"
    pointer = f"&{name}" if is_scalar else f"{name}.data()"
    if not element.is_plain:
        pointer = f"reinterpret_cast<{element.c}*>({pointer})"
    return held, pointer, f"return {name};"
