"""Fixtures of whole searches: a corpus, a store and the command, empty or with a graph."""

from tests.search.lab import grown, lab

__all__ = ["grown", "lab"]
