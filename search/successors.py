"""Which techniques may be tried next on a code: those that the graph knows to follow, and that fit.

    Successors(neighbours, pooled, start).after(technique, code, entry)

What is not known to fit stays. Serial code that few of the start's own successors fit is offered
others of the target that plainly fit, until there are `enough`: those that gained most after
whatever else come first, what nobody has tried last. Not here: whether one fits (code/fit.py), what
it is worth (beliefs.py).
"""

from collections.abc import Callable
from dataclasses import dataclass

from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.search.code.facts import Facts, facts_of
from regraph_kg.search.code.fit import Fit, applicable

ENOUGH = 4
"""Techniques to choose from on serial code, if so many fit."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A technique that may be tried on a code, or may not, and why."""

    successor: Successor
    fit: Fit
    follows: bool = True
    """Whether the graph saw it follow; else it tells what came of it after whatever else."""


@dataclass(frozen=True, slots=True)
class Offers:
    """What follows a technique at one code."""

    fitting: tuple[Offer, ...]
    """Those that the graph saw follow, in its order; then what it saw after other techniques."""
    unfit: tuple[Offer, ...]
    """Those that the graph saw follow, and that cannot be applied to this code."""


@dataclass(frozen=True, slots=True)
class Successors:
    """Reads a graph by what it is asked with."""

    neighbours: Callable[[str], Neighbourhood]
    """Technique id -> its successors."""
    pooled: Callable[[], tuple[Successor, ...]]
    """All techniques of the target, each with what is known of it after whatever else."""
    start: str
    """Id of the target's initial state."""
    enough: int = ENOUGH

    def after(self, technique: str, code: str, entry: str = "") -> Offers:
        """What may follow `technique` at `code`, of which what `entry` reaches counts."""
        facts = facts_of(code, entry)
        known = [
            Offer(successor, applicable(successor.technique, facts))
            for successor in self.neighbours(technique).successors
        ]
        fitting = [one for one in known if one.fit.fits is not False]
        if technique == self.start and known and len(fitting) < self.enough:
            fitting += self._others(known, facts)[: self.enough - len(fitting)]
        return Offers(tuple(fitting), tuple(one for one in known if one.fit.fits is False))

    def seen_after(self, technique: str) -> str:
        """After which technique it was seen most; empty: after none."""
        found = (one.after for one in self.pooled() if one.technique.id == technique)
        return next(found, "")

    def _others(self, known: list[Offer], facts: Facts) -> list[Offer]:
        """What fits plainly, and was not seen to follow; the most gained first."""
        listed = {one.successor.technique.id for one in known}
        others = [one for one in self.pooled() if one.technique.id not in listed]
        tried = [other for other in others if other.examples or other.technique.needs]
        offers = [Offer(one, applicable(one.technique, facts), follows=False) for one in tried]
        return sorted((offer for offer in offers if offer.fit.fits), key=_order)


def _order(offer: Offer) -> tuple[float, int, str]:
    """The mean gain, of few drawn to 0; what was never seen last."""
    one = offer.successor
    verified = one.verified + one.verified_elsewhere
    gained = (one.sum_log2_effect + one.sum_log2_elsewhere) / (verified + 1)
    return (-gained if one.examples else float("inf"), -one.examples, one.technique.id)
