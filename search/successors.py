"""Techniques to try next on a code: those that the graph knows to follow, and that fit.

    Successors(neighbours, pooled, start).after(technique, code, entry)

A technique of unknown fit stays. Where few of the start's successors fit the serial code, others of
the target that plainly fit are offered, until there are `enough`: the largest gain after any
technique first, untried ones last. Not here: the fit (fit/fit.py), the worth (beliefs.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.macros import written_out
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.technique import Technique
from regraph_kg.search.beliefs import Foretelling
from regraph_kg.search.fit.fit import Fit, applicable
from regraph_kg.search.transform.apart import Result, is_any_readable, results

_NO_PLACE = "None of its transforms fits a place in this code."
ENOUGH = 4  # techniques to choose from on serial code, if so many fit


@dataclass(frozen=True, slots=True)
class Offer:
    """A technique that may be tried on a code, or may not, and why."""

    successor: Successor
    fit: Fit
    follows: bool = True  # whether the graph saw it follow; else its figures are pooled


@dataclass(frozen=True, slots=True)
class Offers:
    """The successors of a technique at one code."""

    fitting: tuple[Offer, ...]  # followers in the graph's order; then techniques seen after others
    unfit: tuple[Offer, ...]  # followers that cannot be applied to this code
    claimed: tuple[Offer, ...] = ()  # for which claims alone speak: where nothing else fits


@dataclass(frozen=True, slots=True)
class Successors:
    neighbours: Callable[[str], Neighbourhood]  # technique id -> its successors
    pooled: Callable[[], tuple[Successor, ...]]  # all, with figures after any technique
    start: str  # id of the target's initial state
    enough: int = ENOUGH
    small: bool = False  # whether only steps that a small model can take are offered
    transforms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The texts of transforms, by technique."""

    def made(self, technique: Technique, code: str) -> tuple[Result, ...]:
        """The codes that a technique's transforms make of a code."""
        return results(code, self.transforms.get(technique.id, ()))

    def after(self, technique: str, code: str, entry: str = "") -> Offers:
        """The offers after `technique` at `code`, by the facts of the code that `entry` reaches."""
        facts = facts_of(written_out(code)[0], entry)
        known = self.neighbours(technique)
        followers, claimed = (
            [Offer(one, self._fit(one.technique, facts, code)) for one in successors]
            for successors in (known.successors, known.claimed)
        )
        # unknown stays: a wrong refusal costs the technique, a wrong offer one call
        fitting = [offer for offer in followers if offer.fit.fits is not False]
        # with too little to choose from a search is over before it has begun
        if technique == self.start and followers and len(fitting) < self.enough:
            fitting += self._fallbacks(followers, facts, code)[: self.enough - len(fitting)]
        if self.small and technique not in {offer.successor.technique.id for offer in followers}:
            fitting += self._again(technique, facts, code)
        unfit = tuple(offer for offer in followers if offer.fit.fits is False)
        told = {offer.successor.technique.id for offer in fitting}
        may = [one for one in claimed if one.fit.fits is not False]
        last = tuple(one for one in may if one.successor.technique.id not in told)
        return Offers(tuple(fitting), unfit, last)

    def _again(self, technique: str, facts: Facts, code: str) -> list[Offer]:
        """The technique once more: a small step changes one place, and another may be left."""
        known = (successor for successor in self.pooled() if successor.technique.id == technique)
        return [
            Offer(successor, fit, follows=False)
            for successor in known
            if successor.technique.needs
            and (fit := self._fit(successor.technique, facts, code)).fits
        ]

    def _fit(self, technique: Technique, facts: Facts, code: str) -> Fit:
        made = self.made(technique, code)
        # what its transforms need stands in them
        fit = applicable(technique.model_copy(update={"needs": ()}) if made else technique, facts)
        if made:
            return fit
        ruled = self.small and is_any_readable(self.transforms.get(technique.id, ()))
        return Fit(False, _NO_PLACE) if ruled and fit.fits is not False else fit

    def _fallbacks(self, followers: list[Offer], facts: Facts, code: str) -> list[Offer]:
        """Techniques that fit plainly and were not seen to follow; the most promising first."""
        listed = {offer.successor.technique.id for offer in followers}
        rest = [successor for successor in self.pooled() if successor.technique.id not in listed]
        tried = [successor for successor in rest if successor.examples or successor.technique.needs]
        fits = ((successor, self._fit(successor.technique, facts, code)) for successor in tried)
        offers = [Offer(successor, fit, follows=False) for successor, fit in fits if fit.fits]
        told = Foretelling(self.pooled(), (offer.successor for offer in followers))

        def promise(offer: Offer) -> float:
            made = self.made(offer.successor.technique, code)
            return told.of(offer.successor.technique.id, ruled=bool(made)).promise

        return sorted(offers, key=promise, reverse=True)
