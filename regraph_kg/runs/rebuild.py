"""Writes a graph anew from its own trajectories, under the names of today's vocabulary.

No files are needed. This is how a changed techniques.json reaches a graph.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from regraph_kg.ingest import pipeline
from regraph_kg.ingest.relabel.aliases import uses_of
from regraph_kg.models.graph import MergePlan, RelabelLevel, StoredTrajectory
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import FailedStep, Step, Trajectory
from regraph_kg.runs.ingest import code_reader
from regraph_kg.runs.progress import Story, WorkDone
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import open_cascade, read_vocabulary
from regraph_kg.wiring.stores import open_store


def rebuild_graph(settings: Settings, vocabulary: Path | None, level: RelabelLevel) -> Story[int]:
    """Rebuild the graph of these settings; return the number of its trajectories.

    Embeddings are made afterwards (`runs.ingest.embed_new`). `AnswersPending` where a model's
    answers are to come by file: the graph is as it was then.
    """
    with closing(open_store(settings, rebuild=True)) as store:
        file = read_vocabulary(settings, vocabulary)
        names = pipeline.read_vocabulary(store, file)
        cascade = open_cascade(settings, names, level)
        if level == "model":
            # All names are decided before anything is written, so that new ones meet each other.
            uses = uses_of(_nameless(one, names) for one in store.stored())
            for number, _ in enumerate(cascade.settle(uses), 1):
                yield WorkDone("names", number, len(uses), f"names: {number} of {len(uses)}")

        def replan(page: Sequence[StoredTrajectory]) -> list[MergePlan]:
            created = datetime.now(UTC).isoformat(timespec="seconds")
            bare = (_nameless(one, names) for one in page)
            read = code_reader(level)
            return [pipeline.planned(one, cascade, read, created) for one in bare]

        done, techniques = 0, tuple(_taught(file, store.techniques()))
        for done, total in store.rebuild(techniques, replan):
            yield WorkDone("rebuild", done, total, f"rebuild: {done} of {total} trajectories")
        return done


def _nameless(stored: StoredTrajectory, names: Vocabulary) -> Trajectory:
    """A trajectory without the techniques that an earlier ingest found, to be found again.

    One that the sender gave stays. Nobody noted which failures had theirs given: such a one is
    looked up again only where its name is known.
    """
    trajectory = stored.trajectory

    # a given technique is what the sender knows; all others are what an older list made of a name
    def step(one: Step, stage: str) -> Step:
        if stage == "given":
            return one
        return one.model_copy(update={"technique": None})

    def failure(one: FailedStep) -> FailedStep:
        # else a failure whose technique was given would be lost with it
        known = names.find(one.label, trajectory.target) is not None
        return one.model_copy(update={"technique": None}) if known else one

    return trajectory.model_copy(
        update={
            "steps": tuple(map(step, trajectory.steps, stored.stages)),
            "failures": tuple(map(failure, trajectory.failures)),
        }
    )


def _taught(file: Sequence[Technique], stored: Sequence[Technique]) -> Iterator[Technique]:
    """The file's techniques, with the names that ingests taught the graph and the file lacks.

    A name that the file gives to another technique is that one's from now on.
    """
    names, graph = Vocabulary(file), {technique.id: technique for technique in stored}
    for technique in file:
        known = graph.get(technique.id, technique)
        kept = [
            alias
            for alias in known.aliases
            if (match := names.find(alias, technique.target)) is None
            or match.technique == technique.id
        ]
        aliases = tuple(dict.fromkeys((*technique.aliases, *kept)))
        replaces = tuple(dict.fromkeys((*technique.replaces, *known.replaces)))
        yield technique.model_copy(update={"aliases": aliases, "replaces": replaces})
