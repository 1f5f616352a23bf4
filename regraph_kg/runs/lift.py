"""Lifting: a transform of a technique, tried on all that the graph has seen of it.

A person's file, or a model's answer, is carried out on the code before each recorded step of the
technique, and the judge decides at the grade full. Right on three problems and wrong on none: the
graph has it, and searches carry it out. Else it stays as a draft, with the reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import ValidationError

from regraph_kg.cpp.kinds import kind_of
from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.prompt import DecisionKey, Prompt
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.technique import by_id, resolve
from regraph_kg.models.trajectory import Source
from regraph_kg.models.transform import Replay, StoredTransform
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.search.prompts.fences import blocks
from regraph_kg.search.transform.apart import Answer, answer, slow
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.stores import open_store

if TYPE_CHECKING:
    from regraph_kg.backends.store import GraphStore
    from regraph_kg.evaluation.evaluate import Judge
    from regraph_kg.evaluation.problem.problem import Problem

MOST_ROUNDS = 3  # a model's answers; the failures of each go into the next prompt
MOST_SHOWN = 60_000  # characters of recorded steps in a prompt


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of the technique that the graph has seen."""

    example: str  # id of its TRANSITION
    problem: str
    before: str
    after: str
    kind: str  # of its problem's serial code


@dataclass(frozen=True, slots=True)
class Trial:
    """A transform's trial: what the graph keeps, and what was wrong, in words."""

    transform: StoredTransform
    silent: int  # recorded steps on which it does not fit
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        one = self.transform
        right = sum(replay.outcome.is_right for replay in one.replays)
        reproduced = sum(replay.reproduces for replay in one.replays)
        return (
            f"{one.id}: {right} of {len(one.replays)} right, {reproduced} steps reproduced,"
            f" silent on {self.silent}; {one.state}"
        )


def lift_text(settings: Settings, technique: str, text: str, author: str) -> Story[Trial]:
    """Try a transform that somebody wrote, and keep it. `BadInput` for one that cannot be read."""
    with closing(open_store(settings)) as store:
        name, steps = _recorded(store, technique)
        trial = yield from _tried(settings, name, steps, text, _by(author))
        store.add_transforms([trial.transform])
    return trial


def lift_again(settings: Settings, technique: str) -> Story[list[Trial]]:
    """Replay here all transforms that the graph has of a technique: shipped ones, and drafts.

    A shipped one stays accepted unless it is wrong. `BadInput` where there is none.
    """
    trials = []
    with closing(open_store(settings)) as store:
        name, steps = _recorded(store, technique)
        known = [one for one in store.transforms() if one.technique == name]
        if not known:
            raise BadInput(f"technique {name}: no transform yet: give --transform or --model")
        for one in known:
            try:
                trial = yield from _tried(settings, name, steps, one.text, one.source, one.replays)
                if trial.transform.name != one.name:
                    raise BadInput(f"transform: its text is of {trial.transform.name}")
            except BadInput as error:  # one that is bad stops no other
                draft = {"accepted": False, "reason": str(error).removeprefix("transform: ")}
                trial = Trial(one.model_copy(update=draft), 0)
            trials.append(trial)
            store.add_transforms([trial.transform])
    return trials


def lift_by_model(settings: Settings, technique: str, model: LanguageModel) -> Story[Trial]:
    """Ask a model for a transform, three times at most, and keep the last one.

    `AnswersPending` where the answer is to come by file; `BadInput` if no answer can be read.
    """
    with closing(model), closing(open_store(settings)) as store:
        name, steps = _recorded(store, technique)
        trial, said = None, ""
        for attempt in range(MOST_ROUNDS):
            reply = model.complete(_prompt(name, steps, attempt, said))
            model.finish()  # raises where it is to come by file
            text = next(iter(blocks(reply.text)), reply.text)
            try:
                trial = yield from _tried(settings, name, steps, text, _by(model.name))
            except BadInput as error:
                said = f"{text}\n\nIt cannot be read: {error}"
                yield WorkDone("lifting", line=f"answer {attempt + 1}: {error}")
                continue
            store.add_transforms([trial.transform])
            yield WorkDone("lifting", line=f"answer {attempt + 1}: {trial}")
            if trial.transform.accepted:
                break
            said = "\n\n".join((text, trial.transform.reason, *trial.wrong[:3]))
    if trial is None:
        raise BadInput(f"lift: none of {MOST_ROUNDS} answers of {model.name} is a transform")
    return trial


def _by(author: str) -> Source:
    return Source(model=author, created=datetime.now(UTC).isoformat(timespec="seconds"))


def _recorded(store: "GraphStore", said: str) -> tuple[str, list[RecordedStep]]:
    """The id of a technique, and its steps; `BadInput` where the graph has none."""
    technique, steps = resolve(said, by_id(store.techniques()), None), list[RecordedStep]()
    for trajectory in store.export():
        before = trajectory.serial
        for number, step in enumerate(trajectory.steps, 1):
            if step.technique == technique and trajectory.problem:
                example = f"{trajectory.id}/{number}"
                kind = kind_of(trajectory.serial)
                steps.append(RecordedStep(example, trajectory.problem, before, step.code, kind))
            before = step.code
    if not steps:
        raise BadInput(f"technique {technique}: the graph has no step of it (regraph ingest FILE)")
    return technique, steps


def _tried(
    settings: Settings,
    technique: str,
    steps: Sequence[RecordedStep],
    text: str,
    source: Source,
    known: Sequence[Replay] = (),
) -> Story[Trial]:
    """Carry a transform out on all steps, and judge what it makes; `known`: its replays so far."""
    transform = _answer(text)
    if transform.technique != technique:
        raise BadInput(f"transform: it is one of {transform.technique}, not of {technique}")
    try:
        kept = StoredTransform(technique=technique, name=transform.name, text=text, source=source)
    except ValidationError as error:
        raise BadInput(f"transform: {first_mistake(error)}") from None
    replays, wrong, silent = list[Replay](), list[str](), 0
    target: Target = "cuda" if technique.startswith("cuda/") else "openmp"
    with open_judge(settings, "full") as judge:
        for number, step in enumerate(steps):
            yield WorkDone("replays", number, len(steps), f"{step.problem}: step of {technique}")
            made = next((code for _, code in _answer(text, step.before).made), None)
            if made is None:
                silent += 1
                continue
            try:
                problem = find_problem(settings, step.problem)
            except BadInput as error:  # its problem is not here
                yield WorkDone("replays", line=f"left out: {error}")
                continue
            if not TARGETS[target].on_gpu:
                problem = problem.model_copy(update={"metric": "call"})
            report = judge.evaluate(Candidate(target, made, step.before), problem)
            replays.append(_replay(judge, problem, step, report))
            told = f"{step.problem}: {report.outcome.words}, gain {replays[-1].gain or 0:.2f}"
            yield WorkDone("replays", line=f"{told}, recorded {replays[-1].recorded:.2f}")
            if not report.outcome.is_right:
                wrong.append(f"{step.problem}: {report.outcome}: {report.diagnosis}\n{made}")
    for line in slow():
        yield WorkDone("replays", line=line)
    here = {one.device for one in replays}
    replays += [one for one in known if one.device not in here and not one.claimed]
    tried = kept.model_copy(update={"replays": tuple(replays)})
    return Trial(tried.gated(), silent, tuple(wrong))


def _answer(text: str, code: str | None = None) -> Answer:
    """What a transform is, and makes of a code; `BadInput` where it cannot, or takes too long."""
    found = answer(text, code)
    if found.error:
        raise BadInput(f"transform: {found.error}")
    return found


def _replay(judge: "Judge", problem: "Problem", step: RecordedStep, report: EvalReport) -> Replay:
    recorded = 1.0
    if report.outcome.is_right:
        seen = judge.evaluate(Candidate(report.target, step.after, step.before), problem)
        recorded = seen.rivalry.ratio if seen.rivalry else 1.0
    return Replay(
        example=step.example,
        problem=step.problem,
        device=report.device,
        evaluator=report.evaluator,
        outcome=report.outcome,
        gain=report.rivalry.ratio if report.rivalry else None,
        recorded=recorded,
        kind=step.kind,
    )


def _prompt(technique: str, steps: Sequence[RecordedStep], attempt: int, said: str) -> Prompt:
    """The language, the recorded steps, and what was wrong with the answer before."""
    manual = files("regraph_kg.docs").joinpath("transforms.md").read_text(encoding="utf-8")
    parts = [f"Write one transform of the technique {technique}.", *_shown(steps)]
    if said:
        parts.append(f"Your answer before, and what came of it:\n{said}\nWrite a better one.")
    parts.append("Answer with the file alone, in one block of ```toml.")
    key = DecisionKey(kind="lift", subject=technique, attempt=attempt)
    return Prompt(key=key, system=manual, user="\n\n".join(parts))


def _shown(steps: Sequence[RecordedStep]) -> Iterator[str]:
    """Recorded steps, of each problem one, as long as there is room."""
    each = {step.problem: step for step in steps}
    room = MOST_SHOWN
    for step in islice(each.values(), 20):
        text = f"Problem {step.problem}, before:\n{step.before}\nafter:\n{step.after}"
        room -= len(text)
        if room > 0:
            yield text
