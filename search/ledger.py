"""Ledger: what a run may spend and has spent; the one account of every method."""

from regraph_kg.models.method import SearchLimits
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import Cost, Stopped


def price(reply: Reply) -> Cost:
    """The cost of an answer."""
    return Cost(
        calls=1,
        prompt_tokens=reply.prompt_tokens,
        output_tokens=reply.output_tokens,
        model_seconds=reply.seconds,
    )


class Ledger:
    """Spending of one run against its limits.

    `seconds` are the run's active ones, as of the last result (driver.py sets them), so that what
    is decided by them comes out again when a trace is replayed.
    """

    def __init__(self, limits: SearchLimits) -> None:
        self.limits = limits
        self.spent = Cost()
        self.seconds = 0.0
        self.under_way = 0  # samples that have begun and not ended
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
        if self._unreadable >= limits.unreadable:
            return "unreadable"
        return "verdicts" if spent.verdicts >= limits.verdicts else None

    @property
    def ended(self) -> Stopped:
        """Why the search is over, once nothing more was begun."""
        most = self.limits.calls
        return self.stopped or ("exhausted" if most is None or self.spent.calls < most else "calls")

    @property
    def left(self) -> int:
        """Samples that may still be begun; those under way are taken off."""
        # those under way will be paid: they are promised already
        return 0 if self.stopped else self.limits.verdicts - self.spent.verdicts - self.under_way

    @property
    def calls_left(self) -> int:
        """Samples for which the model may still be asked."""
        left, most = self.left, self.limits.calls
        return left if most is None else min(left, most - self.spent.calls - self.under_way)

    def read(self, readable: bool) -> None:
        """An answer was looked through for what it may hold: code, or why there is none."""
        self._unreadable = 0 if readable else self._unreadable + 1

    def pay(self, reply: Reply) -> Cost:
        """Charge an answer."""
        return self.charge(price(reply))

    def charge(self, cost: Cost) -> Cost:
        """Add to what was spent; hands `cost` on."""
        self.spent += cost
        return cost
