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
        """One answer to `prompt`; a miss of a recorded model is a Reply too ("unrecorded").

        "pending" says that the answer comes by file: leave undecided what hangs on it, go on asking
        for whatever does not, and `finish`; the next run gets the answer.
        """

    def finish(self, then: str = "run the same command again") -> None:
        """Call it when there is nothing more to ask.

        Raises `AnswersPending` if a prompt was left pending: how many, in which file, and what to
        do `then`. Without pending prompts nothing happens.
        """
