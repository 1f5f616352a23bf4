"""One sample: ask the model, find the code in its answer, judge it, mend it, pay for it.

And of a right one, say what it did: by its markers (applied.py), or by the model's verdict. Markers
that say "other" or "nothing" are taken for certain; the model may name the other. Of "asked", which
is no proof, the model has the last word. Not here: what a search learns from it.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.graph import KnownFailure
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import AskKind, Prompt, PromptKey, Reply
from regraph_kg.models.run import Cost, StepRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.code.applied import Deed, deed
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.effects import Effects, asked, judged
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.fences import blocks
from regraph_kg.search.prompts.known_failures import KnownFailures
from regraph_kg.search.prompts.render import (
    FailedAnswer,
    choose_variants,
    read_verdict,
    render,
    render_verdict,
)
from regraph_kg.search.reward import speedup
from regraph_kg.search.state import element

LONGEST_CODE = 60_000
"""Characters; what is longer is no answer but a model that runs on."""


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a sample is asked for: a new version of `code` along `advice`.

    `path` are the elements entered so far, without the step asked for; `technique` is that step,
    None for a method that walks no graph; `others` are the steps that might have been asked for.
    `source` is the technique (an id) that led to `code`, as far as is known.
    """

    path: tuple[str, ...]
    technique: Technique | None
    attempt: int
    code: str
    advice: str
    others: tuple[Technique, ...] = ()
    source: str = ""

    @property
    def way(self) -> tuple[str, ...]:
        """The path of a prompt's key: `path`, and the step asked for."""
        return self.path if self.technique is None else (*self.path, self.technique.id)


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """How one answer ended; `speedup` is what the search may learn from, None for a failure."""

    outcome: Outcome
    code: str | None
    speedup: float | None
    diagnosis: str

    @property
    def failed(self) -> bool:
        """Whether there is something to mend; right code that was timed too noisily has nothing."""
        return self.speedup is None and self.outcome is not Outcome.UNSTABLE_TIMING

    @property
    def failure(self) -> FailedAnswer:
        """What a repair prompt is told."""
        return FailedAnswer(self.outcome, self.diagnosis, self.code)


def parse(reply: Reply, entry: str) -> str | ParseFailure:
    """The code of the one fenced block that calls or defines `entry`."""
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    if not text.strip():
        return ParseFailure("the answer is empty")
    found = blocks(text)
    named = [block for block in found if re.search(rf"\b{re.escape(entry)}\s*\(", block)]
    if len(named) == 1:
        return _bounded(named[0])
    if named:
        return ParseFailure(f"{len(named)} code blocks define {entry}; give exactly one")
    what = (
        f"code block that defines {entry}"
        if found
        else "complete code block between two lines of ```"
    )
    return ParseFailure(f"the answer has no {what}")


def _bounded(code: str) -> str | ParseFailure:
    if len(code) <= LONGEST_CODE:
        return code
    return ParseFailure(f"the code has more than {LONGEST_CODE} characters; answer shorter")


class Proposer:
    """Buys samples for one run; remembers every code that was judged, and its verdict."""

    def __init__(
        self, task: Task, run: int, prompting: Prompting, ledger: Ledger, known: KnownFailures
    ) -> None:
        """`run` goes into every prompt's seed; `known` learns what fails."""
        self._task, self._run = task, run
        self._prompting, self._ledger, self._known = prompting, ledger, known
        self._verdicts: dict[str, SampleVerdict] = {}
        self._measured: list[tuple[str, float]] = [(task.serial, 1.0)]
        self._best_seconds: float | None = None

    def sample(self, request: Request, *, repairs: int = 0) -> Effects[StepRecord]:
        """One answer, repaired while it fails and calls are left; the last answer is the sample.

        A first answer that the recorded model does not have costs nothing and has no outcome; a
        repair that it does not have only ends the repairing. Needs one call that is left.
        """
        cost = Cost()
        verdict: SampleVerdict | None = None
        for repair in range(repairs + 1):
            if self._ledger.left <= 0:
                break
            reply = yield from self._ask(request, repair, verdict.failure if verdict else None)
            if reply is None:
                break
            cost += self._ledger.charge(_price(reply, Cost(calls=1)))
            verdict, judging = yield from self._judge(reply)
            cost += judging
            self._warn(request, verdict)
            if not verdict.failed:
                break
        did = yield from self._deed(request, verdict, cost.calls - 1)
        return _step(request, verdict, cost, did)

    def think(self, prompt: Prompt) -> Effects[Reply | None]:
        """A call that is to yield no code: in the ledger, but no unit of the budget.

        None: the recorded model has no answer. `key` makes the prompt's key.
        """
        reply = yield from asked(prompt)
        if reply.finish == "unrecorded":
            return None
        self._ledger.charge(_price(reply, Cost(thoughts=1)))
        return reply

    def key(
        self, ask: AskKind, *, path: tuple[str, ...] = (), attempt: int = 0, repair: int = 0
    ) -> PromptKey:
        """The key of a prompt of this run."""
        return PromptKey(
            problem=self._task.problem,
            target=self._task.target,
            path=path,
            attempt=attempt,
            repair=repair,
            ask=ask,
        )

    def seed(self, key: PromptKey) -> int:
        """hash(run, p, a, k) of method.md 3.2, and the rest of the key; 31 bits, as servers do."""
        text = f"{self._run}\n{key.model_dump_json()}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1

    def _ask(
        self, request: Request, repair: int, failed: FailedAnswer | None
    ) -> Effects[Reply | None]:
        """The answer to a request for code; None: the recorded model has none."""
        key = self.key("code", path=request.way, attempt=request.attempt, repair=repair)
        prompt = render(
            self._task,
            key,
            code=request.code,
            advice=request.advice,
            failure=failed,
            variants=choose_variants(self._measured, request.code, self._prompting.contrast),
            seed=self.seed(key),
        )
        self._ledger.begin_call()
        reply = yield from _finally(asked(prompt), self._ledger.end_call)
        return None if reply.finish == "unrecorded" else reply

    def _judge(self, reply: Reply) -> Effects[tuple[SampleVerdict, Cost]]:
        code = parse(reply, self._task.entry)
        self._ledger.read(not isinstance(code, ParseFailure))
        if isinstance(code, ParseFailure):
            return SampleVerdict(Outcome.PARSE_FAILED, None, None, code.reason), Cost()
        text, cost = normalized(code), Cost()
        if text not in self._verdicts:
            cost = yield from self._evaluate(code, text)
        return self._verdicts[text], cost

    def _warn(self, request: Request, verdict: SampleVerdict) -> None:
        """Have later prompts of the same transition warn of a failure."""
        if request.technique is None or verdict.code is None or not verdict.failed:
            return
        failure = KnownFailure(
            outcome=verdict.outcome,
            diagnosis=verdict.diagnosis,
            before=request.code,
            code=verdict.code,
            problem=self._task.problem,
            model="",
        )
        self._known.add(request.source, request.technique.id, failure)

    def _evaluate(self, code: str, text: str) -> Effects[Cost]:
        """Have code judged, twice where the first timing was our machine's fault."""
        candidate = Candidate(self._task.target, code)
        reports = [(yield from judged(candidate, self._best_seconds))]
        if reports[0].outcome is Outcome.UNSTABLE_TIMING and text not in self._verdicts:
            reports.append((yield from judged(candidate, self._best_seconds)))
        if text in self._verdicts:  # an equal code's verdict, which came in just before
            return Cost()
        self._remember(text, code, reports[-1])
        seconds = sum(report.stages.get("total", 0.0) for report in reports)
        cost = Cost(evaluations=len(reports), judge_seconds=seconds, joules=_joules(reports))
        return self._ledger.charge(cost)

    def _remember(self, text: str, code: str, report: EvalReport) -> None:
        found = speedup(report)
        self._verdicts[text] = SampleVerdict(report.outcome, code, found, report.diagnosis)
        if found is None:
            return
        self._measured.append((code, found))
        if report.passed and report.timing is not None:
            best = self._best_seconds or report.timing.median
            self._best_seconds = min(best, report.timing.median)

    def _deed(self, request: Request, verdict: SampleVerdict | None, repair: int) -> Effects[Deed]:
        """What a right answer did; what a wrong one was about to do is nobody's business."""
        if request.technique is None or verdict is None or verdict.speedup is None:
            return Deed("asked")
        code, others = verdict.code or "", [one.id for one in request.others]
        found = deed(request.technique.id, request.code, code, others)
        if self._prompting.verdict == "markers" or not self._ledger.may_think:
            return found
        unnamed = found == Deed("other") and bool(others)
        if found.applied != "asked" and not unnamed:
            return found
        said = yield from self._said(request, request.technique, code, repair)
        if said is None:
            return found
        return Deed("other", said.technique) if unnamed else said

    def _said(
        self, request: Request, technique: Technique, code: str, repair: int
    ) -> Effects[Deed | None]:
        """What the model says that the step to `code` did; None where that cannot be read."""
        ids = {one.name: one.id for one in request.others}
        key = self.key("verdict", path=request.way, attempt=request.attempt, repair=repair)
        prompt = render_verdict(
            self._task,
            key,
            technique=technique.name,
            before=request.code,
            after=code,
            names=[*ids],
            seed=self.seed(key),
        )
        reply = yield from self.think(prompt)
        said = None if reply is None else read_verdict(reply, [*ids])
        return None if said is None else Deed(said.applied, ids.get(said.technique))


def _step(request: Request, verdict: SampleVerdict | None, cost: Cost, did: Deed) -> StepRecord:
    technique = request.technique
    here = () if technique is None else (element(technique.id, request.attempt),)
    return StepRecord(
        path=(*request.path, *here),
        technique=None if technique is None else technique.id,
        sample=request.attempt,
        outcome=None if verdict is None else verdict.outcome,
        speedup=None if verdict is None else verdict.speedup,
        gain=None,
        cost=cost,
        code=None if verdict is None else verdict.code,
        diagnosis="" if verdict is None else verdict.diagnosis,
        applied=did.applied,
        did=did.technique,
    )


def _price(reply: Reply, unit: Cost) -> Cost:
    return unit + Cost(
        prompt_tokens=reply.prompt_tokens,
        output_tokens=reply.output_tokens,
        model_seconds=reply.seconds,
    )


def _joules(reports: list[EvalReport]) -> float | None:
    """What the GPU used while it judged, where every report tells."""
    found = [report.facts.get("joules") for report in reports]
    return None if None in found else sum(map(float, filter(None, found)))


def _finally(work: Effects[Reply], end: Callable[[], None]) -> Effects[Reply]:
    """`work`, with `end` called when its result is there."""
    try:
        return (yield from work)
    finally:
        end()
