"""The worth of a verdict: a speedup, and the paper's reward (method.md 3.1)."""

from regraph_kg.models.evaluation import EvalReport, Outcome


def speedup(report: EvalReport) -> float | None:
    """Speedup over the serial code that the search may learn from; None for a failure.

    Right but unstably timed code is worth the lower bound of its interval.
    """
    if report.outcome is Outcome.PASSED:
        return report.speedup
    if report.outcome is Outcome.UNSTABLE_TIMING and report.speedup_interval is not None:
        return report.speedup_interval.low if report.speedup_interval.low > 0 else None
    return None
