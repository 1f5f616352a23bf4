"""Searches of one bench share a model, a judge and their threads, and take turns."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.run import SearchChoice
from regraph_kg.search.executor import Threads
from regraph_kg.search.world import World
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judges
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.open_model import any_model, language_model
from regraph_kg.wiring.problems import good_problem
from regraph_kg.wiring.searches import OpenSearch, reading


@dataclass(frozen=True, slots=True)
class SharedParts:
    """Open parts of several searches (`open_shared`)."""

    settings: Settings
    model: LanguageModel | None  # None where each problem has its own
    judge: Evaluator
    callers: ThreadPoolExecutor
    judges: ThreadPoolExecutor

    @contextmanager
    def search(
        self, choice: SearchChoice, graph_shown: Callable[[World], World]
    ) -> Iterator[OpenSearch]:
        """Open one search, in any thread; `graph_shown` makes a control of its world."""
        settings = self.settings
        problem = good_problem(settings, choice.problem)
        with ExitStack() as stack:
            model = self.model
            # recorded answers are those of one problem; an arm without a model has none
            if model is None or choice.model.kind == "none":
                model = language_model(settings, choice.model, problem.name, choice.target)
                stack.callback(model.close)
            opened = reading(settings, choice, problem, (self.judge, self.judges), model)
            task, header, live = stack.enter_context(opened)
            world = graph_shown(live)
            # first come, first served: a search has few pieces waiting, so none keeps another out
            executor = Threads(world, self.callers, self.judges)
            yield OpenSearch(task, header, world, model, executor, trace_key(settings))


@contextmanager
def open_shared(settings: Settings, choice: SearchChoice) -> Iterator[SharedParts]:
    """Open the shared parts of searches that equal `choice` but for their problems.

    An exception ends calls and evaluations at once; what waits is cancelled.
    """
    model = None if choice.model.is_recorded else any_model(settings, choice.model)
    at_once = choice.parallel if choice.model.asks_server else 1
    with ExitStack() as stack:
        staff = stack.enter_context(ExitStack())  # closes last, after judge and model
        if model is not None:
            stack.callback(model.close)
        judge, most = stack.enter_context(open_judges(settings, choice.target, at_once))
        callers = ThreadPoolExecutor(choice.parallel, "model")
        judges = ThreadPoolExecutor(most, "judge")
        for threads in (callers, judges):
            staff.callback(threads.shutdown, cancel_futures=True)
        yield SharedParts(settings, model, judge, callers, judges)
