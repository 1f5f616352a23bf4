"""One search that the trace tests run again and again: its graph, model, header and verdicts."""

import time
from functools import partial
from pathlib import Path

from regraph_kg.search.methods.mcgs import McgsSettings
from tests.search.replayed import RecordedJudge
from tests.search.toy import Graph, Toy, header, noisy_script

GRAPH: Graph = {
    "start": ["a", "b", "c"],
    "a": ["b", "c"],
    "b": ["a", "b"],
    "c": ["d"],
    "d": ["a"],
}
HEADER = header(budget=25, settings=McgsSettings(free=False))


def toy() -> Toy:
    """With some answers that fail and some that are not recorded."""
    return Toy(GRAPH, noisy_script(11, holes=0.1))


def recorded_toy(whole: Path, pause: float = 0.0) -> Toy:
    """The same with the verdicts of the trace `whole`, and a model that takes `pause` seconds."""
    script = noisy_script(11, holes=0.1)
    judge = RecordedJudge(whole)
    slow = Toy(GRAPH, lambda key: (time.sleep(pause), script(key))[1], judge.evaluate)
    slow.final = partial(judge.evaluate, grade="full")  # type: ignore[method-assign]
    return slow


def still() -> float:
    """A clock that stands still: traces of equal runs are equal byte for byte."""
    return 0.0
