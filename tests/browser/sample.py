"""A graph worth looking at: the corpus, and what two made-up models did with its CUDA problems.

The made-up trajectories are the corpus' own under other names of techniques, with other times and
without their techniques' ids, so that relabelling and statistics have work to do.
"""

import io
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from regraph_kg.ingest import pipeline
from regraph_kg.ingest.cascade import Cascade
from regraph_kg.ingest.read import read, split
from regraph_kg.ingest.relabel.aliases import LabelVerdict
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Technique
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import read_vocabulary
from regraph_kg.wiring.stores import open_store
from tests.corpus.corpus import CORPUS, PROBLEMS

MODELS = (("model-a", "use {}", 0.8), ("model-b", "apply {}", 1.3))
"""Name, what it makes of a label, and how its times differ."""
DEVICE = "made-up GPU"
UNHEARD_OF = {"use tree reduction": "pairwise tally in rounds"}
"""A name that nobody knows: it becomes a technique to be reviewed."""


class ToldCascade(Cascade):
    """Knows that "use x" is x, as a model would tell."""

    def resolve(self, label: str, target: Target) -> LabelVerdict:
        bare = label.removeprefix("use ").removeprefix("apply ")
        found = super().resolve(bare, target)
        if bare == label or found.relabelled.stage == "new":
            return super().resolve(label, target)
        return LabelVerdict(replace(found.relabelled, label=label, stage="model"))


def grow(settings: Settings) -> None:
    """Make the sample of an empty store."""
    with closing(open_store(settings)) as store:
        names = pipeline.open_vocabulary(store, read_vocabulary(settings))
        cascade = ToldCascade(names)
        for batch in (
            one.merged(store)
            for one in pipeline.portions(read(split(io.BytesIO(b"\n".join(lines())))), cascade)
        ):
            assert not batch.rejected, batch.rejected
        store.add_techniques([Technique(id="cuda/fold", name="Warp shuffle", target="cuda")])
        for _ in store.embed():
            pass


def lines() -> Iterator[bytes]:
    """The sample's trajectories as JSON lines."""
    own = [json.loads(line) for line in corpus()]
    yield from corpus()
    for one in own:
        if one["target"] == "cuda":
            for model in MODELS:
                yield json.dumps(_retold(one, *model)).encode()


def corpus() -> Iterator[bytes]:
    """Trajectories of four problems of the corpus as JSON lines."""
    for path in sorted((CORPUS / "trajectories").glob("*.jsonl")):
        if path.name.partition(".")[0] in PROBLEMS:
            yield from path.read_bytes().splitlines()


def _retold(one: dict[str, Any], model: str, label: str, factor: float) -> dict[str, Any]:
    """A trajectory as another model might have walked it, on another device."""
    steps = [
        {name: value for name, value in step.items() if name != "technique"}
        | {
            "label": _label(label.format(step["label"].lower())),
            "code": f"// {model}\n{step['code']}",
            "measurements": [_timed(measured, factor) for measured in step["measurements"]],
        }
        for step in one["steps"]
    ]
    source = one["source"] | {"model": model, "run": "sample"}
    return one | {"ref": f"{one['ref']}/{model}", "source": source, "steps": steps}


def _timed(measured: dict[str, Any], factor: float) -> dict[str, Any]:
    """The measurement elsewhere; what failed has no seconds."""
    seconds = {"seconds": measured["seconds"] * factor} if "seconds" in measured else {}
    return measured | {"device": DEVICE, "run": "sample"} | seconds


def _label(label: str) -> str:
    return UNHEARD_OF.get(label, label)
