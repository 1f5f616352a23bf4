"""What a problem is: a folder with problem.toml, serial.cpp and, rarely, reference.cpp, inputs.py.

Not covered: whether a declaration is true (calibrate.py looks at `separates`); arrays whose shape
depends on their content.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
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
from regraph_kg.evaluation.expression import Expression, Sizes, size_of
from regraph_kg.models.base import Frozen, Metric

__all__ = ["Sizes", "size_of"]
"""Names of expression.py that a problem's users need with it."""

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
Values = Literal["normal", "uniform", "sparse", "large-range", "small-int", "sorted", "custom"]
Precision = Literal["fp32", "tf32", "fp16"]
"""What a candidate may compute floats with: fp16 and tf32 keep 11 significant bits."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]

_MAX_BYTES = 8 * 2**30
_OPTIONAL_FILES = {"reference_code": "reference.cpp", "inputs_code": "inputs.py"}


class SumRule(Frozen):
    """Tolerance of a sum of `terms` products: grows with sqrt(terms) and the output's RMS."""

    rule: Literal["sum"]
    terms: Expression
    exact_integers: bool = True
    """Sums of products of small integers must be exact; not so where factors are divided."""


class ConditionedRule(Frozen):
    """Conditioned, with a floor for the rounding inside a chain of `terms` operations."""

    rule: Literal["conditioned"]
    terms: Expression


class AbsoluteRule(Frozen):
    """Tolerance that is one number for every element."""

    absolute: float = Field(gt=0, allow_inf_nan=False)


def _kind(tolerance: object) -> str:
    if isinstance(tolerance, AbsoluteRule) or (
        isinstance(tolerance, Mapping) and "absolute" in tolerance
    ):
        return "absolute"
    rule = tolerance.get("rule") if isinstance(tolerance, Mapping) else None
    if isinstance(tolerance, ConditionedRule) or rule == "conditioned":
        return "conditioned"
    return "sum" if isinstance(tolerance, SumRule | Mapping) else "name"


Tolerance = Annotated[
    Annotated[Literal["exact", "conditioned"], Tag("name")]
    | Annotated[SumRule, Tag("sum")]
    | Annotated[ConditionedRule, Tag("conditioned")]
    | Annotated[AbsoluteRule, Tag("absolute")],
    Discriminator(_kind),
]


class Work(Frozen):
    """What the operation must do at least: floating-point operations and bytes moved."""

    flop: Expression | None = None
    bytes: Expression | None = None
    early_exit: bool = False
    """The function may stop early or need not read everything: no physics floor applies."""


class CheapCheck(Frozen):
    """How outputs of the timing shape are checked where its arrays pass 64 MiB (cheap.py).

    random-indices: at secret places only. freivalds, args [A, B, C]: C = A B by random vectors.
    sorted, args [given, out]: `out` holds the elements of `given` in ascending order.
    """

    rule: Literal["random-indices", "freivalds", "sorted"]
    args: tuple[Identifier, ...] = ()

    @model_validator(mode="after")
    def _count(self) -> Self:
        wanted = {"random-indices": 0, "freivalds": 3, "sorted": 2}[self.rule]
        if len(self.args) != wanted:
            raise ValueError(f'rule "{self.rule}" needs {wanted} args, not {len(self.args)}')
        return self


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
    """Bounds of "uniform", "sorted" and "custom" values, both included for integer types."""
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
        if "custom" in self.values and len(self.values) > 1:
            raise ValueError('values "custom" stands alone: inputs.py decides')
        if not self.values or (self.range and self.range[0] > self.range[1]):
            raise ValueError("values must not be empty and range must be [low, high]")
        return self

    @property
    def is_custom(self) -> bool:
        """Drawn by the problem's inputs.py."""
        return self.is_array and self.role in ("in", "inout") and self.values == ("custom",)

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
    precision: Precision = "fp32"
    separates: bool = True
    """Whether the tolerance tells the declared precision from a lower one (calibrate.py)."""
    cheap_check: CheapCheck | None = None
    custom_variants: PositiveInt = Field(default=1, le=8)
    """How many kinds of inputs inputs.py makes; it is told which."""
    work: Work = Work()
    held_out: bool = True
    """Also check a secret shape between the smallest and the largest value of each size."""
    sizes: SizesTable
    args: tuple[Argument, ...] = Field(min_length=1, max_length=32)
    serial_code: str
    reference_code: str | None = None
    """Own fp64 reference (float32 of the signature becomes double), where rewriting will not do."""
    inputs_code: str | None = None
    """Text of inputs.py: generates the arguments whose values are "custom"."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [arg.name for arg in self.args]
        if len(set(names)) != len(names):
            raise ValueError("args: two arguments have the same name")
        if not self.outputs:
            raise ValueError('args: no array has role "out" or "inout"')
        custom = any(arg.is_custom for arg in self.args)
        if custom != (self.inputs_code is not None):
            raise ValueError('args: values "custom" and a file inputs.py need each other')
        for sizes in (*self.sizes.check, self.sizes.time):
            self._check_at(sizes)
        if self.cheap_check:
            _check_cheap(self, self.cheap_check)
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
        if isinstance(self.tolerance, SumRule | ConditionedRule):
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

    def nbytes(self, sizes: Sizes) -> int:
        """Bytes of all arrays at `sizes`."""
        return sum(
            int("".join(filter(str.isdigit, arg.type))) // 8 * _product(arg.dimensions(sizes))
            for arg in self.arrays
        )

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


def _check_cheap(problem: Problem, check: CheapCheck) -> None:
    """Raise `ValueError` where the arguments are not what the rule speaks of."""
    if check.rule == "random-indices":
        return
    known = {arg.name: arg for arg in problem.arrays}
    missing = [name for name in check.args if name not in known]
    if missing:
        raise ValueError(f"cheap_check: no array argument {missing[0]!r}")
    named = [known[name] for name in check.args]
    if [arg.name for arg in problem.outputs] != [named[-1].name] or named[-1].role != "out":
        raise ValueError('cheap_check: its last argument must be the only output, role "out"')
    shapes = [arg.dimensions(problem.sizes.time) for arg in named]
    if check.rule == "sorted" and (named[0].type, shapes[0]) != (named[1].type, shapes[1]):
        raise ValueError("cheap_check: sorted needs two arrays of one type and shape")
    if check.rule == "freivalds":
        a, b, c = shapes
        if {len(shape) for shape in shapes} != {2} or (*a, b[1]) != (c[0], b[0], c[1]):
            raise ValueError("cheap_check: freivalds needs shapes [m, k], [k, n], [m, n]")


def load_problem(folder: Path) -> Problem:
    """Read a problem folder. Raises `BadInput` naming file and field, and how to mend."""
    path = folder / "problem.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; a problem is a folder with this file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not TOML: {error}; see docs/problems.md") from None
    for reserved in ("serial_code", *_OPTIONAL_FILES):
        if reserved in content:
            raise BadInput(
                f"{path}: {reserved}: not a field; the code lies in serial.cpp beside it"
            )
    code = {"serial_code": _read_code(folder / "serial.cpp")}
    for field, name in _OPTIONAL_FILES.items():
        if (folder / name).exists():
            code[field] = _read_code(folder / name)
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
