"""Results of each answer of the model, from a finished run's trace.

Not here: the rules by which a search reads an answer (search/read_answer.py).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from regraph_kg.models.bench import AnswerExample, BenchAnswer
from regraph_kg.models.evaluation import AnswerKind, EvalReport, Outcome, code_hash
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.target import TARGETS
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.launched import launched
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.prompts.fences import blocks
from regraph_kg.search.read_answer import MendedCode, ParseFailure, declined, read_code
from regraph_kg.search.run import started_from
from regraph_kg.search.run_record import RunRecord, place_of
from regraph_kg.search.sample import speedup_of

_WORKED: frozenset[AnswerKind] = frozenset({"faster", "not faster", "untimed"})
_SHOWN = 3_000
"""Characters of an example."""
_KERNEL = re.compile(r"<<<|cudaLaunch|cub::|thrust::|cublas|cufft")
"""Kernel launches: older judges called code without any suspicious."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer and its result."""

    key: PromptKey
    text: str
    summary: BenchAnswer
    diagnosis: str
    """The judge's diagnosis; "" where there is none."""


def read_answers(record: RunRecord, task: Task) -> tuple[ReadAnswer, ...]:
    """Every answer of the model to a request for code, in order."""
    replies = [(key, reply) for key, reply in record.replies if key.ask == "code"]
    steps = [step for iteration in record.records for step in iteration.steps]
    run = _Run(started_from(task, record.reports), steps)
    run.verdicts.update(_by_tokens(replies, record.reports, run))
    asked = (pair for pair in replies if BY_RULE not in pair[1].mended)
    return tuple(_read(key, reply, run) for key, reply in asked if reply.finish != "unrecorded")


def start_report(record: RunRecord, task: Task) -> EvalReport | None:
    """The report on the program that a search began with; None: it was the serial code."""
    begun = started_from(task, record.reports)
    return record.reports.get(code_hash(begun.start)) if begun.port else None


def judges(record: RunRecord) -> tuple[str, ...]:
    """Versions of the judges of a run."""
    return tuple(sorted({report.evaluator for report in record.reports.values()}))


class _Run:
    """The codes and verdicts of a trace."""

    def __init__(self, task: Task, steps: Sequence[StepRecord]) -> None:
        self.task = task
        self.verdicts: dict[str, EvalReport] = {}
        """Reports by tokens of the code."""
        self._codes = {step.path: step.code for step in steps if step.path and step.code}
        self._same = {
            (*place_of(step), step.cost.calls - 1)
            for step in steps
            if step.outcome is Outcome.UNCHANGED
        }

    def current(self, key: PromptKey) -> str:
        """The code that an answer was to change; without a walk the first code."""
        return self._codes.get(key.path[:-1]) or self.task.start

    def same(self, key: PromptKey, code: str) -> bool:
        """Whether an answer equals the code that it was to change, or the first code."""
        codes = (self.current(key), self.task.start, self.task.serial)
        return (key.path, key.attempt, key.repair) in self._same or any(
            normalized(code) == normalized(other) for other in codes
        )


def _by_tokens(
    replies: Sequence[tuple[PromptKey, Reply]], reports: Mapping[str, EvalReport], run: _Run
) -> Iterator[tuple[str, EvalReport]]:
    """Verdicts by tokens: only one of equal codes was judged."""
    for key, reply in replies:
        for answer in _files(key, reply, run):
            if isinstance(answer, MendedCode) and (report := reports.get(code_hash(answer.code))):
                yield normalized(answer.code), report


def _files(key: PromptKey, reply: Reply, run: _Run) -> Iterator[MendedCode | ParseFailure]:
    """The codes of an answer: as it is read, and with the new launch of its kernel."""
    read = read_code(reply, run.task.entries, run.task.shown(run.current(key)))
    other = launched(read, reply.launch) if reply.launch and isinstance(read, MendedCode) else None
    for answer in (read, *([other] if other else [])):
        if isinstance(answer, MendedCode):
            yield MendedCode(run.task.whole(answer.code), answer.done)
        else:
            yield answer


def _judged(key: PromptKey, reply: Reply, run: _Run) -> MendedCode | ParseFailure:
    """The judged code of an answer; else its first reading."""
    files = list(_files(key, reply, run))
    codes = (file for file in files if isinstance(file, MendedCode))
    judged = [mended for mended in codes if normalized(mended.code) in run.verdicts]
    right = (code for code in judged if speedup_of(run.verdicts[normalized(code.code)]) is not None)
    return next(right, next(iter(judged), files[0]))


def _read(key: PromptKey, reply: Reply, run: _Run) -> ReadAnswer:
    answer = _judged(key, reply, run)
    code = answer.code if isinstance(answer, MendedCode) else None
    report = None if code is None else run.verdicts.get(normalized(code))
    gain = None if report is None else speedup_of(report)
    kind: AnswerKind
    if key.path and key.repair == 0 and declined(reply):
        kind = "declined"  # methods without a walk do not offer it
    elif code is None:
        kind = _unread(reply, run.task.entries)
    elif run.same(key, code) and (report is None or gain is not None):
        kind = "unchanged"
    elif gain is None:
        kind = _failed(code, report, run.task)
    else:
        kind = "faster" if gain > 1 else "not faster"
    summary = BenchAnswer(
        kind=kind,
        speedup=gain,
        technique=key.path[-1].partition("#")[0] if key.path else "",
        repair=key.repair,
        mended=isinstance(answer, MendedCode) and bool(answer.done),
    )
    return ReadAnswer(key, reply.text, summary, report.diagnosis if report else "")


def _failed(code: str, report: EvalReport | None, task: Task) -> AnswerKind:
    """The kind of failure; code without a verdict was refused."""
    outcome = Outcome.REJECTED_SOURCE if report is None else report.outcome
    if outcome is Outcome.SUSPICIOUS and TARGETS[task.target].on_gpu and not _KERNEL.search(code):
        return "CPU code"
    return outcome.kind


def _unread(reply: Reply, entries: Sequence[str]) -> AnswerKind:
    """Why no code was found in an answer."""
    if reply.finish == "length":
        return "cut"
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, entries))})\s*\([^;{{}}]*\)\s*{{")
    code_blocks = blocks(reply.text)
    if code_blocks:
        return "several codes" if any(map(named.search, code_blocks)) else "no entry point"
    return "bare code" if named.search(reply.text) else "prose"


def shortest(
    examples: Sequence[AnswerExample], arm: str, answers: Sequence[ReadAnswer], task: Task
) -> tuple[AnswerExample, ...]:
    """`examples`, with the shortest failed answer of each kind, arm and target."""
    by_kind = {(example.arm, example.target, example.kind): example for example in examples}
    for answer in answers:
        if answer.summary.kind in _WORKED:
            continue
        place = arm, task.target, answer.summary.kind
        if place in by_kind and len(by_kind[place].text) <= len(answer.text):
            continue
        by_kind[place] = AnswerExample(
            kind=answer.summary.kind,
            arm=arm,
            problem=task.problem,
            target=task.target,
            technique=answer.summary.technique,
            text=answer.text[:_SHOWN],
            diagnosis=answer.diagnosis.partition("\n")[0],
        )
    return tuple(by_kind.values())
