"""Ledger: what a run may spend and has spent; the one account of every method."""

from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import Cost, Stopped
from regraph_kg.search.roof import RoofWatch


class Ledger:
    """Spending of one run against its limits. A unit of `calls` is a call that is to yield code.

    `seconds` are the run's active ones, as of the last result (driver.py sets them), so that what
    is decided by them comes out again when a trace is replayed.
    """

    def __init__(self, limits: SearchLimits) -> None:
        self.limits = limits
        self.spent = Cost()
        self.seconds = 0.0
        self.roof = RoofWatch()
        self.under_way = 0
        """Calls that have begun and not ended."""
        self._unreadable = 0
        self._settled: Stopped | None = None

    @property
    def stopped(self) -> Stopped | None:
        """The limit that is reached, or why the search was settled; None while it goes on."""
        if self._settled:
            return self._settled
        limits, spent = self.limits, self.spent
        tokens = spent.prompt_tokens + spent.output_tokens
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return "seconds"
        if limits.tokens is not None and tokens >= limits.tokens:
            return "tokens"
        if limits.evaluations is not None and spent.evaluations >= limits.evaluations:
            return "evaluations"
        if self._unreadable >= limits.unreadable:
            return "unreadable"
        return "calls" if spent.calls >= limits.calls else None

    @property
    def left(self) -> int:
        """Calls that may still be asked for; those under way are taken off."""
        return 0 if self.stopped else self.limits.calls - self.spent.calls - self.under_way

    @property
    def may_think(self) -> bool:
        """Whether a thought that no call follows may be asked for: it takes tokens and time."""
        return self.stopped not in ("seconds", "tokens")

    def begin_call(self) -> None:
        """A call is under way."""
        self.under_way += 1

    def end_call(self) -> None:
        """It has ended; `charge` what it cost."""
        self.under_way -= 1

    def settle(self, why: Stopped) -> None:
        """No further call is wanted, though the limits would allow it. The first reason stays."""
        if self.stopped is None:
            self._settled = why

    def judged(self, report: EvalReport) -> None:
        """A verdict came in: it may show that the search stands at the roof."""
        if report.passed:
            self.roof.see(report.account)
        limit, reached = self.limits.stop_at_roof, self.roof.reached
        if limit is not None and reached is not None and reached.share >= limit:
            self.settle("roof")

    def read(self, readable: bool) -> None:
        """An answer was looked through for what it may hold: code, or why there is none."""
        self._unreadable = 0 if readable else self._unreadable + 1

    def pay(self, reply: Reply, unit: Cost) -> Cost:
        """Charge an answer, as `unit`: one call or one thought."""
        tokens = Cost(
            prompt_tokens=reply.prompt_tokens,
            output_tokens=reply.output_tokens,
            model_seconds=reply.seconds,
        )
        return self.charge(unit + tokens)

    def charge(self, cost: Cost) -> Cost:
        """Add to what was spent; hands `cost` on."""
        self.spent += cost
        return cost
