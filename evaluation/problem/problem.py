"""A problem: a folder with problem.toml, serial.cpp and, rarely, reference.cpp, inputs.py.

Not covered: whether a declaration is true (checkup.py looks).
"""

import re
import tomllib
from pathlib import Path
from typing import Self

from pydantic import Field, PositiveInt, ValidationError, model_validator

from regraph_kg import regular
from regraph_kg.errors import BadInput, file_errors, first_mistake
from regraph_kg.evaluation.problem.declaration import (
    RESULT,
    Argument,
    Declared,
    DeclaredWork,
    Identifier,
    Precision,
    ProblemName,
    Returned,
    Sizes,
    SizesTable,
    TermsRule,
    Tolerance,
    shape_text,
    size_of,
)
from regraph_kg.evaluation.problem.memory import memory_limit
from regraph_kg.evaluation.problem.rewrite import has_own_width, to_double
from regraph_kg.evaluation.problem.types import C_TYPES, WIDER, Alteration, is_whole
from regraph_kg.models.base import Metric

_FRACTIONS = re.compile(r"\b(?:float|double)\b")
_MAX_BYTES = 8 * 2**30
_PROGRAM_BYTES = 192 * 2**20  #: the judge's and its workers' own: interpreters, libraries, stacks
KEPT_INPUTS_BYTES = min(max(memory_limit() // 48, 64 * 2**20), 512 * 2**20)
"""Inputs that a session keeps at most (inputs.py): what is not kept is made again and again."""
KEPT_TRUTHS_BYTES = 2 * KEPT_INPUTS_BYTES
_KEPT_TIMES, _KEPT_BYTES = 8, 160 * 2**20 + KEPT_INPUTS_BYTES + KEPT_TRUTHS_BYTES
"""Inputs, truths, outputs (batches.py) that are kept: in terms of the arrays, and at most."""
KEPT_DRAWINGS_BYTES = max(256 * 2**20, 2 * KEPT_INPUTS_BYTES)
"""Drawings of inputs.py that are kept (custom_inputs.py): each may take seconds to make."""
_MORE_SHAPES = 2  #: check shapes besides those declared: a secret one, an unaligned one
_MOST_TEXT_BYTES = 2**20
_OPTIONAL_FILES = {"reference_code": "reference.cpp", "inputs_code": "inputs.py"}


class Problem(Declared):
    """One problem: its declaration (problem.toml), its code, where it lies."""

    name: ProblemName
    entry: Identifier
    metric: Metric = "call"
    tolerance: Tolerance = "conditioned"
    precision: Precision = "fp32"
    separates: bool = True  #: whether the tolerance tells a lower precision (calibrate.py)
    custom_variants: PositiveInt = Field(default=1, le=8)
    """How many kinds of inputs inputs.py makes; it is told which."""
    work: DeclaredWork = DeclaredWork()
    held_out: bool = True  #: also check a secret shape between each size's least and largest
    excludes: tuple[Alteration, ...] = ()
    """Ways of altering inputs (alterations.py) that make them unfit for the function."""
    sizes: SizesTable
    args: tuple[Argument, ...] = Field(min_length=1, max_length=32)
    returns: Returned | None = None
    serial_code: str
    reference_code: str | None = None
    """Own fp64 reference (float32 of the signature becomes double), where rewriting will not do."""
    inputs_code: str | None = None  #: inputs.py, which makes arguments whose values are "custom"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [arg.name for arg in self.args]
        if len(set(names)) != len(names):
            raise ValueError("args: two arguments have the same name")
        if self.returns and RESULT in names:
            raise ValueError(f'args: "{RESULT}" is the name of what is returned')
        if not self.outputs:
            raise ValueError('args: no array has role "out" or "inout", and nothing is returned')
        custom = any(arg.is_custom for arg in self.args)
        if custom != (self.inputs_code is not None):
            raise ValueError('args: values "custom" and a file inputs.py need each other')
        for sizes in (*self.sizes.check, self.sizes.time):
            fault = self.fault_at(sizes)
            if fault:
                raise ValueError(fault)
        timed = self.sizes.time
        empty = next((arg for arg in self.arrays if not arg.elements(timed)), None)
        if empty:
            raise ValueError(f"args.{empty.name}: empty at the timing shape {shape_text(timed)}")
        if not any(map(self.is_full, self.sizes.check)):
            raise ValueError("sizes.check: arrays are empty in every shape; add one with elements")
        for arg in self.outputs:
            _check_count(self, arg)
        return self

    def fault_at(self, sizes: Sizes) -> str | None:
        """Why `sizes` is no shape of this problem, with the field; None where it is one."""
        total = 0
        for arg in self.args:
            try:
                if arg.is_array:
                    shape = arg.dimensions(sizes)
                    if min(shape) < 0:
                        raise ValueError(f"shape {list(shape)} is negative at {shape_text(sizes)}")
                    arg.at(sizes)
                    total += arg.elements(sizes) * max(8, arg.dtype.itemsize)
                else:
                    arg.scalar(sizes)
            except ValueError as error:
                return f"args.{arg.name}: {error}"
        if total > _MAX_BYTES:
            gib, most = total / 2**30, _MAX_BYTES / 2**30
            return (
                f"sizes: {gib:.3g} GiB of arrays at {shape_text(sizes)}; at most {most:.0f} may be"
            )
        rule = self.tolerance
        terms = rule.terms if isinstance(rule, TermsRule) else None
        try:
            for text in filter(None, (terms, self.work.flop, self.work.bytes)):
                size_of(text, sizes)
        except ValueError as error:
            return str(error)
        return None

    @property
    def adds_in_any_order(self) -> bool:
        """Whether results count as the same when elements are added to in another order."""
        return self.tolerance != "exact" or not _FRACTIONS.search(self.serial_code)

    def is_full(self, sizes: Sizes) -> bool:
        """Whether no array is empty at `sizes`."""
        return all(arg.elements(sizes) for arg in self.arrays)

    @property
    def slots(self) -> tuple[Argument, ...]:
        """Arguments in order, then what is returned, as an output of one element."""
        if self.returns is None:
            return self.args
        result = Argument(name=RESULT, type=self.returns.type, role="out", shape=("1",))
        return (*self.args, result)

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """Arguments that are pointers, in order, then what is returned."""
        return tuple(arg for arg in self.slots if arg.is_array)

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """Arrays that the function writes, in order, then what it returns."""
        return tuple(arg for arg in self.arrays if arg.role in ("out", "inout"))

    @property
    def results(self) -> tuple[Argument, ...]:
        """Compared arrays: outputs, and each field of outputs that hold structs."""
        return tuple(leaf for arg in self.outputs for leaf in arg.leaves.values() or (arg,))

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Arrays that the function reads, in order."""
        return tuple(arg for arg in self.args if arg.is_array and arg.role in ("in", "inout"))

    def elements(self, sizes: Sizes) -> int:
        """Elements of all arrays at `sizes`."""
        return sum(arg.elements(sizes) for arg in self.arrays)

    def nbytes(self, sizes: Sizes) -> int:
        """Bytes of all arrays at `sizes`."""
        return sum(arg.nbytes(sizes) for arg in self.arrays)

    def memory_bytes(self) -> int:
        """Estimate of the most memory that judging takes.

        A drawing of the inputs; then either all arrays with fp64 types, for a truth, or those that
        of a candidate, with those of the check shapes, and as much for itself; inputs, truths
        and outputs that are kept; kept drawings; and the programs' own memory.
        """
        at = self.sizes.time
        plain, wide = (problem.nbytes(at) for problem in (self, self.promoted()))
        inputs = sum(arg.nbytes(at) for arg in self.inputs)
        checked = max(self.nbytes(sizes) for sizes in self.sizes.check)
        slot = plain + (len(self.sizes.check) + _MORE_SHAPES) * checked
        queued = min(_KEPT_TIMES * (plain + checked), _KEPT_BYTES)
        drawn = min(2 * _KEPT_TIMES * inputs, KEPT_DRAWINGS_BYTES) if self.inputs_code else 0
        return inputs + max(wide, 2 * slot) + queued + drawn + _PROGRAM_BYTES

    def signature(self, cuda: bool = False) -> str:
        """The C declaration that a candidate must export, in the words of nvcc or of g++."""
        parts = []
        for arg in self.args:
            const = "const " if arg.is_array and arg.role == "in" else ""
            star = "*" if arg.is_array else ""
            parts.append(f"{const}{arg.spelled(cuda)}{star} {arg.name}")
        returned = C_TYPES[self.returns.type] if self.returns else "void"
        return f'extern "C" {returned} {self.entry}({", ".join(parts)})'

    def at(self, sizes: Sizes) -> "Problem":
        """The same where every range is the one of this shape."""
        return self.model_copy(update={"args": tuple(arg.at(sizes) for arg in self.args)})

    @property
    def truth_name(self) -> str:
        """What `truth_code` is called in messages."""
        return "serial.cpp with fp64 types" if self.reference_code is None else "reference.cpp"

    @property
    def truth_code(self) -> str:
        """The code that says what is right: reference.cpp, else serial.cpp with fp64 types."""
        if self.reference_code is not None:
            return self.reference_code
        return self.serial_code if self.promoted() is self else to_double(self.serial_code)

    def promoted(self) -> "Problem":
        """The same problem with floats as float64, complex likewise: its reference's signature."""
        # a float that decides a count or a place would decide otherwise in another precision
        is_own = self.tolerance == "exact" or has_own_width(self.serial_code)
        if is_own and self.reference_code is None:
            return self
        wide = tuple(arg.promoted() for arg in self.args)
        returns = self.returns and Returned(type=WIDER.get(self.returns.type, self.returns.type))
        return self.model_copy(update={"args": wide, "returns": returns})

    def __str__(self) -> str:
        shape, megabytes = shape_text(self.sizes.time), self.nbytes(self.sizes.time) / 1e6
        timed = f"timed at {shape}, {megabytes:.3g} MB of arrays, by {self.metric}"
        return f"{self.name}: {self.signature()}\n{timed}, {self.precision}\n{self.serial_code}"


def _check_count(problem: Problem, arg: Argument) -> None:
    """Raise `ValueError` where an output's count names an unfit output."""
    outputs = {output.name: output for output in problem.outputs}
    if arg.count:
        counter = outputs.get(arg.count)
        if not counter or counter.role != "out" or counter.shape != ("1",):
            text = f'args.{arg.name}: count {arg.count!r} is no output, role "out", shape ["1"]'
            raise ValueError(text)
        if not is_whole(counter.type) or counter.count:
            raise ValueError(f"args.{arg.name}: count {arg.count!r} is no integer of its own")


def load_problem(folder: Path) -> Problem:
    """Read a problem folder. Raises `BadInput` naming file and field, and how to mend."""
    path = folder / "problem.toml"
    try:
        content = tomllib.loads(regular.read_text(path, _MOST_TEXT_BYTES))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; a problem is a folder with this file") from None
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or far too deep
        raise BadInput(f"{path}: not TOML: {str(error)[:200]}; see regraph docs problems") from None
    for reserved in ("serial_code", *_OPTIONAL_FILES):
        if reserved in content:
            message = f"{path}: {reserved}: not a field; the code lies in serial.cpp beside it"
            raise BadInput(message)
    try:
        there = {field: n for field, n in _OPTIONAL_FILES.items() if (folder / n).exists()}
        names = {"serial_code": "serial.cpp"} | there
        code = {field: _read_code(folder / name) for field, name in names.items()}
        return Problem.model_validate(content | code)
    except ValidationError as error:
        raise mistaken(path, error) from None
    except (RecursionError, OverflowError, MemoryError) as error:
        raise BadInput(f"{path}: {type(error).__name__}: a number or text is too large") from None


def mistaken(path: Path, error: ValidationError) -> BadInput:
    """The error to raise for a problem.toml, with its first mistake."""
    return BadInput(f"{path}: {first_mistake(error)}; see regraph docs problems")


def _read_code(path: Path) -> str:
    with file_errors(path, "a problem needs its serial code, in UTF-8"):
        return regular.read_text(path, _MOST_TEXT_BYTES)
