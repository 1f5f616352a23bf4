"""Tables of problem.toml: arguments, sizes, tolerances and work, each checked alone.

Shapes and counts are integer expressions over size names: + - * // % and parentheses, nothing else;
relations besides have < <= == >= >.

Not covered: relations of several tables (problem.py); their truth (checkup.py).
"""

import ast
import difflib
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveInt,
    StringConstraints,
    Tag,
    model_validator,
)

from regraph_kg.evaluation.problem import types
from regraph_kg.models.base import Frozen

Sizes = Mapping[str, int]  #: value of each size name: one shape of a problem

_OPERATORS: Mapping[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.GtE: operator.ge,
    ast.Gt: operator.gt,
}


def size_of(expression: str, sizes: Sizes) -> int:
    """Value of an integer expression over size names. Raises `ValueError` with the wrong part."""
    try:
        return _value(_tree(expression), sizes)
    except (ZeroDivisionError, RecursionError) as error:
        raise ValueError(f"{expression!r}: {error}") from None


def holds(relation: str, sizes: Sizes) -> bool:
    """Whether a relation of expressions, "k <= n" or "1 <= k < n", is true. Raises `ValueError`."""
    body = _tree(relation)
    if not isinstance(body, ast.Compare) or {type(op) for op in body.ops} - set(_OPERATORS):
        raise ValueError(f'{relation!r} is no relation: write one like "k <= n"')
    values = [size_of(ast.unparse(side), sizes) for side in (body.left, *body.comparators)]
    pairs = zip(body.ops, values, values[1:], strict=False)
    return all(_OPERATORS[type(op)](left, right) for op, left, right in pairs)


@functools.lru_cache(maxsize=1024)
def _tree(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError):
        raise ValueError(f"{text!r} is not an integer expression") from None


def _value(node: ast.expr, sizes: Sizes) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.Name(id=name):
            raise ValueError(f"unknown size {name!r} (known: {', '.join(sizes)})")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
    raise ValueError(f"{ast.unparse(node)!r} is not allowed: use integers, size names, + - * // %")


def _readable(read: Callable[[str, Sizes], object], text: str) -> str:
    """A text that can be read where its names are sizes."""
    names = {node.id for node in ast.walk(_tree(text)) if isinstance(node, ast.Name)}
    read(text, dict.fromkeys(names, 1))
    return text


_Text = Annotated[str, StringConstraints(max_length=200)]
Expression = Annotated[_Text, AfterValidator(functools.partial(_readable, size_of))]
Relation = Annotated[_Text, AfterValidator(functools.partial(_readable, holds))]
"""What must hold between sizes."""
Values = Literal["normal", "uniform", "sparse", "large-range", "small-int", "sorted", "custom"]
Precision = Literal["fp32", "tf32", "fp16"]
"""What a candidate may compute floats with: fp16 and tf32 keep 11 significant bits."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", text):
        raise ValueError(f"{text!r} is no name: lower-case letters, digits, single - and _")
    return text


ProblemName = Annotated[str, StringConstraints(max_length=64), AfterValidator(_name)]


class Table(Frozen):
    """A table of problem.toml. Of an unknown field it tells which one is meant."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, content: object) -> object:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        given = content if isinstance(content, Mapping) else {}
        unknown = [str(name) for name in given if name not in {*known, *cls.model_fields}]
        if unknown:
            near = difflib.get_close_matches(unknown[0], known, 2)
            meant = f"did you mean {' or '.join(near)}?" if near else f"they are {', '.join(known)}"
            raise ValueError(f"{unknown[0]}: no such field; {meant}")
        return content


class Declared(Table):
    """The top of a file that belongs to a problem."""

    model_config = ConfigDict(populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema")


class TermsRule(Table):
    """Tolerance of the rounding of `terms` operations in a row; "conditioned" has it as a floor."""

    rule: Literal["sum", "conditioned"]
    terms: Expression


class AbsoluteRule(Table):
    """Tolerance that is one number for every element."""

    absolute: float = Field(gt=0, allow_inf_nan=False)


def _kind(tolerance: object) -> str:
    if not isinstance(tolerance, Mapping | Table):
        return "name"
    return "absolute" if "absolute" in dict(tolerance) else "terms"


Tolerance = Annotated[
    Annotated[Literal["exact", "conditioned"], Tag("name")]
    | Annotated[TermsRule, Tag("terms")]
    | Annotated[AbsoluteRule, Tag("absolute")],
    Discriminator(_kind),
]


class DeclaredWork(Table):
    """The least work of the operation: floating-point operations and bytes moved."""

    flop: Expression | None = None
    bytes: Expression | None = None
    early_exit: bool = False  #: it may stop early or need not read everything: no physics floor


class SizesTable(Table):
    """The shapes that are checked, the one that is timed, and what holds between sizes."""

    check: tuple[dict[Identifier, NonNegativeInt], ...] = Field(min_length=1, max_length=32)
    time: dict[Identifier, PositiveInt]
    require: tuple[Relation, ...] = ()
    """Such as "k <= n": what the function's shapes have in common, the secret one's too."""

    @model_validator(mode="after")
    def _same_names(self) -> Self:
        for index, sizes in enumerate(self.check):
            if set(sizes) != set(self.time):
                text = f"check[{index}] names {sorted(sizes)} but time names {sorted(self.time)}"
                raise ValueError(text)
            self._require(f"check[{index}]", sizes)
        self._require("time", self.time)
        return self

    def _require(self, where: str, sizes: Sizes) -> None:
        broken = next((text for text in self.require if not holds(text, sizes)), None)
        if broken:
            raise ValueError(f'{where} ({shape_text(sizes)}) breaks require "{broken}"')


RESULT = "return"  #: name of the output that holds what the entry point returns


class Returned(Table):
    """The entry point's returned value: one element, which is verified like an output."""

    type: types.Type

    @model_validator(mode="after")
    def _passed_alike(self) -> Self:
        if self.type in ("float16", "struct"):  # _Float16 and __half come in different registers
            raise ValueError(f"{self.type} is for arrays only")
        return self


_WHOLE = 2**53  #: up to here floats hold every whole number


def _limits(kind: types.Type) -> tuple[float, float]:
    """The least and the largest value of a type."""
    if kind == "bool":
        return 0, 1
    if types.is_inexact(kind):
        floats = np.finfo(types.dtype_of(kind))
        return float(floats.min), float(floats.max)
    whole = np.iinfo(types.dtype_of(kind))
    return whole.min, whole.max


def _require_range(kind: types.Type, limits: tuple[float, float]) -> None:
    """Raise `ValueError` where a type has not all of a range."""
    least, most = _limits(kind)
    if not all(least <= limit <= most for limit in limits):
        raise ValueError(f"range {list(limits)} is more than {kind} has: {least:g} to {most:g}")
    if not types.is_inexact(kind) and not all(float(limit).is_integer() for limit in limits):
        raise ValueError(f"range of {kind} lies between whole numbers")
    if not types.is_inexact(kind) and max(map(abs, limits)) > _WHOLE:
        raise ValueError(f"range of {kind}: bounds beyond 2^53 are not kept exactly; leave it out")


def _require_value(kind: types.Type, value: float) -> None:
    """Raise `ValueError` where a scalar of a type cannot be `value`."""
    least, most = _limits(kind)
    representable = types.is_inexact(kind) or float(value).is_integer()
    if not (least <= value <= most and representable):
        raise ValueError(f"value {value:g} is none of {kind}: {least:g} to {most:g}")


RangeEnd = float | Expression
"""An end of a range: a number, or an expression over sizes, such as "n - 1" of an index."""


def _at(limits: tuple[RangeEnd, RangeEnd], sizes: Sizes) -> tuple[float, float]:
    """A range at `sizes`; one that holds nothing there is its lower end."""
    low, high = (size_of(end, sizes) if isinstance(end, str) else end for end in limits)
    return low, max(low, high)


class Argument(Table):
    """One parameter of the C signature: an array, a size or a plain scalar."""

    name: Identifier
    type: types.Type
    role: Literal["in", "out", "inout", "size"]
    shape: tuple[Expression, ...] = ()
    values: tuple[Values, ...] = ("normal", "uniform", "sparse", "small-int")
    range: tuple[RangeEnd, RangeEnd] | None = None
    """Bounds of "uniform", "sorted" and "custom" values, both included for integer types."""
    ranges: dict[Identifier, tuple[RangeEnd, RangeEnd]] | None = None
    """Ranges of a struct's fields that differ from `range`."""
    limits_guessed: bool = False
    """Nobody said `range`, and the function stands more: some altered inputs leave it."""
    size: Expression | None = None
    value: float | int | None = None
    struct: Identifier | None = None
    """The C++ name of a type "struct"; `fields` are its members in order, none of them padded."""
    fields: dict[Identifier, types.Type] | None = None
    count: Identifier | None = None  #: the output that counts this one's rows; `shape` is the room

    @model_validator(mode="after")
    def _fields_of_type(self) -> Self:
        if (self.type == "struct") != bool(self.struct and self.fields) or (
            self.type != "struct" and (self.struct or self.fields or self.ranges)
        ):
            raise ValueError('type "struct" needs struct = "<its name>" and fields, no other does')
        if self.fields:
            self._require_plain(self.fields)
        kind = self.dtype.kind
        if not self.is_array and (kind in "cV" or self.type == "float16"):
            raise ValueError(f'{self.type} is for arrays: give a shape, such as ["1"]')
        if kind == "c" and "sorted" in self.values:
            raise ValueError('values "sorted": complex numbers have no order')
        if self.limits and not self.fields:
            _require_range(self.type, self.limits)
        if self.value is not None:
            _require_value(self.type, self.value)
        return self

    def _require_plain(self, fields: Mapping[str, types.Type]) -> None:
        if any(kind == "struct" or types.dtype_of(kind).kind == "c" for kind in fields.values()):
            raise ValueError("fields of a struct are real numbers")
        if {"custom", "sorted"} & set(self.values):
            raise ValueError('values of a struct are neither "custom" nor "sorted"')
        unknown = set(self.ranges or ()) - set(fields)
        if unknown:
            raise ValueError(f"ranges: the struct has no field {sorted(unknown)[0]!r}")
        record = types.record_of(fields)
        if record.itemsize != sum(types.dtype_of(kind).itemsize for kind in fields.values()):
            raise ValueError(f"struct {self.struct} has padding: declare that as fields, too")
        _ = self.leaves  # whose range must hold something

    @model_validator(mode="after")
    def _fields_of_role(self) -> Self:
        if self.role == "size" and (self.size is None or self.shape or self.value is not None):
            raise ValueError('role "size" needs `size = "<expression>"` and no shape or value')
        if self.role == "size" and not types.is_whole(self.type):
            raise ValueError(f'role "size" needs an integer type, not {self.type}')
        if self.role in ("out", "inout") and not self.shape:
            raise ValueError(f'role "{self.role}" needs a shape')
        if self.count and self.role not in ("out", "inout"):
            raise ValueError("count is for outputs")
        if self.role != "size" and bool(self.shape) == (self.value is not None):
            raise ValueError("give either a shape (array) or a value (scalar)")
        if "custom" in self.values and len(self.values) > 1:
            raise ValueError('values "custom" stands alone: inputs.py decides')
        if not self.values or (self.limits and self.limits[0] > self.limits[1]):
            raise ValueError("values must not be empty and range must be [low, high]")
        return self

    @property
    def is_custom(self) -> bool:
        """Drawn by the problem's inputs.py."""
        return self.is_array and self.role in ("in", "inout") and self.values == ("custom",)

    @property
    def is_array(self) -> bool:
        """Passed as a pointer, or returned."""
        return bool(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return types.record_of(self.fields) if self.fields else types.dtype_of(self.type)

    @property
    def is_inexact(self) -> bool:
        """Whether elements are rounded: floats and complex numbers, structs that have some."""
        return (
            any(map(types.is_inexact, self.fields.values()))
            if self.fields
            else types.is_inexact(self.type)
        )

    @property
    def leaves(self) -> dict[str, "Argument"]:
        """Each field of a struct as an array of its own, "p.x"; by the field's name."""
        leaves = {}
        no_struct = {"struct": None, "fields": None, "ranges": None}
        for field, kind in (self.fields or {}).items():
            limits = self.limits
            if limits and not types.is_inexact(kind):  # the part of the range that the type has
                least, most = _limits(kind)
                limits = max(limits[0], least), min(limits[1], most)
            declared = (self.ranges or {}).get(field, limits)
            if declared == limits and limits and limits[0] > limits[1]:
                raise ValueError(f"range holds no {kind}")
            update = {"name": f"{self.name}.{field}", "type": kind, "range": declared}
            leaves[field] = self.model_copy(update={**update, **no_struct})
        return leaves

    def at(self, sizes: Sizes) -> Self:
        """The same at one shape: ranges are numbers, which its type must have; or `ValueError`."""
        ranges = self.ranges and {name: _at(bounds, sizes) for name, bounds in self.ranges.items()}
        fixed = self.model_copy(
            update={"range": self.range and _at(self.range, sizes), "ranges": ranges}
        )
        for leaf in fixed.leaves.values() or (fixed,):
            if leaf.limits and leaf.is_array:
                _require_range(leaf.type, leaf.limits)
        return fixed

    @property
    def limits(self) -> tuple[float, float] | None:
        """`range` where it is the same at every shape, as `at` makes it."""
        low, high = self.range or ("", "")
        return None if isinstance(low, str) or isinstance(high, str) else (low, high)

    def promoted(self) -> "Argument":
        """The argument with floats as float64, complex numbers likewise."""
        fields = self.fields and {n: types.WIDER.get(kind, kind) for n, kind in self.fields.items()}
        update = {"type": types.WIDER.get(self.type, self.type), "fields": fields}
        return self.model_copy(update=update)

    def spelled(self, cuda: bool = False) -> str:
        """An element's type in C++."""
        return self.struct or (types.CUDA_TYPES if cuda else types.C_TYPES)[self.type]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest and largest value of its elements; None where none are declared."""
        return (0, 1) if self.type == "bool" and self.range is None else self.limits

    def dimensions(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(size_of(text, sizes) for text in self.shape)

    def elements(self, sizes: Sizes) -> int:
        return math.prod(self.dimensions(sizes))

    def nbytes(self, sizes: Sizes) -> int:
        return self.dtype.itemsize * self.elements(sizes)

    def scalar(self, sizes: Sizes) -> float | int:
        """The value passed for a size or a plain scalar; raises `ValueError` as `size_of`."""
        if self.size is not None:
            extent = size_of(self.size, sizes)
            _require_value(self.type, extent)
            return extent
        assert self.value is not None
        return self.value


def shape_text(sizes: Sizes) -> str:
    """A shape as people write it: "m=17, n=31"."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items())
