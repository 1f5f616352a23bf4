"""Kept answers: every prompt and answer of a search, a line each, to be judged again later.

An answer is found by its prompt and key: where a prompt comes out otherwise than it did,
there is none, and the search counts it as unrecorded. A prompt holds measurements and places
of errors: figures in it may differ.
"""

import hashlib
import json
import re
import threading
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from regraph_kg.errors import BadInput, ToolError, file_errors
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.base import Frozen
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.private import opener

FILE = "exchanges.jsonl"
_FIGURE = re.compile(r"-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|\b(?:nan|inf)\b)(?: (?:us|ms|s)\b)?")


class KeptExchange(Frozen):
    """A prompt and its answer."""

    prompt: Prompt
    reply: Reply


class KeepingModel:
    """A model whose answers are kept in a file as they come."""

    def __init__(self, model: LanguageModel, path: Path) -> None:
        """`path` is appended to: a resumed search repeats some prompts."""
        self._model, self._path = model, path
        self._writing = threading.Lock()
        self._begun = False

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt) -> Reply:
        """The model's answer; `ToolError` where it cannot be kept."""
        reply = self._model.complete(prompt)
        if reply.finish not in ("pending", "unrecorded"):
            self._keep(KeptExchange(prompt=prompt, reply=reply))
        return reply

    def finish(self, then: str = "run the same command again") -> None:
        self._model.finish(then)

    def close(self) -> None:
        """Nothing: several searches share the model."""

    def _keep(self, exchange: KeptExchange) -> None:
        line = exchange.model_dump_json() + "\n"
        with (
            file_errors(self._path, "make room", ToolError),
            self._writing,
            open(self._path, "a", encoding="utf-8", opener=opener) as file,
        ):
            # the newline ends a line torn by a kill or a full disk
            file.write(line if self._begun or not file.tell() else f"\n{line}")
        self._begun = True


class KeptModel:
    """The answers of an earlier search, by their prompts."""

    def __init__(self, name: str, path: Path | None) -> None:
        """`name` is the model's; `path` None: no answers. `BadInput` where they cannot be read."""
        self.name = name
        exchanges = [] if path is None else _read(path)
        self._replies = {_address(exchange.prompt): exchange.reply for exchange in exchanges}

    def complete(self, prompt: Prompt) -> Reply:
        """The kept answer; "unrecorded" to another prompt."""
        reply = self._replies.get(_address(prompt))
        return reply or Reply(text="", finish="unrecorded", model=self.name)

    def finish(self, then: str = "") -> None:
        """Nothing is pending."""

    def close(self) -> None:
        """Nothing is open."""


def _address(prompt: Prompt) -> str:
    """A prompt's hash without its figures."""
    # Times and drawn values of a prompt differ from run to run; the question is the same.
    words = _FIGURE.sub("#", prompt.user)
    text = json.dumps([prompt.key.model_dump(mode="json"), prompt.system, words])
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> list[KeptExchange]:
    """The complete lines of a file; a kill or a full disk may tear some."""
    exchanges = []
    with file_errors(path, "give the folder of an earlier regraph bench"), path.open("rb") as file:
        for line in file:
            with suppress(ValidationError):
                exchanges.append(KeptExchange.model_validate_json(line))
    if not exchanges:
        raise BadInput(f"{path}: not the kept answers of a bench of this version")
    return exchanges
