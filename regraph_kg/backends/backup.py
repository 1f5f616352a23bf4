"""Backups: a whole graph as lines of JSON (models/backup.py), and back into an empty database.

Both ways stream. One graph gives the same bytes from every store, so that backups compare. A
restore goes through `merge`, which derives the rest as an ingest does. It marks the graph until
it ends; nothing else opens the graph before, and the same backup resumes an interrupted restore.
"""

import hashlib
from collections.abc import Callable, Container, Iterator, Sequence
from errno import EINVAL
from functools import partial
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import IO, TypeVar

from pydantic import BaseModel, ValidationError

from regraph_kg.backends import embeddings, free, merge, schema
from regraph_kg.backends import techniques as vocabulary
from regraph_kg.backends.bolt import GraphRow, OnBolt, Query
from regraph_kg.backends.edges import VECTORS, MissingTechniques
from regraph_kg.backends.export import export
from regraph_kg.backends.vectors import claimed, vector_state
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.backup import FORMAT, BackupLine, End, Head, TrajectoryLine
from regraph_kg.models.graph import EmbeddingSpace, MergePlan, Relabelled, RelabelStage
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Trajectory

NODES_AT_ONCE = 1_000
LINES_AT_ONCE = 100
"""Lines restored in one transaction."""
LONGEST_LINE = 2**28
"""Bytes; a log entry of a curation is the longest."""
GIVE = "give a file of regraph graph export --format backup"

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class BoltBackup(OnBolt):
    """Backup and restore behind a Bolt connection; `graph.Backup` is the contract."""

    def lines(self) -> Iterator[bytes]:
        """See `Backup`."""
        schema.prepare(self._bolt)
        digest, count = hashlib.sha256(), 0
        for content in self._contents():
            line = content.model_dump_json(by_alias=True, exclude_defaults=True).encode() + b"\n"
            digest.update(line)
            count += 1
            yield line
        yield End(lines=count, sha256=digest.hexdigest()).model_dump_json().encode() + b"\n"

    def restore(self, path: Path) -> Iterator[int]:
        """See `Backup`."""
        with opened(path) as file:
            digest = _checked_digest(file, path)
            head = _read(Head, file.readline(), f"{path}:1")
            self._begin(digest, head.bound)
            for kind, group in groupby(_numbered(file, path), lambda numbered: numbered[1].kind):
                for chunk in _chunks(group, LINES_AT_ONCE):
                    lines = [line for _, line in chunk]
                    try:
                        self._bolt.write(partial(_WRITE[str(kind)], lines=lines))
                    except (BadInput, MissingTechniques, OverflowError, UnicodeError) as error:
                        raise BadInput(f"{path}:{chunk[0][0]}: {error}") from None
                    yield file.tell()
            self._bolt.write(partial(_end, space=head.embedding))

    def _contents(self) -> Iterator[BaseModel]:
        space = self._bolt.read(vector_state).space
        bound = self._bolt.read(merge.read_context).bound
        yield Head(format=FORMAT, version=1, bound=bound, embedding=space)
        techniques = self._bolt.read(vocabulary.every)
        for technique in techniques:
            yield BackupLine(technique=technique)
        for decision in self._nodes("page_of_decisions"):
            yield BackupLine(decision=dict(sorted(decision.items())))
        ids = {technique.id for technique in techniques}
        for line in export(self._bolt):
            # A step of an unknown technique came after the techniques were read.
            if all(step.technique in ids for step in line.trajectory.steps):
                yield BackupLine(kept=_of_known(line, ids))
        for run in self._nodes("page_of_free_runs"):
            yield BackupLine(free=free.read(run))
        lost = ids - {technique.id for technique in self._bolt.read(vocabulary.every)}
        if lost:
            raise StoreError(
                f"{self._bolt.place}: {min(lost)} was merged or renamed while the graph was read;"
                " run the same command again"
            )

    def _nodes(self, statement: str) -> Iterator[GraphRow]:
        """All nodes of a kind, by id."""
        last = ""
        while page := self._bolt.rows(statement, after=last, limit=NODES_AT_ONCE):
            yield from (row["node"] for row in page)
            last = page[-1]["node"]["id"]

    def _begin(self, digest: str, bound: int) -> None:
        stamp = schema.read_stamp(self._bolt)
        if stamp.restoring not in (None, digest):
            raise BadInput(
                f"{self._bolt.place}: another backup was being restored here; go on with that one,"
                " or empty the database"
            )
        if not stamp.bare and stamp.restoring is None:
            raise BadInput(
                f"{self._bolt.place}: holds a graph already; restore into an empty database"
                " (REGRAPH_STORE, REGRAPH_STORE_DATABASE, REGRAPH_DATA_DIR)"
            )
        schema.prepare(self._bolt, restoring=True)
        embeddings.unindex(self._bolt, VECTORS)
        state = {"restoring": digest, "bound": bound}
        self._bolt.write(lambda ask: ask("set_meta", state=state))


def read_backup(path: Path, techniques: list[Technique]) -> Iterator[Trajectory]:
    """The trajectories of a backup; its techniques are added to `techniques` on the way.

    `BadInput` for a file that is no whole backup, before the first one.
    """
    with opened(path) as file:
        _checked_digest(file, path)
        _read(Head, file.readline(), f"{path}:1")
        for _, line in _numbered(file, path):
            if line.technique is not None:
                techniques.append(line.technique)
            elif line.kept is not None:
                yield line.kept.trajectory


def _end(ask: Query, space: EmbeddingSpace | None) -> None:
    ask("set_meta", state={"restoring": None} | (claimed(space) if space else {}))


def _of_known(line: TrajectoryLine, ids: Container[str]) -> TrajectoryLine:
    """The line without failures of techniques that came after the backup began."""
    dated = [
        (failure, created)
        for failure, created in zip(line.trajectory.failures, line.failed, strict=True)
        if failure.technique is None or failure.technique in ids
    ]
    failures = tuple(failure for failure, _ in dated)
    return TrajectoryLine(
        trajectory=line.trajectory.model_copy(update={"failures": failures}),
        stages=line.stages,
        failed=tuple(created for _, created in dated),
    )


def _write_techniques(ask: Query, lines: Sequence[BackupLine]) -> None:
    vocabulary.write(ask, [line.technique for line in lines if line.technique])


def _write_trajectories(ask: Query, lines: Sequence[BackupLine]) -> None:
    entries = [line.kept for line in lines if line.kept]
    plans = [resolved_plan(entry.trajectory, entry.stages) for entry in entries]
    refused = merge.merge(ask, plans).conflicts
    if refused:
        raise BadInput(min(refused.values()))
    failures = [
        {"id": f"{entry.trajectory.id}/{failure.key}", "created": created}
        for entry in entries
        for failure, created in zip(entry.trajectory.failures, entry.failed, strict=True)
        if failure.technique is not None
    ]
    if failures:
        ask("write_failures", rows=failures)


_WRITE: dict[str, Callable[..., None]] = {
    "technique": _write_techniques,
    "decision": lambda ask, lines: ask("write_decisions", rows=[line.decision for line in lines]),
    "kept": _write_trajectories,
    "free": lambda ask, lines: free.add(ask, [line.free for line in lines]),
}


def resolved_plan(trajectory: Trajectory, stages: Sequence[RelabelStage] = ()) -> MergePlan:
    """The plan of an exported trajectory. `BadInput` where a step has no technique."""
    default: RelabelStage = "given"
    steps = trajectory.steps
    labels = [
        Relabelled(step.label, step.technique, stage, also=step.also)
        for step, stage in zip(steps, stages or [default] * len(steps), strict=True)
        if step.technique
    ]
    if len(labels) < len(steps):
        raise BadInput(
            f"trajectory {trajectory.ref or trajectory.id[:12]} has steps without a technique:"
            " give what regraph graph export or backup wrote"
        )
    return MergePlan(trajectory, tuple(labels))


def opened(path: Path, give: str = GIVE) -> IO[bytes]:
    """A file to read twice; `BadInput` with what to `give` for another one, as a pipe."""
    try:
        if path.exists() and not path.is_file():  # a pipe has no second reading
            raise OSError(EINVAL, "no regular file")
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; {give}") from None


def lines_of(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """The lines, each with its end. `BadInput` for one that no backup has."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise BadInput(f"{path}: has a line of more than {LONGEST_LINE >> 20} MiB; {GIVE}")
        yield line


def _checked_digest(file: IO[bytes], path: Path) -> str:
    """The digest of a whole, unchanged backup; `file` is at its beginning again."""
    digest, count, before = hashlib.sha256(), 0, b""
    for line in lines_of(file, path):
        digest.update(before)
        count += 1
        before = line
    file.seek(0)
    try:
        end = End.model_validate_json(before)
    except ValidationError:
        raise BadInput(f"{path}: not a whole backup (its last line is missing); {GIVE}") from None
    if (end.lines, end.sha256) != (count - 1, digest.hexdigest()):
        raise BadInput(f"{path}: was changed or damaged since it was written; give another backup")
    return end.sha256


def _numbered(file: IO[bytes], path: Path) -> Iterator[tuple[int, BackupLine]]:
    """The lines between the first and the last one, with their numbers in the file."""
    for number, (line, _) in enumerate(pairwise(lines_of(file, path)), 2):
        yield number, _read(BackupLine, line, f"{path}:{number}")


def _read(kind: type[M], line: bytes, where: str) -> M:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"{where}: {place or 'not a line of a backup'}: {first['msg']};"
            " it may be of a newer regraph-kg"
        ) from None


def _chunks(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while chunk := list(islice(items, size)):
        yield chunk
