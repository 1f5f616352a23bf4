"""DOES NOT APPLY: an answer that closes one action for one code, and is no try and no failure."""

from collections import Counter

import pytest

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import StepRecord
from regraph_kg.search.final_answer import final_answer, summarise
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.prompts.examples import fill
from tests.search.in_toy import asked, run
from tests.search.toy import (
    TASK,
    Graph,
    Toy,
    code,
    fenced,
    header,
    names,
    searching,
)

GRAPH: Graph = {"start": ["a", "b", "c"], "a": [], "b": ["a", "c"], "c": ["a", "b"]}
NO = "DOES NOT APPLY: nothing here to tile"
WALKS = [name for name in METHODS if kind_of(name).walks]


def choosing_nothing(method: str) -> MethodSettings:
    """A method's settings; what the model would choose itself is not asked for."""
    settings = kind_of(method).settings()
    if "free" not in type(settings).model_fields:
        return settings
    return settings.model_copy(update={"free": False})


def declining(technique: str) -> Toy:
    """A model that declines one technique, whatever the code; all else gains."""

    def answer(key: PromptKey) -> str:
        way = names(key)
        return NO if way[-1] == technique else fenced(code(0.1 * len(way), key))

    return Toy(GRAPH, answer)


def steps(toy: Toy, method: str, calls: int) -> list[StepRecord]:
    return [step for r in run(toy, choosing_nothing(method), calls) for step in r.steps]


@pytest.mark.parametrize("method", WALKS)
def test_a_declined_technique_is_closed_for_its_code_at_one_call(method: str) -> None:
    toy = declining("a")
    found = steps(toy, method, 30)
    said = [one for one in found if one.declined]
    assert said
    for one in said:
        assert (one.outcome, one.diagnosis) == (Outcome.DECLINED, "nothing here to tile")
        assert (one.code, one.speedup, one.gain, one.cost.calls, one.cost.evaluations) == (
            *(None, None, None),
            *(1, 0),
        )
        assert not one.tried
    places = Counter((one.path[:-1], one.technique) for one in said)
    assert set(places.values()) == {1}  # never asked for again at the same place
    assert not any("a > " in path for path, _, repair in asked(toy) if repair == 0)
    assert {repair for *_, repair in asked(toy)} == {0}
    assert [one for one in found if one.speedup]  # the search went on


@pytest.mark.parametrize("method", WALKS)
def test_a_model_that_declines_all_ends_the_search_when_nothing_is_left(method: str) -> None:
    toy = Toy(GRAPH, lambda key: NO)
    settings = choosing_nothing(method)
    head = header(30, settings=settings, limits=SearchLimits(calls=30, unreadable=2))
    ledger = Ledger(head.limits)
    records = list(searching(toy.world, head, ledger=ledger))
    assert sorted(path for path, *_ in asked(toy)) == ["a", "b", "c"]
    assert ledger.stopped is None
    answer = final_answer(TASK, records, toy.final)
    found = summarise(head, records, answer, ledger)
    assert (found.stopped, found.improved, found.iterations) == ("exhausted", False, 0)
    assert (found.cost.calls, found.cost.evaluations, found.unrecorded) == (3, 0, 0)
    assert (found.outcomes, found.failure) == ({"declined": 3}, None)


def test_only_where_a_technique_was_asked_for_may_it_be_declined() -> None:
    toy = Toy(GRAPH, lambda key: NO)
    (record,) = run(toy, StandardSettings(), 1)
    assert record.steps[0].outcome is Outcome.PARSE_FAILED
    assert "DOES NOT APPLY" not in toy.prompts[0].user


def test_a_repair_is_not_asked_whether_it_applies_and_cannot_say_so() -> None:
    def answer(key: PromptKey) -> str:
        return NO if key.repair else fenced(code("wrong_answer", key))

    toy = Toy({"start": ["a"]}, answer)
    (record,) = run(toy, McgsSettings(samples=1, free=False), 2)
    assert record.steps[0].outcome is Outcome.PARSE_FAILED
    assert ["DOES NOT APPLY" in prompt.user for prompt in toy.prompts] == [True, False]
    assert toy.prompts[0].user.endswith(f"{fill('decline')}\n\n{fill('answer')}")
