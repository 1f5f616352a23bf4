"""The standard method: one prompt a sample, best of n."""

from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.standard import StandardSettings
from tests.search.toy import SERIAL, Toy, code, fenced, header, searching


def answer(key: PromptKey) -> str | None:
    levels: list[float | str] = [0.1, "crashed", 0.9, 0.3]
    return fenced(code(levels[key.attempt])) if key.attempt < len(levels) else None


def test_the_best_of_n_samples_of_the_same_prompt() -> None:
    toy = Toy({}, answer)
    *_, last = searching(toy.world, header(4, settings=StandardSettings()))
    assert (last.spent, last.best_path) == (4, ())
    assert last.best_speedup > 2.4
    assert [key.attempt for key in toy.asked] == [0, 1, 2, 3]
    assert len({prompt.user for prompt in toy.prompts}) == 1
    assert len({prompt.seed for prompt in toy.prompts}) == 4
    assert SERIAL in toy.prompts[0].user
    assert not toy.reads


def test_it_ends_where_a_recorded_model_has_no_more() -> None:
    toy = Toy({}, answer)
    records = list(searching(toy.world, header(9, settings=StandardSettings())))
    assert [r.spent for r in records] == [1, 2, 3, 4, 4]
    assert records[-1].reward is None
