"""Methods that do not search: samples of one prompt, the best of n."""

import math

import pytest

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.samples import CotSettings, StandardSettings
from regraph_kg.search.prompts.render import cot_advice, free_advice
from tests.search.toy import SERIAL, Toy, asked, code, fenced, run

LEVELS: list[float | str] = [0.1, "crashed", 0.9, 0.3]
BOTH = pytest.mark.parametrize("settings", [StandardSettings(), CotSettings()], ids=str)


def answer(key: PromptKey) -> str | None:
    return fenced(code(LEVELS[key.attempt])) if key.attempt < len(LEVELS) else None


@BOTH
def test_the_best_of_n_samples_of_the_same_prompt(settings: MethodSettings) -> None:
    toy = Toy({"start": ["a"]}, answer)
    records = run(toy, settings, 4)
    assert (records[-1].spent, records[-1].best_path) == (4, ())
    assert records[-1].best_speedup == pytest.approx(math.exp(0.9))
    assert [r.reward for r in records][:3] == pytest.approx([math.exp(0.1), 0.0, math.exp(0.9)])
    assert asked(toy) == [("", 0, 0), ("", 1, 0), ("", 2, 0), ("", 3, 0)], "nothing is repaired"
    (text,) = {prompt.user for prompt in toy.prompts}
    advice = cot_advice() if isinstance(settings, CotSettings) else free_advice()
    assert text.startswith(advice)
    assert SERIAL in text
    assert len({prompt.seed for prompt in toy.prompts}) == 4
    assert not toy.reads


@BOTH
@pytest.mark.parametrize("parallel", [1, 3])
def test_it_ends_where_a_recorded_model_has_no_more(
    settings: MethodSettings, parallel: int
) -> None:
    toy = Toy({}, answer)
    records = run(toy, settings, 9, parallel=parallel)
    assert sorted(asked(toy)) == [("", 0, 0), ("", 1, 0), ("", 2, 0), ("", 3, 0)]
    assert (records[-1].reward, records[-1].spent) == (None, 4)
