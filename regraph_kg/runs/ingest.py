"""Files of trajectories into the graph: names, vocabulary, batch by batch, embeddings.

Bad lines stop nothing and are listed beside their file. What the graph knows already is not added
twice, so that a story that ended early is simply begun again. Not here: what lines mean (ingest/).
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, BinaryIO

from regraph_kg import wiring
from regraph_kg.errors import BadInput, Environment, ModelError
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import FileOrigin, Rejected, read, split
from regraph_kg.ingest.relabel.cascade import Cascade
from regraph_kg.ingest.relabel.usage import Label, NameUse
from regraph_kg.ingest.relabel.verdict import LabelVerdict
from regraph_kg.models.graph import EmbeddingProgress, RelabelLevel
from regraph_kg.private import opener
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.settings import Settings

if TYPE_CHECKING:  # numpy comes with it, which not every search needs
    from regraph_kg.llm.embedder import Embedder

REJECTED = ".rejected.jsonl"
NO_TRAJECTORIES = "not JSON; give Trajectory JSONL (regraph graph schema), or step lists"
SETTLED_FIRST: tuple[RelabelLevel, ...] = ("lexical", "embed", "model")
"""Levels that decide all names before anything is added: new ones are put beside each other."""
COUNTS = ("added", "known", "examples", "measurements", "techniques", "rejected")
SMOOTH = 1000
"""Parts of the work of embedding; how many examples one stands for changes from step to step."""


@dataclass(frozen=True, slots=True)
class IngestSource:
    """What is to be ingested, and how its names are read."""

    files: Sequence[Path]
    origin: FileOrigin | None = None
    """Of step lists."""
    vocabulary: Path | None = None
    """A list of techniques; None: the corpus's."""
    level: RelabelLevel = "lexical"


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of files: `COUNTS`, and where rejected lines are listed with their reasons."""

    counts: Counter[str]
    rejected_files: tuple[Path, ...]

    @property
    def all_bad(self) -> bool:
        """Whether there was nothing but rejected lines."""
        counts = self.counts
        return bool(counts["rejected"]) and not counts["added"] + counts["known"]


@dataclass(frozen=True, slots=True)
class NamesRead:
    """What each name in files would be taken for, and how it is used."""

    uses: dict[Label, NameUse]
    verdicts: tuple[LabelVerdict, ...]


def ingest_files(settings: Settings, source: IngestSource) -> Story[Ingested]:
    """Merge files into the graph of these settings. `BadInput` for a file that cannot be read."""
    files = yield from _readable(source.files)
    curated = wiring.vocabulary(settings, source.vocabulary)
    counts = Counter(dict.fromkeys(COUNTS, 0))
    rejected: list[Path] = []
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.read_vocabulary(store, curated)
        cascade = wiring.cascade(settings, names, source.level)
        if source.level in SETTLED_FIRST:
            yield from _settle(files, source.origin, cascade)
        embedder = wiring.embedder(settings, store.embedding_space())
        store.add_techniques(names.curated)
        for path in files:
            rejected += yield from _take(path, source.origin, store, cascade, counts)
        yield from embed_new(store, embedder)
    return Ingested(counts, tuple(rejected))


def read_names(settings: Settings, source: IngestSource) -> Story[NamesRead]:
    """Only decide what the names in files mean; the graph is read, and nothing is added to it."""
    files = yield from _readable(source.files)
    curated = wiring.vocabulary(settings, source.vocabulary)
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.read_vocabulary(store, curated)
        cascade = wiring.cascade(settings, names, source.level)
        return (yield from _settle(files, source.origin, cascade))


def grow(
    settings: Settings, lines: BinaryIO, level: RelabelLevel, title: str
) -> Story[Counter[str]]:
    """Merge `lines` that are known to be good, such as learned ones; their `COUNTS`."""
    counts = Counter(dict.fromkeys(COUNTS, 0))
    size = lines.seek(0, 2)
    lines.seek(0)
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, wiring.vocabulary(settings))
        cascade = wiring.cascade(settings, names, level)
        embedder = wiring.embedder(settings, store.embedding_space())
        for batch in pipeline.ingest(read(split(lines)), store, cascade):
            _count(batch, counts)
            yield WorkDone(title, lines.tell(), size, title)
        yield from embed_new(store, embedder)
    return counts


def embed_new(store: GraphStore, embedder: "Embedder") -> Story[None]:
    """Embed the examples of `store` that have no embedding yet.

    Where the model fails, the message says that nothing else is lost.
    """
    try:
        yield from embedding(store.embed(embedder.space, embedder.embed))
    except ModelError as error:
        raise ModelError(
            f"{error}; the graph has everything but some embeddings, which come with the next"
            " ingest, or with regraph graph reembed"
        ) from None


def embedding(steps: Iterable[EmbeddingProgress]) -> Story[None]:
    """Do the steps by which a graph gets its vectors."""
    for one in steps:
        share = SMOOTH * one.done // max(one.total, 1)
        said = f"{one.step}: {one.done} of {one.total} examples"
        yield WorkDone("embedding", share, SMOOTH, said)


def _readable(files: Sequence[Path]) -> Story[list[Path]]:
    """The files to ingest, without lists of earlier rejections; each can be read."""
    for path in files:
        try:
            path.open("rb").close()
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; give files of trajectories") from None
    lists = [path for path in files if path.name.endswith(REJECTED)]
    for path in lists:
        yield WorkDone("files", line=f"{path}: left out, it lists rejected lines")
    return [path for path in files if path not in lists]


def _settle(files: Sequence[Path], origin: FileOrigin | None, cascade: Cascade) -> Story[NamesRead]:
    """Decide every name in the files."""
    uses: dict[Label, NameUse] = {}
    for path in files:
        with path.open("rb") as file:
            for label, use in pipeline.survey(read(split(file), origin), cascade).items():
                uses[label] = uses[label] + use if label in uses else use
    cost = cascade.cost(uses)
    if cost.prompts:
        said = f"{cost.names} names to ask about: {cost.prompts} prompts at least"
        yield WorkDone("names", line=f"{said}, about {cost.tokens:,} tokens")
    verdicts: list[LabelVerdict] = []
    for verdict in cascade.settle(uses):
        verdicts.append(verdict)
        done, total = len(verdicts), len(uses)
        yield WorkDone("names", done, total, f"names: {done} of {total}")
    return NamesRead(uses, tuple(verdicts))


def _take(
    path: Path,
    origin: FileOrigin | None,
    store: GraphStore,
    cascade: Cascade,
    counts: Counter[str],
) -> Story[list[Path]]:
    """Merge one file, and count; where its rejected lines are listed, if there are any.

    Of a file of something else no list is made: it would hold all of it.
    """
    size, before = path.stat().st_size, counts["added"] + counts["known"]
    yield WorkDone(path.name, 0, size, path.name)
    with path.open("rb") as file, _room() as kept:
        for batch in pipeline.ingest(read(split(file), origin), store, cascade):
            _count(batch, counts)
            _keep(batch.rejected, kept)
            said = ", ".join(f"{counts[name]} {name}" for name in ("added", "known", "rejected"))
            yield WorkDone(path.name, file.tell(), size, f"{path.name}: {said}")
        if counts["added"] + counts["known"] > before or _is_json(kept):
            return _publish(kept, Path(f"{path}{REJECTED}"))
    yield WorkDone(path.name, size, size, line=f"{path}: {NO_TRAJECTORIES}")
    return []


def _count(batch: pipeline.Batch, counts: Counter[str]) -> None:
    counts.update({name: getattr(batch.counts, name) for name in COUNTS if name != "rejected"})
    counts["rejected"] += len(batch.rejected)


def _room() -> SpooledTemporaryFile[str]:
    """Room for the rejected lines of one file until it is through; a kill leaves no litter."""
    return SpooledTemporaryFile(2**20, "w+", encoding="utf-8")


def _keep(rejected: Sequence[Rejected], kept: IO[str]) -> None:
    for line in rejected:
        row = {"line": line.line.number, "reason": line.reason, "text": line.text()}
        kept.write(json.dumps(row, ensure_ascii=False) + "\n")


def _is_json(kept: IO[str]) -> bool:
    """Whether the first rejected line was meant to be JSON, or an empty file's."""
    kept.seek(0)
    first = json.loads(kept.readline())["text"]
    return not first or first[0] in "{["


def _publish(kept: IO[str], path: Path) -> list[Path]:
    """Write the report whole, or take an outdated one away; where it is, if it is."""
    kept.seek(0)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        if not kept.read(1):
            path.unlink(missing_ok=True)
            return []
        kept.seek(0)
        with open(draft, "w", encoding="utf-8", opener=opener) as file:
            file.writelines(kept)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Environment(
            f"{path}: {error.strerror}; the good lines are in the graph, the list of the rejected"
            " ones is lost: make room for it and run the same command again"
        ) from None
    return [path]
