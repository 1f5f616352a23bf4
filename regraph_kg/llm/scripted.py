"""ScriptedModel: answers that were written down before, replayed by the key of their prompt."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from regraph_kg import jsonl
from regraph_kg.errors import BadInput, file_errors
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.prompt import DecisionKey, Prompt, PromptKey, RecordedAnswer, Reply
from regraph_kg.models.target import Target


class ScriptedModel(LanguageModel):
    """Answers that were written down before, each under the key of its prompt."""

    def __init__(self, name: str, answers: Mapping[PromptKey | DecisionKey, str]) -> None:
        self.name = name
        self._answers = answers

    @classmethod
    def read(cls, folder: Path, problem: str, target: Target) -> Self:
        """Those of `folder`/<problem>.<target>.jsonl; `BadInput` for a bad file, or a key twice."""
        path = folder / f"{problem}.{target}.jsonl"
        if not path.exists():
            there = ", ".join(sorted(file.stem for file in folder.glob("*.jsonl"))) or "none"
            raise BadInput(
                f"no recorded answers for {problem}.{target} in {folder} (there: {there});"
                " use a live model: --model ollama:NAME"
            )
        with file_errors(path, "recorded answers must be readable"):
            content = path.read_bytes()
        answers: dict[PromptKey | DecisionKey, str] = {}
        lines: dict[PromptKey, int] = {}
        for number, answer in jsonl.parsed(path, content.split(b"\n"), RecordedAnswer):
            key = answer.key(problem, target)
            if key in lines:
                raise BadInput(
                    f"{path}:{number}: same path and attempt as line {lines[key]};"
                    " remove one of the two"
                )
            answers[key], lines[key] = answer.text, number
        # a digest: two runs with other answers are of other models
        return cls(f"recorded:{hashlib.sha256(content).hexdigest()[:12]}", answers)

    def complete(self, prompt: Prompt) -> Reply:
        """The recorded answer, or a Reply that finished "unrecorded"; never raises."""
        text = self._answers.get(prompt.key)
        if text is None:
            return Reply(text="", finish="unrecorded", model=self.name)
        return Reply(text=text, finish="stop", model=self.name)
