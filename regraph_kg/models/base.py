"""The base of every value that is read from or written to a file."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Metric = Literal["call", "device"]
"""What is timed: "call" = host pointers, transfers included; "device" = device pointers."""


class Frozen(BaseModel):
    """Immutable, and strict about unknown fields: a misspelt field must not vanish silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")
