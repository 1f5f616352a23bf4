"""Verdicts of one run: an answer is read, its code judged and remembered; equal code once.

Not here: the judge; a search's use of a verdict.
"""

from dataclasses import dataclass, replace

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import Reply
from regraph_kg.models.run import Cost, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.effects import Effects, judged
from regraph_kg.search.extract import Declined, ParseFailure, declined, read_code, unmended
from regraph_kg.search.fit.fit import applicable
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.mends.entry import RequestedEntry
from regraph_kg.search.mends.launched import launched
from regraph_kg.search.mends.mend import MendedCode
from regraph_kg.search.prompts.render import FailedAnswer
from regraph_kg.search.prompts.standing import Standing, baseline_of, standing_of
from regraph_kg.search.reward import speedup

DECLINES = 3
"""Declines that show whether a model declines what applies."""
CURRENT = "your code is the current code, unchanged; change it"
BEFORE = "your code is the code that all this began with, unchanged; change the current code"
_NOTHING_TO_MEND = (Outcome.UNSTABLE_TIMING, Outcome.DECLINED)


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """The end of one answer; `speedup` is for the search to learn from, None for a failure."""

    outcome: Outcome
    code: str | None
    speedup: float | None
    diagnosis: str
    mended: tuple[str, ...] = ()
    """Mends of the answer's form."""

    @property
    def failed(self) -> bool:
        """Whether there is something to mend.

        Right code that was timed too noisily has nothing, nor has an answer that declined.
        """
        return self.speedup is None and self.outcome not in _NOTHING_TO_MEND

    @property
    def failure(self) -> FailedAnswer:
        """The failure for a repair prompt."""
        return FailedAnswer(self.outcome, self.diagnosis, self.code)


class Verdicts:
    """Remembers every code that was judged, and its verdict."""

    def __init__(self, task: Task, ledger: Ledger, *, mend: bool = True) -> None:
        """`mend`: whether the form of answers is mended before they are judged."""
        self._task, self._ledger, self._mend = task, ledger, mend
        self._verdicts: dict[str, SampleVerdict] = {}
        self.measured: list[tuple[str, float]] = [(task.start, 1.0)]
        """Right codes with their speedups, as they were measured; a port counts as serial code."""
        self._best_seconds: float | None = None
        self._standings: dict[str, Standing] = {}
        self._declines = self._contradicted = 0

    @property
    def believes_declines(self) -> bool:
        """Whether the model may still decline: not where most that it declined applies."""
        return self._declines < DECLINES or 2 * self._contradicted <= self._declines

    def speedup(self, code: str) -> float:
        """Speedup of measured code over the serial code; 1 for other code."""
        verdict = self._verdicts.get(normalized(code))
        return 1.0 if verdict is None or verdict.speedup is None else verdict.speedup

    def standing(self, code: str) -> Standing | None:
        """The standing of code; None where it is not known (yet)."""
        return self._standings.get(normalized(code))

    def judge(
        self, reply: Reply, current: str, declinable: Technique | None = None
    ) -> Effects[tuple[SampleVerdict, Cost]]:
        """The verdict on an answer and its cost: nothing for code that was judged before.

        `current` is the code that it was to change; `declinable` the technique of which it may say
        that it does not apply. With the new launch of its kernel it is judged first.
        """
        if declinable is not None and (why := declined(reply)) is not None:
            self._ledger.read(True)
            return self._declined(why, current, declinable), Cost()
        answer = self._read(reply, current)
        self._ledger.read(not isinstance(answer, ParseFailure))
        if isinstance(answer, ParseFailure):
            return SampleVerdict(Outcome.PARSE_FAILED, None, None, answer.reason), Cost()
        if why_same := self._unchanged(answer.code, current):
            return SampleVerdict(Outcome.UNCHANGED, None, None, why_same, answer.done), Cost()
        other = launched(answer, reply.launch) if reply.launch and self._mend else None
        verdict, cost = yield from self._judged(other or answer, current)
        if other is None or not verdict.failed:
            return verdict, cost
        verdict, more = yield from self._judged(answer, current)
        return verdict, cost + more

    def _judged(self, answer: MendedCode, current: str) -> Effects[tuple[SampleVerdict, Cost]]:
        code = self._task.whole(answer.code)
        text, cost = normalized(code), Cost()
        if text not in self._verdicts:
            cost = yield from self._evaluate(code, text, self._rival(current))
        return replace(self._verdicts[text], mended=answer.done), cost

    def _read(self, reply: Reply, current: str) -> MendedCode | ParseFailure:
        entry = RequestedEntry.of(self._task)
        if not self._mend:
            return unmended(reply, entry)
        return read_code(reply, entry, self._task.shown(current))

    def _declined(self, why: Declined, current: str, technique: Technique) -> SampleVerdict:
        """A decline as it stands, or as a failure where the code's facts contradict it.

        A technique that needs nothing in particular is contradicted by nothing.
        """
        self._declines += 1
        fit = applicable(technique, facts_of(self._task.shown(current)))
        if not technique.needs or not fit.fits:
            return SampleVerdict(Outcome.DECLINED, None, None, why.reason)
        self._contradicted += 1
        reason = fit.why[:1].lower() + fit.why[1:].rstrip(".")
        diagnosis = f"you said that it does not apply; but {reason}: write the code"
        return SampleVerdict(Outcome.PARSE_FAILED, None, None, diagnosis)

    def _unchanged(self, answer: str, current: str) -> str:
        """Why an answer is nothing new; "" where it is."""
        forms = {_but_headers(answer), _but_headers(self._task.whole(answer))}
        if forms & {_but_headers(current), _but_headers(self._task.shown(current))}:
            return CURRENT
        started = (self._task.start, self._task.serial)
        return BEFORE if forms & {_but_headers(code) for code in started} else ""

    def _rival(self, current: str) -> str | None:
        """The code that a step begins with, if it was measured; the serial code always is."""
        return next((code for code, _ in self.measured[1:] if code == current), None)

    def _evaluate(self, code: str, text: str, rival: str | None) -> Effects[Cost]:
        """Judge code, twice where our machine spoiled the first timing."""
        candidate = Candidate(self._task.target, code, rival)
        reports = [(yield from judged(candidate, self._best_seconds))]
        if reports[0].outcome is Outcome.UNSTABLE_TIMING and text not in self._verdicts:
            reports.append((yield from judged(candidate, self._best_seconds)))
        if text in self._verdicts:  # an equal code's verdict, which came in just before
            return Cost()
        self._remember(text, candidate, reports[-1])
        seconds = sum(report.stages.get("total", 0.0) for report in reports)
        cost = Cost(evaluations=len(reports), judge_seconds=seconds, joules=_joules(reports))
        return self._ledger.charge(cost)

    def _remember(self, text: str, candidate: Candidate, report: EvalReport) -> None:
        self._ledger.judged(report)
        factor, code = speedup(report), candidate.code
        if report.passed and report.rivalry and candidate.rival:
            factor = self.speedup(candidate.rival) * report.rivalry.ratio
        self._verdicts[text] = SampleVerdict(report.outcome, code, factor, report.diagnosis)
        if factor is None:
            return
        self.measured.append((code, factor))
        if here := standing_of(report):
            self._standings[text] = here
        if serial := baseline_of(report):
            self._standings.setdefault(normalized(self._task.start), serial)
        if report.passed and report.timing is not None:
            best = self._best_seconds or report.timing.median
            self._best_seconds = min(best, report.timing.median)


def _joules(reports: list[EvalReport]) -> float | None:
    """The GPU's energy for the verdict, where every report has it."""
    joules = [report.facts.get("joules") for report in reports]
    return None if None in joules else sum(map(float, filter(None, joules)))


def _but_headers(code: str) -> str:
    """Normalized code without the headers that it includes: one more changes nothing."""
    lines = normalized(code).splitlines()
    return "\n".join(line for line in lines if not line.startswith("#include"))
