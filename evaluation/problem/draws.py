"""Drawings of inputs.py for timed calls, by number: the same number, the same arrays.

Drawings are kept while memory allows, and drawn again where they are asked for later. `ready` ones
are handed to the workers of a session, each of which sees them in an order of its own and none
twice: another process knows nothing of them.

Not covered: an inputs.py that takes chance from elsewhere than its arguments, and so draws
something else for the same number.
"""

import time
from collections.abc import Mapping

from regraph_kg.evaluation.problem.custom_inputs import Generator, rest
from regraph_kg.evaluation.problem.problem import KEPT_DRAWINGS_BYTES, Array, Problem

_KEPT_BYTES = KEPT_DRAWINGS_BYTES
_AHEAD_SECONDS = 1.0  #: how long to draw ahead for the first worker


class Drawings:
    """Drawings at the timing shape in its first variant; `seed` is secret. `close` it."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._generator, self._sizes, self._seed = Generator(problem), problem.sizes.time, seed
        self._kept: dict[int, Mapping[str, Array]] = {}
        self._last: tuple[int, Mapping[str, Array]] | None = None
        self._free = _KEPT_BYTES
        self._count, self._spent = 0, 0.0
        self._is_ahead = False

    def get(self, number: int) -> Mapping[str, Array]:
        """Arrays by argument name. Raises `BadInput` where inputs.py fails."""
        if number in self._kept:
            return self._kept[number]
        if self._last and self._last[0] == number:
            return self._last[1]
        self._last = None  # before the next is there
        start = time.perf_counter()
        arrays = self._generator.draw(self._sizes, 0, [self._seed, number])
        self._count, self._spent = self._count + 1, self._spent + time.perf_counter() - start
        nbytes = _nbytes(arrays)
        if nbytes <= self._free:
            self._free -= nbytes
            self._kept[number] = arrays
        else:
            self._last = number, arrays
        return arrays

    def ready(self, first: int) -> list[int]:
        """Numbers of those that are kept; more are drawn ahead, from `first` on, the first time."""
        if not self._is_ahead:
            self._is_ahead = True
            end = time.perf_counter() + _AHEAD_SECONDS
            while time.perf_counter() < end and self._has_room:
                self.get(first)
                first += 1
        return list(self._kept)

    def drop(self, number: int) -> None:
        """Never hand out this drawing again."""
        dropped = self._kept.pop(number, {})
        self._free += _nbytes(dropped)

    @property
    def seconds(self) -> float:
        """Seconds of one drawing."""
        return self._spent / max(self._count, 1)

    def close(self) -> None:
        self._generator.close()
        rest()

    @property
    def _has_room(self) -> bool:
        """Whether one more would be kept, and half of the room be left for those to come."""
        each = _nbytes(next(iter(self._kept.values()), {}))
        return not self._count or (each > 0 and self._free - each > _KEPT_BYTES // 2)


def _nbytes(arrays: Mapping[str, Array]) -> int:
    return sum(array.nbytes for array in arrays.values())
