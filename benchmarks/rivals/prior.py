"""What a graph says of an edge before a run has tried it, as the rivals have it."""

import math
from typing import Protocol

from regraph_kg.models.graph import EFFECT_SCALE, Successor


class PriorSettings(Protocol):
    """What a prior needs of a method's settings."""

    @property
    def failure_gain(self) -> float:
        """f: the gain of a failed step."""

    @property
    def other_devices(self) -> float:
        """What one try on another device counts."""


def prior(successor: Successor, settings: PriorSettings) -> float:
    """q0 = P D / (verified + 1) + (1 - P) f, with P = (verified + 1) / (tried + 2).

    D is the sum of ln effect. A try on another device counts `settings.other_devices` of one here.
    """
    other = settings.other_devices
    share = other if successor.statistics == "other-devices" else 1.0
    verified = share * successor.verified + other * successor.verified_elsewhere
    tried = share * successor.tried + other * successor.tried_elsewhere
    log2_effects = share * successor.sum_log2_effect + other * successor.sum_log2_elsewhere
    log_effects = log2_effects / EFFECT_SCALE * math.log(2)
    passes = (verified + 1) / (tried + 2)
    return passes * log_effects / (verified + 1) + (1 - passes) * settings.failure_gain
