"""Settings -> parts: the only place that names concrete stores, models and judges.

Each function imports what it builds, so that a command loads only what it needs: the judge alone
must not load a database driver.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from regraph_kg.errors import BadInput
from regraph_kg.models.base import Target
from regraph_kg.settings import Settings

if TYPE_CHECKING:
    from regraph_kg.backends.address import Address
    from regraph_kg.backends.embedded import State
    from regraph_kg.evaluation.evaluate import Judge
    from regraph_kg.evaluation.problem import Problem
    from regraph_kg.graph import GraphStore
    from regraph_kg.ingest.relabel import Labeller
    from regraph_kg.llm.model import LanguageModel
    from regraph_kg.models.evaluation import Candidate, EvalReport
    from regraph_kg.models.run import RunHeader, SearchChoice, SimulationRecord, Task
    from regraph_kg.models.technique import Technique
    from regraph_kg.search.world import World


def open_judge(settings: Settings, grade: Literal["screening", "full"] = "screening") -> "Judge":
    """The judge of this machine; a context manager."""
    from regraph_kg.evaluation.evaluate import Judge  # noqa: PLC0415

    return Judge(settings.cache_dir, grade=grade)


def open_store(settings: Settings, *, retry_seconds: float = 15.0) -> "GraphStore":
    """The graph store of these settings, its schema applied; the embedded one is started if needed.

    Close it after use. Raises `StoreError` when it is down, foreign, newer, or refuses us; what
    may be a passing conflict or outage is tried again for `retry_seconds`.
    """
    from regraph_kg.backends.bolt import Bolt  # noqa: PLC0415
    from regraph_kg.backends.store import BoltStore  # noqa: PLC0415

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # what matters becomes a StoreError
    store = BoltStore(Bolt(store_address(settings), retry_seconds=retry_seconds))
    try:
        store.apply_schema()
    except BaseException:
        store.close()
        raise
    return store


def store_address(settings: Settings) -> "Address":
    """Where the store listens and how to log in; starts the embedded one if needed."""
    from regraph_kg.backends.address import Address  # noqa: PLC0415

    if settings.store == "embedded":
        return start_embedded(settings).address
    password = settings.store_password.get_secret_value()
    return Address(settings.store, settings.store_user, password, settings.store_database)


def start_embedded(settings: Settings) -> "State":
    """The embedded store of `data_dir`, started if it does not run."""
    from regraph_kg.backends import embedded  # noqa: PLC0415

    return embedded.ensure(embedded_folder(settings), settings.store_idle_seconds)


def find_embedded(settings: Settings) -> "State | None":
    """The embedded store of `data_dir` if it runs."""
    from regraph_kg.backends import embedded  # noqa: PLC0415

    return embedded.find(embedded_folder(settings))


def stop_embedded(settings: Settings) -> "State | None":
    """End the embedded store of `data_dir`; what it was, or None when none ran."""
    from regraph_kg.backends import embedded  # noqa: PLC0415

    return embedded.stop(embedded_folder(settings))


def embedded_folder(settings: Settings) -> Path:
    """Where the embedded store keeps its data."""
    return settings.data_dir / "store"


def vocabulary(settings: Settings, path: Path | None = None) -> "tuple[Technique, ...]":
    """The techniques of `path`, by default those of the corpus; no two share a name."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    from regraph_kg.models.technique import Technique, Vocabulary  # noqa: PLC0415

    path = path or settings.corpus / "techniques.json"
    hint = "give a list of techniques: --vocabulary, or the corpus (REGRAPH_CORPUS)"
    try:
        techniques = TypeAdapter(tuple[Technique, ...]).validate_json(path.read_bytes())
        return Vocabulary(techniques).curated
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; {hint}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{path}: {where or 'not a list'}: {first['msg']}; {hint}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def labeller(vocabulary: "Sequence[Technique]") -> "Labeller":
    """What recognizes techniques under names that `vocabulary` does not list."""
    from regraph_kg.ingest.relabel import LexicalLabeller  # noqa: PLC0415

    return LexicalLabeller(vocabulary)


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


def language_model(settings: Settings, spec: str, problem: str, target: Target) -> "LanguageModel":
    """The model that `spec` names: "recorded" (answers in the corpus) or "ollama:NAME"."""
    from regraph_kg.llm.ollama import OllamaModel  # noqa: PLC0415
    from regraph_kg.llm.scripted import ScriptedModel  # noqa: PLC0415

    kind, _, name = spec.partition(":")
    if spec == "recorded":
        return ScriptedModel.read(settings.corpus / "recorded", problem, target)
    if kind == "ollama" and name:
        return OllamaModel(
            settings.ollama_url,
            name,
            timeout=settings.model_timeout_seconds,
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
        )
    raise BadInput(f'model {spec!r}: know "recorded" and "ollama:NAME"')


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """The parts of one search, open: what it is about, and whom it asks."""

    task: "Task"
    header: "RunHeader"
    world: "World"


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
            partial(open_store, settings, retry_seconds=2.0), bench.device, header.excluded
        )
        stack.callback(reader.close)
        world = World(
            neighbours=reader.neighbours,
            examples=reader.examples,
            complete=model.complete,
            evaluate=bench.evaluate,
            evaluate_final=bench.evaluate_final,
        )
        yield OpenSearch(task, header, world)


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


def browser_query(path: Sequence[str]) -> str:
    """What to paste into Neo4j Browser to see the examples along `path` (technique ids)."""
    import json  # noqa: PLC0415

    from regraph_kg.backends import queries  # noqa: PLC0415

    (statement,) = queries.statements("browse_path", "neo4j")
    return f":param path => {json.dumps(list(path))};\n{statement};"
