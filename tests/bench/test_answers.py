"""What a trace says of each answer: one of each kind, as a run of the toy world has them."""

from collections.abc import Sequence
from pathlib import Path

from regraph_kg.bench.answers import ReadAnswer, read_answers, shortest
from regraph_kg.models.bench import KINDS, AnswerKind
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import Prompting
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import Task
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from tests.search.toy import SEAL, SERIAL, TASK, Toy, code, fenced, header, traced

WHOLE = 'extern "C" void work(float* x, int n) { x[0] = 1; }'
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
    "no entry point": fenced("int other(int);"),
    "several codes": fenced(code(1)) + fenced(code(2)),
    "bare code": WHOLE,
    "cut": "",
    "prose": "The code is as fast as it can be.",
}
"""Answers to "as fast as you can", by what they are."""


class Cut(Toy):
    """A world whose empty answers were cut at the length limit."""

    def complete(self, prompt: Prompt) -> Reply:
        reply = super().complete(prompt)
        return reply if reply.text else reply.model_copy(update={"finish": "length"})


def answers_to(
    said: Sequence[str], folder: Path, task: Task = TASK, prompting: Prompting | None = None
) -> tuple[ReadAnswer, ...]:
    """A run of `standard` that is answered so, read again."""

    def script(key: PromptKey) -> str | None:
        return said[key.attempt] if key.attempt < len(said) else None

    more = {} if prompting is None else {"prompting": prompting}
    head = header(budget=len(said), settings=StandardSettings(), **more)
    with Trace.create(folder, head, SEAL) as trace:
        traced(Cut({}, script), trace, head)
        return read_answers(RunRecord.read(trace.path), task)


def test_each_answer_is_of_its_kind(tmp_path: Path) -> None:
    found = answers_to(list(SAID.values()), tmp_path)
    assert [one.summary.kind for one in found] == list(SAID)
    assert [one.summary.kind for one in found if one.summary.right] == ["faster", "not faster"]
    assert [one.summary.kind for one in found if one.summary.speedup] == ["faster", "not faster"]
    built = {one.summary.kind for one in found if one.summary.built}
    assert built == {
        "CPU code",
        "faster",
        "not faster",
        "wrong",
        "crashed",
        "too slow",
        "suspicious",
    }
    assert [one.summary.kind for one in found if one.summary.mended] == []
    assert set(SAID) < set(KINDS)


def test_the_serial_code_again_is_unchanged_whatever_its_blanks(tmp_path: Path) -> None:
    again = Task(
        problem="toy",
        target="openmp",
        serial=code(0.1).replace("{ ", "{\n\n  // nothing\n  "),
        entry=TASK.entry,
        signature=TASK.signature,
    )
    (one,) = answers_to([fenced(code(0.1))], tmp_path, again)
    assert one.summary.kind == "unchanged"
    assert not one.summary.right
    assert answers_to([fenced(SERIAL)], tmp_path)[0].summary.speedup is None, "it was not judged"
    assert again.serial != SERIAL


def test_equal_code_that_was_judged_once_counts_each_time(tmp_path: Path) -> None:
    same = [fenced(code(0.5)), fenced(code(0.5).replace("{ ", "{  "))]
    assert [answer.summary.kind for answer in answers_to(same, tmp_path)] == ["faster", "faster"]


def test_the_words_of_a_decline_are_prose_where_none_was_offered(tmp_path: Path) -> None:
    (one,) = answers_to(["DOES NOT APPLY: it is fast already"], tmp_path)
    assert one.summary.kind == "prose"


def test_the_shortest_answer_that_came_to_nothing_is_the_example_of_its_kind(
    tmp_path: Path,
) -> None:
    long, short = "It is fast already. " * 9, "It is fast."
    first = shortest((), "standard", answers_to([long, fenced(code(1))], tmp_path / "a"), TASK)
    assert [(one.kind, one.text) for one in first] == [("prose", long)]
    again = shortest(first, "standard", answers_to([short], tmp_path / "b"), TASK)
    assert [one.text for one in again] == [short]
    other = shortest(again, "cot", answers_to([long], tmp_path / "c"), TASK)
    assert [(one.arm, one.text) for one in other] == [("standard", short), ("cot", long)]


def test_every_outcome_says_its_words_and_its_kind() -> None:
    assert len({outcome.words for outcome in Outcome}) == len(Outcome)
    assert {outcome.kind for outcome in Outcome} <= {*KINDS}
    assert Outcome("crashed") is Outcome.CRASHED
