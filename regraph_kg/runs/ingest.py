"""Files of trajectories into the graph: names, vocabulary, batch by batch, embeddings.

Bad lines stop nothing and are listed beside their file. Known trajectories are not added
twice, so that an interrupted ingest is simply run again. Not here: lines (ingest/).
"""

import os
import shutil
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO

from regraph_kg.errors import BadInput, Environment, ModelError, RegraphError
from regraph_kg.graph import GraphStore
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.cascade import Cascade, CodeReader
from regraph_kg.ingest.origin import FileOrigin, read_origin, sidecar
from regraph_kg.ingest.pipeline import BATCH_LINES
from regraph_kg.ingest.read import Accepted, Rejected, read, split
from regraph_kg.ingest.relabel.aliases import Label, NameUse
from regraph_kg.models.graph import EmbeddingProgress, Relabelled, RelabelLevel
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Disclosure
from regraph_kg.runs import rejected
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.runs.rejected import REJECTED
from regraph_kg.runs.writers import Done, Errand, Writers
from regraph_kg.search.fit.applied import deed
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary
from regraph_kg.wiring.open_model import embedder_of
from regraph_kg.wiring.stores import open_store

NO_TRAJECTORIES = "not JSON; give Trajectory JSONL (regraph docs trajectory-schema), or step lists"
SETTLED_FIRST: tuple[RelabelLevel, ...] = ("lexical", "model")
"""Levels that decide all names before anything is added, so that new names meet each other."""
COUNTS = (
    *("added", "known", "disclosed_otherwise", "examples", "measurements", "techniques"),
    "rejected",
)
HEAD = 4096
"""First bytes of a file, by which a wrong one is told."""
TAR = b"ustar"
"""The mark of a tar archive, at byte 257."""
FOREIGN = {
    b"\x1f\x8b": "compressed by gzip; give FILE as <(zcat FILE)",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; give FILE as <(zstdcat FILE)",
    b"\xfd7zXZ": "compressed by xz; give FILE as <(xzcat FILE)",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
"""First bytes of wrong files, and the remedy."""
TOTALS = ("added", "known", "rejected")
"""Counts that the progress shows."""
SMOOTH = 1000
"""Units of the embedding's progress; the number of examples a unit changes between steps."""


@dataclass(frozen=True, slots=True)
class IngestSource:
    """Files to ingest, the relabelling of their names, and the number of writers."""

    files: Sequence[Path]
    origin: FileOrigin | None = None
    """The origin of step lists without a FILE.toml."""
    vocabulary: Path | None = None
    """A list of techniques; None: the corpus's."""
    level: RelabelLevel = "lexical"
    writers: int = 1


@dataclass(slots=True)
class Ingested:
    """Results so far: `COUNTS`, and the lists of rejected lines."""

    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTS, 0)))
    rejected_files: list[Path] = field(default_factory=list)
    begun: bool = False
    """Whether the merge has started."""

    @property
    def all_bad(self) -> bool:
        """Whether all lines were rejected."""
        return bool(self.counts["rejected"]) and not self.good

    @property
    def good(self) -> int:
        """Lines in the graph."""
        return self.counts["added"] + self.counts["known"]

    def count(self, batch: pipeline.Batch) -> None:
        counts = {name: getattr(batch.counts, name) for name in COUNTS if name != "rejected"}
        self.counts.update(counts | {"rejected": len(batch.rejected)})


@dataclass(frozen=True, slots=True)
class NamesRead:
    """What an ingest would make of the names in files."""

    steps: Counter[tuple[Target, Relabelled]]
    """Steps and failures of each name, as they would count."""
    new: dict[str, Technique]
    """Techniques that it would make, by id."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file to ingest, and the origin of its step lists."""

    path: Path
    origin: FileOrigin | None
    copy: BinaryIO | None = None
    """The content of a pipe, which can be read only once."""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file at its beginning; it can be opened repeatedly."""
        if self.copy is not None:
            self.copy.seek(0)
            yield self.copy
            return
        with self.path.open("rb") as stream:
            yield stream

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.copy is None else self.copy.seek(0, os.SEEK_END)

    @property
    def rejected(self) -> Path:
        """The list of its rejected lines: beside it, or in the working folder for a pipe."""
        beside = self.path if self.copy is None else Path(self.path.name)
        return Path(f"{beside}{REJECTED}")

    def lines(self, stream: BinaryIO) -> Iterator[Accepted | Rejected]:
        return read(split(stream), self.origin)


@dataclass(frozen=True, slots=True)
class _Reports:
    """The places of results: counts, and lists of rejected lines."""

    ingested: Ingested
    listing: Callable[[Sequence[Rejected], IO[str]], None]


def ingest_files(settings: Settings, source: IngestSource, ingested: Ingested) -> Story[None]:
    """Merge files into the graph of these settings; `ingested` stays correct on any end.

    Embeddings are made afterwards (`embed_new`). `BadInput` for a file that cannot be read, before
    anything is added.
    """
    with ExitStack() as opened:
        files = yield from _readable(source, opened)
        curated = read_vocabulary(settings, source.vocabulary)
        stores = [
            opened.enter_context(closing(open_store(settings))) for _ in range(source.writers)
        ]
        names = pipeline.read_vocabulary(stores[0], curated)
        yield from _doubts(names)
        cascade = open_cascade(settings, names, source.level)
        if source.level in SETTLED_FIRST:
            yield from _settle(files, cascade)
        _refuse_other_space(settings, stores[0])
        stores[0].add_techniques(names.curated)
        ingested.begun = True
        errands = _errands(files, cascade, settings.disclose, code_reader(source.level))
        listing = partial(rejected.keep, verbatim=settings.disclose == "code")
        yield from _merge(files, errands, Writers(stores), _Reports(ingested, listing))


def read_names(settings: Settings, source: IngestSource) -> Story[NamesRead]:
    """Plan an ingest of files up to its merge; the graph is read and does not change."""
    with ExitStack() as opened:
        files = yield from _readable(source, opened)
        curated = read_vocabulary(settings, source.vocabulary)
        store = opened.enter_context(closing(open_store(settings)))
        names = pipeline.read_vocabulary(store, curated)
        yield from _doubts(names)
        cascade = open_cascade(settings, names, source.level)
        if source.level in SETTLED_FIRST:
            yield from _settle(files, cascade)
        read_ = NamesRead(Counter(), {})
        for errand in _errands(files, cascade, settings.disclose, code_reader(source.level)):
            for plan in errand.portion.plans:
                made = (one for one in plan.new if one.id not in names.known)
                read_.new.update((technique.id, technique) for technique in made)
                for label in (*plan.labels, *plan.failed_labels):
                    read_.steps[plan.trajectory.target, replace(label, also=())] += 1
        return read_


def grow(
    settings: Settings, lines: BinaryIO, level: RelabelLevel, title: str
) -> Story[Counter[str]]:
    """Merge `lines` that are valid, such as learned ones; return their `COUNTS`."""
    ingested = Ingested()
    size = lines.seek(0, 2)
    lines.seek(0)
    with closing(open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, read_vocabulary(settings))
        cascade = open_cascade(settings, names, level)
        for batch in pipeline.ingest(
            read(split(lines)), store, cascade, disclose=settings.disclose, read=code_reader(level)
        ):
            ingested.count(batch)
            yield WorkDone(title, lines.tell(), size, title)
    yield from embed_new(settings)
    return ingested.counts


def embed_new(settings: Settings) -> Story[None]:
    """Embed the examples that have no embedding yet; never raises.

    A failure is a line with the command that catches up: the main work is done.
    """
    try:
        with closing(open_store(settings)) as store:
            embedder = embedder_of(settings, store.embedding_space())
            yield from embedding(store.embed(embedder.space, embedder.embed))
    except RegraphError as error:
        message = f"warning: some examples have no embedding: {error}"
        yield WorkDone("embedding", line=f"{message}; later: regraph graph embed")


def embedding(steps: Iterable[EmbeddingProgress]) -> Story[None]:
    """Run the steps of embedding, with their progress."""
    for step in steps:
        share = SMOOTH * step.done // max(step.total, 1)
        message = f"{step.step}: {step.done} of {step.total} examples"
        yield WorkDone("embedding", share, SMOOTH, message)


def _doubts(names: Vocabulary) -> Story[None]:
    """Warn of a vocabulary that is empty or contradicts the graph."""
    if not names.curated:
        message = "the vocabulary is empty: names that the graph has not become new techniques"
        yield WorkDone("names", line=f"{message}")
    if contradictions := names.contradictions():
        name, technique, other = contradictions[0]
        more = f", and {len(contradictions) - 1} more" if len(contradictions) > 1 else ""
        message = (
            f"the vocabulary contradicts the graph: {name!r} is {technique}, there {other}{more}"
        )
        yield WorkDone("names", line=f"{message}; the vocabulary counts")


def _refuse_other_space(settings: Settings, store: GraphStore) -> None:
    """Raise `BadInput` for an embedder of another space than the graph's.

    An unreachable embedder does not stop an ingest: `embed_new` reports it at the end.
    """
    if settings.embedder:
        with suppress(ModelError):
            embedder_of(settings, store.embedding_space())


def _readable(source: IngestSource, opened: ExitStack) -> Story[list[_File]]:
    """The files to ingest, without lists of earlier rejections; each can be read.

    Copies of pipes are open as long as `opened` is.
    """
    files = []
    for path in source.files:
        copy = _checked(path, opened)
        if path.name.endswith(REJECTED):
            yield WorkDone("files", line=f"{path}: left out, it lists rejected lines")
            continue
        origin = read_origin(path)
        if origin is not None:
            note = f"step lists of {origin.problem} ({origin.target}), by {sidecar(path).name}"
            yield WorkDone("files", line=f"{path}: {note}")
        files.append(_File(path, origin or source.origin, copy))
    return files


def _checked(path: Path, opened: ExitStack) -> BinaryIO | None:
    """A copy of a pipe; None for a file. `BadInput` for an unreadable file or another kind.

    The names in a file are read before its lines are merged, and a pipe can be read once only.
    """
    copy = None
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISFIFO(mode):
                copy = opened.enter_context(TemporaryFile())  # noqa: SIM115
                shutil.copyfileobj(stream, copy)
                copy.seek(0)
            elif not stat.S_ISREG(mode):
                raise BadInput(f"{path}: neither a file nor a pipe; give files of trajectories")
            head = (copy or stream).read(HEAD)
    except OSError as error:
        if copy is not None:
            raise Environment(f"{path}: {error.strerror}; make room for a copy of it") from None
        raise BadInput(f"{path}: {error.strerror}; give files of trajectories") from None
    inside = head
    with suppress(zlib.error):  # no gzip
        inside = zlib.decompressobj(wbits=31).decompress(head, HEAD)
    if inside[257:].startswith(TAR):
        raise BadInput(f"{path}: a tar archive; unpack it")
    for begins, mistake in FOREIGN.items():
        if head.startswith(begins):
            raise BadInput(f"{path}: {mistake}")
    return copy


def _settle(files: Sequence[_File], cascade: Cascade) -> Story[None]:
    """Decide every name in the files, so that new names meet each other."""
    uses: dict[Label, NameUse] = {}
    for file in files:
        with file.open() as stream:
            for label, use in pipeline.survey(file.lines(stream)).items():
                uses[label] = uses[label] + use if label in uses else use
    asked, prompts = cascade.to_ask(uses)
    if prompts:
        yield WorkDone("names", line=f"{asked} names to ask about: {prompts} prompts at least")
    for decided, _ in enumerate(cascade.settle(uses), 1):
        yield WorkDone("names", decided, len(uses), f"names: {decided} of {len(uses)}")


def _merge(
    files: Sequence[_File], errands: Iterable[Errand], writers: Writers, reports: _Reports
) -> Story[None]:
    """Merge the files, and count."""
    sizes = [file.size for file in files]
    results = writers.merge(errands)
    try:
        for number, batches in groupby(results, key=lambda result: result[0].file):
            before = WorkDone("ingest", sum(sizes[:number]), sum(sizes))
            yield from _follow(files[number], batches, before, reports)
    finally:
        results.close()
        for _, batch in writers.uncounted():
            reports.ingested.count(batch)


def code_reader(level: RelabelLevel) -> CodeReader | None:
    """The reader that compares names with code; None at the level "exact"."""
    return None if level == "exact" else deed


def _errands(
    files: Sequence[_File], cascade: Cascade, disclose: Disclosure, reader: CodeReader | None
) -> Iterator[Errand]:
    for number, file in enumerate(files):
        with file.open() as stream:
            lines = file.lines(stream)
            for portion in pipeline.portions(
                lines, cascade, disclose=disclose, read=reader, batch_lines=BATCH_LINES
            ):
                yield Errand(number, stream.tell(), portion)


def _follow(
    file: _File, results: Iterable[Done], before: WorkDone, reports: _Reports
) -> Story[None]:
    """Count the results of one file, and list its rejected lines, if there are any.

    A file without any trajectory gets no list: the list would hold the whole file.
    """
    path, ingested = file.path, reports.ingested
    good, bad, findings = ingested.good, list[Rejected](), list[str]()
    with rejected.room() as listing:
        for errand, batch in results:
            ingested.count(batch)
            reports.listing(batch.rejected, listing)
            bad += batch.rejected[: not bad]
            findings += errand.portion.findings
            message = ", ".join(f"{ingested.counts[name]} {name}" for name in TOTALS)
            yield replace(before, done=before.done + errand.end, text=f"{path.name}: {message}")
        if ingested.good == good and not rejected.is_json(bad[0]):
            yield replace(before, line=f"{path}: {NO_TRAJECTORIES}")
            return
        if findings:
            message = f"{path}: {len(findings)} steps are not what they are called: {findings[0]}"
            yield replace(before, line=message + (", .." if findings[1:] else ""))
        ingested.rejected_files += rejected.publish(listing, file.rejected)
    for first in bad:
        yield replace(before, line=f"{path}:{first.line.number}: {first.reason}")
