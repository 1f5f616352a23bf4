"""A problem in the making: what a function was found to do, what a person adds, what is open.

Sizes are the function's integer parameters that extents depend on, and lengths of containers.
"""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any

from regraph_kg.adopt.adapter import Given, Plain, counter
from regraph_kg.adopt.reading import Read
from regraph_kg.adopt.seen import Role
from regraph_kg.adopt.types import Element, Passed
from regraph_kg.adopt.values import IndexRange, drawn, number, usual_values
from regraph_kg.cpp.functions import functions
from regraph_kg.errors import BadInput

_WORD = r"[A-Za-z_]\w*"
_BYTES = 256


@dataclass
class Said:
    """What a person said, by argument or size name; it goes before what was inferred."""

    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    flags: str = ""  # of the user's build
    tolerance: Any = None  # as in problem.toml; None: calibrated
    positive: bool = False  # floats are to be positive: of others the function gives no numbers
    powers: bool = False  # sizes are to be powers of two: at others the function fails
    narrow: frozenset[str] = frozenset()  # arrays that are not to hold all integers of their type
    halved: int = 0  # how often shapes to check are halved, as the function takes long
    inside: bool = False  # no row is to begin at the very end: there the function reads on


class Draft:
    """The problem as far as it is known; `said` may grow until `open` is empty."""

    def __init__(self, read: Read, said: Said) -> None:
        self.read, self.said = read, said
        self._result = "result" if "result" not in read.passed else "result_"
        names = [*read.passed, *([self._result] if read.returned else [])]
        _require("--shape", said.shapes, "argument", names)
        _require("--role", said.roles, "argument", names)
        _require("--values", said.values, "argument", names)
        self.sizes = self._sizes()
        self._lengths = [name for name in self.sizes if name not in read.passed]
        if not self.open:  # else lengths of their own are still to come
            _require("--size", said.sizes, "size", self.sizes)

    def _sizes(self) -> dict[str, str]:
        """Size name -> what it is in the user's code (`n`, `x.size()`)."""
        watched = self.read.watched
        texts = [text for shape in self.said.shapes.values() for text in shape]
        texts += [text for said in self.said.values.values() for text in said if ".." in text]
        for key, seen in watched.arrays.items():
            texts += () if self._said(key) else seen.shape
            texts += [seen.room, *(high for _, high in seen.ranges.values())]
        words = watched.bounds.union(*(re.findall(_WORD, text) for text in texts))
        # a length that a person gives a value is that number wherever it stands
        self._renamed = {
            name: said[0]
            for name, said in self.said.values.items()
            if (one := self.read.passed.get(name)) and one.counts and said[0].isdigit()
        }
        words -= set(self._renamed)
        sizes = {name: name for name in self.read.passed if name in words}
        # a length that follows from a shape over other names has no name of its own either
        known = {*self.read.passed, *(f"{name}_size" for name in self.read.passed)}
        follow = {
            own: said
            for own, said in ((f"{key}_size", said) for key, said in self.said.shapes.items())
            if own in words and set(re.findall(_WORD, " ".join(said))) <= known - {own}
        }
        words -= set(follow)
        own = [name for name in self.read.passed if f"{name}_size" in words - set(sizes)]
        for name in own:
            if told := self._told(f"{name}_size"):
                is_only = len(own) == 1 and "n" not in self.read.passed and told.endswith(")")
                short = "n" if is_only else f"{name}_size"
                self._renamed[f"{name}_size"] = short
                sizes[short] = told
        for key, said in self.said.shapes.items():  # a person's own name for a container's length
            one = self.read.passed.get(key)
            is_new = said[0] == "n" or [*self.said.shapes.values()].count(said) > 1
            is_new = is_new and said[0] in words.difference(sizes, self._renamed)
            if one and one.form in ("vector", "span") and len(said) == 1 and is_new:
                sizes[said[0]] = f"{key}.size()"
        unknown = words - set(sizes) - set(self._renamed)
        sized = {own: [f"({self._sized(text)})" for text in said] for own, said in follow.items()}
        self._renamed |= {own: "*".join(texts) for own, texts in sized.items()}
        if unknown:
            raise BadInput(
                f"--shape: no size {', '.join(sorted(unknown))};"
                f" there are {', '.join(sizes) or 'none'}"
            )
        for name in sizes:
            if name in self.read.passed and not self.read.passed[name].counts:
                raise BadInput(f"--shape: {name} is no integer")
        return sizes

    @property
    def names(self) -> list[str]:
        """Arrays whose shapes a problem needs, the result last."""
        arrays = [name for name, one in self.read.passed.items() if one.form != "scalar"]
        result = self.result
        return arrays + ([result.name] if result and not result.is_returned else [])

    @property
    def result(self) -> Given | None:
        """What the function returns, its length aside."""
        if self.read.returned is None:
            return None
        seen = self.read.watched.arrays[""]
        return Given(
            self._result, self.read.returned, writes=True, counted=seen.counted, reads=False
        )

    @property
    def open(self) -> list[str]:
        """Arrays without a shape."""
        return [name for name in self.names if not self.shape(name)]

    def shape(self, name: str) -> tuple[str, ...]:
        """An array's shape over size names; () if unknown."""
        key = "" if name == self._result and self.read.returned else name
        shape = self._said(key) or self.read.watched.arrays[key].shape
        return tuple(map(self._sized, shape))

    def _said(self, key: str) -> tuple[str, ...]:
        """What somebody said the shape is, without the lanes; () where nobody did."""
        said, lanes = self.said.shapes.get(key or self._result, ()), self._lanes(key)
        is_whole = lanes and len(said) > len(lanes) and said[-len(lanes) :] == lanes
        return said[: -len(lanes)] if is_whole else said

    def _lanes(self, key: str) -> tuple[str, ...]:
        """Extents of an array's elements, which are arrays themselves."""
        one = self.read.passed.get(key) or self.read.returned
        return tuple(map(str, one.element.lanes)) if one else ()

    def _sized(self, text: str) -> str:
        """With names of sizes for those of lengths."""
        return re.sub(_WORD, lambda word: self._renamed.get(word[0], word[0]), text)

    def proposed(self, name: str) -> str:
        """A length of its own that the call tells, or room for a result; "" where there is none."""
        key = "" if name == self._result and self.read.returned else name
        seen = self.read.watched.arrays.get(key)
        if seen and seen.room:
            return self._sized(seen.room)
        if not key or seen is None or seen.counted:
            # room, as long as the longest array that is known
            others = [self.length(other) for other in self.names if other != name]
            whole = [*filter(None, others), *([*self.sizes] if len(self.sizes) == 1 else [])]
            return max(whole, key=len, default="")
        if seen.by_bytes:
            return str(_BYTES)
        if seen.starts and len(self.sizes) == 1:
            return f"{next(iter(self.sizes))} + 1"
        between = [other for other, one in self.read.watched.arrays.items() if one.between]
        own = f"{between[0] if seen.between else name}_size"
        return own if self._told(own) else ""

    def _told(self, own: str) -> str:
        """C++ for a length of an array's own: what it says itself, or where its last row ends."""
        name = own.removesuffix("_size")
        if self.read.passed[name].form in ("vector", "span"):
            return f"{name}.size()"
        ends = [start for start in self.starts if self.shape(start)]
        if not self.read.watched.arrays[name].between or len(ends) != 1:
            return ""
        rows = re.fullmatch(r"(\w+) \+ 1", self.length(ends[0]))
        return f"{ends[0]}[{rows[1]}]" if rows else ""

    def length(self, name: str) -> str:
        """Elements of an array, as a product of its shape."""
        parts = self.shape(name)
        if len(parts) == 1:
            return parts[0]
        return "*".join(p if re.fullmatch(r"\w+|\(.*\)", p) else f"({p})" for p in parts)

    def role(self, name: str) -> Role:
        """What a person said, else what the body does."""
        role = self.said.roles.get(name)
        if role not in (None, "in") and self.read.passed[name].const:
            where = self.read.function.qualified
            raise BadInput(f"--role {name}={role}: {name} is const in {where}")
        return role or self.read.watched.arrays[name].role

    @property
    def own(self) -> str:
        """How names begin that the wrapper declares: as none of the function's do."""
        said = self.read.function.source.text(self.read.function.node).lower()
        return next(own for k in count() if (own := "own_" * k + "regraph_") not in said)

    def plain(self) -> Plain:
        function = self.read.function
        given = [self._given(name, one) for name, one in self.read.passed.items()]
        result = self.result and replace(self.result, length=_c(self.length(self._result)))
        arguments = f"<{', '.join(self.read.instance)}>" if self.read.instance else ""
        # a name at file scope that no other function of the user's program gets
        named = [one for one in functions(function.source) if one.qualified == function.qualified]
        which = hashlib.sha256(function.shown().encode()).hexdigest()[:6] if len(named) > 1 else ""
        entry = "_".join(filter(None, (*function.scope, function.name, which, "entry")))
        return Plain(f"{function.qualified}{arguments}", entry, given, result, self._lengths)

    def _given(self, name: str, one: Passed) -> Given:
        if one.form == "scalar":
            return Given(name, one, writes=False)
        seen = self.read.watched.arrays[name]
        role = self.role(name)
        return Given(
            name,
            one,
            writes=role != "in",
            sized=seen.sized,
            counted=seen.counted,
            reads=role != "out",
            length=_c(self.length(name)),
        )

    def wrapped(self, text: str) -> str:
        """An expression over sizes as C++ over the user's parameters."""
        return re.sub(_WORD, lambda found: self.sizes.get(found[0], found[0]), _c(text))

    def arguments(self) -> list[dict[str, Any]]:
        """`[[args]]` of problem.toml."""
        listed = [self._argument(name, one) for name, one in self.read.passed.items()]
        result = self.result
        if result and not result.is_returned:
            told = {"name": result.name, **_typed(result.passed.element), "role": "out"}
            shape = [*self.shape(result.name), *self._lanes("")]
            listed.append(told | {"shape": shape})
        arrays = self.read.watched.arrays.items()
        counts = [name or self._result for name, seen in arrays if seen.counted]
        for told in (one for one in listed if one["name"] in counts):
            told["count"] = counter(told["name"])
        listed += [
            {"name": counter(name), "type": "int64", "role": "out", "shape": ["1"]}
            for name in counts
        ]
        return listed + [
            {"name": name, "type": "int64", "role": "size", "size": name} for name in self._lengths
        ]

    def _argument(self, name: str, one: Passed) -> dict[str, Any]:
        told: dict[str, Any] = {"name": name, **_typed(one.element)}
        if name in self.sizes:
            return told | {"role": "size", "size": name}
        if one.form == "scalar" and not one.element.in_arrays:
            return told | {"role": "in", "value": self._scalar(name, one)}
        role = "in" if one.form == "scalar" else self.role(name)
        shape = ("1",) if one.form == "scalar" else self.shape(name)
        told |= {"role": role, "shape": [*shape, *self._lanes(name)]}
        return told if role == "out" else told | self._values(name, one)

    def _scalar(self, name: str, one: Passed) -> float | int:
        said = self.said.values.get(name)
        if among := one.element.among:
            text = said[0] if said else self.read.function.default(name)
            return among.get(text.rpartition("::")[2], next(iter(among.values())))
        if said is None:
            return 0 if name in self.read.watched.places else self._usual[name]
        value = number(one.element, said[0])
        if value is None:
            kind = "a number" if one.element.is_float else "an integer"
            raise BadInput(f"--values {name}={said[0]}: {name} is a scalar; give {kind}")
        return value

    @cached_property
    def _usual(self) -> dict[str, float | int]:
        """The usual value of each scalar that is no size and no index."""
        taken = self.read.watched.places.union(self.sizes)
        scalars = {
            name: one.element
            for name, one in self.read.passed.items()
            if one.form == "scalar" and not one.element.in_arrays and name not in taken
        }
        said = {name: values[0] for name, values in self.said.values.items()}
        return usual_values(self.read.function, scalars, said)

    def _values(self, name: str, one: Passed) -> dict[str, Any]:
        """Distributions, and a range where the type or the function wants one."""
        looked = self.length(name) if self.read.watched.stops else ""
        positive, narrow = self.said.positive, name in self.said.narrow
        told = drawn(
            one.element, name, self._ranges, looked=looked, positive=positive, narrow=narrow
        )
        if looked and self.names.index(name) % 2 and "values" in told:
            first, *others = told["values"]  # what one array holds another one often lacks
            told["values"] = [first, *reversed(others)]
        if among := one.element.among:
            told = {"range": [min(among.values()), max(among.values())]}
        if kinds := [kind for kind in self.said.values.get(name, ()) if ".." not in kind]:
            told["values"] = kinds
        elif one.form != "scalar":
            seen = self.read.watched.arrays[name]
            is_number = one.element.record is None and "complex" not in one.element.type
            # the function takes for granted that these are sorted
            if seen.starts or (seen.bisected and is_number and self.role(name) == "in"):
                told["values"] = ["sorted"]
        return told

    @property
    def starts(self) -> list[str]:
        """Arrays that say where rows begin."""
        return [name for name, seen in self.read.watched.arrays.items() if seen.starts]

    @property
    def _ranges(self) -> dict[str, IndexRange]:
        """Ranges of arrays that hold indices; a struct's field is named `p.row`."""
        said = [(name, text) for name, texts in self.said.values.items() for text in texts]
        found: dict[str, IndexRange] = {
            name: _ends(self._sized(text)) for name, text in said if ".." in text
        }
        for name, seen in self.read.watched.arrays.items():
            for field_, (low, high) in seen.ranges.items():
                key = f"{name}.{field_}" if field_ else name
                found.setdefault(key, (low, self._sized(high)))
            for lead in seen.leads:
                key = f"{name}.{lead.leaf}" if lead.leaf else name
                if lead.target and self.shape(lead.target):
                    length = self.length(lead.target)
                    rows = length if lead.stride == 1 else f"({length}) // {lead.stride}"
                    # starts may be the length itself: then the last rows are empty
                    last = 1 if self.said.inside and seen.starts else lead.last
                    by = -last - lead.offset
                    high = f"{rows} {'-' if by < 0 else '+'} {abs(by)}" if by else rows
                    found.setdefault(key, (lead.low, high))
        return found


def _ends(text: str) -> IndexRange:
    """A range that a person wrote: `0..n - 1`."""
    low, high = (int(end) if end.strip("- ").isdigit() else end for end in text.split("..", 1))
    return low, high


def _require(option: str, given: Iterable[str], kind: str, names: Collection[str]) -> None:
    for name in given:
        if name not in names:
            there = ", ".join(names) or "none"
            raise BadInput(f"{option} {name}: no such {kind}; there are {there}")


def _typed(element: Element) -> dict[str, Any]:
    """An element's type in problem.toml."""
    record = element.record
    if record is None:
        return {"type": element.type}
    return {"type": "struct", "struct": record.c, "fields": dict(record.fields)}


def _c(text: str) -> str:
    """A size expression as C++."""
    return text.replace("//", "/")
