"""Metric "device": inputs lie masked on the device until just before the call that works on them.

Inputs are copied to the device by the worker, which is the candidate's process, and outside of
timed spans. So that nothing can begin to work on them there, the copies are masked with a
keystream (Philox 4x64-10, numpy's own and that of harness/ready.cu) under a key of 128 bits, drawn
for one batch. The judge publishes the key when its clock runs, and the harness unmasks before each
call what that call alone works on: whole arrays, or single elements that change in place, of which
place and value are masked. What that takes does not count (steps.py).

Not covered: a candidate that finds the key in shared memory once the clock runs can unmask the
inputs of the later calls of its batch as well.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regraph_kg.evaluation.problem.problem import Array
from regraph_kg.evaluation.problem.types import bits
from regraph_kg.evaluation.worker.shared_memory import (
    MAX_SEALED,
    PART,
    SEALED,
    ArrayPlace,
    SharedMemory,
)

_WORDS = 4
"""Of 64 bits, in a block of the keystream; also those of an entry."""
_BLOCK_BYTES = 8 * _WORDS
_CHUNK_BYTES = 2**16
"""Masked at once: what stays in a core's cache."""
_MOST_ELEMENTS = MAX_SEALED // 2
"""Of one batch; the rest of the table is for arrays."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The key of one batch's inputs, and of its outputs' digests."""

    key: tuple[int, int]
    parts: Array
    """PART of each call of the batch."""
    entries: int
    """Used of the shared memory's table."""
    outputs: int = 0
    """How many of those, the last ones, are outputs."""
    digests: int = 0


class Sealing:
    """Masks inputs of one batch after another into shared memory, and lists them in its table."""

    def __init__(self, shared: SharedMemory) -> None:
        self._shared = shared
        self.begin()

    def begin(self) -> None:
        """Begin another batch, with a key of its own and nothing sealed yet."""
        self._key = secrets.randbits(64), secrets.randbits(64)
        self._stream = np.random.Philox(key=np.array(self._key, np.uint64))
        self._blocks = self._count = 0
        self._parts: list[tuple[int, int, int]] = []

    def whole(self, inputs: Mapping[str, Array], places: Mapping[str, ArrayPlace]) -> None:
        """The next call has these arrays."""
        self._list(places)
        for name, place in places.items():
            self._mask(inputs[name], self._shared.raw(place))

    def lying(self, places: Mapping[str, ArrayPlace]) -> None:
        """The next call unmasks the present bytes: to measure how long that takes."""
        self._list(places)

    def changed(
        self, changes: Mapping[str, tuple[Array, Array]], places: Mapping[str, ArrayPlace]
    ) -> bool:
        """The next call has the arrays of before but for these elements; False: no room for them.

        Elements are flat indices and values.
        """
        parts = [
            _elements(at, values, self._shared.offset(places[name]))
            for name, (at, values) in changes.items()
        ]
        entries = np.concatenate([np.zeros(0, SEALED), *parts])
        if self._count + entries.size > _MOST_ELEMENTS:
            return False
        pad = self._stream.random_raw(_WORDS * entries.size).reshape(-1, _WORDS)
        for column, name in enumerate(("at", "bytes", "value")):
            entries[name] ^= pad[:, column]
        entries["block"] = np.arange(self._blocks, self._blocks + entries.size)
        self._blocks += entries.size
        self._parts.append((self._count, 0, entries.size))
        self._add(entries)
        return True

    def close(self, calls: int, outputs: Sequence[Iterable[ArrayPlace]] = ()) -> Seal:
        """What opens this batch of so many calls; for those beyond what was given all lies open.

        Of each of `outputs` a digest is taken.
        """
        parts = np.zeros(calls, PART)
        parts[: len(self._parts)] = self._parts
        entries = [
            (self._shared.offset(place), place.nbytes, number, 0)
            for number, places in enumerate(outputs)
            for place in places
        ]
        self._add(np.array(entries, SEALED))
        return Seal(self._key, parts, self._count, len(entries), len(outputs))

    def _list(self, places: Mapping[str, ArrayPlace]) -> None:
        entries = []
        for place in places.values():
            entries.append((self._shared.offset(place), place.nbytes, 0, self._blocks))
            self._blocks += -(-place.nbytes // _BLOCK_BYTES)
        self._parts.append((self._count, len(entries), 0))
        self._add(np.array(entries, SEALED))

    def _add(self, entries: Array) -> None:
        self._shared.sealed[self._count : self._count + entries.size] = entries
        self._count += entries.size

    def _mask(self, array: Array, masked: Array) -> None:
        """Write an array masked: its plain bytes lie nowhere that a worker can read."""
        plain = array.reshape(-1).view(np.uint8)
        for start in range(0, plain.size, _CHUNK_BYTES):
            part = plain[start : start + _CHUNK_BYTES]
            words = -(-part.size // _BLOCK_BYTES) * _WORDS
            pad = self._stream.random_raw(words).view(np.uint8)[: part.size]
            np.bitwise_xor(part, pad, out=masked[start : start + part.size])


def _elements(at: Array, values: Array, offset: int) -> Array:
    """Entries of these elements: the last of those that change twice, as in numpy.

    Elements of more than 64 bits take several.
    """
    words = bits(values)
    word, each = words.itemsize, values.itemsize // words.itemsize
    at = (at[:, None] * each + np.arange(each)).reshape(-1)
    at, last = np.unique(at[::-1], return_index=True)
    entries = np.zeros(at.size, SEALED)
    entries["at"] = offset + at * word
    entries["bytes"] = word
    entries["value"] = words[::-1][last]
    return entries
