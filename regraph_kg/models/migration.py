"""Migration: a change of the graph's data model, and how far one is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Migration:
    """What carries a graph from version - 1 to `version`."""

    version: int
    title: str
    """What it brings, for people."""
    name: str
    """Of its statements' file."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a migration is through."""

    migration: Migration
    what: str
    done: int
    total: int
