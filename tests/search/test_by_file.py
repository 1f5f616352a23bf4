"""A search whose model answers by file: round after round, it ends as if it had asked directly."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.errors import AnswersPending
from regraph_kg.llm.by_file import BatchModel
from regraph_kg.llm.model import AskOptions
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.methods.mcgs import McgsSettings, PaperSettings
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import World
from tests.in_process import Ended
from tests.search.lab import ANSWERS, SLOW, SPEEDUPS, STRIP, UNROLL, Lab, grow, write_corpus
from tests.search.test_golden import GRAPH
from tests.search.toy import SEAL, USUAL, Alone, Toy, header, noisy_script, searching

Answerer = Callable[[PromptKey], str]
AT_ONCE = 8  # calls begun at once
MOST = AT_ONCE + AT_ONCE // 2


@dataclass
class Office:
    """Prompts that wait by file, and a script that answers; it knows the key behind each line."""

    folder: Path
    answer: Answerer
    keys: dict[tuple[str, int], PromptKey] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)  # prompts answered, a round

    def seen(self, prompt: Prompt) -> None:
        assert isinstance(prompt.key, PromptKey)
        self.keys[prompt.user, prompt.seed] = prompt.key

    def open(self) -> tuple[BatchModel, Callable[[Prompt], Reply]]:
        """A model on the folder, and how a search asks it."""
        model = BatchModel(self.folder, "script", AskOptions(0.7, 500, timeout=0, patience=0))

        def complete(prompt: Prompt) -> Reply:
            self.seen(prompt)
            reply = model.complete(prompt)
            if reply.finish == "pending":
                raise AnswersPending("by file")
            return reply

        return model, complete

    def work(self) -> None:
        """Answer all that is pending, in a file of its own, last first."""
        lines = (self.folder / "pending.jsonl").read_text().splitlines()
        self.sizes.append(len(lines))
        answers = [json.dumps(self._answered(json.loads(line))) for line in reversed(lines)]
        path = self.folder / f"answers-{len(self.sizes)}.jsonl"
        path.write_text("\n".join(answers) + "\n")

    def _answered(self, request: dict[str, Any]) -> dict[str, object]:
        body = request["body"]
        text = self.answer(self.keys[body["messages"][1]["content"], body["seed"]])
        return {"custom_id": request["custom_id"], "text": text}


def rounds(office: Office, run: Callable[[], list[SimulationRecord]]) -> list[SimulationRecord]:
    """Run, answer and run again until the search ends; its records."""
    while True:
        try:
            return run()
        except AnswersPending:
            office.work()


def course(records: list[SimulationRecord]) -> list[object]:
    """All of them but what the model's own clock and counters say."""
    blank = {"prompt_tokens": 0, "output_tokens": 0, "model_seconds": 0.0}
    return [
        record.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(update={"cost": step.cost.model_copy(update=blank)})
                    for step in record.steps
                )
            }
        )
        for record in records
    ]


def search(world: World, settings: MethodSettings, budget: int) -> Iterator[SimulationRecord]:
    return searching(world, header(budget, seed=5, settings=settings, parallel=AT_ONCE))


def with_model(world: World, complete: Callable[[Prompt], Reply]) -> World:
    return replace(world, complete=complete)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    script = noisy_script(5)
    return Office(tmp_path / "batch", lambda key: script(key) or "")


SETTINGS = {
    "default": McgsSettings(),
    "no free choice": USUAL,
    "paper": PaperSettings(),
    "standard": StandardSettings(),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_comes_out_as_if_the_model_had_answered_at_once(name: str, office: Office) -> None:
    settings = SETTINGS[name]
    expected = list(search(Toy(GRAPH, office.answer).world, settings, 40))

    def run() -> list[SimulationRecord]:
        toy = Toy(GRAPH, office.answer)
        model, complete = office.open()
        try:
            return list(search(with_model(toy.world, complete), settings, 40))
        except AnswersPending:
            model.finish()
            raise
        finally:
            assert toy.asked == []

    found = rounds(office, run)
    assert course(found) == course(expected)
    assert found[-1].spent == 40
    assert max(office.sizes) <= MOST
    if name == "standard":
        assert office.sizes == [AT_ONCE] * (40 // AT_ONCE)
    else:
        assert len(office.sizes) < 20


def test_a_traced_search_goes_on_and_asks_nothing_and_judges_nothing_twice(
    office: Office, tmp_path: Path
) -> None:
    head = header(40, seed=5, settings=USUAL, parallel=AT_ONCE)
    judged: list[str] = []
    reads: list[str] = []

    def run() -> list[SimulationRecord]:
        traces = list(tmp_path.glob("*.jsonl"))
        toy = Toy(GRAPH, office.answer)
        model, complete = office.open()
        with (
            Trace.resume(traces[0], head, SEAL)
            if traces
            else Trace.create(tmp_path, head, SEAL) as trace
        ):
            world = trace.world(with_model(toy.world, complete))
            records = []
            try:
                for record in searching(world, head, executor=trace.executor(Alone(world))):
                    trace.record(record)
                    records.append(record)
            except AnswersPending:
                model.finish()
                raise
            finally:
                judged.extend(toy.evaluated)
                reads.extend(toy.reads)
            return records

    found = rounds(office, run)
    assert found[-1].spent == 40
    assert len(judged) == len(set(judged))
    assert len(reads) == len(set(reads))
    (trace,) = tmp_path.glob("*.jsonl")
    assert b"pending" not in trace.read_bytes()


def test_a_prompt_that_cannot_be_answered_holds_up_no_other_one(office: Office) -> None:
    """It fails again and again while the rest is answered; then it alone is pending."""
    office.folder.mkdir()
    toy = Toy(GRAPH, office.answer)
    refused = ("openmp/fold",)
    messages = []
    for _ in range(60):
        model, complete = office.open()
        with pytest.raises(AnswersPending):
            list(search(with_model(toy.world, complete), USUAL, 20))
        with pytest.raises(AnswersPending) as caught:
            model.finish()
        messages.append(str(caught.value))
        texts = (office.folder / "pending.jsonl").read_text().splitlines()
        lines = [office._answered(json.loads(text)) for text in texts]
        kept = []
        for answered, text in zip(lines, texts, strict=True):
            body = json.loads(text)["body"]
            key = office.keys[body["messages"][1]["content"], body["seed"]]
            error = {"custom_id": answered["custom_id"], "error": "refused"}
            kept.append(error if key.path == refused and key.attempt == 0 else answered)
        path = office.folder / f"answers-{len(messages)}.jsonl"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in kept))
        if kept == [kept[0]] and "error" in kept[0]:
            break
    assert messages[-1].startswith("1 prompt pending")
    assert "1 of them failed before, the first: refused" in messages[-1]


def lab_code(key: PromptKey) -> str:
    """What the lab records; where it has nothing, slow code that it has a verdict for."""
    return ANSWERS.get((key.path, key.attempt), f"{SLOW}// 0\n")


def summary(ended: Ended) -> dict[str, Any]:
    found = json.loads(ended.out)
    del found["model"], found["active_seconds"]
    return found


@pytest.mark.parametrize("again", ["resumed", "from the start"])
def test_the_command_waits_for_answers_and_goes_on_with_them(lab: Lab, again: str) -> None:
    grow(lab.store, [STRIP, UNROLL], [UNROLL, STRIP])
    office = Office(lab.folder / "a batch", lambda key: f"So.\n```cpp\n{lab_code(key)}```\n")
    complete = BatchModel.complete

    def noting(model: BatchModel, prompt: Prompt) -> Reply:
        office.seen(prompt)
        return complete(model, prompt)

    lab.patch.setattr(BatchModel, "complete", noting)
    lab.patch.setenv("REGRAPH_BATCH_MODEL", "a model's name")
    words = ["--budget", "40", "--json"]
    typed = ["optimize", "scale", *words, "--model", f"batch:{office.folder}"]
    ended = lab.run(*typed)
    while ended.code == 5:
        assert (ended.out, office.folder.joinpath("pending.jsonl").exists()) == ("", True)
        last = ended.err.strip().splitlines()[-1]
        assert re.match(rf"regraph: \d+ prompts? pending in {office.folder}/pending\.jsonl; ", last)
        office.work()
        resumed = [*shlex.split(last.partition("go on: ")[2])[1:], "--json"]
        if again == "resumed":
            lab.patch.delenv("REGRAPH_BATCH_MODEL", raising=False)
        ended = lab.run(*(resumed if again == "resumed" else typed))
    assert ended.code == 0, ended
    assert office.sizes[0] == AT_ONCE  # two techniques and the free choice have nine samples
    assert len(lab.traces()) == (1 if again == "resumed" else len(office.sizes) + 1)
    assert not office.folder.joinpath("pending.jsonl").exists()

    recorded = {(key.path, key.attempt): lab_code(key) for key in office.keys.values()}
    write_corpus(lab.folder / "corpus", recorded)
    direct = lab.run("optimize", "scale", *words, "--parallel", str(AT_ONCE))
    assert summary(direct)["unrecorded"] == 0
    assert summary(ended)["speedup"] == max(SPEEDUPS.values())
    if again == "from the start":  # a trace keeps the order in which the answers came
        assert summary(direct) == summary(ended)
