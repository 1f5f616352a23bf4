"""What a model's free choices came to: which samples are free, and what they are worth."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.models.evaluation import EvalReport, Outcome
from regraph_kg.models.graph import EFFECT_SCALE, FreeChoice, FreeRun, FreeSteps
from regraph_kg.models.run import StepRecord
from regraph_kg.search.effects import ModelRequest
from regraph_kg.search.free_steps import free_run
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of, method_names
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.methods.standard import StandardSettings
from regraph_kg.search.run import context
from regraph_kg.search.trace import Trace
from tests.search.recorded_run import still
from tests.search.test_harvest import HEADER, report, run, step
from tests.search.toy import SEAL, SERIAL, TASK, Toy, code, fenced, header, searching

STANDARD = HEADER.model_copy(update={"settings": StandardSettings()})
WALK = HEADER.model_copy(update={"settings": McgsSettings()})
FREE = "free-choice"


def sample(speedup: float | None, name: str, **fields: object) -> StepRecord:
    """A sample of a method that walks no graph."""
    made = step(name, speedup, **{"technique": None} | fields)
    return made.model_copy(update={"path": ()})


def free(path: str, speedup: float | None) -> StepRecord:
    """A free step at the end of a path."""
    return step(path, speedup, technique=None)


def chosen(*steps: StepRecord, **fields: object) -> FreeChoice:
    found = free_run(run(*steps, **{"header": STANDARD} | fields))
    return FreeChoice() if found is None else found.choice


def sums(tried: int, *effects: float) -> FreeSteps:
    log2 = sum(round(EFFECT_SCALE * math.log2(effect)) for effect in effects)
    return FreeSteps(tried=tried, verified=len(effects), sum_log2_effect=log2)


def test_samples_of_standard_are_free_first_steps() -> None:
    found = free_run(run(sample(4.0, "a"), sample(None, "b"), sample(0.5, "c"), header=STANDARD))
    assert found == FreeRun(
        run="run 1",
        model="small@sha256:1",
        target="openmp",
        device="cpu",
        problem="toy",
        choice=FreeChoice(first=sums(3, 4.0, 0.5)),
    )


def test_on_a_walk_a_step_counts_over_the_code_before_it() -> None:
    steps = [free(FREE, 3.0), step("a", 2.0), free(f"a {FREE}", 5.0), free(f"a {FREE}#1", None)]
    steps += [step(f"{FREE} b", 9.0), free(f"{FREE} {FREE}", 6.0)]
    found = chosen(*steps, header=WALK)
    assert found == FreeChoice(first=sums(1, 3.0), later=sums(3, 2.5, 2.0))


def test_what_says_nothing_of_the_choice_is_no_try() -> None:
    loaded: Sequence[EvalReport] = [report("int c;", 2.0, load="a compiler")]
    steps = [
        sample(None, "a", outcome=None),
        sample(1.5, "b", outcome=Outcome.UNSTABLE_TIMING),
        sample(2.0, "c"),
        sample(None, "d", outcome=Outcome.PARSE_FAILED, code=None),
    ]
    assert chosen(*steps, reports=loaded) == FreeChoice(first=sums(1))
    assert free_run(run(steps[0], header=STANDARD)) is None


def test_what_the_final_measurement_disproved_has_failed() -> None:
    wrong = report("int a;", 2.0, outcome=Outcome.WRONG_ANSWER)
    taught = replace(run(sample(2.0, "a"), header=STANDARD), finals={wrong.code_hash: wrong})
    found = free_run(taught)
    assert found is not None
    assert found.choice.first == sums(1)


@pytest.mark.parametrize("name", [one for one in method_names() if one != "standard"])
def test_other_methods_without_a_graph_choose_nothing_freely(name: str) -> None:
    kind = kind_of(name)
    head = HEADER.model_copy(update={"settings": kind.settings()})
    assert kind.walks or free_run(run(sample(2.0, "a"), header=head)) is None


def test_a_free_step_has_a_place_of_its_own_and_first_asks_what_standard_asks() -> None:
    toy = Toy({}, lambda key: fenced(code(0.5, key)))
    head = header()
    made = context(TASK, head, toy.world, Ledger(head.limits))
    request = made.free_request("openmp/start", (), 2, SERIAL)
    work = made.proposer.sample(request)
    effect = next(work)
    assert isinstance(effect, ModelRequest)
    try:
        while True:
            reply = toy.complete(effect.prompt) if isinstance(effect, ModelRequest) else None
            effect = work.send(reply or toy.evaluate(effect.candidate))  # type: ignore[union-attr]
    except StopIteration as ended:
        found = ended.value
    assert (found.path, found.technique, found.applied) == (
        ("openmp/free-choice#2",),
        None,
        "asked",
    )
    list(searching(toy.world, header(1, settings=StandardSettings(), seed=0)))
    assert [(one.path, one.attempt) for one in toy.asked] == [((), 2), ((), 0)]
    assert toy.prompts[0].user == toy.prompts[1].user
    later = made.free_request("openmp/a", ("openmp/a",), 1, SERIAL)
    assert (later.way, later.step) == (("openmp/a", "openmp/free-choice"), "openmp/free-choice")


def test_what_is_known_is_read_once_and_is_in_the_trace(tmp_path: Path) -> None:
    known, asked = FreeChoice(first=sums(2, 3.0)), list[int]()

    def ask() -> FreeChoice:
        asked.append(1)
        return known

    head = header()
    live = replace(Toy({}, lambda key: None).world, free=ask)
    with Trace.create(tmp_path, head, SEAL, still) as trace:
        made = context(TASK, head, trace.world(live), Ledger(head.limits))
        assert (made.free(), made.free()) == (known, known)
    with Trace.resume(trace.path, head, SEAL, still) as again:
        made = context(TASK, head, again.world(live), Ledger(head.limits))
        assert made.free() == known
    assert len(asked) == 1
