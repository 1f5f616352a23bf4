"""What was measured of a candidate and of the serial code beside it, as fields of a report."""

from dataclasses import dataclass

from regraph_kg.evaluation.stop import half_width, summarise
from regraph_kg.evaluation.timing import Measured
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import Interval, Outcome, Timing

UNSTABLE: dict[Target, float] = {"openmp": 0.25, "cuda": 0.10}
"""Half-width of the median's interval above which a time means nothing."""


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured: of the candidate, and of the serial code beside it."""

    own: tuple[Measured, ...]
    serial: tuple[Measured, ...]

    def fields(self, target: Target) -> dict[str, object]:
        """Fields of the report; the outcome only where the times mean nothing."""
        timing, baseline = pooled(self.own), pooled(self.serial)
        fields: dict[str, object] = {
            "timing": timing,
            "baseline": baseline,
            "speedup": baseline.median / timing.median,
            "speedup_interval": Interval(
                low=baseline.interval.low / timing.interval.high,
                high=baseline.interval.high / timing.interval.low,
            ),
        }
        for whose, series, limit in (
            ("candidate's", timing, UNSTABLE[target]),
            ("serial code's", baseline, UNSTABLE["openmp"]),
        ):
            if half_width(series) > limit and not self.censored:
                fields["outcome"] = Outcome.UNSTABLE_TIMING
                fields["diagnosis"] = (
                    f"the {whose} times vary by {half_width(series):.0%} of their median:"
                    " the machine is busy"
                )
        return fields

    @property
    def seconds(self) -> float:
        """Median of a call."""
        return pooled(self.own).median

    @property
    def censored(self) -> bool:
        """Ended early: far slower than the serial code."""
        return any(series.censored for series in self.own)

    def facts(self) -> dict[str, str]:
        """How the times came about."""
        censored = {"censored": str(self.censored).lower()}
        clock = {"clock": "judge"} if any(series.distrusted for series in self.own) else {}
        return self.own[0].facts() | censored | clock | {"workers": str(len(self.own))}


def pooled(series: tuple[Measured, ...]) -> Timing:
    """All samples of some workers as one."""
    return summarise([sample for measured in series for sample in measured.samples])
