"""Technique: a node of the graph, and the vocabulary file that seeds it."""

from typing import Self

from pydantic import Field, model_validator

from regraph_kg.models.base import Frozen, Target


class Technique(Frozen):
    """A named code optimization within one target.

    `id` is "<target>/<slug>"; "<target>/start" is the initial state (serial code).
    """

    id: str = Field(pattern=r"^(cuda|openmp)/[a-z0-9]+(-[a-z0-9]+)*$", max_length=200)
    name: str = Field(min_length=1, max_length=200)
    target: Target
    definition: str = ""
    applies: str = ""
    """When it applies, in one sentence."""
    aliases: tuple[str, ...] = ()
    created: str = ""
    """UTC, ISO 8601; empty for the shipped vocabulary."""

    @model_validator(mode="after")
    def _id_is_of_target(self) -> Self:
        if not self.id.startswith(f"{self.target}/"):
            raise ValueError(f"id {self.id!r} does not belong to target {self.target!r}")
        return self


def start_id(target: Target) -> str:
    """Id of the initial state of `target`: serial code, nothing applied."""
    return f"{target}/start"
