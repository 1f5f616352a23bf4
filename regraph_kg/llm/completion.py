"""Completion: question and answer of /v1/chat/completions, as batch files and servers have them."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from regraph_kg.llm.model import AskOptions
from regraph_kg.models.prompt import Prompt
from regraph_kg.models.text import without_thought

_CUT = re.compile("length|max|limit|filter|safety|context", re.IGNORECASE)


class TokenUsage(BaseModel):
    """Token counts; None where a server does not count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def _joined(content: object) -> object:
    """The text of an answer that comes as a list of parts."""
    if not isinstance(content, list):
        return content
    return "".join(part.get("text") or "" for part in content if isinstance(part, dict))


class Message(BaseModel):
    """The answer, and the thought before it under either of two names."""

    content: Annotated[str | None, BeforeValidator(_joined)] = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    def without_thought(self) -> tuple[str, bool]:
        """The text, and whether there was a thought."""
        text = without_thought(self.content or "")
        return text, bool(self.reasoning or self.reasoning_content or text != (self.content or ""))


class Choice(BaseModel):
    message: Message
    finish_reason: str | None = None

    @property
    def finish(self) -> Literal["stop", "length"]:
        """How it ended: servers have words of their own for an end by itself ("eos")."""
        # no reason: Ollama, where it stops a model's repetitions
        cut = self.finish_reason is None or _CUT.search(self.finish_reason)
        return "length" if cut else "stop"


class Completion(BaseModel):
    """The answer; fields that we do not know are other people's business."""

    choices: list[Choice] = Field(min_length=1)
    usage: TokenUsage | None = None
    model: str | None = None


def question(
    prompt: Prompt, model: str, options: AskOptions, *, begun: bool = False
) -> dict[str, Any]:
    """The question. Ids of prompts in files are hashes of it: another shape asks all anew.

    `begun`: the server goes on from an answer that is begun.
    """
    schema = prompt.answer_schema
    body: dict[str, Any] = {
        "model": model,
        "messages": messages(prompt, begun=begun),
        "temperature": options.temperature if schema is None else 0.0,
        # some servers refuse a larger seed, and take a negative one for a random one
        "seed": prompt.seed % 2**31,
        "max_tokens": options.max_tokens,
    }
    # only a begun answer has a known end: a whole one may hold the same text
    if begun and prompt.begun:
        body["stop"] = list(prompt.stop)
    if schema is not None:
        named = {"name": "answer", "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


def messages(prompt: Prompt, *, begun: bool) -> list[dict[str, str]]:
    """The conversation; a server that goes on from a `begun` answer gets it as the last message."""
    turns = [("system", prompt.system), ("user", prompt.user)]
    if begun and prompt.begun:
        turns.append(("assistant", prompt.begun))
    return [{"role": role, "content": text} for role, text in turns]


def full_answer(prompt: Prompt, text: str, *, ended: bool) -> str:
    """An answer with its beginning, and with the end that a server leaves out where it stops."""
    end = prompt.stop[0] if ended and prompt.stop and prompt.stop[0] not in text else ""
    return prompt.begun + text + end
