"""One sample: the model is asked, the code in its answer judged, the cost paid.

Every code that was judged is remembered with its verdict; equal code is judged once.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome, code_hash
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import PromptKey, Reply, element
from regraph_kg.models.run import Cost, Deed, StepRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.fit.applied import deed
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.prompts.render import render
from regraph_kg.search.read_answer import ParseFailure, parse
from regraph_kg.search.transform.apart import Result
from regraph_kg.search.world import Effects, asked, judged

CURRENT = "your code is the current code, unchanged; change it"
BEFORE = "your code is the code that all this began with, unchanged; change the current code"
_NO_ANSWER: dict[str, Any] = {"outcome": None, "speedup": None, "code": None}


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a new version of `code`.

    `path` are the elements entered so far, without the requested step; `technique` is that step,
    None for a method that walks no graph; `others` are the alternatives to it. `free` is the name
    of a step whose technique the model chooses on a walk.
    """

    path: tuple[str, ...]
    technique: Technique | None
    attempt: int
    code: str
    others: tuple[Technique, ...] = ()
    free: str = ""
    made: Result | None = None  # what a transform made of the code: no model is asked

    @property
    def step(self) -> str:
        """The step's name on a path; "" for a method that walks no graph."""
        return self.free if self.technique is None else self.technique.id

    @property
    def way(self) -> tuple[str, ...]:
        """The path of a prompt's key: `path`, and the step asked for.

        A free step from the serial code asks what `standard` asks, and so by the same key.
        """
        # recorded answers of `standard` serve a first free choice, too
        here = bool(self.step) and (self.technique is not None or bool(self.path))
        return (*self.path, self.step) if here else self.path


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """The end of one answer; `speedup` is for the search to learn from, None for a failure."""

    outcome: Outcome
    code: str | None
    speedup: float | None
    diagnosis: str


class Proposer:
    def __init__(self, task: Task, run: int, prompting: Prompting, ledger: Ledger) -> None:
        """`run` goes into every prompt's seed."""
        self._task, self._run, self._ledger, self._prompting = task, run, ledger, prompting
        self.verdicts = Verdicts(task, ledger)

    def sample(self, request: Request) -> Effects[StepRecord]:
        """One answer.

        One that the recorded model does not have costs nothing and has no outcome. Needs one
        that is left. Code that was only glanced at is screened first, and nothing is asked where
        that fails: the record tells that code `fell`. What a transform made costs too little for
        that, and is itself only glanced at.
        """
        if request.made:
            cost = self._ledger.charge(Cost(by_rule=1))
            made = self.verdicts.judge_code(request.made.code, request.code, "glance")
            verdict, judging = yield from made
            return _step(request, verdict, cost + judging)
        # a sample is promised meanwhile: others must not spend the last one
        self._ledger.under_way += 1
        try:
            screened, cost = yield from self.verdicts.screen(request.code)
        finally:
            self._ledger.under_way -= 1
        if screened is not None and screened.speedup is None:
            # the record of a place on the way, not of the step that was asked for
            place = Request(request.path, None, request.attempt, request.code)
            fallen = _step(place, replace(screened, code=request.code), cost)
            return fallen.model_copy(update={"fell": True})
        if self._ledger.calls_left <= 0:
            return _step(request, None, cost)
        task = self._task
        key = PromptKey(
            problem=task.problem, target=task.target, path=request.way, attempt=request.attempt
        )
        # the key alone decides the seed: a resumed run asks the same, in any order (method.md 3.2);
        # 31 bits, as servers do
        hashed = hashlib.sha256(f"{self._run}\n{key.model_dump_json()}".encode())
        prompt = render(
            task,
            key,
            code=request.code,
            technique=request.technique,
            prefill=self._prompting.prefill,
            seed=int.from_bytes(hashed.digest()[:4]) >> 1,
        )
        # counted while it is under way: others must not spend the same one
        self._ledger.under_way += 1
        try:
            reply = yield from asked(prompt)
        finally:
            self._ledger.under_way -= 1
        if reply.finish == "unrecorded":
            return _step(request, None, cost)
        cost += self._ledger.pay(reply)
        verdict, judging = yield from self.verdicts.judge(reply, request.code)
        return _step(request, verdict, cost + judging)


class Verdicts:
    """Remembers every code that was judged, and its verdict."""

    def __init__(self, task: Task, ledger: Ledger) -> None:
        self._task, self._ledger = task, ledger
        self._verdicts: dict[str, SampleVerdict] = {}
        self._measured = {code_hash(task.start): 1.0}
        """Speedups of right codes, by their hashes; a port counts as serial code."""
        self._best_seconds: float | None = None
        self._fastest: str | None = None
        self._glanced = set[str]()
        """Normalized codes that the judge only glanced at: slower than the best, or by rule."""

    def speedup(self, code: str) -> float | None:
        """The speedup that code is known to have, by its latest verdict."""
        return self._measured.get(code_hash(code))

    def screen(self, code: str) -> Effects[tuple[SampleVerdict | None, Cost]]:
        """The verdict of a screening on code that was only glanced at, and its cost; else None."""
        text = normalized(code)
        if text not in self._glanced:
            return None, Cost()
        # without a time to beat the judge goes beyond the glance
        reports = yield from self._reports(Candidate(self._task.target, code), None, text)
        if text not in self._glanced:  # another walk has waited for the same report
            return self._verdicts[text], Cost()
        self._glanced.remove(text)
        del self._measured[code_hash(code)]
        self._remember(text, Candidate(self._task.target, code), reports[-1])
        return self._verdicts[text], self._charge(reports)

    def judge(self, reply: Reply, current: str) -> Effects[tuple[SampleVerdict, Cost]]:
        """The verdict on an answer, as `judge_code`'s; it may hold no code."""
        answer = parse(reply, *self._task.entries, current=self._task.shown(current))
        self._ledger.read(not isinstance(answer, ParseFailure))
        if isinstance(answer, ParseFailure):
            return SampleVerdict(Outcome.PARSE_FAILED, None, None, answer.reason), Cost()
        return (yield from self.judge_code(answer, current, "screening"))

    def judge_code(
        self, answer: str, current: str, grade: Grade
    ) -> Effects[tuple[SampleVerdict, Cost]]:
        """The verdict on code and its cost: nothing for what was judged before.

        `current` is the code that it was to change.
        """
        if why_same := self._unchanged(answer, current):
            return SampleVerdict(Outcome.UNCHANGED, None, None, why_same), Cost()
        code = self._task.whole(answer)
        text, cost = normalized(code), Cost()
        if text not in self._verdicts:
            # the code that a step begins with is its rival, if it was measured; the serial code is
            # one anyway
            known = code_hash(current) in self._measured and current != self._task.start
            rival = current if known and grade != "glance" else None
            candidate = Candidate(self._task.target, code, rival)
            cost = yield from self._evaluate(candidate, text, grade)
        return self._verdicts[text], cost

    def _unchanged(self, answer: str, current: str) -> str:
        """Why an answer is nothing new; "" where it is."""
        forms = {_but_headers(answer), _but_headers(self._task.whole(answer))}
        if forms & {_but_headers(current), _but_headers(self._task.shown(current))}:
            return CURRENT
        started = (self._task.start, self._task.serial)
        return BEFORE if forms & {_but_headers(code) for code in started} else ""

    def _evaluate(self, candidate: Candidate, text: str, grade: Grade) -> Effects[Cost]:
        reports = yield from self._reports(candidate, self._best_seconds, text, grade)
        if text in self._verdicts:  # an equal code's verdict, which came in just before
            return Cost()
        if reports[-1].grade == "glance" and reports[-1].outcome.is_right:
            self._glanced.add(text)
        self._remember(text, candidate, reports[-1])
        return self._charge(reports)

    def _reports(
        self, candidate: Candidate, incumbent: float | None, text: str, grade: Grade = "screening"
    ) -> Effects[list[EvalReport]]:
        """The reports on code: two where our machine spoiled the first timing."""
        reports = [(yield from judged(candidate, incumbent, grade))]
        noisy = reports[0].outcome.is_right and not (reports[0].passed and reports[0].is_known)
        # noise is ours, not the candidate's; taken in turn with the fastest it may cancel out
        is_open = text not in self._verdicts or text in self._glanced
        if noisy and is_open and (reports[0].grade != "glance" or grade == "glance"):
            again = replace(candidate, rival=candidate.rival or self._fastest)
            reports.append((yield from judged(again, incumbent, grade)))
        return reports

    def _charge(self, reports: Sequence[EvalReport]) -> Cost:
        seconds = sum(report.stages.get("total", 0.0) for report in reports)
        return self._ledger.charge(Cost(evaluations=len(reports), judge_seconds=seconds))

    def _remember(self, text: str, candidate: Candidate, report: EvalReport) -> None:
        factor, code = self._factor(report), candidate.code
        self._verdicts[text] = SampleVerdict(report.outcome, code, factor, report.diagnosis)
        if factor is None:
            return
        self._measured[code_hash(code)] = factor
        if report.passed and report.is_known:
            if report.timing is not None:
                best = self._best_seconds or report.timing.median
                self._best_seconds = min(best, report.timing.median)
            if self._fastest is None or factor > (self.speedup(self._fastest) or 0):
                self._fastest = code

    def _factor(self, report: EvalReport) -> float | None:
        """Speedup over the serial code that the search may learn from; None where none is sure."""
        rivalry = report.rivalry
        before = self._measured.get(rivalry.code_hash) if rivalry else None
        # timed in turn with the code before it, a step's gain is surer than two serial ratios
        if rivalry and before and rivalry.interval.is_narrow and report.is_possible:
            return before * (rivalry.ratio if report.passed else rivalry.interval.low)
        seen, best, timing = report.speedup, self._best_seconds, report.timing
        if report.grade != "glance" or timing is None or not (seen and report.is_possible):
            return report.sure_speedup
        # few calls tell little: the lower end would make a loss of each small gain
        fastest = self.speedup(self._fastest) if self._fastest else None
        # seen to be slower than the fastest, whatever its ratio to the serial code says
        return min(seen, fastest) if fastest and best and timing.median > best else seen


def deed_of(request: Request, verdict: SampleVerdict | None) -> Deed:
    """The change that a right answer made, by its code; a wrong one is not examined.

    An answer that changed nothing counts as "nothing" for any request. "other" and "nothing" are
    certain, "asked" is no proof.
    """
    if verdict is not None and verdict.outcome is Outcome.UNCHANGED:
        return Deed("nothing")
    if request.technique is None or verdict is None or verdict.speedup is None or request.made:
        return Deed("asked")
    return deed(request.technique, request.code, verdict.code or "", request.others)


def _step(request: Request, verdict: SampleVerdict | None, cost: Cost) -> StepRecord:
    here = (element(request.step, request.attempt),) if request.step else ()
    did = deed_of(request, verdict)
    return StepRecord(
        path=(*request.path, *here),
        technique=None if request.technique is None else request.technique.id,
        sample=request.attempt,
        cost=cost,
        applied=did.applied,
        did=did.technique,
        transform=request.made.transform if request.made else "",
        **(_NO_ANSWER if verdict is None else asdict(verdict)),
    )


def _but_headers(code: str) -> str:
    """Normalized code without the headers that it includes: one more changes nothing."""
    lines = normalized(code).splitlines()
    return "\n".join(line for line in lines if not line.startswith("#include"))
