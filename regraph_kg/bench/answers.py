"""A finished run's trace as what each answer of the model came to.

Not here: how a search reads an answer (search/extract.py), whose rules these are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.models.bench import AnswerExample, AnswerKind, BenchAnswer
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.target import TARGETS
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.extract import ParseFailure, declined, parse
from regraph_kg.search.prompts.fences import blocks
from regraph_kg.search.reward import speedup
from regraph_kg.search.start import started_from
from regraph_kg.search.trace_lines import read

_FAILED: Mapping[Outcome, AnswerKind] = {
    Outcome.REJECTED_SOURCE: "refused",
    Outcome.COMPILE_FAILED: "does not compile",
    Outcome.CRASHED: "crashed",
    Outcome.TIMED_OUT: "too slow",
    Outcome.WRONG_ANSWER: "wrong",
    Outcome.MUTATED_INPUT: "wrong",
    Outcome.NONDETERMINISTIC: "wrong",
    Outcome.SUSPICIOUS: "suspicious",
    Outcome.UNSTABLE_TIMING: "untimed",
}
_WORKED: frozenset[AnswerKind] = frozenset({"faster", "not faster", "untimed"})
_SHOWN = 3_000
"""Characters of an example."""
_KERNEL = re.compile(r"<<<|cudaLaunch|cub::|thrust::|cublas|cufft")


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer, and what became of it."""

    key: PromptKey
    text: str
    told: BenchAnswer
    diagnosis: str
    """Of the judge; "" where it had nothing to say."""


def read_answers(trace: Path, task: Task) -> tuple[ReadAnswer, ...]:
    """Every answer to a request for code, in the order in which they came."""
    lines = read(trace).lines
    replies = [
        (PromptKey.model_validate_json(line.key), Reply.model_validate(line.value))
        for line in lines
        if line.event == "reply" and '"ask":"code"' in line.key
    ]
    reports = {
        line.key: EvalReport.model_validate(line.value) for line in lines if line.event == "report"
    }
    task = started_from(task, reports)
    judged = dict(_by_tokens(replies, reports, task))
    return tuple(
        _read(key, reply, task, judged) for key, reply in replies if reply.finish != "unrecorded"
    )


def judges(trace: Path) -> tuple[str, ...]:
    """Whose rules the verdicts in a trace are of."""
    reports = (line.value for line in read(trace).lines if line.event == "report")
    return tuple(sorted({str(report["evaluator"]) for report in reports}))


def _by_tokens(
    replies: Sequence[tuple[PromptKey, Reply]], reports: Mapping[str, EvalReport], task: Task
) -> Iterator[tuple[str, EvalReport]]:
    """Verdicts by a code's tokens: of equal codes one was judged."""
    for _, reply in replies:
        code = _file(reply, task)
        if isinstance(code, str) and (report := reports.get(code_hash(code))):
            yield normalized(code), report


def _file(reply: Reply, task: Task) -> str | ParseFailure:
    code = parse(reply, *task.entries)
    return task.whole(code) if isinstance(code, str) else code


def _read(key: PromptKey, reply: Reply, task: Task, judged: Mapping[str, EvalReport]) -> ReadAnswer:
    code = _file(reply, task)
    report = judged.get(normalized(code)) if isinstance(code, str) else None
    gain = None if report is None else speedup(report)
    kind: AnswerKind
    if key.path and key.repair == 0 and declined(reply):
        kind = "declined"  # methods without a walk do not offer it
    elif isinstance(code, ParseFailure):
        kind = _unread(reply, task.entries)
    elif gain is None:
        kind = _failed(code, report, task)
    elif normalized(code) in (normalized(task.serial), normalized(task.start)):
        kind = "unchanged"
    else:
        kind = "faster" if gain > 1 else "not faster"
    told = BenchAnswer(
        kind=kind,
        speedup=gain,
        technique=key.path[-1].partition("#")[0] if key.path else "",
        repair=key.repair,
    )
    return ReadAnswer(key, reply.text, told, report.diagnosis if report else "")


def _failed(code: str, report: EvalReport | None, task: Task) -> AnswerKind:
    """How code failed; without a verdict it never came to one."""
    outcome = Outcome.REJECTED_SOURCE if report is None else report.outcome
    if outcome is Outcome.SUSPICIOUS and TARGETS[task.target].on_gpu and not _KERNEL.search(code):
        return "CPU code"
    return _FAILED[outcome]


def _unread(reply: Reply, entries: Sequence[str]) -> AnswerKind:
    """Why no code was found in an answer."""
    if reply.finish == "length":
        return "cut"
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, entries))})\s*\([^;{{}}]*\)\s*{{")
    found = blocks(reply.text)
    if found:
        return "several codes" if any(map(named.search, found)) else "no entry point"
    return "bare code" if named.search(reply.text) else "prose"


def shortest(
    known: Sequence[AnswerExample], arm: str, answers: Sequence[ReadAnswer], task: Task
) -> tuple[AnswerExample, ...]:
    """`known`, and of each kind that came to nothing the shortest answer of an arm and target."""
    found = {(one.arm, one.target, one.kind): one for one in known}
    for answer in answers:
        if answer.told.kind in _WORKED:
            continue
        place = arm, task.target, answer.told.kind
        if place in found and len(found[place].text) <= len(answer.text):
            continue
        found[place] = AnswerExample(
            kind=answer.told.kind,
            arm=arm,
            problem=task.problem,
            target=task.target,
            technique=answer.told.technique,
            text=answer.text[:_SHOWN],
            diagnosis=answer.diagnosis.partition("\n")[0],
        )
    return tuple(found.values())
