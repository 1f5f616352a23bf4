"""What a verdict is worth: log gains (method.md 3.2) and the paper's rewards (3.1)."""

import math
from collections.abc import Sequence
from typing import Protocol

from regraph_kg.models.evaluation import EvalReport, Outcome


class GainSettings(Protocol):
    """What log gains need of a method's settings."""

    @property
    def failure_gain(self) -> float:
        """f: the gain of a failed step."""

    @property
    def gain_low(self) -> float:
        """Gains are clipped to this, below."""

    @property
    def gain_high(self) -> float:
        """And here."""


def speedup(report: EvalReport) -> float | None:
    """Speedup over the serial code that the search may learn from; None for a failure.

    Right but unstably timed code is worth the lower bound of its interval.
    """
    if report.outcome is Outcome.PASSED:
        return report.speedup
    if report.outcome is Outcome.UNSTABLE_TIMING and report.speedup_interval is not None:
        return report.speedup_interval.low if report.speedup_interval.low > 0 else None
    return None


def gains(
    before: Sequence[float], after: Sequence[float | None], settings: GainSettings
) -> list[float]:
    """g_i of every step of a way: clip(max{x_k : k >= i, verified} - x_{i-1}), f if it failed.

    `before[i]` and `after[i]` are log speedups around step i; only the last step can have failed.
    """
    found: list[float] = []
    best = -math.inf
    for x_before, x_after in zip(reversed(before), reversed(after), strict=True):
        if x_after is None:
            found.append(settings.failure_gain)
            continue
        best = max(best, x_after)
        found.append(min(max(best - x_before, settings.gain_low), settings.gain_high))
    return found[::-1]


def paper_reward(reached: float | None) -> float:
    """-1 for a failure, speedup - 1 where slower than the serial code, else the speedup."""
    if reached is None:
        return -1.0
    return reached - 1 if reached < 1 else reached
