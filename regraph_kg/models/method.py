"""Settings of every search, whatever its method: prompting and limits."""

from pydantic import Field

from regraph_kg.models.base import Frozen


class Prompting(Frozen):
    """How a model is asked, whatever the method."""

    prefill: bool = True
    """Whether the answer is begun for the model, with the fence of its code, and ends with it;
    where the server cannot, the model begins by itself. Only steps that a small model can take are
    asked for then."""


class SearchLimits(Frozen):
    """What a search may spend; None: as much as it wants. Methods are compared at verdicts."""

    verdicts: int = Field(ge=1)
    """Verdicts that a user waits for: on answers of the model, and on what a rule made."""
    calls: int | None = Field(default=None, ge=0)
    """Calls of the model; what a rule makes needs none."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens of prompts and answers together."""
    seconds: float | None = Field(default=None, gt=0)
    """Active ones: what lies between two sittings of a resumed run does not count."""
    unreadable: int = Field(default=10, ge=1)
    """Answers in a row in which no code is found: a model that never answers in form is not asked
    for the rest of its calls."""


class MethodSettings(Frozen):
    """Base of a method's settings, which search/methods/ defines."""

    method: str
    """Its name; each method's settings have it as a literal with that default."""
