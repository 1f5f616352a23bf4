"""Completion: question and answer of /v1/chat/completions, as batch files and servers have them.

Not here: whether a completion is an answer; files are read more generously than servers.
"""

from collections.abc import Mapping

from pydantic import BaseModel, Field

from regraph_kg.models.prompt import Prompt

LONGEST_STRING = 1000
"""A schema that allows a longer string crashes llama-cpp-python's server; Ollama bears 2000."""


class TokenUsage(BaseModel):
    """Token counts; None where a server does not count."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Message(BaseModel):
    """The answer, and the thought before it under either of two names."""

    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class Choice(BaseModel):
    """One answer."""

    message: Message
    finish_reason: str | None = None


class Completion(BaseModel):
    """The answer; fields that we do not know are other people's business."""

    choices: list[Choice]
    usage: TokenUsage | None = None
    model: str | None = None
    fingerprint: str | None = Field(default=None, alias="system_fingerprint")


def request(
    prompt: Prompt, model: str, *, temperature: float, max_tokens: int, begun: bool = False
) -> dict[str, object]:
    """The question. Ids of prompts in files are hashes of it: another shape asks all anew.

    `begun`: the server goes on from an answer that is begun.
    """
    schema = prompt.answer_schema
    body: dict[str, object] = {
        "model": model,
        "messages": messages(prompt, begun=begun),
        "temperature": temperature if schema is None else 0.0,
        "seed": prompt.seed % 2**31,
        "max_tokens": max_tokens,
    }
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


def bounded_schema(schema: object) -> object:
    """`schema` with no string allowed to be longer than a server can bear."""
    match schema:
        case Mapping():
            return {
                name: min(part, LONGEST_STRING)
                if name == "maxLength" and isinstance(part, int)
                else bounded_schema(part)
                for name, part in schema.items()
            }
        case list() | tuple():
            return [bounded_schema(part) for part in schema]
        case _:
            return schema
