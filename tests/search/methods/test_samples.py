"""Plain prompting: samples of one prompt, the best of n."""

import math

import pytest

from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.samples import StandardSettings
from tests.search.toy import SERIAL, Toy, asked, code, fenced, run

LEVELS: list[float | str] = [0.1, "crashed", 0.9, 0.3]


def answer(key: PromptKey) -> str | None:
    return fenced(code(LEVELS[key.attempt])) if key.attempt < len(LEVELS) else None


def test_the_best_of_n_samples_of_the_same_prompt() -> None:
    toy = Toy({"start": ["a"]}, answer)
    records = run(toy, StandardSettings(), 4)
    assert records[-1].spent == 4
    assert records[-1].best_speedup == pytest.approx(math.exp(0.9))
    assert [r.reward for r in records][:3] == pytest.approx([math.exp(0.1), 0.0, math.exp(0.9)])
    assert asked(toy) == [("", 0), ("", 1), ("", 2), ("", 3)]
    (text,) = {prompt.user for prompt in toy.prompts}
    assert text.startswith("Make the current code as fast as you can.")
    assert SERIAL in text
    assert len({prompt.seed for prompt in toy.prompts}) == 4
    assert not toy.reads


@pytest.mark.parametrize("parallel", [1, 3])
def test_it_ends_where_a_recorded_model_has_no_more(parallel: int) -> None:
    toy = Toy({}, answer)
    records = run(toy, StandardSettings(), 9, parallel=parallel)
    assert sorted(asked(toy)) == [("", 0), ("", 1), ("", 2), ("", 3)]
    assert (records[-1].reward, records[-1].spent) == (None, 4)
