"""The name of a language model, as a user gives it and as a trace records it.

Not here: how a model is opened (wiring/open_model.py); embedders (llm/embedder.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, cast

from regraph_kg.errors import BadInput

ModelKind = Literal["recorded", "ollama", "openai", "batch"]

_NAMED: Mapping[str, str] = {
    "recorded": "",
    "ollama": "NAME",
    "openai": "NAME",
    "batch": "FOLDER",
}
"""Each `ModelKind`, and its part after the colon, if any."""
_SPELT = [f'"{kind}:{what}"' if what else f'"{kind}"' for kind, what in _NAMED.items()]
_KNOWN = f"{', '.join(_SPELT[:-1])} and {_SPELT[-1]}"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A language model as it is named: "recorded", "ollama:NAME", "openai:NAME", "batch:FOLDER"."""

    kind: ModelKind
    name: str = ""
    """Name of a server's model, or a folder's path; "" where there is none."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The model that `text` names. Raises `BadInput`."""
        kind, colon, name = text.partition(":")
        if kind not in _NAMED or not bool(_NAMED[kind]) == bool(colon) == bool(name):
            raise BadInput(f"model {text!r}: know {_KNOWN}")
        return cls(cast(ModelKind, kind), name)

    @classmethod
    def traced(cls, name: str) -> Self | None:
        """The model of a trace's name ("ollama:NAME@DIGEST ..."); None for an unknown kind.

        A trace has no name for recorded answers and those by file.
        """
        kind, _, rest = name.partition(":")
        if kind not in _NAMED:
            return None
        spec = cls(cast(ModelKind, kind))
        return cls(spec.kind, rest.partition("@")[0]) if spec.asks_server else spec

    def __str__(self) -> str:
        """As `parse` reads it."""
        return f"{self.kind}:{self.name}" if self.name else self.kind

    @property
    def is_recorded(self) -> bool:
        """Whether its answers are recorded ones."""
        return self.kind == "recorded"

    @property
    def by_file(self) -> bool:
        """Whether prompts and answers go by file, so that an answer may take hours."""
        return self.kind == "batch"

    @property
    def asks_server(self) -> bool:
        """Whether a server answers, at once."""
        return self.kind in ("ollama", "openai")

    @property
    def folder(self) -> Path:
        """The folder of prompts and answers by file."""
        return Path(self.name)

    def answered(self, traced: str) -> bool:
        """Whether it may be the model of a trace's name."""
        spec = ModelSpec.traced(traced)
        if spec is None or spec.kind != self.kind:
            return False
        return not self.asks_server or spec.name == self.name
