"""How a worker's memory grows from call to call, by what the kernel says of it as it stands still.

What grows once is no leak: teams of threads, caches, buffers that double. So only the later half of
the calls counts, and each third of that must grow.

A device's allocations are counted where they are made (wraps.cpp).

Not covered: leaks that begin after the last timed call.
"""

from dataclasses import dataclass, field
from itertools import pairwise

_LEAK_BYTES = 64 * 2**10  # a call; less is lost among what allocators keep at hand
_THIRDS = 3


@dataclass(slots=True)
class Growth:
    """Memory in bytes after so many calls, at each stop of the worker."""

    stops: list[tuple[int, int]] = field(default_factory=list)

    def note(self, calls: int, memory: int) -> None:
        """A stop after so many more calls."""
        before = self.stops[-1][0] if self.stops else 0
        self.stops.append((before + calls, memory))

    @property
    def leak(self) -> int:
        """Bytes that are lost in each call; 0 where they are few, or it cannot be told."""
        late = self.stops[len(self.stops) // 2 :]
        if len(late) <= _THIRDS:
            return 0
        cuts = [late[index * (len(late) - 1) // _THIRDS] for index in range(_THIRDS + 1)]
        slopes = [
            (after - before) / (end - start) for (start, before), (end, after) in pairwise(cuts)
        ]
        # an allocator grows in steps, so that a third may have one less than its share
        return round(sum(slopes) / _THIRDS) if min(slopes) >= _LEAK_BYTES / 2 else 0
