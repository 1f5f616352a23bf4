"""Traces for tests of pages: a search in the toy world, and one whose every text is hostile."""

from pathlib import Path

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import Cost, SimulationRecord, StepRecord
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import Evaluate, ModelRequest
from tests.search.recorded_run import HEADER, still, toy
from tests.search.toy import SEAL, Run, header, judge, traced

HOSTILE = (
    "</script><script>document.body.dataset.hit = 1</script>"
    "<!--<script>]]>\u2028\u2029\u202e\0"
    '<img src=http://127.0.0.1:9/x onerror="document.body.dataset.hit = 2">&lt;b&gt;\'"{{ 7*7 }}'
)
"""What would run, fetch, hide or break something if it ever became markup or script."""


def searched(folder: Path) -> tuple[Path, Run]:
    """A finished trace and what its run came to."""
    with Trace.create(folder, HEADER, SEAL, still) as trace:
        return trace.path, traced(toy(), trace, HEADER)


def step(number: int, speedup: float | None, code: str, **told: object) -> StepRecord:
    """The `number`-th step, each after the one before."""
    path = tuple(f"openmp/t{index}" for index in range(number + 1))
    usual: dict[str, object] = {
        "path": path,
        "technique": path[-1],
        "sample": 0,
        "outcome": Outcome.PASSED if speedup else Outcome.WRONG_ANSWER,
        "speedup": speedup,
        "gain": None,
        "cost": Cost(calls=1, evaluations=1),
        "code": code,
    }
    return StepRecord.model_validate(usual | told)


def record(number: int, *steps: StepRecord) -> SimulationRecord:
    """An iteration that bought these steps."""
    best = max((step.speedup or 1.0 for step in steps), default=1.0)
    return SimulationRecord(
        iteration=number,
        path=steps[-1].path,
        steps=steps,
        reward=1.0,
        spent=number + 1,
        best_speedup=best,
    )


def hostile(folder: Path) -> Path:
    """A finished run in which codes, names, answers and diagnoses are HOSTILE."""
    told = {
        name: HOSTILE for name in ("problem", "model", "device", "toolchain", "machine", "prompts")
    }
    head = header(budget=2, **told)
    path = (f"openmp/{HOSTILE}",)
    right = step(0, 2.0, "x=0.7 " + HOSTILE, path=path, technique=path[0], did=path[0])
    wrong = step(1, None, HOSTILE, path=(*path, *path), technique=path[0], diagnosis=HOSTILE)
    with Trace.create(folder, header(budget=2), SEAL, still) as trace:
        name = trace.path
    name.unlink()
    with Trace(name, name.open("xb", buffering=0), SEAL, still) as trace:
        trace._append("header", "", head)
        for one in (right, wrong):
            key = PromptKey(problem="toy", target="openmp", path=one.path)
            asked = ModelRequest(Prompt(key=key, system="", user=""))
            trace.append_result(asked, Reply(text=HOSTILE, finish="stop", model=HOSTILE))
        trace.append_result(Evaluate(Candidate("openmp", right.code or "")), verdict(right))
        for number, one in enumerate((right, wrong)):
            trace.record(record(number, one))
        trace.world(toy().world).evaluate_final(Candidate("openmp", right.code or ""))
        trace.stop("verdicts")
    return name


def verdict(one: StepRecord) -> EvalReport:
    """What the judge would say of a step, with a machine of hostile names."""
    found = judge(Candidate("openmp", one.code or ""))
    return found.model_copy(update={"load": HOSTILE, "facts": {HOSTILE: HOSTILE}})
