"""Records to text and tables; the only place that decides how a number is written."""

from collections.abc import Mapping, Sequence

from regraph_kg.models.evaluation import Interval, WorkAccount
from regraph_kg.models.run import RunSummary, SimulationRecord

_UNITS = ((60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))
_DIGITS = 3


def times(speedup: float) -> str:
    """A ratio of times: "0.87x", "3.21x", "12.3x", "1234x"."""
    return f"{_digits(speedup)}x"


def interval(found: Interval) -> str:
    """A 95 % interval of a ratio of times."""
    return f"{times(found.low)} to {times(found.high)}"


def similarity(cosine: float) -> str:
    """A cosine: "0.87", "-0.02"."""
    return f"{cosine:.2f}"


def seconds(duration: float) -> str:
    """A duration in the unit that fits: "3.21 ms", "1.5 min"."""
    for size, unit in _UNITS:
        if duration >= size:
            return f"{_digits(duration / size)} {unit}"
    return f"{_digits(duration)} s"


def roofline(account: WorkAccount) -> str:
    """How near the device's peak: "61 % of memory bound (1.23 of 2.02 TB/s; 0.25 flop/byte)"."""
    roof = account.roof
    if roof is None:
        return "unknown: nothing measured here yet (regraph doctor measures)"
    unit = "flop/s" if roof.bound == "compute" else "B/s"
    size, prefix = next(entry for entry in _PREFIXES if roof.peak >= entry[0] or entry[0] == 1)
    said = f"{_digits(roof.reached / size)} of {_digits(roof.peak / size)} {prefix}{unit}"
    if account.intensity is not None:
        said += f"; {_digits(account.intensity)} flop/byte"
    return f"{100 * roof.share:.0f} % of {roof.bound} bound ({said})"


def path(elements: Sequence[str]) -> str:
    """Path elements as a walk: "start > tiling > simd#1", targets dropped."""
    return " > ".join(["start", *(element.partition("/")[2] for element in elements)])


def counts(found: Mapping[str, int]) -> str:
    """Counts by name, most first: "14 passed, 3 wrong_answer"."""
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ordered) or "none"


def progress(record: SimulationRecord) -> str:
    """Where a run stands: the best speedup, screened, and what it has just tried."""
    said = ", ".join(_outcome(step.outcome, step.speedup) for step in record.steps)
    return f"best {times(record.best_speedup)}, {path(record.steps[-1].path)}: {said}"


def new_best(record: SimulationRecord, budget: int) -> str:
    """A record that found faster code than all before it."""
    spent = f"{record.spent}/{budget}"
    return f"{spent:>8}  {times(record.best_speedup):>6}  {path(record.best_path)}"


def headline(summary: RunSummary) -> str:
    """The result of a run in one line; only re-measured speedups are in it."""
    what = f"{summary.problem} ({summary.target})"
    if not summary.improved or summary.speedup_interval is None:
        return f"{what}: no improvement found; the serial code is the answer"
    found = interval(summary.speedup_interval)
    return f"{what}: {times(summary.speedup)} faster than the serial code (95 %: {found})"


def run_table(summary: RunSummary, files: Mapping[str, str]) -> str:
    """How the result came about: path, machine, cost, samples, what was left out, `files`."""
    cost = summary.cost
    rows = {
        "path": path(summary.best_path) if summary.method == "mcgs" else "",
        "device": f"{summary.device}, {summary.toolchain}",
        "model": summary.model,
        "judge": "" if summary.judge == "live" else f"{summary.judge}: verdicts were replayed",
        "calls": f"{cost.calls} of {summary.budget}, in {summary.iterations} iterations"
        + ("; nothing is left to try" if summary.stopped == "exhausted" else ""),
        "samples": counts(summary.outcomes),
        "time": f"model {seconds(cost.model_seconds)}, judge {seconds(cost.judge_seconds)}"
        f" ({cost.evaluations} evaluations)",
        "unrecorded": f"{summary.unrecorded} actions closed: the recorded model has no answer"
        if summary.unrecorded
        else "",
        "left out": f"{summary.excluded}'s own examples (--include-own reads them)"
        if summary.excluded and summary.method == "mcgs"
        else "",
        **files,
    }
    return "\n".join(f"  {name:<10}  {value}" for name, value in rows.items() if value)


def _digits(number: float) -> str:
    """Three significant digits, never an exponent, never a digit of the integer part lost."""
    whole = len(f"{abs(number):.0f}")
    return f"{number:.0f}" if whole >= _DIGITS else f"{number:.{_DIGITS}g}"


def _outcome(outcome: str | None, speedup: float | None) -> str:
    if outcome is None:
        return "not recorded"
    return outcome if speedup is None else times(speedup)
