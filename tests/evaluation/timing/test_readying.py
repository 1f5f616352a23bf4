"""What getting a call ready takes: measured again where others disturbed the device."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from regraph_kg.evaluation.timing.batches import Readying
from regraph_kg.evaluation.worker.steps import Costs
from regraph_kg.models.evaluation import Outcome

from ..caught import caught

CALM, DISTURBED = 45e-6, 135e-6


@dataclass
class Sweeps:
    """Stands for a bench on a GPU: sweeps take these seconds, one after another."""

    seconds: list[float]

    def costs(self, worker: Any) -> Costs:
        took = self.seconds.pop(0)
        return Costs(sweep=took, least=took)

    def sweep(self, worker: Any) -> float:
        return self.seconds.pop(0)


def on(*seconds: float) -> Any:
    return Sweeps(list(seconds))


def gpu(costs: Costs | None = None) -> Any:
    return SimpleNamespace(on_device=True, costs=costs or Costs())


def known_by(readying: Readying, *seconds: float) -> Any:
    return gpu(readying.costs(on(*seconds), gpu()))


def test_the_first_measurement_must_be_confirmed_by_another() -> None:
    readying = Readying()
    assert readying.costs(on(CALM, CALM * 1.05), gpu()).sweep == CALM * 1.05
    readying._costs = None
    assert readying.costs(on(CALM), gpu()).sweep == CALM, "the least is known by now"


def test_what_others_disturbed_is_measured_again() -> None:
    assert Readying().costs(on(DISTURBED, CALM, CALM), gpu()).sweep == CALM


def test_a_device_that_is_never_calm_is_measured_four_times() -> None:
    readying = Readying()
    known_by(readying, CALM, CALM)
    readying._costs = None
    assert readying.costs(on(*[DISTURBED] * 4), gpu()).sweep == DISTURBED


def test_arrays_of_the_host_cost_nothing() -> None:
    assert Readying().costs(on(), SimpleNamespace(on_device=False)) == Costs()


@pytest.mark.parametrize(
    ("now", "is_off", "outcome"),
    [
        (CALM * 0.95, False, None),
        (CALM * 2, False, None),
        (CALM / 1.3, True, None),
        (CALM / 2, True, Outcome.SUSPICIOUS),
    ],
)
def test_a_sweep_that_takes_less_after_a_candidate_was_measured_too_long_or_is_its_doing(
    now: float, is_off: bool, outcome: Outcome | None
) -> None:
    readying = Readying()
    found = caught(readying.require_unshrunk, on(now), known_by(readying, CALM, CALM))
    assert (found.outcome if found else None) is outcome
    assert readying.was_off is is_off
    assert readying.costs(on(DISTURBED, CALM), gpu()).sweep == CALM
    assert not readying.was_off


def test_what_is_off_is_measured_anew_for_the_next_worker() -> None:
    readying, calls = Readying(), on(CALM)
    readying.require_unshrunk(on(CALM / 1.3), known_by(readying, CALM, CALM))
    readying.costs(calls, gpu())
    assert calls.seconds == []
