"""The name of a language model, as a user gives it and as a trace records it."""

from dataclasses import dataclass
from typing import Literal, Self, cast

from regraph_kg.errors import BadInput

ModelKind = Literal["recorded", "none", "ollama", "openai", "batch"]

_KNOWN = {
    "recorded": "recorded",
    "none": "none",
    "ollama": "ollama:NAME",
    "openai": "openai:NAME",
    "batch": "batch:FOLDER",
}
"""Each `ModelKind` as it is written."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A language model as it is named: "ollama:NAME", "openai:NAME", "batch:FOLDER".

    "recorded" are answers of the corpus, "none" are steps by rule alone.
    """

    kind: ModelKind
    name: str = ""  # name of a server's model, or a folder's path; "" where there is none

    @classmethod
    def parse(cls, text: str) -> Self:
        """The model that `text` names. Raises `BadInput`."""
        kind, colon, name = text.partition(":")
        has_name = ":" in _KNOWN.get(kind, "")
        if kind not in _KNOWN or not has_name == bool(colon) == bool(name):
            raise BadInput(f"model {text!r}: know {', '.join(_KNOWN.values())}")
        return cls(cast(ModelKind, kind), name)

    @classmethod
    def traced(cls, name: str) -> Self | None:
        """The model of a trace's name ("ollama:NAME@DIGEST ..."); None for an unknown kind."""
        kind, _, rest = name.partition(":")
        if kind not in _KNOWN:
            return None
        spec = cls(cast(ModelKind, kind))
        # a trace has no name for recorded answers and those by file
        return cls(spec.kind, rest.partition("@")[0]) if spec.asks_server else spec

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def is_recorded(self) -> bool:
        return self.kind == "recorded"

    @property
    def by_file(self) -> bool:
        """Whether prompts and answers go by file, so that an answer may take hours."""
        return self.kind == "batch"

    @property
    def asks_server(self) -> bool:
        """Whether a server answers, at once."""
        return self.kind in ("ollama", "openai")
