"""The base of every value that is read from or written to a file."""

from html import escape
from typing import Literal

from pydantic import BaseModel, ConfigDict

Metric = Literal["call", "device"]
"""The timed call: "call" = host pointers, transfers included; "device" = device pointers."""


class Frozen(BaseModel):
    """Immutable, and strict about unknown fields: a misspelt field must not vanish silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def _repr_html_(self) -> str:
        """For notebooks: its own text."""
        # code and diagnoses come from models and strangers: none of it can become markup
        return f"<pre style='white-space:pre-wrap'>{escape(str(self))}</pre>"
