"""The parts of a search: problem, judge, model, graph."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from regraph_kg.cpp.kinds import kind_of
from regraph_kg.errors import AnswersPending
from regraph_kg.llm.model import LanguageModel
from regraph_kg.models.evaluation import code_hash
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.models.run import RunHeader, SearchChoice, Task
from regraph_kg.search.driver import Executor
from regraph_kg.search.executor import Threads
from regraph_kg.search.prompts.render import prompts_id
from regraph_kg.search.reader import GraphReader
from regraph_kg.search.run_record import OF_CHOICE
from regraph_kg.search.world import World
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judges
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.open_model import language_model
from regraph_kg.wiring.problems import good_problem, task_of
from regraph_kg.wiring.stores import open_store

if TYPE_CHECKING:  # numpy comes with them
    from regraph_kg.evaluation.evaluator import Evaluator
    from regraph_kg.evaluation.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class OpenSearch:
    task: Task
    header: RunHeader
    world: World
    model: LanguageModel
    executor: Executor
    key: bytes = field(repr=False)  # the key of its trace (key.py)


@contextmanager
def open_search(settings: Settings, choice: SearchChoice) -> Iterator[OpenSearch]:
    """Open the parts of one search, whose calls and evaluations an exception ends at once."""
    problem = good_problem(settings, choice.problem)
    # existing answers come in their order: several threads would gain nothing
    in_turn = choice.parallel == 1 or not choice.model.asks_server
    at_once = 1 if in_turn else choice.parallel
    with ExitStack() as stack:
        staff = stack.enter_context(ExitStack())  # closes last, after judge and model
        model = language_model(settings, choice.model, problem.name, choice.target)
        stack.callback(model.close)
        judge, most = stack.enter_context(open_judges(settings, choice.target, at_once))
        callers = ThreadPoolExecutor(at_once, "model")
        judges = callers if in_turn else ThreadPoolExecutor(most, "judge")
        for threads in (callers, judges):
            staff.callback(threads.shutdown, cancel_futures=True)
        opened = reading(settings, choice, problem, (judge, judges), model)
        task, header, world = stack.enter_context(opened)
        executor = Threads(world, callers, judges)
        yield OpenSearch(task, header, world, model, executor, trace_key(settings))


@contextmanager
def reading(
    settings: Settings,
    choice: SearchChoice,
    problem: "Problem",
    judging: tuple["Evaluator", ThreadPoolExecutor],
    model: LanguageModel,
) -> Iterator[tuple[Task, RunHeader, World]]:
    """A search's task, header and world; the graph is opened when first read.

    `judging`: the judge, and its threads.
    """
    judge, judges = judging
    task = task_of(problem, choice.target, settings.cache_dir)
    header = RunHeader(
        version=version("regraph-kg"),
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        problem=task.problem,
        serial=code_hash(task.serial),
        target=task.target,
        **{name: getattr(choice, name) for name in OF_CHOICE},
        model=model.name,
        device=judge.device(choice.target),
        toolchain=judge.toolchain(choice.target),
        prompts=prompts_id(),
        excluded=None if choice.include_own else task.problem,
    )
    reader = GraphReader(
        lambda: open_store(settings, retry_seconds=2.0),
        header.device,
        header.excluded,
        kind_of(task.serial, task.entry),
        header.model,
    )
    world = World(
        neighbours=reader.neighbours,
        complete=partial(_answer, model),
        evaluate=lambda candidate, best, grade: judge.evaluate(
            candidate, problem, grade=grade, incumbent_seconds=best
        ),
        evaluate_final=lambda candidate: judges.submit(
            judge.evaluate, candidate, problem, grade=choice.final
        ).result(),
        pooled=partial(reader.pooled, choice.target),
        transforms=partial(reader.transforms, choice.target),
    )
    # the graph opens at the first read: a method without a graph needs no store
    with closing(reader):
        yield task, header, world


def _answer(model: LanguageModel, prompt: Prompt) -> Reply:
    """The model's reply; a pending one must not get into a trace."""
    reply = model.complete(prompt)
    if reply.finish == "pending":
        raise AnswersPending("the answer is to come by file")
    return reply
