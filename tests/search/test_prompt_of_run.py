"""A whole prompt of a search over the shipped corpus in a real embedded store, as it is sent.

The judge is a rule, so that it is always the same one. After a wanted change of a text:
`pytest tests/search/test_prompt_of_run.py --write-golden`, and read the diff.
"""

from pathlib import Path

import pytest

from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.reader import GraphReader
from regraph_kg.search.run import search
from regraph_kg.search.world import World
from regraph_kg.settings import read_settings
from regraph_kg.wiring.open_model import language_model
from regraph_kg.wiring.problems import find_problem, task_of
from regraph_kg.wiring.stores import open_store
from tests.search.lab import Lab
from tests.search.toy import Alone, code, header
from tests.search.toy import judge as timed_by

GOLDEN = Path(__file__).parents[1] / "golden"


def judge(candidate: Candidate, *_: object) -> EvalReport:
    """Updates in place race; threads bring nothing here; all else is four times as fast."""
    timed = timed_by(Candidate("openmp", code(1.386)))
    if "next[" not in candidate.code:
        said = {"outcome": Outcome.NONDETERMINISTIC, "diagnosis": "runs differ (a data race?)"}
        return timed.model_copy(update=said | {"speedup": None})
    return timed


class Asked:
    """A recorded model that keeps its prompts."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.prompts: dict[PromptKey, Prompt] = {}

    def complete(self, prompt: Prompt) -> Reply:
        assert isinstance(prompt.key, PromptKey)
        self.prompts[prompt.key] = prompt
        return self._model.complete(prompt)


@pytest.fixture
def asked(lab: Lab) -> dict[PromptKey, Prompt]:
    """The prompts of sixty calls for the corpus' stencil, whose own examples are left out."""
    lab.patch.delenv("REGRAPH_CORPUS")
    assert lab.run("ingest", "--starter").code == 0
    settings = read_settings()
    task = task_of(find_problem(settings, "stencil"), "openmp")
    model = Asked(language_model(settings, ModelSpec.parse("recorded"), "stencil", "openmp"))
    reader = GraphReader(lambda: open_store(settings), "a CPU", "stencil")
    world = World(
        neighbours=reader.neighbours,
        complete=model.complete,
        evaluate=judge,
        evaluate_final=judge,
    )
    head = header(60, settings=McgsSettings(free=False), device="a CPU")
    list(search(task, head, world, Alone(world)))
    reader.close()
    return model.prompts


def test_a_whole_prompt_reads_as_it_did(
    asked: dict[PromptKey, Prompt], request: pytest.FixtureRequest
) -> None:
    key = next(key for key in asked if len(key.path) == 2)
    text = f"{asked[key].system}\n\n--- {' > '.join(key.path)} ---\n\n{asked[key].user}\n"
    path = GOLDEN / "prompt-run.txt"
    if request.config.getoption("--write-golden"):
        path.write_text(text)
    assert text == path.read_text()
    assert len({prompt.system for prompt in asked.values()}) == 1
    assert not any("histogram" in prompt.user for prompt in asked.values()), "atomics for a stencil"
