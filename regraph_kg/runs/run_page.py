"""Runs as pages: from traces to the values of a page.

Not here: how a trace is read (search/run_record.py), which steps are shown (steps_shown.py), the
page's text (pages/render.py).
"""

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from regraph_kg import report
from regraph_kg.errors import BadInput, RegraphError
from regraph_kg.models.evaluation import EvalReport, Outcome, code_hash
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.run import RunHeader, Task
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import times
from regraph_kg.pages.views import Dot, FailureRow, RunView
from regraph_kg.runs.steps_shown import (
    MOST_CHARACTERS,
    MOST_FACT,
    PageShare,
    step_name,
    steps_shown,
)
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run_record import RunRecord, TracedStep
from regraph_kg.settings import Settings
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.problems import find_problem, task_of

MOST_RUNS = 20
MOST_FACTS = 100
"""Facts of a machine, or of settings."""
MOST_FAILURES = 20
MOST_DIAGNOSIS = 200
"""Characters of a diagnosis that decide whether failures are the same."""
_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]?\d+)?")


def view_runs(settings: Settings, traces: Sequence[Path]) -> tuple[RunView, ...]:
    """The views of these traces. `BadInput` names the file that is no trace."""
    key = trace_key(settings)
    paths = list(dict.fromkeys(traces))
    if len(paths) > MOST_RUNS:
        raise BadInput(f"{len(paths)} runs are too many for a page: name {MOST_RUNS} at most")
    share = PageShare().of(len(paths))
    return tuple(_view(settings, RunRecord.read(path, key), share) for path in paths)


def _view(settings: Settings, run: RunRecord, share: PageShare) -> RunView:
    header, answer = run.header, run.answer
    task = _task(settings, header)
    serial = task.serial if task else ""
    tree = steps_shown(run, serial, share)
    best = None if run.finished and answer is None else run.best
    judged = answer[1] if answer else None
    interval = judged.speedup_interval if judged else None
    failures = failure_rows(run)
    return RunView(
        title=_short(f"{header.problem}, {header.target}"),
        file=run.path.name,
        state=run.state(),
        headline=_short(_headline(run)),
        speedup=judged.speedup if judged else best.speedup if best else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        roofline=str(judged.account) if judged and judged.account else "",
        share=_share(judged),
        path=_short(report.path(best.path)) if best else "",
        code=((best.code or "") if best else serial)[:MOST_CHARACTERS],
        notes=(*_notes(run, serial), *tree.left_out),
        rows=_rows(run),
        machine=_machine(header, judged),
        failures=failures[:MOST_FAILURES],
        more_failures=len(failures[MOST_FAILURES:]),
        bests=tuple(map(_dot, _thinned(run.bests, share.dots // 4))),
        dots=tuple(map(_dot, _thinned(run.steps, share.dots))),
        nodes=tree.nodes,
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
    if header.guarantee:
        yield f"these verdicts prove less than others: {header.guarantee}"
    if header.judge != "live":
        yield f"the verdicts were replayed from another trace ({header.judge})"
    if not serial:
        yield (
            f"the serial code of {header.problem} is not here, or is another one by now: the first"
            " steps are shown without their difference to it"
        )


def _rows(run: RunRecord) -> dict[str, str]:
    summary = run.summary()
    rows = report.run_rows(summary, walks=kind_of(summary.method).walks)
    elsewhere = {"path", "device", "failures"}
    return _facts({name: text for name, text in rows.items() if name not in elsewhere})


def _machine(header: RunHeader, judged: EvalReport | None) -> dict[str, str]:
    """Facts of the machine and the judge."""
    facts = {
        "device": header.device,
        "machine": header.machine,
        "compiler": header.toolchain,
        "judge": f"version {judged.evaluator}, times by {judged.metric}" if judged else "",
        "other work meanwhile": judged.load or "none" if judged else "",
    }
    return _facts(facts | dict(judged.facts) if judged else facts)


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
    return _facts(head | {name: str(value) for name, value in (method | prompting).items()})


def _commands(run: RunRecord) -> Iterator[str]:
    """The commands that search again, judge the answer again, and apply it."""
    header = run.header
    model = ModelSpec.traced(header.model)
    options = {
        "--target": header.target,
        "--method": header.method,
        "--model": str(model) if model and not model.by_file else "",
        "--budget": str(header.limits.calls),
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


def _share(judged: EvalReport | None) -> float | None:
    roof = judged.account.roof if judged and judged.account else None
    return None if roof is None else min(1.0, roof.share)


def failure_rows(run: RunRecord) -> tuple[FailureRow, ...]:
    """Failures, equal but for numbers in their diagnoses: most first, of equals the latest.

    A row shows the latest diagnosis, and the most frequent technique.
    """
    ways: dict[tuple[Outcome, str], list[tuple[str, str]]] = {}
    for step in (traced.step for traced in run.steps):
        harmless = (None, Outcome.DECLINED, Outcome.UNSTABLE_TIMING)
        if step.outcome in harmless or step.speedup is not None:
            continue
        diagnosis = step.diagnosis.partition("\n")[0][:MOST_DIAGNOSIS]
        way = step.outcome, _NUMBER.sub("0", diagnosis)
        ways[way] = ways.pop(way, [])  # moves to the end: the latest failure
        ways[way].append((diagnosis, step.technique or ""))
    rows = []
    for (outcome, _), steps in sorted(reversed(ways.items()), key=lambda item: -len(item[1])):
        technique = Counter(technique for _, technique in steps).most_common(1)[0][0]
        words = technique.partition("/")[2].replace("-", " ")
        rows.append(FailureRow(len(steps), outcome.words, steps[-1][0], words))
    return tuple(rows)


def _dot(traced: TracedStep) -> Dot:
    ended = traced.step.outcome.words if traced.step.outcome else ""
    return Dot(traced.call, traced.at, traced.step.speedup, step_name(traced.step), ended)


def _thinned(steps: Sequence[TracedStep], most: int) -> Sequence[TracedStep]:
    """At most `most` steps at equal distances, the last one among them."""
    # a slice from the end backwards holds the last step
    return steps[:: -max(1, -(-len(steps) // max(1, most)))][::-1]


def _short(text: str) -> str:
    """A text of bounded length: a stranger's may be a whole book."""
    return text if len(text) <= MOST_FACT else f"{text[:MOST_FACT]}.."


def _facts(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts with a text, at most `MOST_FACTS`, each a line."""
    pairs = ((_short(name), _short(text)) for name, text in facts.items() if text)
    return dict(itertools.islice(pairs, MOST_FACTS))
