"""Arrays of a named distribution, from a secret seed. Made in the judge, never in the worker.

A variant is a number that says which distribution each argument takes: its digits are the places
in their `values`, the first argument changing fastest, and last the kind asked of inputs.py.

Arguments whose values are "custom" come from the problem's inputs.py, run by generator.py in a
process of its own with a deadline and a bare environment. Not covered: it is not confined,
so a problem folder of a stranger that has an inputs.py must be read before it is used.
"""

import io
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem import Argument, Problem, Sizes, shape_text

Array = NDArray[Any]

_DENSITY = 0.1
"""Share of elements of a sparse array that are not zero."""
_SIGNS = 65537
"""Random signs repeat after this many (a prime): drawing more costs more than the reference."""
_KEPT_BYTES, _KEPT_CASE_BYTES = 256 * 2**20, 16 * 2**20
_CUSTOM_SECONDS = 60.0


class Inputs:
    """Inputs of one problem by case, read-only: drawn once, kept while memory allows.

    At most 256 MiB are kept; a case above 16 MiB is drawn anew each time.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._kept: dict[tuple[object, ...], Mapping[str, Array]] = {}
        self._free = _KEPT_BYTES

    def get(self, sizes: Sizes, variant: int, seed: int) -> Mapping[str, Array]:
        """As `generate`."""
        key = (tuple(sizes.items()), variant, seed)
        found = self._kept.get(key)
        if found is not None:
            return found
        made = generate(self._problem, sizes, variant, seed)
        nbytes = sum(array.nbytes for array in made.values())
        for array in made.values():
            array.flags.writeable = False
        if nbytes <= min(self._free, _KEPT_CASE_BYTES):
            self._free -= nbytes
            self._kept[key] = made
        return made


def generate(problem: Problem, sizes: Sizes, variant: int, seed: int) -> dict[str, Array]:
    """Inputs by argument name. Raises `BadInput` where the problem's inputs.py fails."""
    chosen = iter(levels(problem, variant))
    made = {}
    for arg in problem.inputs:
        if not arg.is_custom:
            rng = np.random.default_rng([seed, _key(arg.name, variant, sizes)])
            made[arg.name] = _draw(rng, arg, arg.values[next(chosen)], arg.dimensions(sizes))
    if problem.inputs_code is None:
        return made
    return made | _custom(problem, sizes, next(chosen), [seed, _key("", variant, sizes)])


def factors(problem: Problem) -> tuple[int, ...]:
    """How many distributions each input has, in order; inputs.py comes last, as one factor."""
    own = tuple(len(arg.values) for arg in problem.inputs if not arg.is_custom)
    return own if problem.inputs_code is None else (*own, problem.custom_variants)


def levels(problem: Problem, variant: int) -> tuple[int, ...]:
    """The place each factor takes in a variant."""
    places = []
    for count in factors(problem):
        variant, place = divmod(variant, count)
        places.append(place)
    return tuple(places)


def variant_of(problem: Problem, places: Sequence[int]) -> int:
    """The variant in which the factors take these places."""
    variant = 0
    for count, place in zip(reversed(factors(problem)), reversed(places), strict=True):
        variant = variant * count + place
    return variant


def distributions(problem: Problem, variant: int) -> dict[str, str]:
    """Name of each input's distribution in a variant."""
    chosen = iter(levels(problem, variant))
    return {
        arg.name: "custom" if arg.is_custom else arg.values[next(chosen)] for arg in problem.inputs
    }


def describe(problem: Problem, variant: int) -> str:
    """Name of a variant: "A normal, B normal"."""
    return ", ".join(f"{name} {said}" for name, said in distributions(problem, variant).items())


def moved_by_one_ulp(made: Mapping[str, Array], seed: int, least: float = 0.0) -> dict[str, Array]:
    """Every floating-point element one unit of its own precision up or down, at random, in fp64.

    The unit is eps of the type, not below `least`. Integer arrays are exact and stay as they are.
    """
    rng = np.random.default_rng(seed)
    moved = {}
    for name, array in made.items():
        if array.dtype.kind != "f":
            moved[name] = array
            continue
        eps = max(float(np.finfo(array.dtype).eps), least)
        signs = rng.choice([1 - eps, 1 + eps], min(array.size, _SIGNS))
        moved[name] = array * np.resize(signs, array.shape)
    return moved


def _key(name: str, variant: int, sizes: Sizes) -> int:
    return zlib.crc32(repr((name, variant, sorted(sizes.items()))).encode())


def _draw(rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]) -> Array:
    dtype = np.dtype(arg.type)
    if dtype.kind == "f":
        return _draw_float(rng, arg, values, shape).astype(dtype)
    return _draw_int(rng, arg, values, shape).astype(dtype)


def _draw_float(
    rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]
) -> Array:
    low, high = arg.range or (0.0, 1.0)
    match values:
        case "normal":
            return rng.standard_normal(shape, dtype=np.float32)
        case "uniform":
            return rng.uniform(low, high, shape)
        case "sorted":
            return np.sort(rng.uniform(low, high, shape), axis=None).reshape(shape)
        case "sparse":
            keep = rng.random(shape, dtype=np.float32) < _DENSITY
            return rng.standard_normal(shape, dtype=np.float32) * keep
        case "large-range":
            return rng.standard_normal(shape) * 10.0 ** rng.uniform(-4, 4, shape)
    return rng.integers(-4, 5, shape)  # small-int


def _draw_int(
    rng: np.random.Generator, arg: Argument, values: str, shape: tuple[int, ...]
) -> Array:
    info = np.iinfo(arg.type)
    low, high = (int(arg.range[0]), int(arg.range[1])) if arg.range else (info.min, info.max)
    match values:
        case "uniform" | "large-range":
            return rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
        case "sorted":
            flat = rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
            return np.sort(flat, axis=None).reshape(shape)
        case "normal":
            middle, spread = (low + high) / 2, min((high - low) / 6, 1e6)
            drawn = np.rint(middle + spread * rng.standard_normal(shape))
            return np.clip(drawn, low, min(high, 2**62))
        case "sparse":
            drawn = rng.integers(low, high, shape, dtype=arg.type, endpoint=True)
            return np.where(rng.random(shape) < _DENSITY, drawn, min(max(0, low), high))
    return rng.integers(max(low, -4), min(high, 4), shape, endpoint=True)  # small-int


def _custom(problem: Problem, sizes: Sizes, kind: int, seed: list[int]) -> dict[str, Array]:
    """Arrays of inputs.py, checked against their declarations."""
    order = {"code": problem.inputs_code, "sizes": dict(sizes), "variant": kind, "seed": seed}
    where = f"problem {problem.name}: inputs.py at {shape_text(sizes)}"
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(Path(__file__).with_name("generator.py").resolve())],
            input=json.dumps(order).encode(),
            capture_output=True,
            timeout=_CUSTOM_SECONDS,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C", "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadInput(f"{where}: no arrays after {_CUSTOM_SECONDS:.0f} s") from None
    if done.returncode:
        raise BadInput(f"{where}: {_complaint(done.stderr.decode(errors='replace'))}")
    made = dict(_received(done.stdout))
    wanted = {arg.name: arg for arg in problem.inputs if arg.is_custom}
    if set(made) != set(wanted):
        raise BadInput(f"{where}: gives {sorted(made)}, needs {sorted(wanted)}")
    for name, array in made.items():
        fault = _fault(array, wanted[name], sizes)
        if fault:
            raise BadInput(f"{where}: {name}: {fault}")
    return made


def _received(reply: bytes) -> Iterator[tuple[str, Array]]:
    head, _, rest = reply.partition(b"\n")
    stream = io.BytesIO(rest)
    for name in json.loads(head):
        yield name, np.ascontiguousarray(np.load(stream, allow_pickle=False))


def _complaint(errors: str) -> str:
    """The last line of a traceback, and the line of inputs.py it speaks of."""
    lines = errors.strip().splitlines() or ["it ended without a word"]
    places = re.findall(r'File "inputs\.py", line (\d+)', errors)
    return f"line {places[-1]}: {lines[-1][:300]}" if places else lines[-1][:300]


def _fault(array: Array, arg: Argument, sizes: Sizes) -> str | None:
    shape = arg.dimensions(sizes)
    if array.dtype != arg.type:
        return f"dtype {array.dtype}, declared {arg.type}"
    if array.shape != shape:
        return f"shape {list(array.shape)}, declared {list(shape)}"
    if not np.isfinite(array).all():
        return "has NaN or Inf"
    if (
        array.size
        and arg.range
        and not (arg.range[0] <= array.min() and array.max() <= arg.range[1])
    ):
        low, high = array.min(), array.max()
        return f"values from {low:.6g} to {high:.6g}, declared range {list(arg.range)}"
    return None
