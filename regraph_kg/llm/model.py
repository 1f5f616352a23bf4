"""LanguageModel: the one seam to whatever answers prompts.

Not here: what a prompt says (search/prompt.py, ingest/), and whether an answer is any good.
"""

from typing import Protocol

from regraph_kg.models.prompt import Prompt, Reply


class LanguageModel(Protocol):
    """Answers prompts. Raises `ModelError` when the model or its server fails."""

    @property
    def name(self) -> str:
        """Name, digest and options: what makes two runs comparable."""

    def complete(self, prompt: Prompt) -> Reply:
        """One answer to `prompt`; a miss of a recorded model is a Reply too ("unrecorded")."""
