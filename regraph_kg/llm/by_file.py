"""BatchModel: prompts and answers by file, for batch endpoints and machines without a network.

A folder is the unit. A run writes what it would ask to pending.jsonl, one request of an
OpenAI-style batch a line, and ends; answers come into answers*.jsonl, and the next run has them. A
line there is what batch endpoints put out, {"custom_id", "response", "error"}, or just
{"custom_id", "text"}. docs/models.md tells a user how. Not here: sending anything anywhere.
"""

import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from regraph_kg import atomic, jsonl, locks
from regraph_kg.errors import AnswersPending, BadInput, ToolError, file_errors, first_mistake
from regraph_kg.llm.completion import Completion, TokenUsage, question
from regraph_kg.llm.model import AskOptions
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.private import make_folder, opener

log = logging.getLogger(__name__)

FORMAT = 1  # format of a hashed request: another one asks everything anew. History: 1 (2026-11).
URL = "/v1/chat/completions"
PENDING, ANSWERS = "pending.jsonl", "answers*.jsonl"
LONGEST_LINE = 2**25  # bytes; no model writes so much
LONGEST_REASON = 200


class BatchModel:
    """Answers from the files of a folder; a prompt without one is noted there, and pending."""

    def __init__(self, folder: Path, model: str, options: AskOptions) -> None:
        """`model` is whom the requests are for.

        Raises `BadInput` for a bad answer file, `ToolError` where the folder cannot be made.
        """
        self.name = f"batch:{model} {options}"
        self._folder = folder
        self._model = model
        self._options = options
        self._noted: dict[str, bytes] = {}
        # a search asks from many threads, and all of them note here
        self._lock = threading.Lock()
        with _writing(folder):
            make_folder(folder)
        self._answers = read_answers(folder)

    def complete(self, prompt: Prompt) -> Reply:
        """The answer that a file holds, or a Reply that is "pending": noted, to be asked."""
        body = question(prompt, self._model, self._options)
        # equal for equal questions, in whichever order a body was built
        asked = json.dumps([FORMAT, prompt.key.attempt, body], sort_keys=True)
        request = f"regraph-{hashlib.sha256(asked.encode()).hexdigest()[:40]}"
        with self._lock:
            if request in self._answers.replies:
                reply = self._answers.replies[request]
                return reply.model_copy(update={"model": reply.model or self.name})
            line = {"custom_id": request, "method": "POST", "url": URL, "body": body}
            # by id: the same question is published once, whoever asks it
            self._noted[request] = json.dumps(line).encode() + b"\n"
            return Reply(text="", finish="pending", model=self.name)

    def finish(self, then: str = "run the same command again") -> None:
        """Publish what is pending, with what other processes left there; `AnswersPending` if any.

        Raises `ToolError` where the file cannot be written, `BadInput` where it is not ours; both
        only if something is to be written.
        """
        asked = list(self._noted)
        try:
            self._answers = read_answers(self._folder)
        except BadInput as error:  # a file in the making is the next run's
            log.warning("%s", error)
        try:
            waiting = self._publish()
        except (BadInput, ToolError) as error:
            if asked:
                raise
            log.warning("%s", error)  # answered prompts stay in the file; nobody waits for them
            return
        if not asked:
            return
        unanswered = [request for request in asked if request not in self._answers.replies]
        if not unanswered:
            raise AnswersPending(f"answers came into {self._folder} meanwhile: {then}")
        failures = self._answers.failures
        reasons = [failures[request] for request in unanswered if request in failures]
        failed = (
            f" ({len(reasons)} of them failed before, the first: {reasons[0]})" if reasons else ""
        )
        raise AnswersPending(
            f"{waiting} {'prompt' if waiting == 1 else 'prompts'} pending in"
            f" {self._folder / PENDING}{failed}; answer them into"
            f" {self._folder / 'answers.jsonl'} and {then}"
        )

    def close(self) -> None:
        """Nothing: no connection is open."""

    def _publish(self) -> int:
        """Add what was noted to pending.jsonl, drop what is answered; how many lines it has then.

        Without any the file goes away. `BadInput` for a line in it that is not ours.
        """
        path, answered = self._folder / PENDING, self._answers.replies
        if not self._noted and not path.exists():
            return 0
        # processes may share a folder: the file is rewritten whole, by one of them at a time
        with _writing(self._folder), open(self._folder / ".lock", "ab", opener=opener) as lock:
            locks.wait(lock)
            there = dict(_requests(path))
            wanted = {
                request: line
                for request, line in (there | self._noted).items()
                if request not in answered
            }
            if not wanted:
                path.unlink(missing_ok=True)
            # written only where it changes: a run that is only read from leaves the file alone
            elif wanted != there:
                with atomic.replacing(path, synced=True) as file:
                    file.writelines(wanted.values())
        self._noted.clear()
        return len(wanted)


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """Counts of a folder's prompts; `failure` is the first reason among the `failed`."""

    pending: int
    failed: int
    failure: str
    answered: int


def batch_status(folder: Path) -> BatchStatus:
    """How far the answers in `folder` have come; writes nothing.

    Raises `BadInput` for a folder that does not exist, and for a bad file in it.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; give the one of --model batch:FOLDER")
    answers = read_answers(folder)
    with _writing(folder):
        waiting = [name for name, _ in _requests(folder / PENDING) if name not in answers.replies]
    failures = [answers.failures[request] for request in waiting if request in answers.failures]
    return BatchStatus(
        pending=len(waiting),
        failed=len(failures),
        failure=next(iter(failures), ""),
        answered=len(answers.replies),
    )


def _writing(folder: Path) -> AbstractContextManager[None]:
    remedy = "prompts cannot be noted there: make room, let us write, or give another folder"
    return file_errors(folder, remedy, ToolError)


def _requests(path: Path) -> Iterator[tuple[str, bytes]]:
    """Id and line of each request in pending.jsonl; `BadInput` for a line that is not ours."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield _Request.model_validate_json(line).custom_id, line
            except ValidationError:
                raise BadInput(
                    f"{path}:{number}: not a request of ours; remove the file: whoever"
                    " asks writes it anew"
                ) from None


class _Request(BaseModel):
    """The part of a request that we read; the rest is copied as it is."""

    custom_id: str


# --- answers ---


@dataclass(frozen=True, slots=True)
class FiledAnswers:
    """All answers in a folder, and the reasons of failures, by the ids of their prompts."""

    replies: dict[str, Reply] = field(default_factory=dict)
    """`model` is "" where a file does not name it."""
    failures: dict[str, str] = field(default_factory=dict)


def read_answers(folder: Path) -> FiledAnswers:
    """The answers that lie in a folder; an error counts as no answer.

    Raises `BadInput` naming file and line: a line that is no answer, or answers its prompt
    otherwise than an earlier line.
    """
    found, places = FiledAnswers(), dict[str, str]()
    # in a fixed order: of two equal answers the same one counts each time
    for path in sorted(folder.glob(ANSWERS), key=lambda path: path.stem):
        for place, line in _lines(path):
            request, answer = line.custom_id, line.answer()
            if isinstance(answer, str):
                found.failures[request] = answer
                continue
            first = found.replies.setdefault(request, answer)
            if (first.text, first.finish) != (answer.text, answer.finish):
                raise BadInput(
                    f"{place}: {_printable(request)} is answered otherwise than in"
                    f" {places[request]}; remove one of the two"
                )
            places.setdefault(request, place)
    return found


def _lines(path: Path) -> Iterator[tuple[str, "_Line"]]:
    """Place and content of each line that is not blank."""
    with file_errors(path, "answers must be readable"), path.open("rb") as file:
        # raw: a file without line ends must not fill the memory before it is refused
        for line in jsonl.raw_lines(file, LONGEST_LINE):
            place = f"{path}:{line.number}"
            if len(line.content) >= LONGEST_LINE:
                raise BadInput(f"{place}: longer than {LONGEST_LINE >> 20} MiB: no answer")
            # files of other systems begin with a mark of their byte order
            text = line.content.removeprefix(b"\xef\xbb\xbf" if line.start == 0 else b"")
            if not text.strip():
                continue
            try:
                # a carriage return of another system is no part of the JSON
                yield place, _Line.model_validate_json(text.rstrip())
            except ValidationError as error:
                mistake = _printable(first_mistake(error, "line"))
                cut = "" if line.whole else ", and its end is missing: is it still being written?"
                raise BadInput(f"{place}: {mistake}{cut}") from None


def _printable(text: str) -> str:
    """Text of unknown origin, fit for a message: one short line without control characters."""
    line = " ".join(text.split()).encode("unicode_escape").decode("ascii")
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."


class _Response(BaseModel):
    status_code: int = HTTPStatus.OK
    body: Any = None


class _Line(BaseModel):
    """One line of an answer file; fields that we do not know are other people's business."""

    custom_id: str
    text: str | None = None
    response: _Response | None = None
    error: Any = None

    def answer(self) -> Reply | str:
        """The answer, or why there is none."""
        if self.text is not None:
            return Reply(text=self.text, finish="stop")
        if self.error is not None:
            return _reason(self.error)
        if self.response is None:
            return "neither text nor response nor error"
        if self.response.status_code != HTTPStatus.OK:
            return f"{self.response.status_code}: {_reason(self.response.body)}"
        try:
            body = Completion.model_validate(self.response.body)
        except ValidationError:
            return f"a response that is no chat completion: {_reason(self.response.body)}"
        choice, usage = body.choices[0], body.usage or TokenUsage()
        return Reply(
            text=choice.message.content or "",
            finish="stop" if choice.finish_reason is None else choice.finish,
            prompt_tokens=usage.prompt_tokens or 0,
            output_tokens=usage.completion_tokens or 0,
            model=body.model or "",
        )


def _reason(error: object) -> str:
    """An error's message, at any depth, else all of it."""
    while isinstance(error, dict) and (inner := error.get("error") or error.get("message")):
        error = inner
    return _printable(str(error))
