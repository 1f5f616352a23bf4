"""Lines of trajectories into the graph, as `regraph ingest` merges a file, without its report.

For what is known to be good: learned runs, the starter. Not here: bad lines of users (ingest.py).
"""

from collections import Counter
from contextlib import closing
from typing import BinaryIO

from regraph_kg import wiring
from regraph_kg.cli.embeddings import embed_new
from regraph_kg.cli.progress import bar
from regraph_kg.ingest import pipeline
from regraph_kg.ingest.read import read, split
from regraph_kg.models.graph import RelabelLevel
from regraph_kg.settings import Settings

COUNTS = ("added", "known", "examples", "measurements", "techniques")


def grow(settings: Settings, lines: BinaryIO, level: RelabelLevel, title: str) -> Counter[str]:
    """Merge `lines` into the graph of these settings; `COUNTS`, and how many were rejected."""
    totals: Counter[str] = Counter()
    size = lines.seek(0, 2)
    lines.seek(0)
    with closing(wiring.open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, wiring.vocabulary(settings))
        cascade = wiring.cascade(settings, names, level)
        embedder = wiring.embedder(settings, store.embedding_space())
        with bar(title, size) as show:
            for batch in pipeline.ingest(read(split(lines)), store, cascade):
                totals.update({name: getattr(batch.counts, name) for name in COUNTS})
                totals["rejected"] += len(batch.rejected)
                show(lines.tell(), title)
        embed_new(store, embedder)
    return totals
