"""The stage "embed": merges where embedding, n-grams and words point to one technique, alike.

Nearness alone never merges. Both rankings must put the technique first, each with a margin, and
every word of the label must be one that its names, definition and use are made of, half of them in
its names.
"""

from collections.abc import Mapping, Sequence

from regraph_kg.ingest.relabel.verdict import LabelVerdict, Shortlist, TechniqueCandidate, merged
from regraph_kg.ingest.relabel.words import HARMLESS, Speller, addresses, stems, turns
from regraph_kg.models.technique import Technique, spelling

LEAST_MARGIN = 0.05
"""In cosine, by either ranking, to the next technique."""
LEAST_WORDS = 2
"""Stems of the label that the technique's names must have."""


class EmbedRule:
    """See the module."""

    def __init__(self, techniques: Sequence[Technique]) -> None:
        targets = {technique.target for technique in techniques}
        self._spell: Mapping[str, Speller] = {
            target: Speller([one for one in techniques if one.target == target])
            for target in targets
        }

    def __call__(self, asked: Shortlist) -> LabelVerdict | None:
        """See `Stage`."""
        if not asked.candidates or addresses(asked.label):
            return None
        chosen = max(asked.candidates, key=lambda one: one.lexical)
        words = self._spell[asked.target](asked.label)
        if not _leads(chosen, asked.candidates) or not _covers(chosen.technique, words):
            return None
        return merged(asked, chosen, "embed", "embedded")


def _leads(chosen: TechniqueCandidate, candidates: Sequence[TechniqueCandidate]) -> bool:
    return all(
        one is chosen
        or (
            chosen.lexical - one.lexical >= LEAST_MARGIN
            and chosen.embedded - one.embedded >= LEAST_MARGIN
        )
        for one in candidates
    )


def _covers(technique: Technique, words: str) -> bool:
    names = spelling(" . ".join((technique.name, *technique.aliases)))
    texts = f"{names} {spelling(technique.definition)} {spelling(technique.applies)}"
    asked = set(stems(words)) - HARMLESS
    in_names = asked & set(stems(names))
    return (
        asked <= set(stems(texts))
        and len(in_names) >= max(LEAST_WORDS, len(asked) / 2)
        and not turns(words.split(), texts.split())
    )
