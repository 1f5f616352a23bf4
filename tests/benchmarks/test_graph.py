"""What the graph benchmark writes is real, and its ceiling is what the store was sent."""

import io
import os
from collections import Counter
from contextlib import closing

import pytest

from benchmarks.bare import open_bare
from benchmarks.graph import grow, hottest_examples, most_walked, rates
from benchmarks.servers import Server
from benchmarks.walks import DEVICES, STEPS, Walks
from benchmarks.writers import BATCH_LINES, Writer, writing
from regraph_kg import wiring
from regraph_kg.ingest.read import Accepted, read, split
from regraph_kg.settings import Settings
from tests.stores import cypher

pytestmark = pytest.mark.slow


@pytest.fixture
def server(embedded_settings: Settings) -> Server:
    wiring.open_store(embedded_settings).close()
    return Server(embedded_settings, os.getpid(), "as the tests")


def test_walks_are_trajectories_over_216_pairs_of_which_some_are_hot() -> None:
    walks = Walks(1)
    lines = list(read(split(io.BytesIO(walks.lines(400)))))
    trajectories = [line.trajectory for line in lines if isinstance(line, Accepted)]
    assert len({trajectory.id for trajectory in trajectories}) == 400
    sizes = [len(step.code) for trajectory in trajectories for step in trajectory.steps]
    assert 1_900 < sum(sizes) / len(sizes) < 2_300
    failures = sum(len(trajectory.failures) for trajectory in trajectories)
    assert 0.03 < failures / (400 * STEPS) < 0.07
    assert {m.device for t in trajectories for s in t.steps for m in s.measurements} == {*DEVICES}
    assert 150 < len(walks.pairs) <= 216
    assert walks.pairs.most_common(1)[0][1] > 400 * STEPS / 100
    assert Walks(1).lines(2) == Walks(1).lines(2) != Walks(2).lines(2)


def test_the_ceiling_is_sent_what_the_store_holds(server: Server) -> None:
    with open_bare(server.settings) as bare, closing(Writer(server.settings, 1, bare)) as writer:
        writer.prepare("merge", 1, noting=True)
        assert writer.do("merge") == BATCH_LINES * STEPS
        (written,) = writer.written
    statements = (
        "MATCH ()-[r:TRANSITION]->() RETURN properties(r) AS held",
        "MATCH (n:Steps|Trajectory|Failure|Share) RETURN properties(n) AS held",
    )
    held = [row["held"] for text in statements for row in cypher(server.settings, text)]
    assert Counter(map(fingerprint, written)) == Counter(map(fingerprint, held))


def fingerprint(properties: object) -> str:
    assert isinstance(properties, dict)
    return repr(sorted((key, value) for key, value in properties.items() if value is not None))


def test_a_store_grows_by_its_writers_and_gives_the_figures(server: Server) -> None:
    with writing(server, 1) as writers:
        grown = grow(writers, 1, 2 * BATCH_LINES * STEPS)
        walked = sum(writers.end(), Counter())
    with_ceilings = rates(grown)
    with closing(wiring.open_store(server.settings)) as store:
        assert store.stats().transitions == walked.total() == 2 * BATCH_LINES * STEPS
        assert hottest_examples(store, most_walked()) == walked[most_walked()]
    for work in ("merge", "ingest"):
        assert with_ceilings[f"{work}_per_second"] > 0
        assert 0 < with_ceilings[f"{work}_of_ceiling"] < 2
    assert with_ceilings["plain_per_second"] > 0
