"""One sample: ask the model, find the code in its answer, evaluate it, mend it, pay for it."""

import hashlib
import re
from dataclasses import dataclass

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import Cost, StepRecord, Task
from regraph_kg.search.prompt import Failure, render
from regraph_kg.search.reward import speedup
from regraph_kg.search.state import Budget, element
from regraph_kg.search.world import World

_BLOCK = re.compile(r"^ {0,3}```[^\n`]*\n(.*?)^ {0,3}```[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """An answer that holds no code we could evaluate, and why: fed back to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a sample is asked for: a new version of `code` along `advice`.

    `path` are the elements entered so far, without the step asked for; `technique` is that step,
    None for a method that walks no graph.
    """

    path: tuple[str, ...]
    technique: str | None
    attempt: int
    code: str
    advice: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one answer ended; `speedup` is what the search may learn from, None for a failure."""

    outcome: Outcome
    code: str | None
    speedup: float | None
    diagnosis: str

    @property
    def failure(self) -> Failure:
        """What a repair prompt is told."""
        return Failure(self.outcome, self.diagnosis, self.code)


def parse(reply: Reply, entry: str) -> str | ParseFailure:
    """The code of the one fenced block that calls or defines `entry`."""
    if reply.finish == "length":
        return ParseFailure("the answer was cut at the length limit; answer shorter")
    text = reply.text.replace("\r\n", "\n")
    if not text.strip():
        return ParseFailure("the answer is empty")
    blocks = _BLOCK.findall(text)
    named = [block for block in blocks if re.search(rf"\b{re.escape(entry)}\s*\(", block)]
    if len(named) == 1:
        return str(named[0])
    if named:
        return ParseFailure(f"{len(named)} code blocks define {entry}; give exactly one")
    if blocks:
        return ParseFailure(f"no code block defines {entry}")
    return ParseFailure("the answer has no complete code block between two lines of ```")


def normalized(code: str) -> str:
    """`code` without indentation, trailing blanks and empty lines: equal texts, one evaluation."""
    return "\n".join(filter(None, (line.strip() for line in code.splitlines())))


class Proposer:
    """Buys samples for one run: owns its budget's spending and its memory of evaluated code."""

    def __init__(self, task: Task, world: World, budget: Budget, *, run: int, repairs: int) -> None:
        """`run` goes into every prompt's seed; `repairs` is r, repair calls a sample at most."""
        self._task = task
        self._world = world
        self._budget = budget
        self._run = run
        self._repairs = repairs
        self._verdicts: dict[str, Verdict] = {}

    def sample(self, request: Request) -> StepRecord:
        """One answer, repaired while it fails and the budget lasts; the last answer is the sample.

        A first answer that the recorded model does not have costs nothing and has no outcome; a
        repair that it does not have only ends the repairing. Needs a budget of at least one call.
        """
        cost = Cost()
        verdict: Verdict | None = None
        for repair in range(self._repairs + 1):
            if self._budget.left == 0:
                break
            reply = self._ask(request, repair, None if verdict is None else verdict.failure)
            if reply.finish == "unrecorded":
                break
            self._budget.spent += 1
            verdict, judged = self._judge(reply)
            cost += judged
            if verdict.speedup is not None:
                break
        return _step(request, verdict, cost)

    def _ask(self, request: Request, repair: int, failed: Failure | None) -> Reply:
        key = PromptKey(
            problem=self._task.problem,
            target=self._task.target,
            path=request.path if request.technique is None else (*request.path, request.technique),
            attempt=request.attempt,
            repair=repair,
        )
        prompt = render(
            self._task,
            key,
            code=request.code,
            advice=request.advice,
            failure=failed,
            seed=_seed(self._run, key),
        )
        return self._world.complete(prompt)

    def _judge(self, reply: Reply) -> tuple[Verdict, Cost]:
        cost = Cost(
            calls=1,
            prompt_tokens=reply.prompt_tokens,
            output_tokens=reply.output_tokens,
            model_seconds=reply.seconds,
        )
        code = parse(reply, self._task.entry)
        if isinstance(code, ParseFailure):
            return Verdict(Outcome.PARSE_FAILED, None, None, code.reason), cost
        text = normalized(code)
        if text not in self._verdicts:
            reports = self._evaluate(Candidate(self._task.target, code))
            last = reports[-1]
            self._verdicts[text] = Verdict(last.outcome, code, speedup(last), last.diagnosis)
            cost += Cost(
                evaluations=len(reports),
                judge_seconds=sum(report.stages.get("total", 0.0) for report in reports),
            )
        return self._verdicts[text], cost

    def _evaluate(self, candidate: Candidate) -> list[EvalReport]:
        """One report, or two where the first one's timing was our machine's fault."""
        first = self._world.evaluate(candidate)
        if first.outcome is not Outcome.UNSTABLE_TIMING:
            return [first]
        return [first, self._world.evaluate(candidate)]


def _step(request: Request, verdict: Verdict | None, cost: Cost) -> StepRecord:
    here = () if request.technique is None else (element(request.technique, request.attempt),)
    return StepRecord(
        path=(*request.path, *here),
        technique=request.technique,
        sample=request.attempt,
        outcome=None if verdict is None else verdict.outcome,
        speedup=None if verdict is None else verdict.speedup,
        gain=None,
        cost=cost,
        code=None if verdict is None else verdict.code,
    )


def _seed(run: int, key: PromptKey) -> int:
    """hash(run, p, a, k) of method.md 3.2, and the repair round; 31 bits, as servers take them."""
    text = f"{run}\n{key.model_dump_json()}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
