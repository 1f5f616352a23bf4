"""Files of trajectories into the graph: names, vocabulary, batch by batch, vectors.

Bad lines stop nothing and are listed beside their file. Known trajectories are not added
twice, so that an interrupted ingest is simply run again.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from regraph_kg import atomic
from regraph_kg.cpp.tokens import normalized
from regraph_kg.errors import BadInput, Environment, file_errors
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.cascade import Cascade
from regraph_kg.ingest.read import (
    NO_JSON,
    Accepted,
    Brought,
    Line,
    Rejected,
    read,
    read_file,
    split,
)
from regraph_kg.ingest.relabel.aliases import Label, NameUse, uses_of
from regraph_kg.models.graph import Relabelled, RelabelLevel
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Vocabulary
from regraph_kg.models.text import one_line
from regraph_kg.models.transform import SHIPPED, StoredTransform, texts
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.search.fit.applied import deed
from regraph_kg.search.transform.apart import answer, results, slow
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_transforms, read_vocabulary
from regraph_kg.wiring.shipped import corpus_folder
from regraph_kg.wiring.stores import open_store

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore

_LONE = re.compile(r"(\)|else) \{ ([^{};]*;) \}")
REJECTED = ".rejected.jsonl"


@dataclass(frozen=True, slots=True)
class IngestSource:
    """Files to ingest, and the relabelling of their names."""

    files: Sequence[Path]
    vocabulary: Path | None = None  # a list of techniques; None: the corpus's
    level: RelabelLevel = "exact"


@dataclass(slots=True)
class Ingested:
    """Counts of the files' trajectories so far, and of new parts of the graph."""

    added: int = 0
    known: int = 0
    examples: int = 0
    measurements: int = 0
    techniques: int = 0  # new techniques that the vocabulary lacks
    transforms: int = 0  # of files, drafts or known already
    facts: int = 0  # new steps that transforms make
    stories: Counter[str] = field(default_factory=Counter)  # the other ones, by technique
    nameless_failures: int = 0  # failures that were left out: no technique has their name
    rejected: int = 0
    rejected_files: list[Path] = field(default_factory=list)  # rejected lines, with reasons

    @property
    def good(self) -> int:
        """Lines in the graph."""
        return self.added + self.known + self.transforms

    def count(self, batch: pipeline.Batch) -> None:
        """Add what a batch brought."""
        names = ("added", "known", "examples", "measurements", "techniques", "facts", "stories")
        for name in names:
            setattr(self, name, getattr(self, name) + getattr(batch.counts, name))
        self.transforms += batch.transforms
        self.nameless_failures += batch.nameless_failures
        self.rejected += len(batch.rejected)

    def __str__(self) -> str:
        lines = [
            f"trajectories: {self.added} added, {self.known} known already,"
            f" {self.rejected} rejected"
        ]
        lines.append(
            f"new in the graph: {self.examples} examples, {self.measurements} measurements,"
            f" {self.techniques} techniques that the vocabulary lacks"
        )
        if new := self.facts + self.stories.total():
            lines.append(
                f"{self.facts} of {new} new steps are facts: a transform makes them;"
                f" {new - self.facts} are stories"
            )
        if often := self.stories.most_common(4):
            told = ", ".join(f"{name} {count}" for name, count in often)
            lines.append(f"stories of {told}: regraph lift {often[0][0]} --model NAME lifts them")
        if self.transforms:
            lines.append(
                f"{self.transforms} transforms in the files: new ones are drafts until regraph lift"
                " TECHNIQUE has replayed them here; of those that ship, this program has its own"
            )
        if self.nameless_failures:
            lines.append(
                f"{self.nameless_failures} failures left out: no technique has their name; give"
                " it one (--vocabulary), then run the same command again"
            )
        if self.measurements:
            lines.append("measurements are what the files claim: none was made here")
        lines += [f"rejected lines, with reasons: {path}" for path in self.rejected_files]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class NameVerdict(Relabelled):
    """The technique of a name."""

    target: Target
    steps: int  # steps and failures that use the name
    new: bool  # whether neither the vocabulary nor the graph has that technique


def ingest_files(settings: Settings, source: IngestSource, ingested: Ingested) -> Story[None]:
    """Merge files; `ingested` stays correct on any end. `BadInput` before anything is added."""
    files = yield from _readable(source)
    with closing(open_store(settings)) as store:
        cascade = yield from _cascade(settings, source, files, store)
        store.add_techniques(cascade.vocabulary.curated)
        _add_shipped(settings, store)
        done, total = 0, sum(file.stat().st_size for file in files)
        # those of the files are drafts, and make no fact
        maker = fact_reader(store.transforms())
        for file in files:
            portions = _portions(settings, file, cascade, maker)
            work = WorkDone("ingest", done, total)
            yield from _merge(file, portions, store, work, ingested)
            done += file.stat().st_size
        for line in slow():
            yield WorkDone("ingest", line=f"facts: {line}")
        store.mark_facts()
        yield from embedding(store)


def _add_shipped(settings: Settings, store: "GraphStore") -> None:
    """Give the graph the corpus' transforms that it lacks, or has in another text."""
    known = (one for one in store.transforms() if one.replays or one.source.run)
    here = {(one.id, one.text) for one in known}
    shipped = read_transforms(settings)
    store.add_transforms([one for one in shipped if (one.id, one.text) not in here])


def read_names(settings: Settings, source: IngestSource) -> Story[list[NameVerdict]]:
    """What an ingest of files would make of their names; the graph is read and does not change."""
    uses: Counter[tuple[Target, Relabelled]] = Counter()
    made = set[str]()
    files = yield from _readable(source)
    with closing(open_store(settings)) as store:
        cascade = yield from _cascade(settings, source, files, store)
        for file in files:
            for _, portion in _portions(settings, file, cascade):
                for plan in portion.plans:
                    made.update(one.id for one in plan.new)
                    labels = (*plan.labels, *plan.failed_labels)
                    uses.update((plan.trajectory.target, label) for label in labels)
    new = made - cascade.vocabulary.known.keys()
    return [
        NameVerdict(**asdict(label), target=target, steps=steps, new=label.technique in new)
        for (target, label), steps in uses.items()
    ]


def grow(settings: Settings, lines: BinaryIO) -> Story[Ingested]:
    """Merge learned lines, whose names are ids, and embed them."""
    ingested = Ingested()
    size = lines.seek(0, os.SEEK_END)
    lines.seek(0)
    with closing(open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, read_vocabulary(settings))
        _add_shipped(settings, store)
        for portion in pipeline.portions(read(split(lines)), Cascade(names)):
            ingested.count(portion.merged(store))
            yield WorkDone("learning", lines.tell(), size, "learning")
        store.mark_facts()
        yield from embedding(store)
    return ingested


def embedding(store: "GraphStore", *, change: bool = False) -> Story[None]:
    """Embed what has no vectors; those of another version are a warning, unless all `change`."""
    try:
        for done, total in store.embed(change=change):
            yield WorkDone("embedding", done, total, f"embedding: {done} of {total} examples")
    except BadInput as error:
        yield WorkDone("embedding", line=f"warning: new examples have no embedding: {error}")


def fact_reader(transforms: Sequence[StoredTransform]) -> pipeline.FactReader:
    """Tells steps that an accepted transform makes: its code is the one after, but for layout."""
    known = texts(transforms)

    def made_by(technique: str, before: str, after: str) -> tuple[str, ...]:
        made = results(before, known.get(technique, ()))
        same = (one.transform for one in made if _form(one.code) == _form(after))
        return tuple(sorted(set(same)))

    return made_by


def _form(code: str) -> str:
    """A code but for layout, comments, and braces around one statement."""
    return _LONE.sub(r"\1 \2", normalized(code))


def _readable(source: IngestSource) -> Story[list[Path]]:
    """The files to ingest, without lists of earlier rejections; each can be read."""
    files = []
    for path in source.files:
        with file_errors(path, "give files of trajectories"):
            # names are read before lines are merged, and a pipe can be read only once
            if path.exists() and not path.is_file():
                raise BadInput(f"{path}: is no file", remedy="give files of trajectories")
            path.open("rb").close()
        if path.name.endswith(REJECTED):
            yield WorkDone("files", line=f"{path}: left out, it lists rejected lines")
        else:
            files.append(path)
    return files


def _cascade(
    settings: Settings, source: IngestSource, files: Sequence[Path], store: "GraphStore"
) -> Story[Cascade]:
    """The relabelling of the files' names by the vocabulary and the graph's techniques."""
    names = Vocabulary(read_vocabulary(settings, source.vocabulary), store.techniques())
    if not names.curated:
        message = "the vocabulary is empty: names that the graph has not become new techniques"
        yield WorkDone("names", line=message)
    cascade = open_cascade(settings, names, source.level)
    if source.level != "model":
        return cascade
    # all names are decided before anything is added, so that new ones meet each other
    uses: dict[Label, NameUse] = {}
    for file in files:
        with file.open("rb") as stream:
            good = (one.trajectory for one in read_file(stream) if isinstance(one, Accepted))
            uses_of(good, uses)
    for decided, _ in enumerate(cascade.settle(uses), 1):
        yield WorkDone("names", decided, len(uses), f"names: {decided} of {len(uses)}")
    return cascade


def _portions(
    settings: Settings,
    file: Path,
    cascade: Cascade,
    maker: pipeline.FactReader | None = None,
) -> Iterator[tuple[int, pipeline.Portion]]:
    """The file's portions, each with the byte after it."""
    with file.open("rb") as stream:
        given = file.parent != corpus_folder(settings) / "trajectories"
        maker = maker if given else None  # what ships was looked at: it takes a minute
        lines = _checked(read_file(stream))
        for portion in pipeline.portions(lines, cascade, read=deed, made_by=maker, given=given):
            yield stream.tell(), portion


def _checked(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines; a transform whose text is none, or one of another name, is rejected."""
    for line in lines:
        if not isinstance(line, Brought) or line.transform.source.run == SHIPPED:
            yield line
            continue
        one, found = line.transform, answer(line.transform.text)
        wrong = found.error
        # apart, since "openmp" and "x/y" are joined as "openmp/x" and "y" are
        if not wrong and (found.technique, found.name) != (one.technique, one.name):
            wrong = f"its text is of {found.name}, a step of {found.technique}"
        yield Rejected(line.line, one_line(f"transform {one.id}: {wrong}")) if wrong else line


def _merge(
    file: Path,
    portions: Iterable[tuple[int, pipeline.Portion]],
    store: "GraphStore",
    work: WorkDone,
    ingested: Ingested,
) -> Story[None]:
    """Merge one file, count, and list its rejected lines, if there are any."""
    good, claims, first, rows = ingested.good, 0, list[Rejected](), list[str]()
    for end, portion in portions:
        batch = portion.merged(store)
        ingested.count(batch)
        claims += portion.claims
        told = ({"line": one.line.number, "reason": one.reason} for one in batch.rejected)
        rows += [json.dumps(row, ensure_ascii=False) + "\n" for row in told]
        first += batch.rejected[: not first]
        totals = f"{ingested.added} added, {ingested.known} known, {ingested.rejected} rejected"
        yield replace(work, done=work.done + end, text=f"{file.name}: {totals}")
    if claims:
        line = f"{file}: {claims} figures that no device gives or no judge measured"
        yield replace(work, line=f"{line}: kept as claims, shown and never counted")
    head = first[0].line.data if ingested.good == good else b""
    text = head == b"{" or head[:1] not in (b"", b"{")
    if text or any(one.whole for one in first):
        # no list for a file of something else: it would name every line
        kind = NO_JSON if text else first[0].reason
        yield replace(work, line=f"{file}: {kind}")
        return
    path = Path(f"{file}{REJECTED}")
    remedy = "the good lines are in the graph, the list of the rejected ones is lost: make room"
    with file_errors(path, f"{remedy} for it and run the same command again", Environment):
        if rows:
            atomic.write(path, "".join(rows))
            ingested.rejected_files.append(path)
        else:
            path.unlink(missing_ok=True)  # one of before the file was mended
    for one in first:
        yield replace(work, line=f"{file}:{one.line.number}: {one.reason}")
