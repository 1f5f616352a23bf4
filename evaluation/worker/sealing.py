"""Metric "device": inputs lie masked on the device until just before the call that works on them.

Inputs are copied to the device by the worker, which is the candidate's process, and outside of
timed spans. So that nothing can begin to work on them there, they are masked (docs/evaluation.md,
metric "device") with a keystream (Philox 4x64-10, numpy's own and that of harness/seal.h) under a
key of 128 bits, drawn for one batch: whole arrays, or single elements that change in place, of
which place and value are masked.

Not covered: a candidate that finds the key in shared memory once the clock runs can unmask the
inputs of the later calls of its batch as well.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.types import Array, bits
from regraph_kg.evaluation.worker.shared_memory import (
    MAX_SEALED,
    PART,
    SEALED,
    ArrayPlace,
    SharedMemory,
)

_WORDS = arrays.STREAM_BYTES // 8  # words of 64 bits in a block of the keystream, or an entry
_MOST_ELEMENTS = MAX_SEALED // 2  # elements of one batch; the rest of the table is for arrays


@dataclass(frozen=True, slots=True)
class Seal:
    """The key of one batch's inputs, and of its outputs' digests."""

    key: arrays.Secret
    parts: Array  # PART of each call of the batch
    entries: int  # used of the shared memory's table
    outputs: int = 0  # how many of those, the last ones, are outputs
    digests: int = 0


class Sealing:
    """Masks inputs of one batch after another into shared memory, and lists them in its table."""

    def __init__(self, shared: SharedMemory) -> None:
        self.shared = shared
        self.begin()

    def begin(self) -> None:
        """Begin another batch, with a key of its own and nothing sealed yet."""
        self._key = secrets.randbits(64), secrets.randbits(64)
        self._blocks = self._count = 0
        self._parts: list[tuple[int, int, int]] = []

    def whole(self, inputs: Mapping[str, Array], places: Mapping[str, ArrayPlace]) -> None:
        """The next call has these arrays."""
        block = self._blocks
        self.lying(places)
        for name, place in places.items():
            plain = inputs[name].reshape(-1).view(np.uint8)
            arrays.mask(plain, self.shared.raw(place), block, self._key)
            block += _blocks(place)

    def lying(self, places: Mapping[str, ArrayPlace]) -> None:
        """The next call unmasks these arrays' present bytes."""
        entries = []
        for place in places.values():
            entries.append((self.shared.offset(place), place.nbytes, 0, self._blocks))
            self._blocks += _blocks(place)
        self._parts.append((self._count, len(entries), 0))
        self._add(np.array(entries, SEALED))

    def changed(
        self, changes: Mapping[str, tuple[Array, Array]], places: Mapping[str, ArrayPlace]
    ) -> bool:
        """The next call has what was before but for elements (indices, values); False: no room."""
        parts = [
            _elements(at, values, self.shared.offset(places[name]))
            for name, (at, values) in changes.items()
        ]
        entries = np.concatenate([np.zeros(0, SEALED), *parts])
        if self._count + entries.size > _MOST_ELEMENTS:
            return False
        stream = np.random.Philox(key=np.array(self._key, np.uint64), counter=self._blocks)
        pad = stream.random_raw(_WORDS * entries.size).reshape(-1, _WORDS)
        for column, name in enumerate(("at", "bytes", "value")):
            entries[name] ^= pad[:, column]
        entries["block"] = np.arange(self._blocks, self._blocks + entries.size)
        self._blocks += entries.size
        self._parts.append((self._count, 0, entries.size))
        self._add(entries)
        return True

    def close(self, calls: int, outputs: Sequence[Iterable[ArrayPlace]] = ()) -> Seal:
        """What opens this batch of so many calls; for those beyond what was given all lies open."""
        parts = np.zeros(calls, PART)
        parts[: len(self._parts)] = self._parts
        # Of each of `outputs` a digest is taken.
        entries = [
            (self.shared.offset(place), place.nbytes, number, 0)
            for number, places in enumerate(outputs)
            for place in places
        ]
        self._add(np.array(entries, SEALED))
        return Seal(self._key, parts, self._count, len(entries), len(outputs))

    def digest(self, outputs: Iterable[ArrayPlace], key: arrays.Secret) -> int:
        """Digest of what one call's outputs are now; what is verified must have had the same one.

        Not covered: metric "call", where a GPU may write to host memory that the candidate has
        registered; who makes the bits that tolerances leave free fit a digest, within the time that
        is not counted.
        """
        return arrays.digest(map(self.shared.raw, outputs), key)

    def _add(self, entries: Array) -> None:
        self.shared.sealed[self._count : self._count + entries.size] = entries
        self._count += entries.size


def _blocks(place: ArrayPlace) -> int:
    """Blocks of the keystream that an array takes."""
    return -(-place.nbytes // arrays.STREAM_BYTES)


def _elements(at: Array, values: Array, offset: int) -> Array:
    """Entries of these elements: the last of those that change twice, as in numpy."""
    words = bits(values)
    # Elements of more than 64 bits take several.
    word, each = words.itemsize, values.itemsize // words.itemsize
    at = (at[:, None] * each + np.arange(each)).reshape(-1)
    at, last = np.unique(at[::-1], return_index=True)
    entries = np.zeros(at.size, SEALED)
    entries["at"] = offset + at * word
    entries["bytes"] = word
    entries["value"] = words[::-1][last]
    return entries
