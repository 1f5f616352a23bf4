"""LanguageModel: the protocol of everything that answers prompts, and how one is asked."""

from dataclasses import dataclass
from typing import Protocol

from regraph_kg.models.prompt import Prompt, Reply


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The way in which a model is asked: all that makes two of its answers comparable, and time."""

    temperature: float
    max_tokens: int  # an answer is cut there
    timeout: float  # longest silence of a server, in seconds
    patience: float  # seconds that a lost server is waited for, from its first failure; 0: one try

    def __str__(self) -> str:
        """The part of a model's name: what changes answers."""
        return f"temperature={self.temperature:g} max_tokens={self.max_tokens}"


class LanguageModel(Protocol):
    """Answers prompts. Raises `ModelError` when the model or its server fails.

    Many threads may ask at once; how many are answered at once is the server's affair.
    """

    name: str  # name, digest and options: what makes two runs comparable

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
        return

    def close(self) -> None:
        """End what is in flight in all threads, at once; nothing can be asked any more.

        Calls that it ends raise `ModelError`, as do later ones of a live model. Closing twice is
        closing once.
        """
        return
