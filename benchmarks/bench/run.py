"""The run of a bench: several searches at once, each resumed where it stopped.

Its folder holds results.json, and for each search a folder with its trace. A search whose result is
in the file is not run again; one that was stopped goes on from its trace. A loss for all (model,
store, compiler) ends the bench; a fault of one problem leaves it out. Not here: figures and tables.
"""

import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.bench import results
from benchmarks.bench.arms import Arm
from benchmarks.bench.null_graphs import shown
from benchmarks.bench.record import BenchAnswer, BenchResults, BenchRun, LeftOut
from benchmarks.bench.shared import SharedParts, open_shared
from regraph_kg.errors import BadInput, Environment, Interrupted
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.models.evaluation import Outcome, code_hash
from regraph_kg.models.run import RunSummary, SearchChoice, StepRecord, Task
from regraph_kg.models.target import Target
from regraph_kg.models.technique import start_id
from regraph_kg.private import make_folder
from regraph_kg.runs.search import LiveRun, begin
from regraph_kg.search.run import started_from
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.world import World
from regraph_kg.settings import Settings
from regraph_kg.wiring.searches import OpenSearch


@dataclass(frozen=True, slots=True)
class BenchSearch:
    """One search of a bench."""

    problem: str
    address: str  # the name or folder of the problem
    target: Target
    arm: Arm
    seed: int

    @property
    def place(self) -> tuple[str, str, str, int]:
        """The key of its result."""
        return self.problem, self.target, str(self.arm), self.seed

    @property
    def folder(self) -> str:
        """The name of its folder in the bench's."""
        arm = str(self.arm).replace("/", "-")
        return f"{self.problem}.{self.target}.{arm}.{self.seed}"


Ended = Callable[[BenchSearch, BenchRun | LeftOut], None]
"""Hears that a search has ended, or cannot be; called from any thread."""


@dataclass(frozen=True, slots=True)
class BenchOrder:
    """What a bench is to compare, and where. `choice` holds what all searches share."""

    settings: Settings
    choice: SearchChoice
    folder: Path
    command: Sequence[str]
    problems: tuple[str, ...]  # names or folders; none: all that are shipped
    arms: tuple[Arm, ...]
    targets: tuple[Target, ...]
    seeds: int


class RunningBench:
    def __init__(self, order: BenchOrder, begun: BenchResults, ended: Ended) -> None:
        """`begun` are its results so far; the caller locks the folder."""
        self._order, self._ended = order, ended
        self.results = begun
        self._saving = threading.Lock()

    def run(self, remaining: Sequence[BenchSearch]) -> None:
        """Run searches of one target; raises `Interrupted` with the command that goes on."""
        first = remaining[0]
        choice = replace(self._order.choice, target=first.target, problem=first.address)
        # more searches than calls: some are judged while others ask the model
        at_once = 1 if choice.parallel == 1 else choice.parallel + choice.parallel // 2
        with (
            self._resumable(),
            ThreadPoolExecutor(min(at_once, len(remaining)), "search") as threads,
            open_shared(self._order.settings, choice) as shared,
        ):
            begun = [threads.submit(self._search, shared, search) for search in remaining]
            try:
                ended = wait(begun, return_when=FIRST_EXCEPTION).done
                errors = [error for future in ended if (error := future.exception()) is not None]
                # a cancellation only follows from another error
                for error in sorted(errors, key=lambda error: isinstance(error, CancelledError)):
                    raise error
            except BaseException:
                # what has not begun would find model and judge closed
                for future in begun:
                    future.cancel()
                raise

    @contextmanager
    def _resumable(self) -> Iterator[None]:
        """Turn errors that end a bench into `Interrupted` with the command that goes on."""
        try:
            yield
        except (KeyboardInterrupt, CancelledError):
            why = "stopped"
        except Environment as error:
            why = str(error)
        else:
            return
        count = len(self.results.runs)
        raise Interrupted(
            f"{why}; searches done: {count}; go on: {shlex.join(self._order.command)}"
        ) from None

    def _search(self, shared: SharedParts, job: BenchSearch) -> None:
        """Run one search and keep its result; a problem that cannot be searched is left out."""
        folder = self._order.folder / "runs" / job.folder
        make_folder(folder)

        def graph_shown(world: World) -> World:
            # what a control takes from the graph is drawn anew for each seed and problem
            lot = f"{job.seed} {job.problem}"
            return shown(world, job.arm.graph, start_id(job.target), lot)

        try:
            with (
                shared.search(self._choice(job), graph_shown) as search,
                _resumed(search, folder) as run,
            ):
                for _ in run.records():
                    pass  # each is in the trace, which is read at the end
                summary = run.finish().summary
        # one problem's fault must not end the others
        except BadInput as error:
            out = LeftOut(name=job.problem, target=job.target, why=f"{job.arm}: {error}")
            with self._saving:
                self._save(left_out=(*self.results.left_out, out))
            self._ended(job, out)
            return
        result = self._result(job, RunRecord.read(run.trace), summary, search.task)
        with self._saving:
            self._save(runs=(*self.results.runs, result))
        self._ended(job, result)

    def _choice(self, job: BenchSearch) -> SearchChoice:
        model, limits = job.arm.model(self._order.choice.model), self._order.choice.limits
        return replace(
            self._order.choice,
            problem=job.address,
            target=job.target,
            settings=job.arm.settings(),
            model=model,
            limits=limits.model_copy(update={"calls": 0}) if model.kind == "none" else limits,
            graph=job.arm.graph,
            prompting=job.arm.prompting(self._order.choice.prompting),
            seed=job.seed,
            # calls at once are those of all searches together, which take turns
            parallel=1,
        )

    def _result(
        self, job: BenchSearch, run: RunRecord, summary: RunSummary, task: Task
    ) -> BenchRun:
        header = run.header
        port = started_from(task, lambda code: run.reports.get(code_hash(code))).port
        # None: it began with the serial code
        begun = run.reports.get(code_hash(port.whole(port.start))) if port else None
        return BenchRun(
            problem=job.problem,
            target=job.target,
            arm=str(job.arm),
            seed=job.seed,
            answers=read_answers(run),
            speedup=summary.speedup,
            speedup_interval=summary.speedup_interval,
            improved=summary.improved,
            start=begun and (begun.sure_speedup or 1.0),
            start_interval=begun.speedup_interval if begun and begun.is_known else None,
            cost=summary.cost,
            stopped=summary.stopped,
            by_rule=summary.cost.by_rule,
            unrecorded=summary.unrecorded,
            metric=task.metric,
            device=header.device,
            toolchain=header.toolchain,
            judge=", ".join(sorted({one.evaluator for one in run.reports.values()})) or EVALUATOR,
            prompts=header.prompts,
            model=header.model,
            trace=str(run.path.relative_to(self._order.folder)),
        )

    def _save(self, **new: object) -> None:
        """Update the results and their file; the caller holds the lock."""
        self.results = self.results.model_copy(update=new)
        results.write(self.results, self._order.folder)


@contextmanager
def _resumed(search: OpenSearch, folder: Path) -> Iterator[LiveRun]:
    """The search resumed from its trace; begun anew without one, or with an unfit one.

    An unfit trace stays in place: a compiler, a model or this program has changed since.
    """
    latest = max(folder.glob("*.jsonl"), default=None, key=lambda trace: trace.stat().st_mtime_ns)
    with ExitStack() as stack:
        try:
            run = stack.enter_context(begin(search, folder, latest))
        except BadInput:
            # a trace of another compiler or version fits no more; without one the fault is real
            if latest is None:
                raise
            run = stack.enter_context(begin(search, folder))
        yield run


def read_answers(record: RunRecord) -> tuple[BenchAnswer, ...]:
    """Every answer of the model to a request for code, in order; repaired ones count once."""
    steps = [step for iteration in record.records for step in iteration.steps]
    return tuple(
        _answer(step, record)
        for step in steps
        # The program that a search began with, and what a rule did, cost no call.
        if step.outcome is not None and step.cost.calls > 0
    )


def _answer(step: StepRecord, record: RunRecord) -> BenchAnswer:
    assert step.outcome is not None
    # A walk believes the product of what its steps gained; the report has the code's own speedup.
    report = record.reports.get(code_hash(step.code)) if step.code else None
    speedup = step.speedup if report is None else report.sure_speedup
    faster = step.outcome is Outcome.PASSED and (speedup or 0.0) > 1
    kind = "faster" if faster else step.outcome.kind
    if step.outcome.is_right and speedup is None:
        kind = "untimed"
    return BenchAnswer(
        kind=kind,
        # Code that changed nothing was not judged again: it may be the start, which is fast.
        speedup=None if step.outcome is Outcome.UNCHANGED else speedup,
        technique=step.technique or "",
    )
