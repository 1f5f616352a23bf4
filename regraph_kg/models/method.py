"""Settings of every search, whatever its method: prompting and limits.

The prompts' contents were never swept. Not here: a method's settings (search/methods/), runs
(models/run.py).
"""

from typing import Literal

from pydantic import Field

from regraph_kg.models.base import Frozen

Retrieval = Literal["like", "best"]
"""Which examples a prompt shows: those on code like the present one and no others, or the best of a
transition (method.md 3)."""
Words = Literal["lean", "full"]
"""How much a prompt says: what a model of few parameters can hold, or all that is known.

Only full prompts say what the code runs on, how fast it is now, and when a technique helps."""


class Prompting(Frozen):
    """What prompts are made of, whatever the method. `lean` and the defaults are the two usual."""

    words: Words = "full"
    """Lean ones ask for a technique by its recipe, and for code alone."""
    decline: bool = True
    """Whether an answer may say that a technique does not apply."""
    prefill: bool = False
    """Whether the answer is begun for the model, with the fence of its code, and ends with it;
    where the server cannot, the model begins by itself."""
    examples: int = Field(default=2, ge=0)
    """Examples of the transition at most."""
    retrieval: Retrieval = "like"
    example_tokens: int = Field(default=1200, ge=0)
    """All examples of a prompt together, estimated."""
    known_failures: int = Field(default=2, ge=0)
    """Failures of the transition on similar code that a prompt warns of, at most."""
    repair: bool = True
    """Whether a failed answer is asked for again, as often as the method says."""
    prompt_tokens: int = Field(default=4000, ge=1)
    """The whole prompt, estimated; what stays whatever it takes: prompts/parts.py."""

    @classmethod
    def usual(cls, words: Words) -> "Prompting":
        """All that is known; or one technique, its recipe, and the code, for a small model."""
        return cls.model_validate(_LEAN if words == "lean" else {})

    @property
    def changed(self) -> dict[str, str]:
        """The settings that are not usual for its words, and the words."""
        usual = Prompting.usual(self.words)
        mine = {name: str(value) for name, value in self if getattr(usual, name) != value}
        return {"words": self.words} | mine


_LEAN = {
    "words": "lean",
    "decline": False,
    "prefill": True,
    "examples": 0,
    "known_failures": 0,
    "repair": False,  # 2 of 52 repairs by a model of 1.5 billion parameters were right (0027)
}


class SearchLimits(Frozen):
    """What a search may spend; None: as much as it wants. Calls are what methods are compared at.

    A call is asked for as long as every limit holds; those under way then are still waited for.
    """

    calls: int = Field(ge=1)
    evaluations: int | None = Field(default=None, ge=1)
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
