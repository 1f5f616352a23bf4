"""What a trace says of each answer, as a run of the toy world has them."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench.record import KINDS, AnswerKind, BenchAnswer
from benchmarks.bench.run import read_answers
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from tests.search.toy import SEAL, SERIAL, Toy, code, fenced, header, traced

SAID: dict[AnswerKind, str] = {
    "faster": fenced(code(0.7)),
    "not faster": fenced(code(-0.2)),
    "wrong": fenced(code("wrong_answer")),
    "crashed": fenced(code("crashed")),
    "too slow": fenced(code("timed_out")),
    "suspicious": fenced(code("suspicious")),
    "CPU code": fenced(code("no_kernel")),
    "does not compile": fenced(code("compile_failed")),
    "refused": fenced(code("rejected_source")),
    "unchanged": fenced(SERIAL),
    "prose": "The code is as fast as it can be.",
}
"""Answers to "as fast as you can", by what they are."""
BUILT = {"CPU code", "faster", "not faster", "wrong", "crashed", "too slow", "suspicious"}


def answers_to(said: Sequence[str], folder: Path) -> tuple[BenchAnswer, ...]:
    """A run of `standard` that is answered so, read again."""

    def script(key: PromptKey) -> str | None:
        return said[key.attempt] if key.attempt < len(said) else None

    head = header(budget=len(said), settings=StandardSettings())
    with Trace.create(folder, head, SEAL) as trace:
        traced(Toy({}, script), trace, head)
        return read_answers(RunRecord.read(trace.path))


def test_each_answer_is_of_its_kind(tmp_path: Path) -> None:
    found = answers_to(list(SAID.values()), tmp_path)
    assert [one.kind for one in found] == list(SAID)
    assert [one.kind for one in found if one.right] == ["faster", "not faster"]
    assert [one.kind for one in found if one.speedup] == ["faster", "not faster"]
    assert {one.kind for one in found if one.built} == BUILT


def test_equal_code_that_was_judged_once_counts_each_time(tmp_path: Path) -> None:
    same = [fenced(code(0.5)), fenced(code(0.5).replace("{ ", "{  "))]
    assert [answer.kind for answer in answers_to(same, tmp_path)] == ["faster", "faster"]


def test_every_outcome_says_its_words_and_its_kind() -> None:
    assert len({outcome.words for outcome in Outcome}) == len(Outcome)
    assert {outcome.kind for outcome in Outcome} <= {*KINDS}
    assert Outcome("crashed") is Outcome.CRASHED
