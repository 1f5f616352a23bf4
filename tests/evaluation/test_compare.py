"""The decision "a is faster than b": tables, and seeded trials over models of noise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from regraph_kg.evaluation.compare import LOOKS, SpeedVerdict, by_levels, compare
from regraph_kg.evaluation.timing.estimate import level
from regraph_kg.models.evaluation import Rivalry, code_hash

SAMPLES = 15
TRIALS = 1000


def steady(*medians: float) -> list[list[float]]:
    return [[value] * 7 for value in medians]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ((1.00, 1.001, 1.002), (1.06, 1.061, 1.062), "faster"),
        ((1.06, 1.061, 1.062), (1.00, 1.001, 1.002), "slower"),
        ((1.00, 1.001, 1.002), (1.00, 1.001, 1.002), "same"),
        # 2 % and certain, but three workers of one mode would look like this
        ((1.00, 1.001, 1.002), (1.02, 1.021, 1.022), "unknown"),
        ((1.000, 1.001, 1.002) * 3, (1.02, 1.021, 1.022) * 3, "faster"),
        # certain, and too small to matter
        ((1.000, 1.001, 1.002) * 3, (1.005, 1.006, 1.007) * 3, "same"),
        # 20 %, and three pairs that say 10 to 30 %
        ((1.0, 1.1, 1.2), (1.1, 1.32, 1.56), "unknown"),
        # each pair on a machine that had another speed: their ratios agree
        ((1.0, 1.5, 2.0), (1.06, 1.591, 2.121), "faster"),
    ],
)
def test_verdicts(a: tuple[float, ...], b: tuple[float, ...], verdict: SpeedVerdict) -> None:
    assert compare("", steady(*a), steady(*b)).verdict == verdict


def test_the_interval_is_students() -> None:
    """Logs of the ratios 0.09, 0.1, 0.11: s = 0.01, t(2) = 4.3027."""
    a, b = np.exp([0.0, 0.2, 0.4]), np.exp([0.09, 0.3, 0.51])
    result = compare("", steady(*a), steady(*b))
    reach = 4.3027 * 0.01 / 3**0.5
    assert result.ratio == pytest.approx(np.exp(0.1))
    assert result.interval.low == pytest.approx(np.exp(0.1 - reach), rel=1e-5)
    assert result.interval.high == pytest.approx(np.exp(0.1 + reach), rel=1e-5)


@pytest.mark.parametrize(
    ("a", "b"), [(steady(1, 1), steady(2, 2, 2)), ([], []), ([[1.0], [], [1.0]], steady(2, 2, 2))]
)
def test_too_few_workers_say_nothing(
    a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]
) -> None:
    assert compare("", a, b).verdict == "unknown"


def test_samples_taken_next_to_each_other_are_compared() -> None:
    """A machine that slows down tenfold for half of a pair's samples slows both codes."""
    a = [[1.0, 1.0, 10.0, 10.0]] * 3
    b = [[1.06, 1.06, 10.6, 10.6], [1.061, 1.061, 10.61, 10.61], [1.06, 1.06, 10.6, 10.6]]
    assert compare("", a, b).verdict == "faster"


def test_times_by_levels_need_no_turns() -> None:
    """Of one session: three workers each; scatter of 5 % is assumed."""
    known, close, far = (
        level([[seconds] * 5] * 3, "openmp", "call") for seconds in (1.0, 1.1, 2.0)
    )
    assert by_levels("code", known, close, "call") is None
    slower = by_levels("code", known, far, "call")
    assert slower is not None
    assert (slower.verdict, slower.code_hash) == ("slower", code_hash("code"))
    assert slower.ratio == pytest.approx(0.5)
    faster = by_levels("code", far, known, "call")
    assert faster is not None
    assert faster.verdict == "faster"


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [(1.0, "same"), (1.03, "unknown"), (1.06, "slower"), (0.97, "unknown"), (0.94, "faster")],
)
def test_a_gpus_own_times_are_compared_by_levels(seconds: float, verdict: SpeedVerdict) -> None:
    """Of three workers each; scatter of 1 % is assumed."""
    before, after = (level([[one] * 12] * 3, "cuda", "device") for one in (1.0, seconds))
    rivalry = by_levels("code", before, after, "device")
    assert rivalry is not None
    assert (rivalry.verdict, rivalry.pairs) == (verdict, 0)
    assert rivalry.interval.low < rivalry.ratio < rivalry.interval.high < 1.03 * rivalry.ratio


@dataclass(frozen=True)
class Noise:
    """Relative; every worker has an offset, every call a delay."""

    scatter: float = 0.0  # standard deviation of the workers' offsets
    modes: float = 0.0  # every other worker, at random, is slower by this
    stray: float = 0.0  # one worker in ten is slower by this
    drift: float = 0.0  # from one worker to the next
    delay: float = 0.01
    tails: float = 0.0  # one call in five has a delay without a mean (Pareto 1) of this size

    def series(
        self, rng: np.random.Generator, speed: float, at: Sequence[int]
    ) -> list[list[float]]:
        offsets = rng.normal(0, self.scatter, len(at))
        offsets += self.modes * (rng.random(len(at)) < 0.5)
        offsets += self.stray * (rng.random(len(at)) < 0.1)
        offsets += self.drift * np.asarray(at)
        delays = self.delay * np.abs(rng.standard_normal((len(at), SAMPLES)))
        if self.tails:
            rare = rng.random((len(at), SAMPLES)) < 0.2
            delays += self.tails * rare * rng.pareto(1.0, (len(at), SAMPLES))
        made: list[list[float]] = (speed * (1 + offsets[:, None]) * (1 + delays)).tolist()
        return made


NOISES = {
    "calls only": Noise(),
    "scatter 0.3 %": Noise(scatter=0.003),
    "scatter 1 %": Noise(scatter=0.01),
    "two modes 2 % apart": Noise(scatter=0.001, modes=0.02),
    "drift": Noise(scatter=0.003, drift=0.002),
    "heavy tails": Noise(scatter=0.003, tails=0.05),
}


def turns(rounds: int) -> tuple[list[int], list[int]]:
    """When the workers of a and of b ran: a b, b a, a b, ..."""
    pairs = [(2 * i, 2 * i + 1) if i % 2 == 0 else (2 * i + 1, 2 * i) for i in range(rounds)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def judged(noise: Noise, ratio: float, rng: np.random.Generator) -> Rivalry:
    """Rounds until something is known, as an acceptance does."""
    at_a, at_b = turns(LOOKS[-1])
    a, b = noise.series(rng, 1.0, at_a), noise.series(rng, ratio, at_b)
    for rounds in LOOKS:
        result = compare("", a[:rounds], b[:rounds])
        if result.verdict != "unknown":
            break
    return result


@pytest.mark.nightly
@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_the_same_code_twice_is_called_different_in_at_most_4_of_1000(noise: Noise) -> None:
    rng = np.random.default_rng(7)
    called = sum(judged(noise, 1.0, rng).verdict in ("faster", "slower") for _ in range(TRIALS))
    assert called <= 4


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_a_planted_difference_of_5_percent_is_found_in_more_than_95_percent(noise: Noise) -> None:
    rng = np.random.default_rng(8)
    found = sum(judged(noise, 1.05, rng).verdict == "faster" for _ in range(TRIALS // 4))
    assert found > 0.95 * TRIALS // 4


@pytest.mark.nightly
def test_stray_workers_cost_power_rather_than_certainty() -> None:
    noise = Noise(scatter=0.003, stray=0.1)
    rng = np.random.default_rng(9)
    same = [judged(noise, 1.0, rng).verdict for _ in range(TRIALS)]
    assert sum(verdict in ("faster", "slower") for verdict in same) <= 4
    found = [judged(noise, 1.05, rng).verdict for _ in range(TRIALS)]
    assert found.count("slower") <= 4
    assert found.count("faster") > TRIALS / 2


def test_a_large_difference_is_said_in_times() -> None:
    slow, fast = [[2.0, 2.01, 1.99]] * 3, [[0.04, 0.0401, 0.0399]] * 3
    assert str(compare("", fast, slow)).startswith("faster: 50x (95 %: ")
    assert str(compare("", slow, fast)).startswith("slower: 0.02")
