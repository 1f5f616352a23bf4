"""The standing of code: the time of a call, and its distance from the machine's peaks.

All figures are the judge's: times, and shares of the peaks that were measured on this device.
Unknown figures are left out. Not here: how peaks are measured (evaluation/timing/).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from regraph_kg.models.evaluation import Bound, EvalReport
from regraph_kg.models.text import digits, seconds, times
from regraph_kg.search.prompts.examples import fill

_RATES: Mapping[Bound, str] = {
    "memory": "this machine's memory rate",
    "compute": "its arithmetic rate",
    "transfer": "the rate of copies between host and GPU",
}
_AT_ROOF = 0.9  # from this share of a peak on, a prompt promises no faster code


@dataclass(frozen=True, slots=True)
class Standing:
    """The standing of one code; `shares` are those of the machine's peaks, if known."""

    seconds: float
    speedup: float  # over the original code
    shares: Mapping[Bound, float] = field(default_factory=dict)


def standing_of(report: EvalReport) -> Standing | None:
    """The standing of the judged code; None where its time is not known."""
    if report.account is None or report.speedup is None or not report.is_known:
        return None
    roof = report.account.roof
    shares = {} if roof is None else roof.shares or {roof.bound: roof.share}
    return Standing(report.account.seconds, report.speedup, shares)


def baseline_of(report: EvalReport) -> Standing | None:
    """The standing of the original code, from its time in the same report."""
    here = standing_of(report)
    if here is None or report.baseline is None or report.baseline.median <= 0:
        return None
    ratio = here.seconds / report.baseline.median
    return Standing(
        report.baseline.median, 1.0, {name: share * ratio for name, share in here.shares.items()}
    )


def standing_text(standing: Standing) -> str:
    """The standing as one or two lines of a prompt."""
    faster = (
        "" if standing.speedup == 1.0 else f", {times(standing.speedup)} as fast as the original"
    )
    text = fill("standing", time=seconds(standing.seconds), faster=faster)
    if not standing.shares:
        return text
    share = " and ".join(
        f"{digits(100 * standing.shares[name])} % of {rate}"
        for name, rate in _RATES.items()
        if name in standing.shares
    )
    most = max(standing.shares.values())
    room = fill("room_none") if most >= _AT_ROOF else fill("room", times=digits(1 / most))
    return " ".join([text, fill("roof", shares=share), room])
