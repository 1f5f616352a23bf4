"""The calls that a function is tried with: sizes, contents of arrays, and what came of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regraph_kg.adopt.fit import Point
from regraph_kg.adopt.probe import Called, Probe, ProbeCall
from regraph_kg.adopt.types import Passed
from regraph_kg.evaluation.problem.types import Type, dtype_of, is_whole, record_of

_VALUES = (7, 5, 17, 11, 13, 19, 9, 3)  # sizes that no product or sum of others is taken for
_FEW = (4, 3, 9, 7, 5, 8, 2, 6)  # for products of many: arrays have room for four of them
_APART, _MANY = 3, 4
_ALIKE, _POWERS = (6, 10, 12), (8, 16, 4, 32)
_HELD = 1024  # elements of a pattern; it is repeated
KINDS = ("small", "zero", "signed", "rising", "odd")
STEP = 3  # elements from one start to the next


def _drawn(kind: Type, how: str, value: int, rng: np.random.Generator) -> NDArray[Any]:
    dtype = dtype_of(kind)
    whole = is_whole(kind)
    rising = np.arange(_HELD)
    found: NDArray[Any] = rng.integers(0, 3, _HELD) if whole else rng.uniform(0.1, 1, _HELD)
    match how:
        case "is" | "zero":
            found = np.full(_HELD, value)
        case "signed":
            found = rng.integers(-5, 6, _HELD) if whole else rng.normal(size=_HELD)
        case "odd":
            found = 2 * rng.integers(50, 500, _HELD) + 1
        case "rising":
            found = rising if whole else rising / _HELD
        case "steps":
            found = rising * value
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        found = np.clip(found, max(ends.min, -(2**31)), min(ends.max, 2**31))
    if kind == "bool":
        found = found > 0
    return np.asarray(found).astype(dtype)


class ProbeTrials:
    def __init__(self, probe: Probe, passed: Mapping[str, Passed]) -> None:
        self.passed = passed
        self._probe = probe
        self._fields = {
            name: one.element.record.fields if one.element.record else {"": one.element.type}
            for name, one in passed.items()
        }
        self.ints = [name for name, one in passed.items() if one.counts]
        self.arrays = [name for name, one in passed.items() if one.form != "scalar"]
        held = [name for name in self.arrays if passed[name].form in ("vector", "span")]
        self.lengths = [f"{name}_size" for name in held if not passed[name].fixed]
        self.small, self.starts = set[str](), set[str]()
        """Arrays that hold small integers in each call, and those that hold starts."""
        names = [*self.ints, *self.lengths]
        self.alike: Point = dict.fromkeys(names, _ALIKE[1])
        self.long = self._long()  # with containers long enough for each product of two integers
        apart = [_turned(names, _VALUES, turn) for turn in range(len(_VALUES))]
        if len(self.ints) >= _MANY:
            apart += [_turned(names, _FEW, turn) for turn in range(len(_FEW))]
        self.points = [
            *apart,
            *(dict.fromkeys(names, alike) for alike in _ALIKE),
            *self.long,
            *(_turned(names, _POWERS, turn) for turn in range(len(_POWERS) - 1)),
        ]

    def _long(self) -> list[Point]:
        if not (self.lengths and self.ints):
            return []
        found = list[Point]()
        for turn in range(len(_VALUES)):
            ints = _turned(self.ints, _VALUES, turn)
            first = max(ints.values()) ** 2 + turn
            found.append(ints | {n: first + 11 * place for place, n in enumerate(self.lengths)})
        return found

    def case(
        self,
        point: Point,
        kind: str = "small",
        ends: Mapping[str, int] | None = None,
        held: Mapping[str, bytes] | None = None,
    ) -> ProbeCall:
        """A call: `held` are contents of arrays that hold others than usual."""
        numbers: dict[str, float] = dict(point)
        contents = dict(held or {})
        for name, one in self.passed.items():
            if one.form != "scalar" and name in self.starts:
                contents.setdefault(name, self.content(name, "steps", {"": STEP}))
            elif one.form != "scalar":
                how = "small" if name in self.small else kind
                contents.setdefault(name, self.content(name, how))
            elif one.element.record:
                contents[name] = self.content(name, "small")
            elif name not in numbers:
                numbers[name] = 1 if one.element.type == "bool" else 0.5
        return ProbeCall(numbers, contents, ends or {})

    def content(self, name: str, kind: str, values: Mapping[str, int] | None = None) -> bytes:
        """Bytes of an array; `values` says, for integers by field, what the kind means."""
        fields, rng = self._fields[name], np.random.default_rng(7)
        whole = np.zeros(_HELD, record_of(fields) if "" not in fields else dtype_of(fields[""]))
        for leaf, of in fields.items():
            how = "small" if values and leaf not in values else kind
            whole[leaf or ...] = _drawn(of, how, (values or {}).get(leaf, 0), rng)
        return whole.tobytes()

    def leaves(self, name: str) -> dict[str, np.iinfo[Any]]:
        """An array's fields of integers with their ends; "" for an array of them."""
        fields = self._fields[name].items()
        return {leaf: np.iinfo(dtype_of(kind)) for leaf, kind in fields if is_whole(kind)}

    def run(self, cases: Sequence[ProbeCall]) -> list[Called | None]:
        return self._probe.run(cases) if cases else []


def _turned(names: Sequence[str], values: Sequence[int], turn: int) -> dict[str, int]:
    """A value for each name, no two alike as long as there are others."""
    return {name: values[(_APART * place + turn) % len(values)] for place, name in enumerate(names)}
