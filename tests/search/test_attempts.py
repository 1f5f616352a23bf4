"""A prompt says what came to nothing at its code, and on the way to it."""

import math

from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.mcgs import McgsSettings
from tests.search.toy import Toy, code, fenced, header, names, searching

GRAPH = {"start": ["a", "b"], "a": ["c", "d"], "b": ["a"], "c": ["d"]}
RESULTS = {
    "a": math.log(2.0),
    "b": "wrong_answer",
    "a c": math.log(2.02),
    "a d": "crashed",
    "a c d": math.log(3.0),
}


def answer(key: PromptKey) -> str | None:
    found = RESULTS.get(" ".join(names(key)))
    return None if found is None else fenced(code(found, key.path))


def searched(**prompting: int) -> Toy:
    toy = Toy(GRAPH, answer)
    settings = McgsSettings(repairs=0, free=False)
    head = header(40, settings=settings, prompting=Prompting.model_validate(prompting))
    list(searching(toy.world, head))
    return toy


def told(toy: Toy, *way: str) -> list[str]:
    """What the prompts of a path say was tried, in their order."""
    lines = [
        next((line for line in prompt.user.splitlines() if line.startswith("Tried here")), "")
        for prompt in toy.prompts
        if isinstance(prompt.key, PromptKey) and names(prompt.key) == [*way]
    ]
    return [line.partition(": ")[2].partition(". ")[0] for line in lines]


def test_what_failed_or_brought_nothing_is_told_to_other_steps_from_the_same_code() -> None:
    toy = searched()
    everything = "\n".join(prompt.user for prompt in toy.prompts)
    assert "d (crashed)" in "".join(told(toy, "a", "c"))
    assert "c (1.01x)" in "".join(told(toy, "a", "d"))
    assert "a (2.00x)" not in everything  # it helped


def test_what_brought_nothing_on_the_way_is_told() -> None:
    assert all("c (1.01x)" in line for line in told(searched(), "a", "c", "d"))


def test_a_technique_asked_for_again_is_to_be_applied_in_another_way() -> None:
    texts = [prompt.user for prompt in searched().prompts if names(prompt.key) == ["a", "c"]]  # type: ignore[arg-type]
    assert "brought 1.01x: apply it in another way" in texts[-1]
    assert "c (1.01x)" not in "".join(texts)


def test_failures_of_the_technique_asked_for_are_told_by_their_diagnoses_alone() -> None:
    assert not any("b (wrong_answer)" in line for line in told(searched(), "b"))


def test_none_is_told_where_none_is_wanted() -> None:
    assert "Tried here" not in "".join(prompt.user for prompt in searched(tried=0).prompts)
