"""A graph as a page for readers without a store: the gains of techniques and of pairs of them.

It takes one query of all statistics, whatever the number of examples.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

from regraph_kg.models.graph import UNMEASURED, TransitionStats
from regraph_kg.models.text import times
from regraph_kg.pages.views import GraphView
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store

MOST_DEVICES = 8
"""Columns of the table of techniques: the devices with most tries."""
STRONGEST = 50
SUMMED = ("examples", "tried", "verified", "sum_log2_effect")
"""Fields that add up over what stood before."""


def view_graph(settings: Settings) -> GraphView:
    """Read a graph's statistics for its page."""
    with closing(open_store(settings)) as store:
        rows, stats = store.transitions(), store.stats()
        names = {technique.id: technique.name for technique in store.techniques()}
    gains = technique_gains(rows)
    tries = Counter[str]()
    for gain in gains:
        if gain.device != UNMEASURED:  # tries without a time are no device's
            tries[gain.device] += gain.tried
    devices = tuple(device for device, _ in tries.most_common(MOST_DEVICES))
    cells = {(gain.target, gain.device): _text(gain) for gain in gains}
    shown = dict.fromkeys(gain.target for gain in gains if gain.device in devices)
    left_out = len(tries) - len(devices)
    return GraphView(
        totals=f"{stats.techniques} techniques, {stats.pairs} pairs of them, {stats.transitions}"
        f" examples, {stats.trajectories} trajectories",
        note=f"{left_out} devices with fewer tries are left out" if left_out else "",
        devices=devices,
        techniques=tuple(
            (names.get(key, key), key, *(cells.get((key, device), "") for device in devices))
            for key in shown
        ),
        strongest=tuple(
            (gain.source, gain.target, gain.device, _text(gain))
            for gain in strongest_pairs(rows)[:STRONGEST]
        ),
    )


def technique_gains(rows: Iterable[TransitionStats]) -> list[TransitionStats]:
    """Each technique's gain on each device after any other technique; most tried first."""
    gains: dict[tuple[str, str], TransitionStats] = {}
    for row in rows:
        if row.tried:
            place = (row.target, row.device)
            empty = TransitionStats("", *place, 0, 0, 0, 0)
            so_far = gains.get(place, empty)
            gains[place] = replace(
                so_far, **{name: getattr(so_far, name) + getattr(row, name) for name in SUMMED}
            )
    return sorted(gains.values(), key=lambda gain: (-gain.tried, gain.target, gain.device))


def strongest_pairs(rows: Iterable[TransitionStats]) -> list[TransitionStats]:
    """Each pair's gain on each device where it was verified; the most promising first.

    The order draws a mean of few measurements towards 1.
    """

    def rank(gain: TransitionStats) -> tuple[float, str, str, str]:
        # one more try that gained nothing: a lucky single one stands behind several good ones
        cautious = gain.sum_log2_effect / (gain.verified + 1)
        return -cautious, gain.source, gain.target, gain.device

    return sorted((row for row in rows if row.verified), key=rank)


def _text(gain: TransitionStats) -> str:
    """A gain as "3.2x (4 of 5)": its mean, and how many of all tries were verified."""
    mean = "none right" if gain.mean is None else times(gain.mean)
    return f"{mean} ({gain.verified} of {gain.tried})"
