"""Recorded answers cover what a search can ask for, and do what they say."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.toolchain import find_cuda
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.evaluation import Candidate, Outcome
from regraph_kg.models.prompt import Prompt, RecordedAnswer, Reply
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.search.read_answer import parse
from tests.requirement import require

from .corpus import CORPUS, PROBLEMS, RECORDED, answers, graph, paths, vocabulary

TARGETS: tuple[Target, ...] = ("cuda", "openmp")
DEPTH = 3
SAMPLE = 4  # answers judged of each file and kind; their shapes are tiny


def split(recorded: str) -> tuple[str, Target]:
    problem, target = recorded.split(".")
    assert target in ("cuda", "openmp")
    return problem, target  # type: ignore[return-value]


def test_there_are_recorded_answers_for_every_problem_and_target() -> None:
    assert set(RECORDED) == {f"{name}.{target}" for name in PROBLEMS for target in TARGETS}


@pytest.mark.parametrize("recorded", RECORDED)
def test_every_path_of_the_graph_without_the_problem_itself_has_an_answer(recorded: str) -> None:
    problem, target = split(recorded)
    first = {a.path for a in answers(recorded) if a.attempt == 0}
    needed = set(paths(graph(target, without=problem), start_id(target), DEPTH))
    assert needed - first == set()


@pytest.mark.parametrize("recorded", RECORDED)
def test_answers_are_found_by_their_key_and_name_known_techniques(recorded: str) -> None:
    problem, target = split(recorded)
    model = ScriptedModel.read(CORPUS / "recorded", problem, target)
    for answer in answers(recorded):
        assert {element.partition("#")[0] for element in answer.path} <= set(vocabulary().known)
        reply = model.complete(Prompt(key=answer.key(problem, target), system="", user=""))
        assert reply.text == answer.text


@pytest.mark.parametrize("recorded", RECORDED)
def test_answers_are_one_explained_code_block_with_the_entry_point(recorded: str) -> None:
    entry = load_problem(CORPUS / "problems" / split(recorded)[0]).entry
    for answer in answers(recorded):
        said = answer.text.partition("```")[0].strip()
        code = parse(Reply(text=answer.text, finish="stop"), entry)
        assert said
        assert isinstance(code, str), (answer.path, code)


@pytest.mark.parametrize("recorded", RECORDED)
def test_the_answers_give_a_search_good_and_broken_choices(recorded: str) -> None:
    outcomes = [a.expect for a in answers(recorded)]
    broken = [outcome for outcome in outcomes if outcome is not Outcome.PASSED]
    assert len({a.text for a in answers(recorded)}) > len(outcomes) / 2
    assert 0.05 < len(broken) / len(outcomes) < 0.5
    assert any(a.attempt for a in answers(recorded))


@pytest.mark.parametrize("recorded", RECORDED)
def test_methods_without_a_graph_have_ten_answers(recorded: str) -> None:
    free = [a for a in answers(recorded) if not a.path]
    assert [a.attempt for a in free] == list(range(10))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    with Judge(tmp_path_factory.mktemp("judge")) as judge:
        yield judge


def quick(problem: Path) -> Problem:
    """The problem, timed at its largest check shape: only the verdict matters here."""
    loaded = load_problem(problem)
    sizes = loaded.sizes.model_copy(update={"time": loaded.sizes.check[-1]})
    return loaded.model_copy(update={"sizes": sizes})


def sample(recorded: str, count: int) -> list[RecordedAnswer]:
    """A few that should pass and a few that should not, always the same ones."""
    rng = random.Random(recorded)
    known = [a for a in answers(recorded) if a.expect]
    right = [a for a in known if a.expect is Outcome.PASSED]
    wrong = [a for a in known if a.expect is not Outcome.PASSED]
    return [a for kind in (right, wrong) for a in rng.sample(kind, min(count, len(kind)))]


def assert_expected(recorded: str, chosen: list[RecordedAnswer], judge: Judge) -> None:
    name, target = split(recorded)
    problem = quick(CORPUS / "problems" / name)
    for answer in chosen:
        code = parse(Reply(text=answer.text, finish="stop"), problem.entry)
        assert isinstance(code, str)
        report = judge.evaluate(Candidate(target, code), problem)
        outcome = report.outcome
        if outcome is Outcome.UNSTABLE_TIMING:  # verified, on a machine in turmoil
            outcome = Outcome.PASSED
        assert outcome is answer.expect, (answer.path, answer.attempt, report.diagnosis)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [name for name in RECORDED if name.endswith(".openmp")])
def test_a_sample_of_answers_ends_as_expected(recorded: str, judge: Judge) -> None:
    assert_expected(recorded, sample(recorded, SAMPLE), judge)


@pytest.fixture
def gpu() -> None:
    """Skips, or fails where it was required, without nvcc or GPU."""
    for what, find in (("nvcc", find_cuda), ("gpu", find_gpu)):
        try:
            find()
        except ToolError as error:
            require(what, str(error))


@pytest.mark.slow
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("recorded", [name for name in RECORDED if name.endswith(".cuda")])
def test_every_cuda_answer_ends_as_expected(recorded: str, judge: Judge) -> None:
    assert_expected(recorded, [a for a in answers(recorded) if a.expect], judge)
