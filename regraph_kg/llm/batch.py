"""BatchModel: prompts and answers by file, for batch endpoints and machines without a network.

A folder is the unit. A run writes what it would ask to pending.jsonl, one request of an
OpenAI-style batch a line, and ends; answers come into answers*.jsonl, and the next run has them.
docs/models.md tells a user how. Not here: sending anything anywhere.
"""

import hashlib
import json
import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import AnswersPending, BadInput, ToolError
from regraph_kg.llm import completion
from regraph_kg.llm.answers import AnswerFiles, printable
from regraph_kg.llm.pending import PendingPrompts
from regraph_kg.models.prompt import Prompt, Reply

log = logging.getLogger(__name__)

FORMAT = 1
"""Format of a hashed request: another one asks everything anew. History: 1 (2026-11)."""
URL = "/v1/chat/completions"


class BatchModel:
    """Answers from the files of a folder; a prompt without one is noted there, and pending."""

    def __init__(self, folder: Path, model: str, *, temperature: float, max_tokens: int) -> None:
        """`model` is whom the requests are for.

        Raises `BadInput` for a bad answer file, `ToolError` where the folder cannot be made.
        """
        self.name = f"batch:{model} temperature={temperature:g} max_tokens={max_tokens}"
        self._folder = folder
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._pending = PendingPrompts(folder)
        self._answers = AnswerFiles(folder)
        self._used: set[str] = set()
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt) -> Reply:
        """The answer that a file holds, or a Reply that is "pending": noted, to be asked."""
        body = completion.request(
            prompt, self._model, temperature=self._temperature, max_tokens=self._max_tokens
        )
        with self._lock:
            return self._answered(body, request_id(body, prompt.key.attempt))

    def finish(self, then: str = "run the same command again") -> None:
        """Publish what is pending, with what other processes left there; `AnswersPending` if any.

        Raises `ToolError` where the file cannot be written, `BadInput` where it is not ours; both
        only if something is to be written.
        """
        requests = self._pending.noted
        self._look_again()
        try:
            waiting = self._pending.publish(self._answers)
        except (BadInput, ToolError) as error:
            if requests:
                raise
            log.warning("%s", error)  # answered prompts stay in the file; nobody waits for them
            return
        self._report_unknown()
        if not requests:
            return
        open_ = [request for request in requests if request not in self._answers]
        if not open_:
            raise AnswersPending(f"answers came into {self._folder} meanwhile: {then}")
        prompts = "1 prompt" if waiting == 1 else f"{waiting} prompts"
        raise AnswersPending(
            f"{prompts} pending in {self._pending.path}{self._failures(open_)};"
            f" answer them into {self._folder / 'answers.jsonl'} and {then}"
        )

    def close(self) -> None:
        """Nothing: no connection is open."""

    def _answered(self, body: dict[str, object], request: str) -> Reply:
        answer = self._answers.get(request)
        if answer is None:
            line = {"custom_id": request, "method": "POST", "url": URL, "body": body}
            self._pending.note(request, json.dumps(line).encode() + b"\n")
            return Reply(text="", finish="pending", model=self.name)
        self._used.add(request)
        return Reply(
            text=answer.text,
            finish=answer.finish,
            prompt_tokens=answer.prompt_tokens,
            output_tokens=answer.output_tokens,
            model=answer.model or self.name,
        )

    def _look_again(self) -> None:
        """Take in answers that came during the run; a file in the making is the next run's."""
        try:
            self._answers.refresh()
        except BadInput as error:
            log.warning("%s", error)

    def _failures(self, requests: list[str]) -> str:
        failures = self._answers.failures
        reasons = [failures[request] for request in requests if request in failures]
        if not reasons:
            return ""
        return f" ({len(reasons)} of them failed before, the first: {reasons[0]})"

    def _report_unknown(self) -> None:
        known = self._pending.ever_asked() | self._used
        unknown = [answer for answer in self._answers if answer not in known]
        if unknown:
            log.warning(
                "%d answers in %s are to prompts that were never asked here, the first: %s (%s)",
                len(unknown),
                self._folder,
                printable(unknown[0]),
                self._answers.where(unknown[0]),
            )


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """Counts of a folder's prompts; `failure` is the first reason among the `failed`."""

    pending: int
    failed: int
    failure: str
    answered: int
    unknown: int
    """Answers to prompts that were never asked here."""


def status(folder: Path) -> BatchStatus:
    """How far the answers in `folder` have come; writes nothing.

    Raises `BadInput` for a folder that does not exist, and for a bad file in it.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give the one of --model batch:FOLDER")
    answers, prompts = AnswerFiles(folder), PendingPrompts(folder)
    waiting = [request for request in prompts.waiting() if request not in answers]
    failures = [answers.failures[request] for request in waiting if request in answers.failures]
    known = prompts.ever_asked()
    return BatchStatus(
        pending=len(waiting),
        failed=len(failures),
        failure=next(iter(failures), ""),
        answered=sum(answer in known for answer in answers),
        unknown=sum(answer not in known for answer in answers),
    )


def request_id(body: object, attempt: int) -> str:
    """The id of a request, equal for equal questions; at most 64 plain characters."""
    question = json.dumps([FORMAT, attempt, body], sort_keys=True)
    return f"regraph-{hashlib.sha256(question.encode()).hexdigest()[:40]}"
