"""Which prompt an answer is kept for: the same code and words, whatever was measured."""

from pathlib import Path

import pytest

from regraph_kg.bench.kept import FILE, KeepingModel, KeptModel
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.models.prompt import Prompt, PromptKey, Reply

KEY = PromptKey(problem="a", target="openmp", path=())
SAID = "The code takes 1.25 ms.\n```cpp\nfor (int i = 0; i < 16; ++i);\n```\nMake it faster."


def prompt(user: str = SAID, attempt: int = 0, system: str = "You are good.") -> Prompt:
    key = KEY.model_copy(update={"attempt": attempt})
    return Prompt(key=key, system=system, user=user, seed=1)


class Model:
    name = "ollama:small@1"

    def complete(self, asked: Prompt) -> Reply:
        return Reply(text=f"answer {asked.key.attempt}", finish="stop", model=self.name)  # type: ignore[union-attr]

    def finish(self, then: str = "") -> None: ...

    def close(self) -> None: ...


def kept(folder: Path) -> KeptModel:
    keeping = KeepingModel(Model(), folder / FILE)
    for attempt in (0, 1):
        keeping.complete(prompt(attempt=attempt))
    return KeptModel(keeping.name, folder / FILE)


def test_the_same_prompt_gets_the_same_answer(tmp_path: Path) -> None:
    model = kept(tmp_path)
    assert model.complete(prompt(attempt=1)).text == "answer 1"
    assert model.name == "ollama:small@1"
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("time", ["980 us", "2 s", "13.5 ms"])
def test_what_was_measured_may_be_another_figure(tmp_path: Path, time: str) -> None:
    assert kept(tmp_path).complete(prompt(SAID.replace("1.25 ms", time))).text == "answer 0"


def test_where_an_answer_was_wrong_may_be_another_place(tmp_path: Path) -> None:
    """Inputs are drawn anew each time."""
    wrong = "{}\n```text\nc[{}] is {}, expected {} (tolerance {})\n```"
    was = wrong.format(SAID, 3, "nan", "0.25", "8.7e-07")
    now = wrong.format(SAID, 17, "-1.5", "-inf", "0.001")
    keeping = KeepingModel(Model(), tmp_path / FILE)
    keeping.complete(prompt(was))
    assert KeptModel("small", tmp_path / FILE).complete(prompt(now)).text == "answer 0"


@pytest.mark.parametrize(
    "asked",
    [
        prompt(SAID.replace("++i", "++j")),
        prompt(SAID.replace("faster", "shorter")),
        prompt(system="You are bad."),
        prompt(attempt=2),
    ],
)
def test_another_code_word_or_sample_has_no_answer(tmp_path: Path, asked: Prompt) -> None:
    assert kept(tmp_path).complete(asked).finish == "unrecorded"


def test_answers_after_a_torn_line_are_kept(tmp_path: Path) -> None:
    kept(tmp_path)
    file = tmp_path / FILE
    file.write_text(file.read_text()[:-20])
    KeepingModel(Model(), file).complete(prompt(attempt=2))
    model = KeptModel("small", file)
    assert model.complete(prompt()).text == "answer 0"
    assert model.complete(prompt(attempt=1)).finish == "unrecorded"
    assert model.complete(prompt(attempt=2)).text == "answer 2"


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{}\n")
    with pytest.raises(BadInput, match="not the kept answers of a bench"):
        KeptModel("small", tmp_path / FILE)


def test_a_full_disk_ends_the_search_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="make room"):
        KeepingModel(Model(), Path("/dev/full")).complete(prompt())
