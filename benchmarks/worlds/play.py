"""A search of a method on a problem of a world: the product's methods, driver and account.

The world answers in the proposer's place; prompts, parsing, judge and trace are left out, and so is
what a model does where it is free to choose.
"""

import math
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from benchmarks.rivals import kind_of
from benchmarks.worlds.world import START, Code, Problem, World
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import FreeChoice
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.prompt import Prompt, PromptKey, Reply, element
from regraph_kg.models.run import Cost, SimulationRecord, StepRecord, Task
from regraph_kg.search.ask import Request
from regraph_kg.search.context import Context, Iteration, Method
from regraph_kg.search.driver import Driver, Finished
from regraph_kg.search.effects import Effect, Effects, asked
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.successors import Successors

SERIAL = "serial"
REPLY = Reply(text="", finish="stop", model="simulated")


@dataclass
class Played:
    """What came of a search."""

    level: float
    """True level of the code that measured best; 0 where none was faster."""
    calls: int
    asked: list[str]
    """The path of each sample, in order; elements joined by " > "."""
    course: list["Moment"]


@dataclass(frozen=True)
class Moment:
    """The end of an iteration of a search."""

    ended: Iteration
    record: SimulationRecord
    level: float
    """True level of the code that measured best so far."""


class Noted:
    """A method whose iterations are noted as they end."""

    def __init__(self, method: Method) -> None:
        self._method = method
        self.last: Iteration | None = None

    def iteration(self) -> Effects[Iteration] | None:
        """The method's."""
        work = self._method.iteration()
        return None if work is None else self._note(work)

    def _note(self, work: Effects[Iteration]) -> Effects[Iteration]:
        self.last = yield from work
        return self.last

    def ended(self) -> Iteration:
        """The one that ended last."""
        assert self.last is not None
        return self.last


class Answers:
    """In the proposer's place: what a world makes of a request."""

    def __init__(self, problem: Problem, ledger: Ledger) -> None:
        self._problem, self._ledger = problem, ledger
        serial = problem.serial()
        self._codes: dict[str, Code] = {SERIAL: serial}
        self._texts: dict[Any, str] = {serial.text: SERIAL}
        self.best = replace(serial, measured=0.0, level=0.0)
        self.asked: list[str] = []

    def sample(self, request: Request, *, repairs: int = 0) -> Effects[StepRecord]:
        """As `Proposer.sample`."""
        assert request.technique is not None
        path = (*request.path, element(request.technique.id, request.attempt))
        self.asked.append(" > ".join(path))
        before, found, calls = self._codes[request.code], None, 0
        for repair in range(repairs + 1):
            if self._ledger.left <= 0:
                break
            yield from self._call(path, repair)
            calls += 1
            found = self._problem.step(before, request.technique.id, request.attempt, repair)
            if found is not None:
                break
        return self._record(request, path, before, found, calls)

    def _call(self, path: tuple[str, ...], repair: int) -> Effects[None]:
        key = PromptKey(problem="simulated", target="openmp", path=path, repair=repair)
        self._ledger.begin_call()
        yield from asked(Prompt(key=key, system="", user="", seed=0))
        self._ledger.end_call()
        self._ledger.charge(Cost(calls=1))

    def _record(
        self,
        request: Request,
        path: tuple[str, ...],
        before: Code,
        found: Code | None,
        calls: int,
    ) -> StepRecord:
        assert request.technique is not None
        text = None if found is None else self._text(found)
        return StepRecord.model_construct(
            path=path,
            technique=request.technique.id,
            sample=request.attempt,
            outcome=Outcome.WRONG_ANSWER if found is None else Outcome.PASSED,
            speedup=None if text is None else math.exp(self._codes[text].measured),
            gain=None,
            cost=Cost(calls=calls),
            code=text,
            diagnosis="",
            applied="nothing" if found is before else "asked",
            did=None,
        )

    def _text(self, found: Code) -> str:
        """Equal codes are judged once: what was measured first, counts."""
        text = self._texts.setdefault(found.text, f"code_{len(self._texts)}")
        code = self._codes.setdefault(text, found)
        if code.measured > self.best.measured:
            self.best = code
        return text


class InOrder:
    """An executor in whose hands calls end in the order in which they began."""

    def __init__(self) -> None:
        self._begun: list[Effect] = []

    def start(self, effect: Effect) -> None:
        self._begun.append(effect)

    def finish(self) -> Finished:
        return Finished(self._begun.pop(0), REPLY)

    def seconds(self) -> float:
        return 0.0


def play(
    world: World,
    problem: Problem,
    settings: MethodSettings,
    calls: int,
    *,
    parallel: int = 1,
    seed: int = 0,
) -> Played:
    """One search of `calls` calls."""
    ledger = Ledger(SearchLimits(calls=calls))
    answers = Answers(problem, ledger)
    context = Context(
        task=Task("simulated", "openmp", SERIAL, "work", ""),
        rng=random.Random(seed),
        ledger=ledger,
        proposer=answers,  # type: ignore[arg-type]  # its one method is all that is used
        adviser=lambda *_: "",  # type: ignore[arg-type]
        graph=Successors(cache(world.neighbours), tuple, START, enough=0),
        prompting=Prompting(),
        nearest=lambda _: (),
        device="simulated",
        free=FreeChoice,
    )
    if "free" in type(settings).model_fields:
        settings = settings.model_copy(update={"free": False})
    method = Noted(kind_of(settings.method).begin(context, settings))
    course = [
        Moment(method.ended(), record, answers.best.level)
        for record in Driver(method, InOrder(), ledger, parallel).run()
    ]
    return Played(answers.best.level, ledger.spent.calls, answers.asked, course)
