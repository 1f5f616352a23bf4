"""Step by step: the standard method's samples, with a prompt that asks for reasoning first."""

import math

import pytest

from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.cot import CotSettings
from regraph_kg.search.prompts.render import cot_advice, free_advice
from tests.search.in_toy import asked, run
from tests.search.toy import SERIAL, Toy, code, fenced

LEVELS: list[float | str] = [0.1, "crashed", 0.9, 0.3]


def answer(key: PromptKey) -> str | None:
    return fenced(code(LEVELS[key.attempt])) if key.attempt < len(LEVELS) else None


def test_every_sample_is_of_one_prompt_that_asks_for_steps_first() -> None:
    toy = Toy({"start": ["a"]}, answer)
    *_, last = run(toy, CotSettings(), 4)
    assert (last.spent, last.best_path) == (4, ())
    assert last.best_speedup == pytest.approx(math.exp(0.9))
    assert asked(toy) == [("", 0, 0), ("", 1, 0), ("", 2, 0), ("", 3, 0)]
    (text,) = {prompt.user for prompt in toy.prompts}
    assert text.startswith(cot_advice())
    assert SERIAL in text
    assert free_advice() != cot_advice()
    assert len({prompt.seed for prompt in toy.prompts}) == 4
    assert not toy.reads


def test_a_reward_is_the_speedup_and_a_failure_is_not_mended() -> None:
    records = run(Toy({}, answer), CotSettings(), 3)
    assert [r.reward for r in records] == pytest.approx([math.exp(0.1), 0.0, math.exp(0.9)])
    assert [step.cost.calls for r in records for step in r.steps] == [1, 1, 1]


@pytest.mark.parametrize("parallel", [1, 3])
def test_it_ends_where_a_recorded_model_has_no_more(parallel: int) -> None:
    toy = Toy({}, answer)
    records = run(toy, CotSettings(), 9, parallel=parallel)
    assert sorted(asked(toy)) == [("", 0, 0), ("", 1, 0), ("", 2, 0), ("", 3, 0)]
    assert records[-1].reward is None
    assert records[-1].spent == 4
