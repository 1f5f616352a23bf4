"""Which integers a function stands: all of their type, unless it overflows, which C++ leaves open.

The serial code is compiled with traps for signed overflow, shifts that are too far, division by
zero and casts of floats that do not fit. It is run, confined, on inputs of the widest range; where
it does not end well, the largest power of two is found that does.

Not covered: unsigned arithmetic, which may wrap around; sums of values that are all alike.
"""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.problem.declaration import Argument, Sizes
from regraph_kg.evaluation.problem.inputs import factors, generate, variant_of
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import is_whole
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.worker.runner import Runner, put
from regraph_kg.evaluation.worker.spawn import Program

_CHECKS = "signed-integer-overflow,shift-exponent,integer-divide-by-zero,float-cast-overflow"
_FLAGS = ("-std=c++17", "-O2", f"-fsanitize={_CHECKS}", "-fsanitize-undefined-trap-on-error")
_PATIENCE_SECONDS = 2.0
_SEED, _TIMED_TURNS, _MOST_TURNS = 1, 2, 8
_MOST_BITS = 53  # ends of ranges are kept exactly up to here; wider ones are the whole type


def filling(problem: Problem) -> frozenset[str]:
    """Inputs that hold all integers of their type, or have a field that does."""
    return frozenset(
        arg.name
        for arg in problem.inputs
        if any(_fills(leaf) for leaf in arg.leaves.values() or (arg,))
    )


def _fills(leaf: Argument) -> bool:
    return leaf.range is None and (is_whole(leaf.type) or leaf.type == "char")


def standing(problem: Problem, compiler: Compiler, limits: JudgeLimits) -> Problem:
    """The problem with the widest ranges of integers that the function stands.

    Ranges that were guessed stay; they are no longer called so where it does not stand more.
    """
    guessed = {arg.name for arg in problem.inputs if arg.limits_guessed}
    if not filling(problem) and not guessed:
        return problem
    built = compiler.host(problem.serial_code, _FLAGS)
    if isinstance(built, Failure):  # the compiler knows no such traps
        return problem
    shapes: list[Sizes] = [*problem.sizes.check, problem.sizes.time]
    program = Program(compiler.harness(problem), built, problem.entry)
    with closing(Runner(problem, program, shapes, limits, "the function")) as run:
        run.patience = _PATIENCE_SECONDS
        found = _narrowed(problem, run)
        if guessed and not _stands(_with(found, {name: {"range": None} for name in guessed}), run):
            found = _with(found, {name: {"limits_guessed": False} for name in guessed})
    return found


def _narrowed(problem: Problem, run: Runner) -> Problem:
    """The same range for all integers that need one, then all of the type for those that do not."""
    names = filling(problem)
    low, high = 0, _MOST_BITS + 1
    if not names or _stands(problem, run):
        return problem
    while high - low > 1:
        middle = (low + high) // 2
        bits = dict.fromkeys(names, middle)
        low, high = (middle, high) if _stands(_limited(problem, bits), run) else (low, middle)
    if not low:  # whatever integers are: it overflows for other reasons
        return problem
    bits = dict.fromkeys(names, low)
    for name in sorted(names):
        fewer = {other: count for other, count in bits.items() if other != name}
        bits = fewer if _stands(_limited(problem, fewer), run) else bits
    return _limited(problem, bits)


def _stands(problem: Problem, run: Runner) -> bool:
    """Whether no call traps: of each distribution at check shapes, of two at the timing shape."""
    counts = factors(problem)
    try:
        for sizes in (*problem.sizes.check, problem.sizes.time):
            # uniform ones, the second of the usual, add up to more than those around a middle
            most = _TIMED_TURNS if sizes == problem.sizes.time else _MOST_TURNS
            for turn in range(min(max(counts, default=1), most)):
                variant = variant_of(problem, [turn % count for count in counts])
                made = generate(problem, sizes, variant, _SEED + turn)
                run.run(sizes, partial(put, made), lambda *_: None, stays=True)
    except BadInput:
        return False
    return True


def _limited(problem: Problem, bits: Mapping[str, int]) -> Problem:
    """With integers of at most so many bits, by array."""
    updates = dict[str, dict[str, Any]]()
    for arg in problem.inputs:
        if arg.name in bits and arg.fields:
            own = {f: _range(leaf, bits[arg.name]) for f, leaf in arg.leaves.items()}
            more = {f: ends for f, ends in own.items() if ends and _fills(arg.leaves[f])}
            updates[arg.name] = {"ranges": {**(arg.ranges or {}), **more} or None}
        elif arg.name in bits:
            updates[arg.name] = {"range": _range(arg, bits[arg.name])}
    return _with(problem, updates)


def _range(arg: Argument, bits: int) -> tuple[int, int] | None:
    """None where the type has no more bits."""
    dtype = arg.dtype
    is_signed = dtype.kind == "i"
    if dtype.kind not in "iu" or bits >= 8 * dtype.itemsize - is_signed:
        return None
    return -(2**bits) * is_signed, 2**bits - 1


def _with(problem: Problem, updates: Mapping[str, dict[str, Any]]) -> Problem:
    args = (arg.model_copy(update=updates.get(arg.name, {})) for arg in problem.args)
    return problem.model_copy(update={"args": tuple(args)})
