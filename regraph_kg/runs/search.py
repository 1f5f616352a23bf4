"""A search from its open parts to its summary: begun or resumed, ended.

with open_run(settings, choice, Path("runs")) as run:
    for record in run.records():
        ...                      # it may be left at any time
    answer = run.finish()
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from regraph_kg import report
from regraph_kg.errors import BadInput
from regraph_kg.models.base import Frozen
from regraph_kg.models.run import RunSummary, SearchChoice, SimulationRecord, StepRecord
from regraph_kg.models.technique import start_id
from regraph_kg.search.final_answer import final_answer, finalists, summarise
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run import search as begin_search
from regraph_kg.search.trace import Trace
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.searches import OpenSearch, open_search
from regraph_kg.wiring.stores import open_store


class FinishedRun(Frozen):
    """The end of a search: its summary, and the code that is its answer."""

    summary: RunSummary
    code: str

    def __str__(self) -> str:
        walks = kind_of(self.summary.method).walks
        table = report.run_table(self.summary, {}, walks=walks)
        return f"{report.headline(self.summary)}\n{table}\n{self.code}"


class LiveRun:
    """A running search and its trace."""

    def __init__(self, search: OpenSearch, trace: Trace) -> None:
        """Use `open_run` or `begin`."""
        self._search, self._trace = search, trace
        self.header, self.trace, self.torn = search.header, trace.path, trace.torn
        self._ledger = Ledger(search.header.limits)
        self._world = trace.world(search.world)
        self._records: list[SimulationRecord] = []

    @property
    def verdicts(self) -> int:
        return self._records[-1].spent if self._records else 0

    @property
    def finalists(self) -> list[StepRecord]:
        """The best steps so far, which `finish` would measure again."""
        return finalists(self._records)

    def records(self) -> Iterator[SimulationRecord]:
        """Search; each iteration is in the trace when it is yielded.

        Raises the error that ends it: `ModelError` and `StoreError` after all retries of the
        patience, `ToolError`, `AnswersPending` where answers come by file.
        """
        # what the trace holds comes in again first, so that a resumed search is the same one
        executor = self._trace.executor(self._search.executor)
        search = self._search
        for record in begin_search(search.task, search.header, self._world, executor, self._ledger):
            # written before it is shown: what a user saw is never lost
            self._trace.record(record)
            self._records.append(record)
            yield record
        self._trace.stop(self._ledger.ended)

    def finish(self) -> FinishedRun:
        """Measure the best again in fresh processes; return the result of the search."""
        answer = final_answer(self._search.task, self._records, self._world.evaluate_final)
        summary = summarise(self.header, self._records, answer, self._ledger)
        return FinishedRun(summary=summary, code=answer.code)

    def publish(self, then: str = "") -> None:
        """Publish the prompts by file; `then` is the next command."""
        self._search.model.finish(then)


@contextmanager
def open_run(
    settings: Settings, choice: SearchChoice, folder: Path, resume: Path | None = None
) -> Iterator[LiveRun]:
    """Open a search with a new trace in `folder`, or the one to `resume`."""
    # a resumed search has read its graph already
    if resume is None:
        require_graph(settings, choice)
    with open_search(settings, choice) as search, begin(search, folder, resume) as run:
        yield run


@contextmanager
def begin(search: OpenSearch, folder: Path, resume: Path | None = None) -> Iterator[LiveRun]:
    """Begin a search whose parts are open, or go on with the one to `resume`."""
    if resume:
        trace = Trace.resume(resume, search.header, search.key)
    else:
        trace = Trace.create(folder, search.header, search.key)
    with trace:
        yield LiveRun(search, trace)


def require_graph(settings: Settings, choice: SearchChoice) -> None:
    """Raise `BadInput`, early, where the method walks a graph that has no first step."""
    if not kind_of(choice.settings.method).walks:
        return
    excluded = None if choice.include_own else find_problem(settings, choice.problem).name
    # a store that is down is told at once: nobody has spent anything yet
    with closing(open_store(settings, retry_seconds=2.0)) as store:
        start = start_id(choice.target)
        neighbourhood = store.neighbourhood(start, device="", limit=1, exclude_problem=excluded)
    if not (neighbourhood.successors or neighbourhood.claimed):
        without = f" without {excluded}'s own examples" if excluded else ""
        raise BadInput(
            f"the graph holds no {choice.target} technique to begin with{without}:"
            " run regraph ingest --starter, or regraph ingest FILE"
        )
