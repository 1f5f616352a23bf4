"""What a search needs: problem, judge, model, graph."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from regraph_kg.errors import AnswersPending, BadInput
from regraph_kg.models.base import Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.answers import embedder, language_model
from regraph_kg.wiring.stores import open_store

if TYPE_CHECKING:
    from regraph_kg.evaluation.evaluate import Judge
    from regraph_kg.evaluation.fleet import Fleet
    from regraph_kg.evaluation.problem import Problem
    from regraph_kg.llm.model import LanguageModel
    from regraph_kg.models.evaluation import Candidate, EvalReport
    from regraph_kg.models.prompt import Prompt, Reply
    from regraph_kg.models.run import RunHeader, SearchChoice, SimulationRecord, Task
    from regraph_kg.search.world import World


def open_judge(
    settings: Settings, grade: Literal["screening", "full"] = "screening"
) -> "Judge | Fleet":
    """Who judges: this machine, or the cluster that the settings name; a context manager."""
    if settings.workers:
        return _open_fleet(settings, settings.workers, grade)
    return local_judge(settings, grade)


def local_judge(settings: Settings, grade: Literal["screening", "full"] = "screening") -> "Judge":
    """The judge of this machine; a context manager."""
    from regraph_kg.evaluation.evaluate import Judge  # noqa: PLC0415

    if settings.workers:
        raise BadInput("setting workers: this is measured on one machine; unset REGRAPH_WORKERS")
    return Judge(settings.cache_dir, grade=grade, isolation=settings.isolation, gpu=settings.gpu)


def _open_fleet(settings: Settings, address: str, grade: Literal["screening", "full"]) -> "Fleet":
    from regraph_kg.evaluation.fleet import Fleet  # noqa: PLC0415
    from regraph_kg.evaluation.pool import PoolOptions  # noqa: PLC0415

    token = settings.data_dir / "worker-token"
    options = PoolOptions(grade=grade, isolation=settings.isolation, tries=1)
    return Fleet(address, options, token=token if token.exists() else None)


def find_problem(settings: Settings, name: str) -> "Problem":
    """A problem of the corpus by name, or the one in the folder `name`."""
    from regraph_kg.evaluation.problem import load_problem  # noqa: PLC0415

    folder = settings.corpus / "problems"
    if "/" not in name and (folder / name / "problem.toml").exists():
        return load_problem(folder / name)
    if Path(name).is_dir():
        return load_problem(Path(name))
    known = sorted(path.parent.name for path in folder.glob("*/problem.toml"))
    raise BadInput(
        f"problem {name}: neither a folder nor in {folder} (there: {', '.join(known) or 'none'})"
    )


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """The parts of one search, open: what it is about, and whom it asks."""

    task: "Task"
    header: "RunHeader"
    world: "World"
    model: "LanguageModel"


@contextmanager
def open_search(settings: Settings, choice: "SearchChoice") -> Iterator[OpenSearch]:
    """All that `choice` needs, closed again at the end; the graph is opened when first read."""
    from regraph_kg.models.run import Task  # noqa: PLC0415
    from regraph_kg.search.reader import GraphReader  # noqa: PLC0415
    from regraph_kg.search.world import World  # noqa: PLC0415

    problem = find_problem(settings, choice.problem)
    task = Task(
        problem=problem.name,
        target=choice.target,
        serial=problem.serial_code,
        entry=problem.entry,
        signature=problem.signature(),
    )
    model = language_model(settings, choice.model, task.problem, task.target)
    with ExitStack() as stack:
        bench = stack.enter_context(_bench(settings, choice.judge, problem, task.target))
        header = _header(choice, task, model.name, bench)
        reader = GraphReader(
            partial(open_store, settings, retry_seconds=2.0),
            bench.device,
            header.excluded,
            partial(embedder, settings),
        )
        stack.callback(reader.close)
        world = World(
            neighbours=reader.neighbours,
            examples=reader.examples,
            complete=partial(_answer, model),
            evaluate=bench.evaluate,
            evaluate_final=bench.evaluate_final,
        )
        yield OpenSearch(task, header, world, model)


def _answer(model: "LanguageModel", prompt: "Prompt") -> "Reply":
    """The model's reply; what is pending is none, and must not get into a trace."""
    reply = model.complete(prompt)
    if reply.finish == "pending":
        raise AnswersPending("the answer is to come by file")
    return reply


def start_search(task: "Task", header: "RunHeader", world: "World") -> "Iterator[SimulationRecord]":
    """The search that `header` names, from its beginning; `world` may be a trace's."""
    import random  # noqa: PLC0415

    from regraph_kg.models.run import McgsSettings, PaperSettings  # noqa: PLC0415
    from regraph_kg.search import mcgs, paper, standard  # noqa: PLC0415
    from regraph_kg.search.state import Budget  # noqa: PLC0415

    budget, rng = Budget(header.budget), random.Random(header.seed)
    match header.settings:
        case McgsSettings() as settings:
            return mcgs.search(task, world, settings, budget=budget, rng=rng)
        case PaperSettings() as settings:
            return paper.search(task, world, settings, budget=budget, rng=rng)
        case _:
            return standard.search(task, world, budget=budget, rng=rng)


@dataclass(frozen=True, slots=True)
class _Bench:
    """A judge bound to one problem and target."""

    name: str
    device: str
    toolchain: str
    evaluate: "Callable[[Candidate], EvalReport]"
    evaluate_final: "Callable[[Candidate], EvalReport]"


@contextmanager
def _bench(
    settings: Settings, recorded: Path | None, problem: "Problem", target: Target
) -> Iterator[_Bench]:
    """The judge of this machine, or the verdicts of the trace `recorded`."""
    import hashlib  # noqa: PLC0415

    from regraph_kg.search.trace import RecordedEvaluator, read_header  # noqa: PLC0415

    if recorded is not None:
        head = read_header(recorded)
        yield _Bench(
            f"recorded:{hashlib.sha256(recorded.read_bytes()).hexdigest()[:12]}",
            head.device,
            head.toolchain,
            RecordedEvaluator(recorded, "report"),
            RecordedEvaluator(recorded, "final"),
        )
        return
    with open_judge(settings) as judge:
        yield _Bench(
            "live",
            judge.device(target),
            judge.toolchain(target),
            lambda candidate: judge.evaluate(candidate, problem),
            lambda candidate: judge.evaluate(candidate, problem, grade="full"),
        )


def _header(choice: "SearchChoice", task: "Task", model: str, bench: _Bench) -> "RunHeader":
    from datetime import UTC, datetime  # noqa: PLC0415
    from importlib.metadata import version  # noqa: PLC0415

    from regraph_kg.models.evaluation import code_hash  # noqa: PLC0415
    from regraph_kg.models.run import RunHeader  # noqa: PLC0415
    from regraph_kg.search.prompt import prompts_id  # noqa: PLC0415

    return RunHeader(
        version=version("regraph-kg"),
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        problem=task.problem,
        serial=code_hash(task.serial),
        target=task.target,
        method="standard" if choice.settings.preset == "standard" else "mcgs",
        settings=choice.settings,
        budget=choice.budget,
        seed=choice.seed,
        model=model,
        judge=bench.name,
        device=bench.device,
        toolchain=bench.toolchain,
        prompts=prompts_id(),
        excluded=None if choice.include_own else task.problem,
    )
