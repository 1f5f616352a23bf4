"""Tolerance per element of a floating-point output.

eps is that of the output's type (2^-23 for fp32):

    exact             0
    absolute          the declared number
    sum of n terms    max(4 eps |ref|, K eps sqrt(n) scale),
                      scale = max(|ref|, RMS(ref), RMS(deviation) / eps)
    conditioned       max(4 eps |ref|, K deviation, K / 4 RMS(deviation)); with terms n, not below
                      that of a sum of n terms; in fp64 n is the inputs' elements, if not declared

`deviation` is the largest change of the reference over 8 runs (2 for large inputs with 1024 outputs
or more) whose inputs moved by one ulp, up or down at random. Why K = 8: for a sum of n products of
unit normals, where RMS(ref) = sqrt(n), fp32 sums in two orders err at most by a tenth of the
tolerance, fp16 inputs by four tolerances or more [measured, 64 x 64 sums, n = 16 to 65536]. Integer
outputs must be equal.

Complex numbers are compared by their distance |d|, and |ref| is their magnitude: the rounding of a
complex product is bounded by that, not by either part, which cancellation can make small. Inputs
move in both parts.

A float16 output is rounded when it is stored, and its sum is one of the declared precision: eps in
a sum is then 2^-23 with precision fp32. No tolerance is below 4 of a type's smallest steps, nor
below the smallest normal number of fp32 or fp64.

Precision tf32 moves inputs by 2^-10 and adds K 2^-10 scale to sums; fp16 also puts 2^-10 for eps.
Sums of products of small integers that no order of adding can round must be exact. Where honest
variants of the serial code are exact on whole numbers (alterations.py), no more than 64 eps of the
outputs' scale is allowed, however many terms there are.
"""

from typing import Any

import numpy as np

from regraph_kg.evaluation.problem.declaration import (
    AbsoluteRule,
    Argument,
    Sizes,
    TermsRule,
    size_of,
)
from regraph_kg.evaluation.problem.inputs import distributions
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import Array, wide

TIMES = 8.0  # k of the table
_UNROUNDED = 64.0  # eps where no sum rounds: a Fourier transform needs a few, fp16 thousands
HALF = 2.0**-10  # eps of fp16 and tf32: 11 significant bits
_FEW_WHOLE = 16  # fewer outputs may be whole by chance, as a mean is: 4 eps for them
_SMALL, _MARGIN = 4, 64  # largest small integer; room left for sums of other functions of them


def tolerance(
    problem: Problem,
    arg: Argument,
    sizes: Sizes,
    truth: Array,
    deviation: Array,
    *,
    is_biased: bool = False,
) -> Array | float:
    """Tolerance of each element of one output; see the module's docstring.

    `is_biased`: inputs are so alike that all terms round the same way: n for sqrt(n).
    """
    rule = problem.tolerance
    counts = {other.count for other in problem.results}  # how many rows of another output count
    counts |= set() if arg.is_inexact else {"return"}  # or a status
    if rule == "exact" or arg.type == "bool" or arg.name in counts:
        return 0.0
    if isinstance(rule, AbsoluteRule):
        return rule.absolute
    if not arg.is_inexact:
        return 0.0
    near = np.fmax(4 * _eps(problem, arg) * np.abs(truth), _least(np.finfo(arg.dtype)))
    floor: Array | float = 0.0
    terms = _terms(problem, arg, sizes)
    if terms:
        scale = max(_rms(truth), _rms(deviation) / _input_eps(problem, arg))
        eps = eps_of_sum(problem, arg, terms**2 if is_biased else terms)
        floor = TIMES * eps * np.fmax(np.abs(truth), scale)
    if not (isinstance(rule, TermsRule) and rule.rule == "sum"):
        floor = np.fmax(floor, TIMES * np.fmax(deviation, _rms(deviation) / 4))
    widest: Array = np.fmax(near, floor)
    return widest


def _least(of: "np.finfo[np.floating[Any]]") -> float:
    """Below it two numbers of a type are alike: honest code may flush subnormal ones to zero."""
    normal = min(of.smallest_normal, np.finfo(np.float32).smallest_normal)  # fp16 keeps its own
    return float(max(4 * of.smallest_subnormal, normal))


def _terms(problem: Problem, arg: Argument, sizes: Sizes) -> int:
    """Terms of a sum whose rounding is allowed; 0 for none."""
    rule = problem.tolerance
    if isinstance(rule, TermsRule):
        return size_of(rule.terms, sizes)
    # In fp64 the reference rounds as the serial code does, and moved inputs hardly change how its
    # sums round. So all elements of the inputs may be terms: that is far below fp32's rounding.
    double = problem.precision == "fp32" and arg.type in ("float64", "complex128")
    return max(1, sum(given.elements(sizes) for given in problem.inputs)) if double else 0


def unrounded(problem: Problem, arg: Argument, truth: Array) -> Array | float:
    """Most that right code may be off where sums of products are exact; inf where more is meant."""
    single = arg.is_inexact and np.finfo(arg.dtype).eps == np.finfo(np.float32).eps
    if not single or problem.precision != "fp32" or isinstance(problem.tolerance, AbsoluteRule):
        return np.inf
    widest: Array = _UNROUNDED * _eps(problem, arg) * np.fmax(np.abs(truth), _rms(truth))
    return widest


def exact_sum(
    problem: Problem, arg: Argument, sizes: Sizes, variant: int, truth: Array
) -> Array | float | None:
    """Tolerance of a float sum that no order of adding rounds: 0; None of one that may round."""
    # Every float input must be drawn as small integers, the truth be whole and sums stay far below
    # 2^24 (fp16: 2^11).
    rule = problem.tolerance
    floats = [argument.name for argument in problem.inputs if argument.is_inexact]
    records = any(argument.fields for argument in problem.inputs)
    if not (isinstance(rule, TermsRule) and rule.rule == "sum" and floats):
        return None
    if records or not arg.is_inexact:
        return None
    drawn = distributions(problem, variant)
    are_whole = all(a.is_array or float(a.scalar(sizes)).is_integer() for a in problem.args)
    halves = problem.precision == "fp16" or arg.type == "float16"
    bits = 11 if halves else 24
    largest = size_of(rule.terms, sizes) * _SMALL ** len(floats) * _MARGIN
    small = all(drawn[name] == "small-int" for name in floats) and largest < 2**bits
    if not (are_whole and small and np.all(truth == np.rint(truth))):
        return None
    return 4 * _eps(problem, arg) * np.abs(truth) if truth.size < _FEW_WHOLE else 0.0


def _eps(problem: Problem, arg: Argument) -> float:
    eps = float(np.finfo(arg.dtype).eps)
    return max(eps, HALF) if problem.precision == "fp16" else eps


def _input_eps(problem: Problem, arg: Argument) -> float:
    """How much, relatively, moved inputs were moved: the coarsest of them."""
    each = (leaf for given in problem.inputs for leaf in (given.leaves.values() or (given,)))
    coarsest = max(
        (float(np.finfo(leaf.dtype).eps) for leaf in each if leaf.is_inexact),
        default=float(np.finfo(arg.dtype).eps),
    )
    return coarsest if problem.precision == "fp32" else max(coarsest, HALF)


def eps_of_sum(problem: Problem, arg: Argument, terms: int) -> float:
    """Rounding of a sum of `terms` products, relative to its size; tf32 rounds factors only."""
    if problem.precision == "fp16":
        return HALF * float(terms**0.5)
    # A float16 output is rounded once, when it is stored: its sum is of the declared precision.
    stored = arg.type == "float16"
    eps = float(np.finfo(np.float32 if stored else arg.dtype).eps)
    return (HALF if problem.precision == "tf32" else 0.0) + eps * float(terms**0.5)


def _rms(values: Array) -> float:
    finite = np.abs(wide(values[np.isfinite(values)]))
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
