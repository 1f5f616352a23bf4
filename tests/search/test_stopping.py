"""Searches that end before their calls are spent, and how near they come to the roof."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Roof,
    SpeedOfLight,
    WorkAccount,
)
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import RunHeader, SimulationRecord
from regraph_kg.search.context import Iteration
from regraph_kg.search.driver import GAIN, PROMISE, Patience
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from tests.search.recorded_run import still
from tests.search.toy import SEAL, Script, Toy, code, fenced, header, judge, read, searching, traced

GRAPH = {"start": ["a", "b", "c"], "a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]}
BUDGET = 40
LIGHT = 1e-3
"""Shortest believable seconds of a call; the serial code takes ten times as long."""


def levels(*told: float | str) -> Script:
    """A model whose answers have these levels in turn, the last one for ever."""
    asked: list[PromptKey] = []

    def answer(key: PromptKey) -> str:
        asked.append(key)
        return fenced(code(told[min(len(asked), len(told)) - 1], len(asked)))

    return answer


def accounted(light: float | None = LIGHT) -> Callable[[Candidate], EvalReport]:
    """The toy judge, which also tells how far the roof is: ten times as fast as the serial code."""

    def verdict(candidate: Candidate) -> EvalReport:
        report = judge(candidate)
        if report.speedup is None:
            return report
        taken = 10 * LIGHT / report.speedup
        roof = Roof(
            bound="memory",
            seconds=LIGHT,
            share=LIGHT / taken,
            reached=1.0,
            peak=1.0,
            light=None if light is None else SpeedOfLight(bound="memory", seconds=light),
        )
        account = WorkAccount(
            seconds=taken,
            flop=None,
            bytes=1,
            flop_per_second=None,
            bytes_per_second=1.0,
            intensity=None,
            roof=roof,
        )
        return report.model_copy(update={"account": account})

    return verdict


def head(settings: MethodSettings | None = None, parallel: int = 1, **limits: float) -> RunHeader:
    told = SearchLimits.model_validate({"calls": BUDGET} | limits)
    method = settings or StandardSettings()
    return header(limits=told, settings=method, parallel=parallel)


def run(toy: Toy, told: RunHeader) -> tuple[list[SimulationRecord], Ledger]:
    ledger = Ledger(told.limits)
    return list(searching(toy.world, told, ledger=ledger)), ledger


@pytest.mark.parametrize(
    ("levels_told", "light", "share"),
    [
        ((math.log(5), math.log(9.9), "wrong_answer"), LIGHT, 0.99),
        ((math.log(12), math.log(9.5)), LIGHT, None),
        ((math.log(9.9),), None, None),
    ],
    ids=["the fastest counts", "passed once: a figure is wrong", "not known"],
)
def test_how_near_the_fastest_code_comes_to_the_roof(
    levels_told: tuple[float | str, ...], light: float | None, share: float | None
) -> None:
    _, ledger = run(Toy(GRAPH, levels(*levels_told), accounted(light)), head())
    reached = ledger.roof.reached
    assert (reached and reached.share) == (share and pytest.approx(share))


def test_patience_ends_a_row_of_calls_in_vain() -> None:
    toy = Toy(GRAPH, levels(0.1, 0.5, 0.5 + GAIN / 2, 0.4))
    _, ledger = run(toy, head(patience=10))
    assert (ledger.stopped, ledger.spent.calls) == ("patience", 12)


def test_patience_below_one_is_a_share_of_the_budget() -> None:
    _, ledger = run(Toy(GRAPH, levels(0.5, 0.4)), head(patience=0.25))
    assert (ledger.stopped, ledger.spent.calls) == ("patience", 1 + BUDGET // 4)


def test_small_gains_that_add_up_are_no_row_in_vain() -> None:
    steps = [GAIN * 0.4 * number for number in range(BUDGET)]
    _, ledger = run(Toy(GRAPH, levels(*steps)), head(patience=6))
    assert ledger.stopped == "calls"


def test_what_bought_no_call_neither_tries_patience_nor_breaks_a_promise() -> None:
    ledger = Ledger(SearchLimits(calls=BUDGET, patience=3))
    patience = Patience(ledger)
    record = SimulationRecord(
        iteration=9, path=(), steps=(), reward=0.0, spent=9, best_speedup=1.0, best_path=()
    )
    patience.see(Iteration((), (), None), record)
    patience.see(Iteration((), (), 0.0, expected=PROMISE), record)
    assert ledger.stopped is None
    patience.see(Iteration((), (), 0.0, expected=PROMISE / 2), record)
    assert ledger.stopped == "patience"


def test_a_budget_of_one_is_one_call_whatever_the_patience() -> None:
    _, ledger = run(Toy(GRAPH, levels(0.1)), head(calls=1, patience=0.5))
    assert (ledger.stopped, ledger.spent.calls) == ("calls", 1)


@pytest.mark.parametrize("patience", [0.0, -3.0, 2.5])
def test_patience_is_calls_or_a_share(patience: float) -> None:
    with pytest.raises(ValueError, match="patience"):
        SearchLimits(calls=9, patience=patience)


def test_the_same_answers_end_at_the_same_call_and_a_more_patient_resume_goes_on(
    tmp_path: Path,
) -> None:
    def toy() -> Toy:
        return Toy(GRAPH, lambda key: fenced(code(0.5, (key.path, key.attempt))))

    impatient, endless = head(patience=5), head()
    with Trace.create(tmp_path, impatient, SEAL, still) as trace:
        first = traced(toy(), trace, impatient)
    written = trace.path.read_bytes()
    with Trace.resume(trace.path, impatient, SEAL, still) as trace:
        assert traced(toy(), trace, impatient) == first
    assert trace.path.read_bytes() == written
    assert first.summary.stopped == "patience"
    with Trace.resume(trace.path, endless, SEAL, still) as trace:
        went_on = traced(toy(), trace, endless)
    assert went_on.records[: len(first.records)] == first.records
    assert went_on.summary.cost.calls > first.summary.cost.calls
    stops = [line.value for line in read(trace.path) if line.event == "stop"]
    assert stops == ["patience", went_on.summary.stopped]
    assert RunRecord.read(trace.path).ended
    whole = trace.path.read_bytes()
    after = whole.index(b'{"event":"reply"', len(written))
    trace.path.write_bytes(whole[: whole.index(b"\n", after) + 1])
    assert not RunRecord.read(trace.path).ended


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ({"patience": 5}, {"patience": 4}),
        ({"patience": 0.2}, {"patience": 0.1}),
        ({}, {"patience": 20}),
    ],
)
def test_a_resume_that_would_have_ended_earlier_is_refused(
    tmp_path: Path, was: dict[str, float], now: dict[str, float]
) -> None:
    with Trace.create(tmp_path, head(**was), SEAL, still) as trace:
        pass
    with pytest.raises(BadInput, match=next(iter(now))):
        Trace.resume(trace.path, head(**now), SEAL, still)
