"""A batch folder as the tests use it: prompts that go in, answers that come back."""

import json
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import AnswersPending
from regraph_kg.llm.batch import BatchModel
from regraph_kg.models.prompt import DecisionKey, Prompt

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


def ask(user: str = "make it fast", attempt: int = 0, **fields: object) -> Prompt:
    key = DecisionKey(kind="relabel", subject=user, attempt=attempt)
    usual: dict[str, Any] = {"key": key, "system": "You write code.", "user": user, "seed": 7}
    return Prompt(**(usual | fields))


def open_model(folder: Path, model: str = "qwen", max_tokens: int = 300) -> BatchModel:
    return BatchModel(folder, model, temperature=0.7, max_tokens=max_tokens)


def end(model: BatchModel) -> str:
    """What a run with pending prompts ends with: one line."""
    with pytest.raises(AnswersPending) as caught:
        model.finish()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def pending(folder: Path) -> list[dict[str, Any]]:
    path = folder / "pending.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def asked(folder: Path, *prompts: Prompt) -> list[str]:
    """The ids of `prompts`, after a run that left them pending."""
    model = open_model(folder)
    for prompt in prompts:
        assert model.complete(prompt).finish == "pending"
    end(model)
    ids = {line["body"]["messages"][1]["content"]: line["custom_id"] for line in pending(folder)}
    return [ids[prompt.user] for prompt in prompts]


def put(folder: Path, *lines: object, name: str = "answers.jsonl") -> Path:
    path = folder / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def said(request: str, text: str, finish: str = "stop", status: int = 200) -> dict[str, object]:
    """A line as batch endpoints put it out."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "qwen-7b-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": finish,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_1", "custom_id": request, "response": response, "error": None}
