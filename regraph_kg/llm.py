"""LanguageModel: the one seam to whatever writes code; Ollama and recorded answers behind it."""

from typing import Protocol

from regraph_kg.models.prompt import Prompt, Reply


class LanguageModel(Protocol):
    """Answers prompts. Raises `ModelError` when the model or its server fails."""

    @property
    def name(self) -> str:
        """Name and digest: what makes two runs comparable."""

    def complete(self, prompt: Prompt) -> Reply:
        """One answer to `prompt`; a miss of a recorded model is a Reply too ("unrecorded")."""
