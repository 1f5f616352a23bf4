"""Ledger: what a run may spend and has spent; the one account of every method."""

from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import Cost, Stopped


class Ledger:
    """Spending of one run against its limits. A unit of `calls` is a call of the model.

    `seconds` are the run's active ones, as of the last result (driver.py sets them), so that what
    is decided by them comes out again when a trace is replayed.
    """

    def __init__(self, limits: SearchLimits) -> None:
        self.limits = limits
        self.spent = Cost()
        self.seconds = 0.0
        self.under_way = 0  # calls that have begun and not ended
        self._unreadable = 0

    @property
    def stopped(self) -> Stopped | None:
        """The limit that is reached; None while it goes on."""
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
        # calls under way will be paid: they are promised already
        return 0 if self.stopped else self.limits.calls - self.spent.calls - self.under_way

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
