"""Files of trajectories into the graph: names, vocabulary, batch by batch, embeddings.

Bad lines stop nothing and are listed beside their file. What the graph knows already is not added
twice, so that a story that ended early is simply begun again. Not here: what lines mean (ingest/).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, BinaryIO

from regraph_kg import wiring
from regraph_kg.errors import BadInput, ModelError, RegraphError
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.origin import FileOrigin, read_origin, sidecar
from regraph_kg.ingest.pipeline import BATCH_LINES
from regraph_kg.ingest.read import Accepted, Rejected, read, split
from regraph_kg.ingest.relabel.cascade import Cascade
from regraph_kg.ingest.relabel.usage import Label, NameUse
from regraph_kg.ingest.relabel.verdict import LabelVerdict
from regraph_kg.models.backup import FORMAT
from regraph_kg.models.graph import EmbeddingProgress, RelabelLevel
from regraph_kg.models.trajectory import Disclosure
from regraph_kg.runs import rejected
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.runs.rejected import REJECTED
from regraph_kg.runs.writers import Done, Errand, Writers
from regraph_kg.settings import Settings

NO_TRAJECTORIES = "not JSON; give Trajectory JSONL (regraph graph schema), or step lists"
SETTLED_FIRST: tuple[RelabelLevel, ...] = ("lexical", "embed", "model")
"""Levels that decide all names before anything is added: new ones are put beside each other."""
COUNTS = (
    *("added", "known", "disclosed_otherwise", "examples", "measurements", "techniques"),
    "rejected",
)
HEAD = 200
"""Bytes in which a backup says that it is one."""
SAID = ("added", "known", "rejected")
"""Those that progress tells."""
SMOOTH = 1000
"""Parts of the work of embedding; how many examples one stands for changes from step to step."""


@dataclass(frozen=True, slots=True)
class IngestSource:
    """What is to be ingested, how its names are read, and by how many."""

    files: Sequence[Path]
    origin: FileOrigin | None = None
    """Of step lists that have none beside them."""
    vocabulary: Path | None = None
    """A list of techniques; None: the corpus's."""
    level: RelabelLevel = "lexical"
    writers: int = 1


@dataclass(slots=True)
class Ingested:
    """What has become of files so far: `COUNTS`, and where rejected lines are listed."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTS, 0)))
    rejected_files: list[Path] = field(default_factory=list)
    begun: bool = False
    """Whether lines were on their way into the graph."""

    @property
    def all_bad(self) -> bool:
        """Whether there was nothing but rejected lines."""
        return bool(self.counts["rejected"]) and not self.good

    @property
    def good(self) -> int:
        """Lines that the graph has now."""
        return self.counts["added"] + self.counts["known"]

    def count(self, batch: pipeline.Batch) -> None:
        """Some lines more."""
        told = {name: getattr(batch.counts, name) for name in COUNTS if name != "rejected"}
        self.counts.update(told | {"rejected": len(batch.rejected)})


@dataclass(frozen=True, slots=True)
class NamesRead:
    """What each name in files would be taken for, and how it is used."""

    uses: dict[Label, NameUse]
    verdicts: tuple[LabelVerdict, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """A file to ingest, and what its step lists do not say."""

    path: Path
    origin: FileOrigin | None

    def lines(self, stream: BinaryIO) -> Iterator[Accepted | Rejected]:
        """What each of its lines holds."""
        return read(split(stream), self.origin)


@dataclass(frozen=True, slots=True)
class _Told:
    """Where it is told what became of lines: counts, and the lists of rejected ones."""

    ingested: Ingested
    listing: Callable[[Sequence[Rejected], IO[str]], None]


def ingest_files(settings: Settings, source: IngestSource, ingested: Ingested) -> Story[None]:
    """Merge files into the graph of these settings, and keep `ingested` true, however it ends.

    Embeddings are made afterwards (`embed_new`). `BadInput` for a file that cannot be read, before
    anything is added.
    """
    files = yield from _readable(source)
    curated = wiring.vocabulary(settings, source.vocabulary)
    with ExitStack() as opened:
        stores = [
            opened.enter_context(closing(wiring.open_store(settings)))
            for _ in range(source.writers)
        ]
        names = pipeline.read_vocabulary(stores[0], curated)
        cascade = wiring.cascade(settings, names, source.level)
        if source.level in SETTLED_FIRST:
            yield from _settle(files, cascade)
        _refuse_other_space(settings, stores[0])
        stores[0].add_techniques(names.curated)
        ingested.begun = True
        errands = _errands(files, cascade, settings.disclose)
        listing = partial(rejected.keep, verbatim=settings.disclose == "code")
        yield from _merge(files, errands, Writers(stores), _Told(ingested, listing))


def read_names(settings: Settings, source: IngestSource) -> Story[NamesRead]:
    """Only decide what the names in files mean; the graph is read, and nothing is added to it."""
    files = yield from _readable(source)
    curated = wiring.vocabulary(settings, source.vocabulary)
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.read_vocabulary(store, curated)
        cascade = wiring.cascade(settings, names, source.level)
        return (yield from _settle(files, cascade))


def grow(
    settings: Settings, lines: BinaryIO, level: RelabelLevel, title: str
) -> Story[Counter[str]]:
    """Merge `lines` that are known to be good, such as learned ones; their `COUNTS`."""
    ingested = Ingested()
    size = lines.seek(0, 2)
    lines.seek(0)
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, wiring.vocabulary(settings))
        cascade = wiring.cascade(settings, names, level)
        for batch in pipeline.ingest(
            read(split(lines)), store, cascade, disclose=settings.disclose
        ):
            ingested.count(batch)
            yield WorkDone(title, lines.tell(), size, title)
    yield from embed_new(settings)
    return ingested.counts


def embed_new(settings: Settings) -> Story[None]:
    """Embed the examples that have no embedding yet; never raises.

    Whatever fails is a line with the command that catches up: what was asked for is done by now.
    """
    try:
        with closing(wiring.open_store(settings)) as store:
            embedder = wiring.embedder(settings, store.embedding_space())
            yield from embedding(store.embed(embedder.space, embedder.embed))
    except RegraphError as error:
        said = f"warning: some examples have no embedding: {error}"
        yield WorkDone("embedding", line=f"{said}; later: regraph graph reembed")


def embedding(steps: Iterable[EmbeddingProgress]) -> Story[None]:
    """Do the steps by which a graph gets its vectors."""
    for one in steps:
        share = SMOOTH * one.done // max(one.total, 1)
        said = f"{one.step}: {one.done} of {one.total} examples"
        yield WorkDone("embedding", share, SMOOTH, said)


def _refuse_other_space(settings: Settings, store: GraphStore) -> None:
    """Raise `BadInput` for an embedder that the graph's embeddings are not of.

    One that cannot be reached is told at the end (`embed_new`): it is no reason not to ingest.
    """
    if settings.embedder:
        with suppress(ModelError):
            wiring.embedder(settings, store.embedding_space())


def _readable(source: IngestSource) -> Story[list[_File]]:
    """The files to ingest, without lists of earlier rejections; each can be read."""
    files = []
    for path in source.files:
        try:
            with path.open("rb") as stream:
                backup = path.is_file() and FORMAT.encode() in stream.read(HEAD)  # no pipe
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; give files of trajectories") from None
        if backup:
            raise BadInput(
                f"{path}: a backup; regraph graph restore fills an empty database with it"
            )
        if path.name.endswith(REJECTED):
            yield WorkDone("files", line=f"{path}: left out, it lists rejected lines")
            continue
        own = read_origin(path)
        if own is not None:
            what = f"step lists of {own.problem} ({own.target}), by {sidecar(path).name}"
            yield WorkDone("files", line=f"{path}: {what}")
        files.append(_File(path, own or source.origin))
    return files


def _settle(files: Sequence[_File], cascade: Cascade) -> Story[NamesRead]:
    """Decide every name in the files."""
    uses: dict[Label, NameUse] = {}
    for one in files:
        with one.path.open("rb") as stream:
            for label, use in pipeline.survey(one.lines(stream), cascade).items():
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


def _merge(
    files: Sequence[_File], errands: Iterable[Errand], writers: Writers, told: _Told
) -> Story[None]:
    """Merge the files, and count."""
    sizes = [one.path.stat().st_size for one in files]
    done = writers.merge(errands)
    try:
        for number, batches in groupby(done, key=lambda one: one[0].file):
            before = WorkDone("ingest", sum(sizes[:number]), sum(sizes))
            yield from _follow(files[number].path, batches, before, told)
    finally:
        done.close()
        for _, batch in writers.rest():
            told.ingested.count(batch)


def _errands(files: Sequence[_File], cascade: Cascade, disclose: Disclosure) -> Iterator[Errand]:
    for number, one in enumerate(files):
        with one.path.open("rb") as stream:
            lines = one.lines(stream)
            for portion in pipeline.portions(
                lines, cascade, disclose=disclose, batch_lines=BATCH_LINES
            ):
                yield Errand(number, stream.tell(), portion)


def _follow(path: Path, done: Iterable[Done], before: WorkDone, told: _Told) -> Story[None]:
    """Count what became of one file, and list its rejected lines, if there are any.

    Of a file of something else no list is made: it would hold all of it.
    """
    ingested = told.ingested
    good, bad = ingested.good, list[Rejected]()
    with rejected.room() as kept:
        for errand, batch in done:
            ingested.count(batch)
            told.listing(batch.rejected, kept)
            bad += batch.rejected[: not bad]
            said = ", ".join(f"{ingested.counts[name]} {name}" for name in SAID)
            yield replace(before, done=before.done + errand.end, said=f"{path.name}: {said}")
        if ingested.good == good and not rejected.is_json(bad[0]):
            yield replace(before, line=f"{path}: {NO_TRAJECTORIES}")
            return
        ingested.rejected_files += rejected.publish(kept, Path(f"{path}{REJECTED}"))
    for first in bad:
        yield replace(before, line=f"{path}:{first.line.number}: {first.reason}")
