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

from regraph_kg.errors import AnswersPending, BadInput
from regraph_kg.models.base import Target
from regraph_kg.settings import Settings

if TYPE_CHECKING:
    from regraph_kg.backends.address import Address
    from regraph_kg.backends.backup import Backup
    from regraph_kg.backends.embedded import State
    from regraph_kg.backends.migrate import Migrator
    from regraph_kg.evaluation.evaluate import Judge
    from regraph_kg.evaluation.problem import Problem
    from regraph_kg.graph import Curator, GraphStore
    from regraph_kg.ingest.relabel.cascade import Cascade
    from regraph_kg.llm.batch import BatchStatus
    from regraph_kg.llm.embedder import Embedder
    from regraph_kg.llm.model import LanguageModel
    from regraph_kg.models.curation import Concern
    from regraph_kg.models.evaluation import Candidate, EvalReport
    from regraph_kg.models.graph import EmbeddingSpace, RelabelLevel
    from regraph_kg.models.prompt import Prompt, Reply
    from regraph_kg.models.run import RunHeader, SearchChoice, SimulationRecord, Task
    from regraph_kg.models.technique import Technique, Vocabulary
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


def open_curator(settings: Settings, *, retry_seconds: float = 60.0) -> "Curator":
    """What changes the vocabulary of these settings' graph. Close it after use.

    Raises as `open_store` does. A curation takes longer than a merge, and is tried longer.
    """
    from regraph_kg.backends.bolt import Bolt  # noqa: PLC0415
    from regraph_kg.backends.curate import BoltCurator  # noqa: PLC0415

    open_store(settings, retry_seconds=retry_seconds).close()  # it is ours, and of our version
    return BoltCurator(Bolt(store_address(settings), retry_seconds=retry_seconds))


def audit(curator: "Curator") -> "tuple[Concern, ...]":
    """What a curator should look at in the vocabulary of a graph."""
    from regraph_kg.ingest.audit import audit  # noqa: PLC0415
    from regraph_kg.ingest.relabel.candidates import Shortlists  # noqa: PLC0415

    usage = curator.usage()
    shortlists = Shortlists([one.technique for one in usage])

    def near(name: str, target: Target) -> Iterator[tuple[str, float]]:
        for candidate in shortlists.of(name, target).candidates:
            yield candidate.technique.id, candidate.lexical

    return audit(usage, curator.verdicts(), curator.log(), near)


def open_migrator(settings: Settings) -> "Migrator":
    """What carries these settings' graph to our version. Close it after use."""
    from regraph_kg.backends.bolt import Bolt  # noqa: PLC0415
    from regraph_kg.backends.migrate import Migrator  # noqa: PLC0415

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # what matters becomes a StoreError
    return Migrator(Bolt(store_address(settings), retry_seconds=60.0))


def open_backup(settings: Settings) -> "Backup":
    """Backup and restore of these settings' graph. Close it after use."""
    from regraph_kg.backends.backup import Backup  # noqa: PLC0415
    from regraph_kg.backends.bolt import Bolt  # noqa: PLC0415

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)  # what matters becomes a StoreError
    return Backup(Bolt(store_address(settings), retry_seconds=60.0))


def store_address(settings: Settings) -> "Address":
    """Where the store listens and how to log in; starts the embedded one if needed."""
    from regraph_kg.backends.address import Address  # noqa: PLC0415

    if settings.store == "embedded":
        return start_embedded(settings).address
    password = settings.store_password.get_secret_value()
    return Address(
        settings.store,
        settings.store_user,
        password,
        settings.store_database,
        ca=settings.store_ca,
    )


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


def cascade(
    settings: Settings,
    vocabulary: "Vocabulary",
    level: "RelabelLevel",
    model: "LanguageModel | None" = None,
) -> "Cascade":
    """What tells which techniques names mean that `vocabulary` does not list, as far as `level`.

    At "model", `model` is asked, by default the one of these settings.
    """
    from regraph_kg.ingest.relabel.agreement import EmbedRule  # noqa: PLC0415
    from regraph_kg.ingest.relabel.candidates import Shortlists  # noqa: PLC0415
    from regraph_kg.ingest.relabel.cascade import Cascade  # noqa: PLC0415
    from regraph_kg.ingest.relabel.decide import ModelStage  # noqa: PLC0415
    from regraph_kg.ingest.relabel.lexical import LexicalRule  # noqa: PLC0415

    if level == "exact":
        return Cascade(vocabulary)
    techniques = vocabulary.mergeable
    lexical = LexicalRule(techniques)
    if level == "lexical":
        return Cascade(vocabulary, [lexical], Shortlists(techniques))
    shortlists = Shortlists(techniques, embedder(settings))
    if level == "embed":
        return Cascade(vocabulary, [lexical, EmbedRule(techniques)], shortlists)
    model = model or any_model(settings, settings.model)
    return Cascade(vocabulary, [lexical, ModelStage(model, vocabulary)], shortlists, model.finish)


def recorded_verdicts(settings: Settings) -> "LanguageModel":
    """The recorded answers to labels of the corpus's labelled set (half "test")."""
    from regraph_kg.ingest.check import read_recorded  # noqa: PLC0415
    from regraph_kg.llm.scripted import ScriptedModel  # noqa: PLC0415

    answers = read_recorded(settings.corpus / "relabel" / "recorded" / "test.jsonl")
    return ScriptedModel("recorded", answers)


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
    """The model that `spec` names: "recorded" (answers in the corpus), or as `any_model`."""
    from regraph_kg.llm.scripted import ScriptedModel  # noqa: PLC0415

    if spec == "recorded":
        return ScriptedModel.read(settings.corpus / "recorded", problem, target)
    return any_model(settings, spec)


def any_model(settings: Settings, spec: str) -> "LanguageModel":
    """The model that `spec` names, for prompts of any kind: "ollama:NAME" or "batch:FOLDER"."""
    from regraph_kg.llm.batch import BatchModel  # noqa: PLC0415
    from regraph_kg.llm.ollama import OllamaModel  # noqa: PLC0415

    kind, _, name = spec.partition(":")
    if kind == "ollama" and name:
        return OllamaModel(
            settings.ollama_url,
            name,
            timeout=settings.model_timeout_seconds,
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
        )
    if kind == "batch" and name:
        return BatchModel(
            Path(name),
            settings.batch_model,
            temperature=settings.model_temperature,
            max_tokens=settings.model_max_tokens,
        )
    raise BadInput(f'model {spec!r}: know "recorded", "ollama:NAME" and "batch:FOLDER"')


def batch_status(folder: Path) -> "BatchStatus":
    """How far the answers to the prompts of "batch:`folder`" have come."""
    from regraph_kg.llm import batch  # noqa: PLC0415

    return batch.status(folder)


def embedder(settings: Settings, known: "EmbeddingSpace | None" = None) -> "Embedder":
    """The embedder of these settings, or of `known`, a graph's space, where they name none.

    Raises `BadInput` for one of another space than `known`.
    """
    from regraph_kg.llm.embedder import open_embedder, spec_of  # noqa: PLC0415

    unset = "hash" if known is None else spec_of(known)
    opened = open_embedder(
        settings.embedder or unset, settings.ollama_url, timeout=settings.model_timeout_seconds
    )
    if known is not None and opened.space != known:
        remedy = "" if spec_of(opened.space) == unset else f"set REGRAPH_EMBEDDER={unset}, or "
        raise BadInput(
            f"the graph holds embeddings of {known.model} ({known.dimension} dimensions), not of"
            f" {opened.space.model} ({opened.space.dimension}): {remedy}change the graph with"
            " regraph graph reembed --embedder"
        )
    return opened


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


def browser_query(path: Sequence[str]) -> str:
    """What to paste into Neo4j Browser to see the best examples along `path` (technique ids).

    One statement with the path in it as a literal (every JSON text is one of Cypher): Browser runs
    a `:param` line together with a query, but then draws nothing.
    """
    import json  # noqa: PLC0415

    from regraph_kg.backends import queries  # noqa: PLC0415

    (statement,) = queries.statements("browse_path", "neo4j")
    return statement.replace("$path", json.dumps(list(path)), 1)


def write_browser_pack(folder: Path) -> tuple[Path, Path]:
    """Write saved queries and a style for Neo4j Browser into a folder; their paths."""
    from regraph_kg.backends.browser import write_pack  # noqa: PLC0415

    try:
        return write_pack(folder)
    except OSError as error:
        raise BadInput(f"{folder}: {error.strerror}; give a folder to write into") from None
