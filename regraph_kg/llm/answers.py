"""AnswerFiles: the answers that lie in a folder as answers*.jsonl, found by their prompt's id.

A line is what batch endpoints put out, {"custom_id", "response", "error"}, or just {"custom_id",
"text"}.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel, ValidationError

from regraph_kg import jsonl
from regraph_kg.errors import BadInput
from regraph_kg.llm.completion import Completion, TokenUsage

PATTERN = "answers*.jsonl"
LONGEST_LINE = 2**25
"""Bytes; no model writes so much."""
LONGEST_REASON = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FiledAnswer:
    """A model's answer to a prompt; `model` is "" where the file does not name it."""

    text: str
    finish: Literal["stop", "length"]
    prompt_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    place: str = ""
    """File and line, for messages."""


class AnswerFiles:
    """All answers in a folder. The first of two equal ones counts; an error counts as no answer."""

    def __init__(self, folder: Path) -> None:
        """Read the files; raises `BadInput` as `refresh` does."""
        self._folder = folder
        self._seen: tuple[tuple[str, int, int], ...] = ()
        self._answers: dict[str, FiledAnswer] = {}
        self.failures: Mapping[str, str] = {}
        """Prompts that have an error instead of an answer: id -> reason, one line."""
        self.refresh()

    def refresh(self) -> None:
        """Read the files again if they changed.

        Raises `BadInput` naming file and line: a line that is no answer, or answers its prompt
        otherwise than an earlier line.
        """
        paths = sorted(self._folder.glob(PATTERN), key=lambda path: path.stem)
        try:
            stats = [path.stat() for path in paths]
            stamps = tuple(
                (path.name, stat.st_size, stat.st_mtime_ns)
                for path, stat in zip(paths, stats, strict=True)
            )
            if stamps == self._seen:
                return
            answers, failures = _read(paths)
        except OSError as error:
            raise BadInput(
                f"{error.filename or self._folder}: {error.strerror}; answers must be readable"
            ) from None
        self._seen, self._answers = stamps, answers
        self.failures = {name: reason for name, reason in failures.items() if name not in answers}

    def __contains__(self, request: object) -> bool:
        """Whether the prompt with this id is answered."""
        return request in self._answers

    def __iter__(self) -> Iterator[str]:
        """The ids of all answered prompts."""
        return iter(self._answers)

    def __len__(self) -> int:
        """The number of answered prompts."""
        return len(self._answers)

    def get(self, request: str) -> FiledAnswer | None:
        """The answer to the prompt with this id; None where there is none."""
        return self._answers.get(request)

    def where(self, request: str) -> str:
        """File and line of an answer, for messages."""
        return self._answers[request].place


def _read(paths: list[Path]) -> tuple[dict[str, FiledAnswer], dict[str, str]]:
    """Each prompt's first answer, and the reason of each failure."""
    answers: dict[str, FiledAnswer] = {}
    failures: dict[str, str] = {}
    for path in paths:
        with path.open("rb") as file:
            for number, text in _lines(path, file):
                line = _parsed(f"{path}:{number}", text)
                answer = line.answer()
                if isinstance(answer, str):
                    failures[line.custom_id] = answer
                    continue
                answer = replace(answer, place=f"{path}:{number}")
                first = answers.setdefault(line.custom_id, answer)
                if (first.text, first.finish) != (answer.text, answer.finish):
                    raise BadInput(
                        f"{answer.place}: {printable(line.custom_id)} is answered otherwise than in"
                        f" {first.place}; remove one of the two"
                    )
    return answers, failures


def _lines(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Number and text of each line that is not blank."""
    for line in jsonl.raw_lines(file, LONGEST_LINE):
        text = line.content + b"\n" * line.whole
        if len(text) > LONGEST_LINE:
            raise BadInput(f"{path}:{line.number}: longer than {LONGEST_LINE >> 20} MiB: no answer")
        marked = line.start == 0 and text.startswith(BYTE_ORDER_MARK)
        mark = BYTE_ORDER_MARK if marked else b""
        if text.strip() != mark:
            yield line.number, text.removeprefix(mark)


def _parsed(where: str, text: bytes) -> "_Line":
    try:
        return _Line.model_validate_json(text.rstrip())
    except ValidationError as error:
        first = error.errors()[0]
        field = printable(".".join(map(str, first["loc"])) or "line")
        cut = "" if text.endswith(b"\n") else ", and its end is missing: is it still being written?"
        raise BadInput(f"{where}: {field}: {printable(first['msg'])}{cut}") from None


def printable(text: str) -> str:
    """Text of unknown origin, fit for a message: one short line without control characters."""
    line = " ".join(text.split()).encode("unicode_escape").decode("ascii")
    return line if len(line) <= LONGEST_REASON else f"{line[:LONGEST_REASON]}..."


def _answer_of(body: Completion) -> FiledAnswer | str:
    """The first choice; the reason where it did not end by itself or at the length limit."""
    if not body.choices:
        return "a response without choices"
    choice, usage = body.choices[0], body.usage or TokenUsage()
    finish = choice.finish_reason or "stop"
    if finish not in ("stop", "length"):
        return printable(f"the answer ended with {finish}")
    return FiledAnswer(
        text=choice.message.content or "",
        finish="length" if finish == "length" else "stop",
        prompt_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        model=body.model or "",
    )


class _Response(BaseModel):
    status_code: int = HTTPStatus.OK
    body: Any = None


class _Line(BaseModel):
    """One line of an answer file; fields that we do not know are other people's business."""

    custom_id: str
    text: str | None = None
    response: _Response | None = None
    error: Any = None

    def answer(self) -> FiledAnswer | str:
        """The answer, or why there is none."""
        if self.text is not None:
            return FiledAnswer(self.text, "stop")
        if self.error is not None:
            return _reason(self.error)
        if self.response is None:
            return "neither text nor response nor error"
        if self.response.status_code != HTTPStatus.OK:
            return f"{self.response.status_code}: {_reason(self.response.body)}"
        try:
            return _answer_of(Completion.model_validate(self.response.body))
        except ValidationError:
            return f"a response that is no chat completion: {_reason(self.response.body)}"


def _reason(error: object) -> str:
    """An error's message, at any depth, else all of it."""
    while isinstance(error, dict) and (inner := error.get("error") or error.get("message")):
        error = inner
    return printable(str(error))
