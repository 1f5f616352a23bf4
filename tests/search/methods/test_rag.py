"""Retrieval without a walk: what the prompts show, and what is read."""

from collections.abc import Sequence
from dataclasses import replace

from regraph_kg.models.graph import Example
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.methods.samples import RagSettings
from regraph_kg.search.prompts.examples import fill
from regraph_kg.search.prompts.render import free_advice
from tests.search.toy import SERIAL, Toy, asked, code, example, fenced, header, searching

NEAREST = tuple(
    replace(example("openmp/start", f"openmp/{name}"), id=name, reasoning=f"Because of {name}.")
    for name in ("simd", "tiling", "unrolling")
)


def answer(key: PromptKey) -> str | None:
    failing = key.attempt == 1 and key.repair == 0
    return fenced(code("crashed" if failing else 0.1 * key.attempt, key))


def run(
    toy: Toy,
    calls: int,
    settings: RagSettings,
    nearest: Sequence[Example] = NEAREST,
    **fields: object,
) -> tuple[list[SimulationRecord], list[str]]:
    """The records, and the codes that examples were looked for."""
    looked: list[str] = []

    def near(text: str) -> tuple[Example, ...]:
        looked.append(text)
        return tuple(nearest)

    world = replace(toy.world, nearest=near)
    return list(searching(world, header(calls, 0, settings=settings, **fields))), looked


def test_the_examples_nearest_to_the_serial_code_stand_in_every_prompt() -> None:
    toy = Toy({"start": ["a"]}, answer)
    _, looked = run(toy, 3, RagSettings(repairs=0))
    (text,) = {prompt.user for prompt in toy.prompts}
    assert text.startswith(fill("rag"))
    assert "Because of simd." in text
    assert "Because of tiling." in text
    assert "Because of unrolling." not in text  # two examples at most, as in a walk's prompts
    assert SERIAL in text
    assert asked(toy) == [("", 0, 0), ("", 1, 0), ("", 2, 0)]
    assert looked == [SERIAL]
    assert not toy.reads  # of transitions


def test_one_example_is_shown_where_prompts_of_walks_show_none() -> None:
    toy = Toy({"start": ["a"]}, answer)
    run(toy, 1, RagSettings(repairs=0), prompting=Prompting.usual("lean"))
    (text,) = {prompt.user for prompt in toy.prompts}
    assert "Because of simd." in text
    assert "Because of tiling." not in text


def test_without_examples_it_asks_as_the_standard_method_does() -> None:
    toy = Toy({}, answer)
    run(toy, 1, RagSettings(), nearest=())
    assert toy.prompts[0].user.startswith(f"{free_advice()}\n")


def test_a_failure_is_mended_as_often_as_the_settings_say() -> None:
    toy = Toy({}, answer)
    records, _ = run(toy, 4, RagSettings(repairs=1))
    assert asked(toy) == [("", 0, 0), ("", 1, 0), ("", 1, 1), ("", 2, 0)]
    assert [r.spent for r in records] == [1, 3, 4]
    assert "Your last answer failed (crashed)" in toy.prompts[2].user
    assert "Because of simd." in toy.prompts[2].user
