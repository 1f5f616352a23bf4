"""Runs as pages: from traces to the values of a page."""

import difflib
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from regraph_kg import report
from regraph_kg.errors import RegraphError
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.run import RunHeader, StepRecord, Task
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import seconds, times
from regraph_kg.pages.render import Exchange, FailureRow, Node, RunView
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run_record import RunRecord, TracedStep, place_of
from regraph_kg.settings import Settings
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.problems import find_problem, task_of

MOST_LINES = 2_000  # lines of codes that are compared
_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]?\d+)?")
Turns = dict[tuple[tuple[str, ...], int], list[Exchange]]


def view_runs(settings: Settings, traces: Sequence[Path]) -> tuple[RunView, ...]:
    """The views of these traces. `BadInput` names the file that is no trace."""
    key = trace_key(settings)
    return tuple(_view(settings, RunRecord.read(path, key)) for path in dict.fromkeys(traces))


def _view(settings: Settings, run: RunRecord) -> RunView:
    header, answer = run.header, run.answer
    # a trace holds the hash of the serial code alone
    task = _task(settings, header)
    serial = task.serial if task else ""
    # what was taken back when it was measured again is no result
    best = None if run.finished and answer is None else run.best
    judged = answer[1] if answer else None
    interval = judged.speedup_interval if judged else None
    account = judged.account if judged else None
    return RunView(
        title=f"{header.problem}, {header.target}",
        file=run.path.name,
        state=run.state(),
        headline=_headline(run),
        speedup=judged.speedup if judged else best.speedup if best else None,
        interval=interval.as_times if interval else "",
        roofline=str(account) if account else "",
        share=min(1.0, account.roof.share) if account and account.roof else None,
        path=report.path(best.path) if best else "",
        code=(best.code or "") if best else serial,
        notes=tuple(_notes(run, serial)),
        rows=_rows(run),
        machine=_machine(header, judged),
        failures=failure_rows(run),
        nodes=steps_shown(run, serial),
        commands=tuple(_commands(run)),
        system=next((prompt.system for prompt in run.prompts.values()), ""),
        settings=_settings(header),
    )


def _task(settings: Settings, header: RunHeader) -> Task | None:
    """The run's task, where its problem is here and unchanged."""
    try:
        problem = find_problem(settings, header.problem)
        task = task_of(problem, header.target)
    except RegraphError:
        return None
    return task if code_hash(task.serial) == header.serial else None


def _headline(run: RunRecord) -> str:
    if run.finished:
        return report.headline(run.summary())
    title = f"{run.header.problem} ({run.header.target})"
    if not run.bests:
        return f"{title}: nothing faster than the serial code so far"
    best = times(run.bests[-1].step.speedup or 0)
    return f"{title}: {best} so far, not yet measured again"


def _notes(run: RunRecord, serial: str) -> Iterator[str]:
    """Notes for a reader before the figures."""
    header = run.header
    model = ModelSpec.traced(header.model)
    if not run.ours:
        yield (
            "another installation wrote this trace, or one of its lines was changed: the figures"
            " are what it claims"
        )
    state = run.state()
    if state == "not finished":
        yield "the search was stopped before its end: regraph optimize --resume goes on with it"
    if run.torn and state != "running":
        yield "the last line of the trace is incomplete and was left out"
    if model is not None and model.is_recorded:
        yield "the answers of the model were recorded before; compiler, checks and clock are real"
    if not serial:
        yield (
            f"the serial code of {header.problem} is not here, or is another one by now: the first"
            " steps are shown without their difference to it"
        )


def _rows(run: RunRecord) -> dict[str, str]:
    summary = run.summary()
    rows = report.run_rows(summary, walks=kind_of(summary.method).walks)
    # these have places of their own on the page
    elsewhere = {"path", "device", "failures"}
    return {name: text for name, text in rows.items() if name not in elsewhere}


def _machine(header: RunHeader, judged: EvalReport | None) -> dict[str, str]:
    """Facts of the machine and the judge; "" is unknown."""
    facts = {"device": header.device, "machine": header.machine, "compiler": header.toolchain}
    if judged is None:
        return facts
    facts["judge"] = f"version {judged.evaluator}, times by {judged.metric}"
    facts["other work meanwhile"] = judged.load or "none"
    return facts | dict(judged.facts)


def _settings(header: RunHeader) -> dict[str, str]:
    """The other settings of the run."""
    method = header.settings.model_dump()
    prompting = {f"prompt.{name}": value for name, value in header.prompting.model_dump().items()}
    head = {
        "regraph": header.version,
        "began": header.created,
        "prompts": header.prompts,
        "serial code": header.serial,
        "examples of the problem itself": "left out" if header.excluded else "read, too",
    }
    return head | {name: str(value) for name, value in (method | prompting).items()}


def _commands(run: RunRecord) -> Iterator[str]:
    """The commands that search again, judge the answer again, and apply it."""
    header = run.header
    model = ModelSpec.traced(header.model)
    options = {
        "--target": header.target,
        "--method": header.method,
        # a trace does not hold the folder of answers by file
        "--model": str(model) if model and not model.by_file else "",
        "--budget": str(header.limits.verdicts),
        "--parallel": str(header.parallel) if header.parallel > 1 else "",
        "--set": f"run.seed={header.seed}",
    }
    words = ["regraph", "optimize", header.problem]
    for name, value in options.items():
        words += [name, value] if value else []
    yield shlex.join(words)
    code = run.path.with_suffix(TARGETS[header.target].suffix).name
    yield shlex.join(["regraph", "evaluate", header.problem, code, "--target", header.target])
    if run.answer is not None:
        yield shlex.join(["regraph", "apply", run.path.stem])


def failure_rows(run: RunRecord) -> tuple[FailureRow, ...]:
    """Failures, equal but for numbers, most first, each with the latest diagnosis and technique."""
    rows: dict[tuple[Outcome, str], FailureRow] = {}
    for step in (traced.step for traced in run.steps):
        # a noisy clock is no fault of the code
        noisy = step.outcome is Outcome.UNSTABLE_TIMING
        if step.outcome is None or noisy or step.speedup is not None:
            continue
        diagnosis = step.diagnosis.partition("\n")[0]
        # the same fault names another line or value each time
        way = step.outcome, _NUMBER.sub("0", diagnosis)
        before = rows[way].count if way in rows else 0
        rows[way] = FailureRow(before + 1, step.outcome.words, diagnosis, _words(step.technique))
    return tuple(sorted(rows.values(), key=lambda row: -row.count))


def steps_shown(run: RunRecord, serial: str) -> tuple[Node, ...]:
    """The tree of a run; `serial` "": not known."""
    parents, turns = _parents(run.steps), _turns(run)
    nodes, numbers = [Node(0, None, "serial code", "given", 1.0, code=serial)], {-1: 0}
    bests = {id(best.step) for best in run.bests}
    # a parent's path is shorter, so that it stands before its steps
    for number in sorted(parents, key=lambda step: (len(run.steps[step].step.path), step)):
        numbers[number] = len(nodes)
        traced, parent = run.steps[number], parents[number]
        before = 1.0 if parent == -1 else run.steps[parent].step.speedup
        node = _node(traced, len(nodes), numbers[parent], before)
        node.best = id(traced.step) in bests
        _tell(run, node, traced.step, nodes[numbers[parent]].code, turns)
        nodes.append(node)
    if run.best is not None:
        best = next(number for number, traced in enumerate(run.steps) if traced.step is run.best)
        while best != -1:
            nodes[numbers[best]].answer = True
            best = parents[best]
        nodes[0].answer = True
    return tuple(nodes)


def _node(traced: TracedStep, number: int, parent: int, before: float | None) -> Node:
    step = traced.step
    facts = {"technique": step.technique or "the model's own choice", "in fact": _words(step.did)}
    facts["made by"] = f"transform {step.transform}" if step.transform else ""
    name = _words(step.technique or "".join(step.path[-1:]).partition("#")[0]) or "answer"
    return Node(
        number,
        parent,
        f"{name} #{step.sample}" if step.sample else name,
        "right" if step.speedup is not None or step.outcome is None else step.outcome.words,
        step.speedup,
        step.speedup / before if step.speedup and before else None,
        traced.call,
        traced.at,
        facts={name: text for name, text in facts.items() if text},
    )


def _words(technique: str | None) -> str:
    return (technique or "").partition("/")[2].replace("-", " ")


def _parents(steps: Sequence[TracedStep]) -> dict[int, int]:
    """Each step's parent, whose code it began with; -1 is the serial code."""
    places: dict[tuple[str, ...], int] = {}
    for number, traced in enumerate(steps):
        if traced.step.path and traced.step.speedup is not None:
            places.setdefault(traced.step.path, number)
    parents = {}
    for number, traced in enumerate(steps):
        before = traced.step.path[:-1]
        # a step after a failed one began with the last right code before it
        while before and places.get(before, number) == number:
            before = before[:-1]
        parents[number] = places[before] if before else -1
    return parents


def _turns(run: RunRecord) -> Turns:
    """What the model was asked and answered at each place of the search."""
    turns: Turns = {}
    for key, reply in run.replies:
        prompt = run.prompts[key].user if key in run.prompts else ""
        turns.setdefault((key.path, key.attempt), []).append(Exchange(prompt, reply.text))
    return turns


def _tell(run: RunRecord, node: Node, step: StepRecord, before: str, turns: Turns) -> None:
    node.turns = tuple(turns.get(place_of(step), ()))
    node.code = step.code or ""
    node.diagnosis = step.diagnosis
    node.diff = _diff(before, node.code) if before and node.code else ""
    hash_ = code_hash(node.code)
    if hash_ in run.reports:
        node.facts |= measured(run.reports[hash_])
    again = run.finals.get(hash_)
    if again is not None and again.speedup is not None:
        node.facts["measured again"] = times(again.speedup)


def measured(judged: EvalReport) -> dict[str, str]:
    """Facts of a measurement, in words."""
    interval, account = judged.speedup_interval, judged.account
    facts = {
        "time of a call": seconds(judged.timing.median) if judged.timing else "",
        "95 % interval": interval.as_times if interval else "",
        "roofline": str(account) if account and account.roof else "",
        "not a quiet machine": judged.load,
    }
    return {name: text for name, text in facts.items() if text}


def _diff(before: str, after: str) -> str:
    """A unified diff, without its head; "" where the two are alike."""
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    # difflib takes minutes for long files
    if max(len(old), len(new)) > MOST_LINES:
        return ""
    return "\n".join([*difflib.unified_diff(old, new, lineterm="")][2:])
