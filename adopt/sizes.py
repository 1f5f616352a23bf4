"""Shapes to check and to time: small ones that the extents allow, and one that takes long enough.

The serial code runs in the judge's confined worker only. Not covered: sizes that depend on each
other by more than what extents say; a person gives them.
"""

import ast
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing

import numpy as np

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.machine import trusted
from regraph_kg.evaluation.problem.declaration import Sizes, holds, shape_text, size_of
from regraph_kg.evaluation.problem.inputs import factors, generate, variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import is_rounded
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.evaluation.worker.runner import RunFailed, Runner, put
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.models.evaluation import Outcome

_SHAPES: Mapping[int, Sequence[Sequence[int]]] = {
    0: ((),),
    1: ((1,), (31,), (1000,)),
    2: ((1, 1), (31, 17), (64, 100)),
    3: ((1, 1, 1), (13, 5, 7), (33, 64, 47)),
}
_SQUARE = ((1,), (7,), (31,), (100,))
_QUOTIENTS = (1, 5, 13)  # least quotients of sizes, shape by shape: 1 in all shapes shows little
_MOST_DOUBLED = 10  # how often a size may be doubled for a quotient's sake
_LEAST = 64  # up to where a smallest shape is looked for, where extents such as n - 2 forbid 1
_ENOUGH, _AIM, _TOO_LONG = 0.03, 0.06, 0.3
"""Seconds that a timing shape should take: growing ends at the first, aims at the second."""
_QUICK = 0.01  # seconds that a call at the largest shape to check may take
_MOST_BYTES = 2**26  # larger arrays take long to make and to check anew for each timed call
_STEP = 4.0  # factor by which all sizes grow at most
_SHORT = 1e-3  # a time from which the third power of that step leads to the aim
_LEAST_STEP = 1.2
_SQUARED = 1.5  # a power between those of a line and of a square
_STILL = 0.1  # powers below which an extent does not grow with all sizes
_TRIES = 14
PATIENCE_SECONDS = 10.0


def check_shapes(
    names: Sequence[str],
    extents: Sequence[str],
    lengths: Iterable[str] = (),
    *,
    powers: bool = False,
    halved: int = 0,
) -> list[Sizes]:
    """Shapes at which no extent is below 1. Raises `BadInput` where there are none.

    Each size is larger than each other one somewhere: arrays that belong together, which nobody has
    said, are then too short for the code. `lengths` are elements of whole arrays; all shapes but
    the first are `halved` so often, as far as extents allow.
    """
    shapes = _whole_shapes(names, extents, [*extents, *lengths], powers=powers)
    first, *others = shapes
    for _ in range(halved):
        smaller: list[Sizes] = [
            {name: max(first[name], size // 2) for name, size in one.items()} for one in others
        ]
        fits = all(_at(text, one) >= 1 for one in smaller for text in extents)
        others = smaller if fits else others
    return [first, *(one for one in others if one != first)]


def _whole_shapes(
    names: Sequence[str], extents: Sequence[str], lengths: Sequence[str], *, powers: bool
) -> list[Sizes]:
    """The same, none halved."""
    squares = any(_degree(text, names) > _SQUARED for text in lengths) and len(names) == 1
    count = len(names)
    # of many sizes: all alike, falling, rising
    many: Sequence[Sequence[int]] = [1] * count, range(count + 1, 1, -1), range(8, 8 + count)
    rows = _SQUARE if squares else _SHAPES.get(count, many)
    if powers:
        rising = [1 << i for i in range(count)]
        falling, last = [16 * i for i in reversed(rising)], rising[-1] if rising else 1
        rows = [2] * count, falling, [128 * i // last for i in rising]
    plain: list[Sizes] = [dict(zip(names, row, strict=True)) for row in rows]
    quotients, last = _quotients(extents), len(_QUOTIENTS) - 1
    shapes = [
        _raised(sizes, dict.fromkeys(quotients, _QUOTIENTS[min(place, last)]))
        for place, sizes in enumerate(plain)
    ]
    if powers:
        return shapes
    fit = [sizes for sizes in shapes if all(_at(text, sizes) >= 1 for text in extents)]
    if len(fit) == len(shapes):
        return fit
    for least in range(1, _LEAST):
        sizes = dict.fromkeys(names, least)
        if all(_at(text, sizes) >= 1 for text in extents):
            return [sizes, *(one for one in fit if one != sizes)]
    raise BadInput(f"no sizes make all of {', '.join(extents)} positive; give shapes with --shape")


def _raised(sizes: Sizes, least: Mapping[str, float], kept: Collection[str] = ()) -> Sizes:
    """With one size larger by a power of two for each extent that is below what it is to be."""
    # sizes may have to be powers of two themselves
    all_times = [1 << power for power in range(1, _MOST_DOUBLED + 1)]
    for text, wanted in least.items():
        names = [name for name in sizes if name not in kept]
        tries = ({**sizes, name: sizes[name] * times} for times in all_times for name in names)
        if _at(text, sizes) < wanted:
            sizes = next((one for one in tries if _at(text, one) >= wanted), sizes)
    return sizes


def _quotients(extents: Iterable[str]) -> list[str]:
    found = dict[str, None]()
    for text in extents:
        for node in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
                found[ast.unparse(node)] = None
    return list(found)


def _at(text: str, sizes: Sizes) -> int:
    """An extent's value; 0 where it divides by 0."""
    try:
        return size_of(text, sizes)
    except ValueError:
        return 0


def _degree(text: str, names: Sequence[str]) -> float:
    """How an extent grows with all sizes."""
    at, more = (max(_at(text, dict.fromkeys(names, size)), 1) for size in (1000, 2000))
    return math.log2(more / at)


def relations(extents: Sequence[str]) -> list[str]:
    """What sizes must keep to, so that no extent is below 1."""
    return [f"{text} >= 1" for text in dict.fromkeys(extents) if "-" in text or "//" in text]


def timing_shape(
    problem: Problem,
    compiler: Compiler,
    limits: JudgeLimits,
    tell: Callable[[str], None],
    *,
    kept: Collection[str] = (),
    powers: bool = False,
) -> tuple[Sizes, float]:
    """Grow a problem's timing shape until the serial code takes long enough; and what it takes.

    `powers`: sizes are powers of two only; `kept` ones do not grow. Raises `BadInput` where the
    code does not compile, crashes or does not end.
    """
    program = trusted(compiler, problem, "serial.cpp", problem.serial_code)
    sizes: Sizes = problem.sizes.time
    seconds, power = _timed(problem, program, sizes, limits), 3.0
    for _ in range(_TRIES):
        tell(f"{problem.name}: {shape_text(sizes) or 'one shape'} takes {seconds:.2g} s")
        if _ENOUGH <= seconds <= _TOO_LONG:
            break
        step = min((_AIM / max(seconds, _SHORT)) ** (1 / power), _STEP)
        larger = _scaled(problem, sizes, step, kept, powers=powers)
        if larger is None or larger == sizes:
            break
        try:
            took = _timed(problem, program, larger, limits)
        except BadInput as error:
            if step <= 1 or not seconds:
                raise
            tell(f"{problem.name}: {shape_text(larger)} is too large ({error})")
            power *= 2  # smaller steps; the last size that worked stays
            continue
        sizes, seconds = larger, took
        if step < 1:
            break
    return sizes, seconds


def is_quick(problem: Problem, compiler: Compiler, limits: JudgeLimits) -> bool:
    """Whether a call takes little, as a judgement makes hundreds; failing code does, too."""
    try:
        program = trusted(compiler, problem, "serial.cpp", problem.serial_code)
        seconds = _timed(problem, program, problem.sizes.check[-1], limits)
    except RunFailed as failed:
        return failed.outcome is not Outcome.TIMED_OUT
    except BadInput:
        return True
    return seconds <= _QUICK


def all_finite(problem: Problem, compiler: Compiler, limits: JudgeLimits, patience: float) -> bool:
    """Whether all inputs lead to numbers; `BadInput` where code does not compile or end well.

    A call may take `patience` seconds.
    """
    program = trusted(compiler, problem, "serial.cpp", problem.serial_code)
    shapes: list[Sizes] = list(problem.sizes.check)
    with closing(Runner(problem, program, shapes, limits, "the function")) as run:
        run.patience = patience
        for shape in shapes[:-1]:
            run(shape, generate(problem, shape, 0, 1))
        for variant in range(max(factors(problem), default=1)):
            places = [min(variant, count - 1) for count in factors(problem)]
            outputs = run(shapes[-1], generate(problem, shapes[-1], variant_of(problem, places), 1))
            if not all(np.isfinite(o).all() for o in outputs.values() if is_rounded(o)):
                return False
    return True


def _scaled(
    problem: Problem, sizes: Sizes, factor: float, kept: Collection[str], *, powers: bool
) -> Sizes | None:
    """All sizes by one factor, or a smaller one that memory allows; None where none is."""
    while not 1 <= factor <= _LEAST_STEP:
        scaled: Sizes = {n: _round(size * factor, powers=powers) for n, size in sizes.items()}
        scaled = {**scaled, **{name: sizes[name] for name in kept}}
        scaled = _raised(scaled, _wanted(problem, sizes, factor), kept)
        fits = problem.fault_at(scaled) is None and all(
            holds(text, scaled) for text in problem.sizes.require
        )
        if fits and problem.nbytes(scaled) <= _MOST_BYTES:
            return scaled
        factor **= 0.5
    return None


def _wanted(problem: Problem, sizes: Sizes, factor: float) -> dict[str, float]:
    """What those quotients are to be that do not grow where all sizes grow by one factor."""
    quotients = _quotients(text for arg in problem.arrays for text in arg.shape)
    still = [text for text in quotients if _degree(text, list(sizes)) < _STILL]
    return {text: _at(text, sizes) * factor**0.5 for text in still if factor > 1}


def _round(extent: float, *, powers: bool) -> int:
    """The nearest power of two, or one and a half of one."""
    power = 1 << max(math.floor(math.log2(extent)), 1)
    near = (power, 2 * power) if powers else (power, power * 3 // 2, 2 * power)
    return min(near, key=lambda each: abs(each - extent))


def _timed(problem: Problem, program: Program, sizes: Sizes, limits: JudgeLimits) -> float:
    """Seconds of the second of two calls."""
    runner = Runner(problem, program, [sizes], limits, "the function")
    runner.patience = PATIENCE_SECONDS
    with closing(runner):
        made = generate(problem, sizes, 0, 1)
        for _ in range(2):
            runner.run(sizes, lambda views: put(made, views), lambda *_: None)
        return runner.seconds
