"""Whole prompts of a search over the shipped corpus in a real embedded store, as they are sent.

The judge is a rule, so that they are always the same ones. After a wanted change of a text:
`pytest tests/search/test_prompt_of_run.py --write-golden`, and read the diff.
"""

from pathlib import Path

import pytest

from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.executor import Alone
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.reader import GraphReader
from regraph_kg.search.run import search
from regraph_kg.search.world import World
from regraph_kg.settings import read_settings
from regraph_kg.wiring.open_model import language_model
from regraph_kg.wiring.problems import find_problem, task_of
from regraph_kg.wiring.stores import open_store
from tests.search.lab import Lab
from tests.search.prompts.test_standing import report
from tests.search.toy import header

GOLDEN = Path(__file__).parents[1] / "golden"
MACHINE = "a CPU, 16 threads, vectors of 512 bits (AVX-512), L1 cache of 48 KiB, L2 cache of 2 MiB"


def judge(candidate: Candidate, _: float | None = None) -> EvalReport:
    """Updates in place race; threads bring nothing here; all else is four times as fast."""
    timed = report({"memory": 0.36, "compute": 0.04})
    if "next[" not in candidate.code:
        said = {"outcome": Outcome.NONDETERMINISTIC, "diagnosis": "runs differ (a data race?)"}
        return timed.model_copy(update=said | {"speedup": None, "account": None})
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
        examples=reader.examples,
        nearest=lambda code: (),
        failures=reader.failures,
        complete=model.complete,
        evaluate=judge,
        evaluate_final=judge,
    )
    head = header(60, settings=McgsSettings(free=False), device="a CPU", machine=MACHINE)
    list(search(task, head, world, Alone(world)))
    reader.close()
    return model.prompts


def test_whole_prompts_read_as_they_did(
    asked: dict[PromptKey, Prompt], request: pytest.FixtureRequest
) -> None:
    again = [key for key in asked if len(key.path) == 2]
    repair = next(key for key in again if key.repair)
    text = "\n\n".join(
        f"--- {' > '.join(key.path)}, repair {key.repair} ---\n\n{asked[key].user}"
        for key in (repair.model_copy(update={"repair": 0}), repair)
    )
    text = f"{asked[repair].system}\n\n{text}\n"
    path = GOLDEN / "prompt-run.txt"
    if request.config.getoption("--write-golden"):
        path.write_text(text)
    assert text == path.read_text()
    (system,) = {prompt.system for prompt in asked.values()}
    assert MACHINE in system
    assert any("Example from other code" in prompt.user for prompt in asked.values())
    assert not any("histogram" in prompt.user for prompt in asked.values()), "atomics for a stencil"
