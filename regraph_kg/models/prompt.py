"""Prompt and Reply: questions to a language model and its answers."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from regraph_kg.models.base import Frozen
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.target import NAMES, Target
from regraph_kg.models.text import ordinary


class PromptKey(Frozen):
    """Identity of a search's prompt within its run; what recorded answers are keyed by."""

    problem: str
    target: Target
    path: tuple[str, ...]
    """Techniques up to and including the one asked for, each an id, with "#k" appended where sample
    k > 0 of that step was entered; empty for a method that walks no graph."""
    attempt: int = 0  # the sample number of the last step


def element(technique: str, sample: int) -> str:
    """Path element of a step entered at sample `sample`."""
    return technique if sample == 0 else f"{technique}#{sample}"


class DecisionKey(Frozen):
    """Identity of a prompt of no search: a `kind` of decision ("relabel") on a `subject`."""

    kind: str
    subject: str
    attempt: int = 0  # the sample number, where the same is asked more than once


class Prompt(Frozen):
    """A rendered prompt: the constant part (`system`) first, so that prompt caches hold."""

    key: PromptKey | DecisionKey
    system: str
    user: str
    seed: int = 0
    begun: str = ""  # the answer's beginning; a capable server has the model go on from there
    stop: tuple[str, ...] = ()  # texts that end a begun answer, where they come
    answer_schema: Mapping[str, object] | None = None
    """JSON schema of the answer, which is then drawn at temperature 0. A server may enforce it in
    part or not at all, and a cut answer breaks it: take only "stop", and validate the text."""


PromptText = Annotated[str, BeforeValidator(ordinary)]  # what files and compilers can hold


class Reply(Frozen):
    """A model's answer."""

    text: PromptText
    finish: Literal["stop", "length", "unrecorded", "pending"]
    """"stop" ended by itself (the text may be empty), "length" was cut, and would be again;
    "unrecorded": a recorded model has no answer for this key (closed on this path, costs nothing,
    teaches nothing); "pending": the answer is to come by file (see `LanguageModel.finish`)."""
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    model: str = ""  # name and digest of the model that answered


PathElement = Annotated[str, StringConstraints(pattern=rf"^({NAMES})/[a-z0-9-]+(#[1-9][0-9]*)?$")]


class RecordedAnswer(Frozen):
    """One line of corpus/recorded/<problem>.<target>.jsonl: what a model would reply to a key."""

    path: tuple[PathElement, ...]
    attempt: int = Field(default=0, ge=0)
    text: str = Field(min_length=1)  # the full reply, code in one fenced block
    author: str = ""
    expect: Outcome | None = None  # the judge's expected outcome; only tests read it

    def key(self, problem: str, target: Target) -> PromptKey:
        return PromptKey(problem=problem, target=target, path=self.path, attempt=self.attempt)
