"""What a problem is: a folder with problem.toml, serial.cpp and, rarely, reference.cpp.

Not covered yet: custom input generators (inputs.py).
"""

import ast
import operator
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    StringConstraints,
    Tag,
    ValidationError,
    model_validator,
)

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen, Metric

Sizes = Mapping[str, int]
"""Value of each size name: one shape of a problem."""

C_TYPES = {
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}
"""Element type (also its numpy name) -> its C++ spelling."""

Type = Literal[
    "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"
]
Values = Literal["normal", "uniform", "sparse", "large-range", "small-int", "sorted"]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_MAX_BYTES = 8 * 2**30


def size_of(expression: str, sizes: Sizes) -> int:
    """Value of an integer expression over size names: + - * // % and parentheses, nothing else.

    Raises `ValueError` with the offending part.
    """
    try:
        tree = ast.parse(expression, mode="eval")
        return _value(tree.body, sizes)
    except SyntaxError:
        raise ValueError(f"{expression!r} is not an integer expression") from None
    except (ZeroDivisionError, RecursionError) as error:
        raise ValueError(f"{expression!r}: {error}") from None


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


def _expression(text: str) -> str:
    names = {n.id for n in ast.walk(_parsed(text)) if isinstance(n, ast.Name)}
    size_of(text, dict.fromkeys(names, 1))
    return text


def _parsed(text: str) -> ast.AST:
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError:
        raise ValueError(f"{text!r} is not an integer expression") from None


Expression = Annotated[str, StringConstraints(max_length=200), AfterValidator(_expression)]


class SumRule(Frozen):
    """Tolerance of a sum of `terms` products: grows with sqrt(terms) and the output's RMS."""

    rule: Literal["sum"]
    terms: Expression


class AbsoluteRule(Frozen):
    """Tolerance that is one number for every element."""

    absolute: float = Field(gt=0, allow_inf_nan=False)


def _kind(tolerance: object) -> str:
    if isinstance(tolerance, AbsoluteRule) or (
        isinstance(tolerance, Mapping) and "absolute" in tolerance
    ):
        return "absolute"
    return "sum" if isinstance(tolerance, SumRule | Mapping) else "name"


Tolerance = Annotated[
    Annotated[Literal["exact", "conditioned"], Tag("name")]
    | Annotated[SumRule, Tag("sum")]
    | Annotated[AbsoluteRule, Tag("absolute")],
    Discriminator(_kind),
]


class Work(Frozen):
    """What the operation must do at least: floating-point operations and bytes moved."""

    flop: Expression | None = None
    bytes: Expression | None = None


class SizesTable(Frozen):
    """The shapes that are checked and the one that is timed."""

    check: tuple[dict[Identifier, PositiveInt], ...] = Field(min_length=1, max_length=32)
    time: dict[Identifier, PositiveInt]

    @model_validator(mode="after")
    def _same_names(self) -> Self:
        for index, sizes in enumerate(self.check):
            if set(sizes) != set(self.time):
                raise ValueError(
                    f"check[{index}] names {sorted(sizes)} but time names {sorted(self.time)}"
                )
        return self


class Argument(Frozen):
    """One parameter of the C signature: an array, a size or a plain scalar."""

    name: Identifier
    type: Type
    role: Literal["in", "out", "inout", "size"]
    shape: tuple[Expression, ...] = ()
    values: tuple[Values, ...] = ("normal", "uniform", "sparse", "small-int")
    range: tuple[float, float] | None = None
    """Bounds of "uniform" and "sorted" values, both included for integer types."""
    size: Expression | None = None
    value: float | int | None = None

    @model_validator(mode="after")
    def _fields_of_role(self) -> Self:
        if self.role == "size" and (self.size is None or self.shape or self.value is not None):
            raise ValueError('role "size" needs `size = "<expression>"` and no shape or value')
        if self.role == "size" and self.type.startswith("float"):
            raise ValueError(f'role "size" needs an integer type, not {self.type}')
        if self.role in ("out", "inout") and not self.shape:
            raise ValueError(f'role "{self.role}" needs a shape')
        if self.role != "size" and bool(self.shape) == (self.value is not None):
            raise ValueError("give either a shape (array) or a value (scalar)")
        if not self.values or (self.range and self.range[0] > self.range[1]):
            raise ValueError("values must not be empty and range must be [low, high]")
        return self

    @property
    def is_array(self) -> bool:
        """Passed as a pointer."""
        return bool(self.shape)

    def dimensions(self, sizes: Sizes) -> tuple[int, ...]:
        """The array's shape at `sizes`."""
        return tuple(size_of(text, sizes) for text in self.shape)

    def scalar(self, sizes: Sizes) -> float | int:
        """The value passed for a size or a plain scalar."""
        if self.size is not None:
            return size_of(self.size, sizes)
        assert self.value is not None
        return self.value


class Problem(Frozen):
    """One problem: its declaration (problem.toml), its code, where it lies."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_version: Literal[1] = Field(alias="schema")
    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$", max_length=64)]
    entry: Identifier
    metric: Metric = "call"
    tolerance: Tolerance = "conditioned"
    work: Work = Work()
    held_out: bool = True
    """Also check a secret shape between the smallest and the largest value of each size."""
    sizes: SizesTable
    args: tuple[Argument, ...] = Field(min_length=1, max_length=32)
    serial_code: str
    reference_code: str | None = None
    """Own fp64 reference (float32 of the signature becomes double), where rewriting will not do."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [arg.name for arg in self.args]
        if len(set(names)) != len(names):
            raise ValueError("args: two arguments have the same name")
        if not self.outputs:
            raise ValueError('args: no array has role "out" or "inout"')
        for sizes in (*self.sizes.check, self.sizes.time):
            self._check_at(sizes)
        return self

    def _check_at(self, sizes: Sizes) -> None:
        total = 0
        for arg in self.args:
            try:
                if arg.is_array:
                    shape = arg.dimensions(sizes)
                    if min(shape) < 1:
                        raise ValueError(f"shape {list(shape)} is empty at {shape_text(sizes)}")
                    total += _product(shape) * 8
                else:
                    arg.scalar(sizes)
            except ValueError as error:
                raise ValueError(f"args.{arg.name}: {error}") from None
        if total > _MAX_BYTES:
            raise ValueError(f"sizes: more than 8 GiB of arrays at {shape_text(sizes)}")
        if isinstance(self.tolerance, SumRule):
            size_of(self.tolerance.terms, sizes)
        for text in (self.work.flop, self.work.bytes):
            if text is not None:
                size_of(text, sizes)

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """Arguments that are pointers, in order."""
        return tuple(arg for arg in self.args if arg.is_array)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """Arrays that the function writes, in order."""
        return tuple(arg for arg in self.args if arg.is_array and arg.role in ("out", "inout"))

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Arrays that the function reads, in order."""
        return tuple(arg for arg in self.args if arg.is_array and arg.role in ("in", "inout"))

    def signature(self) -> str:
        """The C declaration that a candidate must export."""
        parts = []
        for arg in self.args:
            const = "const " if arg.is_array and arg.role == "in" else ""
            star = "*" if arg.is_array else ""
            parts.append(f"{const}{C_TYPES[arg.type]}{star} {arg.name}")
        return f'extern "C" void {self.entry}({", ".join(parts)})'

    def promoted(self) -> "Problem":
        """The same problem with every float32 as float64: the signature of its reference."""
        wide = tuple(
            arg.model_copy(update={"type": "float64"}) if arg.type == "float32" else arg
            for arg in self.args
        )
        return self.model_copy(update={"args": wide})


def load_problem(folder: Path) -> Problem:
    """Read a problem folder. Raises `BadInput` naming file and field, and how to mend."""
    path = folder / "problem.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; a problem is a folder with this file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}; see docs/problems.md") from None
    for reserved in ("serial_code", "reference_code"):
        if reserved in content:
            raise BadInput(
                f"{path}: {reserved}: not a field; the code lies in serial.cpp beside it"
            )
    code = {"serial_code": _read_code(folder / "serial.cpp")}
    if (folder / "reference.cpp").exists():
        code["reference_code"] = _read_code(folder / "reference.cpp")
    try:
        return Problem.model_validate(content | code)
    except ValidationError as error:
        raise BadInput(f"{path}: {_first(error)}; see docs/problems.md") from None


def _read_code(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; a problem needs its serial code") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8 text; save it as UTF-8") from None


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    text = first["msg"].removeprefix("Value error, ")
    return f"{place}: {text}" if place else text


def shape_text(sizes: Sizes) -> str:
    """A shape as people write it: "m=17, n=31"."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items())


def _product(shape: tuple[int, ...]) -> int:
    result = 1
    for extent in shape:
        result *= extent
    return result
