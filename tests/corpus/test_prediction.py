"""The corpus report: what a graph of other fields foretells of made-up trajectories."""

import pytest

from regraph_kg.survey.facts import TimingKey, seen_steps
from regraph_kg.survey.prediction import gain_correlation, predictions
from regraph_kg.survey.report import corpus_report

from .test_report import LOADS, TILES, measured, step, trajectory

HALO, FUSION = "cuda/halo-tiling", "cuda/kernel-fusion"
FIELDS = {"p": "algebra", "q": "graphs", "r": "images", "lone": "sound"}
CLOCK = TimingKey("cuda", "H200", "call")


def test_a_transition_of_other_fields_is_foretold_before_what_is_frequent() -> None:
    """LOADS is most frequent; after TILES others took HALO."""
    told = [
        trajectory("p", step(TILES, "a"), step(HALO, "b"), step(LOADS, "c")),
        trajectory("q", step(TILES, "d"), step(HALO, "e"), step(LOADS, "f")),
        trajectory("r", step(LOADS, "g"), step(TILES, "h"), step(HALO, "i")),
    ]
    ((target, (graph, frequency, chance)),) = predictions(seen_steps(told), FIELDS)
    assert (target, graph.steps, graph.choices) == ("cuda", 9, 3)
    assert graph.rank == 1
    assert graph.rank < frequency.rank == chance.rank == 2
    assert (graph.first, chance.first) == (1, 1)


def test_what_only_one_field_has_is_nobodys_to_foretell() -> None:
    told = [trajectory("p", step(TILES, "a")), trajectory("q", step(TILES, "b"), step(HALO, "c"))]
    ((_, (graph, *_)),) = predictions(seen_steps(told), FIELDS)
    assert graph.steps == 2


def test_a_problem_of_no_field_is_a_field_of_its_own() -> None:
    told = [trajectory("x", step(TILES, "a")), trajectory("x", step(TILES, "b"), ref="y")]
    assert list(predictions(seen_steps(told), FIELDS)) == []
    assert "foretell" not in corpus_report(told, [], FIELDS)
    other = [*told, trajectory("z", step(TILES, "c"))]
    ((target, (graph, *_)),) = predictions(seen_steps(other), FIELDS)
    assert (target, graph.steps, graph.rank) == ("cuda", 3, 1.0)


def test_gains_are_compared_with_those_of_other_fields() -> None:
    told = [
        trajectory("p", step(TILES, "a", measured(4.0)), step(HALO, "b", measured(0.5))),
        trajectory("q", step(TILES, "c", measured(3.0)), step(HALO, "d", measured(0.7))),
        trajectory("lone", step(FUSION, "e", measured(9.0))),
    ]
    count, transition, technique = gain_correlation(seen_steps(told), FIELDS, CLOCK)
    assert count == 4
    assert transition == pytest.approx(technique)
    assert transition is not None
    assert transition > 0.9
    assert gain_correlation(seen_steps(told[:1]), FIELDS, CLOCK) == (0, None, None)
    text = corpus_report(told, [], FIELDS)
    assert "| cuda | call | H200 | 4 | 1.00 | 1.00 |" in text or "| 4 | 0.9" in text
