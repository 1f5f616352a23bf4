"""Values as notebooks show them: their own text, of which nothing becomes markup."""

from pathlib import Path

import pytest

from regraph_kg import load_problem
from regraph_kg.models.evaluation import EvalReport, Outcome
from regraph_kg.models.next_steps import NextSteps, SuggestedStep
from regraph_kg.models.technique import Technique
from regraph_kg.runs.search import FinishedRun
from regraph_kg.search.trace import Trace
from tests.search.recorded_run import still, toy
from tests.search.toy import SEAL, header, traced

HOSTILE = "</script><img src=x onerror=alert(1)>&'\""


def report(**fields: object) -> EvalReport:
    common = {
        "problem": "scale", "target": "openmp", "metric": "call", "code_hash": "sha256:0",
        "device": HOSTILE, "toolchain": "g++", "evaluator": "3", "grade": "full",
    }  # fmt: skip
    return EvalReport.model_validate({**common, **fields})


def steps(**fields: object) -> NextSteps:
    one = {
        "technique": "openmp/tiling", "name": HOSTILE, "definition": "", "applies": HOSTILE,
        "hurts": "", "expected": 1.2, "effect": 2.5, "tried": 4, "verified": 3,
        "examples": 4, "measured": "device", "in_code": False, "nearest": (),
        "fits": True, "why": HOSTILE, "follows": True,
    }  # fmt: skip
    step = SuggestedStep.model_validate({**one, **fields})
    told = {"target": "openmp", "after": "openmp/start", "device": ""}
    return NextSteps.model_validate({**told, "steps": (step,), "left_out": ()})


@pytest.fixture
def finished(tmp_path: Path) -> FinishedRun:
    head = header(budget=4)
    with Trace.create(tmp_path, head, SEAL, still) as trace:
        return FinishedRun(summary=traced(toy(), trace, head).summary, code=HOSTILE)


@pytest.mark.parametrize(
    "html",
    [
        report(outcome=Outcome.WRONG_ANSWER, diagnosis=HOSTILE)._repr_html_(),
        steps()._repr_html_(),
        Technique(id="openmp/x", target="openmp", name=HOSTILE, applies=HOSTILE)._repr_html_(),
    ],
    ids=["report", "steps", "technique"],
)
def test_no_text_becomes_markup(html: str) -> None:
    assert "<img" not in html
    assert "</script>" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_problem_shows_its_function_and_sizes_and_no_code_of_it_becomes_markup() -> None:
    shown = load_problem("stencil").model_copy(update={"serial_code": HOSTILE})
    html = shown._repr_html_()
    assert "<img" not in html
    assert "stencil" in html
    assert f"rows={shown.sizes.time['rows']}" in html


def test_steps_show_their_figures_and_what_was_never_timed_has_none() -> None:
    assert "2.5x" in steps()._repr_html_()
    assert "3 of 4" in steps()._repr_html_()
    assert "None" not in steps(effect=None)._repr_html_()


def test_a_search_shows_its_figures_and_its_code(finished: FinishedRun) -> None:
    html = finished._repr_html_()
    assert "4 of 4" in html
    assert "<img" not in html
    assert "&lt;img src=x" in html
