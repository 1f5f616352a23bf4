"""Contract: leaving out a problem is exact whatever was done to the graph, and beside writers."""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count

import pytest

from regraph_kg.backends import nearby
from regraph_kg.backends.bolt import Bolt, GraphRow, Query
from regraph_kg.backends.purge import BoltPurge
from regraph_kg.backends.shares import is_empty
from regraph_kg.graph import GraphStore
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.graph import MergePlan, Neighbourhood
from regraph_kg.models.purge import Provenance
from regraph_kg.models.trajectory import Source
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_purge, open_store
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.stores import address, cypher, wipe

pytestmark = pytest.mark.neo4j("slow")

SOURCES = ("cuda/start", "cuda/a", "cuda/b")
PROBLEMS = ("p", "q", "r")
DEVICES = (H200, A100, "GPU X")
TEARS = 6
"""Readings of each device that are torn by a commit, each otherwise."""
READINGS = 34
"""Of nine neighbourhoods each."""


def crowd(rng: random.Random, count: int, problem: str | None = None) -> list[MergePlan]:
    """Walks with measurements and failures at random; few effects, so that some are equal."""
    return [
        plan(
            [rng.choice("abc") for _ in range(rng.randrange(1, 4))],
            problem=problem or rng.choice(PROBLEMS),
            code=f"int x{rng.random()};",
            measurements=[
                measured(device, effect=rng.choice((None, 1.0, 2.0, 3.0, 4.0)))
                for device in rng.sample(DEVICES, rng.randrange(3))
            ],
            failures=[failure(rng.choice("abc"), after=0) for _ in range(rng.randrange(2))],
        )
        for _ in range(count)
    ]


def judged_again(one: MergePlan, judge: str, rng: random.Random) -> MergePlan:
    """With figures of another judge, which may be worse."""
    again = measured(H200, effect=rng.choice((None, 0.5, 2.0, 3.0)), evaluator=judge, run=judge)
    steps = tuple(
        step.model_copy(update={"measurements": (again,)}) for step in one.trajectory.steps
    )
    return MergePlan(one.trajectory.model_copy(update={"steps": steps}), one.labels)


def told(store: GraphStore, without: str | None = None) -> list[Neighbourhood]:
    """What a search is told around every technique, on every device."""
    return [
        store.neighbourhood(source, device=device, exclude_problem=without)
        for source in SOURCES
        for device in DEVICES
    ]


def test_whatever_is_merged_a_problem_is_left_out_exactly(
    store: GraphStore, store_settings: Settings
) -> None:
    rng = random.Random(1)
    sent: list[MergePlan] = []
    for judge in range(2, 8):
        batch = crowd(rng, 4)
        batch += [judged_again(one, str(judge), rng) for one in rng.sample(sent, len(sent) // 3)]
        store.merge(batch)
        sent += batch
    assert store.check() == ()
    found = {problem: told(store, problem) for problem in (*PROBLEMS, "of nobody")}
    assert found["of nobody"] == told(store)
    for problem in PROBLEMS:
        wipe(store_settings)
        store.apply_schema()
        store.merge([one for one in sent if one.trajectory.problem != problem])
        assert told(store) == found[problem]


class Beside:
    """Reads as a store does, while somebody writes between any two statements."""

    def __init__(self, settings: Settings, write: Callable[[], None]) -> None:
        self._bolt, self._write = Bolt(address(settings)), write

    def neighbourhood(self, source: str, device: str, without: str) -> Neighbourhood:
        def read(ask: Query) -> Neighbourhood:
            def interrupted(name: str, /, **parameters: object) -> list[GraphRow]:
                self._write()
                rows = ask(name, **parameters)
                self._write()
                return rows

            return nearby.neighbourhood(interrupted, source, device, 32, without)

        return self._bolt.read(read)

    def close(self) -> None:
        self._bolt.close()


@pytest.fixture
def other(store: GraphStore, store_settings: Settings) -> Iterator[GraphStore]:
    """Another connection to the graph of `store`."""
    with closing(open_store(store_settings)) as opened:
        yield opened


def test_a_writer_between_any_two_statements_changes_nothing(
    store: GraphStore, other: GraphStore, store_settings: Settings
) -> None:
    rng = random.Random(3)
    store.merge(crowd(rng, 12, "q"))
    store.add_techniques([technique for one in crowd(rng, 9) for technique in one.new])
    right = told(store)

    def write() -> None:
        other.merge(crowd(rng, 2, "p"))

    with closing(Beside(store_settings, write)) as reader:
        found = [
            reader.neighbourhood(source, device, "p") for source in SOURCES for device in DEVICES
        ]
    assert found == right
    assert told(store) != right


def torn(rng: random.Random, old: GraphRow, new: GraphRow) -> GraphRow:
    """A row as it is seen while a commit is applied: each property old or new; {}: not there.

    One that is made is there with all its properties: both engines write them first.
    """
    wholly = rng.choice((old, new, None if old else new))
    if wholly is not None:
        return wholly
    sides = {name: rng.choice((old, new)) for name in sorted({*old, *new})}
    return {name: side[name] for name, side in sides.items() if name in side}


def torn_rows(
    rng: random.Random, old: Sequence[GraphRow], new: Sequence[GraphRow]
) -> list[GraphRow]:
    """The same of several rows, by id."""
    before, after = ({row["id"]: row for row in rows} for rows in (old, new))
    keys = sorted({*before, *after})
    seen = [torn(rng, before.get(key, {}), after.get(key, {})) for key in keys]
    return [row for row in seen if row]


def torn_reading(rng: random.Random, old: GraphRow, new: GraphRow) -> GraphRow:
    """What `neighbourhood` may find while the commit between two states is applied."""
    states = [{row["technique"]["id"]: row for row in one["rows"]} for one in (old, new)]
    pairs = [
        [state.get(key, {"technique": {}, "statistics": []}) for state in states]
        for key in sorted({*states[0], *states[1]})
    ]
    rows = [
        {
            "technique": before["technique"] or after["technique"],
            "statistics": torn_rows(rng, before["statistics"], after["statistics"]),
        }
        for before, after in pairs
    ]
    own = torn_rows(rng, old["own"], new["own"])
    then = own if rng.random() < 0.5 else torn_rows(rng, old["own"], new["own"])
    return {"rows": [row for row in rows if row["statistics"]], "own": own, "own_then": then}


@pytest.mark.neo4j("quick")
def test_however_a_commit_tears_a_reading_a_problem_is_left_out_exactly(
    store: GraphStore, store_settings: Settings
) -> None:
    rng, sent = random.Random(6), crowd(random.Random(7), 9, "p")
    store.merge(crowd(rng, 12, "q"))
    store.merge([plan(name, problem="q") for name in "abc"])
    right, places = told(store), [(source, device) for source in SOURCES for device in DEVICES]

    with closing(Bolt(address(store_settings))) as bolt, closing(BoltPurge(bolt)) as purge:
        deeds: list[Callable[[], object]] = [
            lambda: store.merge(sent),
            lambda: store.merge(crowd(rng, 3, "p")),
            lambda: store.merge([judged_again(one, "2", rng) for one in sent]),
            lambda: next(iter(purge.run(Provenance("problem", "p")))),  # one transaction of it
            lambda: store.merge(sent),
        ]

        def reading(source: str) -> GraphRow:
            ask = {"technique": source, "problem": "p"}
            return bolt.read(lambda run: run("neighbourhood", **ask))[0]

        def torn_between(ask: Query, old: GraphRow, new: GraphRow) -> Query:
            def answer(name: str, /, **parameters: object) -> list[GraphRow]:
                if name == "neighbourhood":
                    return [torn_reading(rng, old, new)]
                return ask(name, **parameters)

            return answer

        for deed in deeds:
            before = [reading(source) for source in SOURCES]
            deed()
            for source, old in zip(SOURCES, before, strict=True):
                new = reading(source)
                for device in TEARS * DEVICES:
                    found = bolt.read(
                        lambda ask, old=old, new=new, at=(source, device): nearby.neighbourhood(
                            torn_between(ask, old, new), *at, 32, "p"
                        )
                    )
                    assert found == right[places.index((source, device))]


def never_resting(store: GraphStore, purge: BoltPurge, done: threading.Event) -> None:
    """Whatever can be done to "p": told, measured again, worse, and all of it taken out."""
    rng = random.Random(4)
    for turn in count():
        some = crowd(rng, 3, "p")
        store.merge(some)
        store.merge([judged_again(one, "2", rng) for one in some])
        if turn % 8 == 7:
            list(purge.run(Provenance("problem", "p")))
        if done.is_set():
            return


@pytest.mark.slow
def test_beside_writers_that_never_rest_a_problem_is_left_out_exactly(
    store: GraphStore, other: GraphStore, store_settings: Settings
) -> None:
    rng = random.Random(4)
    store.merge(crowd(rng, 30, "q"))
    store.merge([plan(name, problem="q") for name in "abc"])
    right = told(store)
    done = threading.Event()
    with (
        closing(open_purge(store_settings)) as purge,
        ThreadPoolExecutor(1) as pool,
    ):
        writer = pool.submit(never_resting, other, purge, done)
        try:
            found = [told(store, "p") for _ in range(READINGS)]
        finally:
            done.set()
        writer.result()
    assert [one for one in found if one != right] == []
    assert store.check() == ()


def shares(settings: Settings) -> Sequence[object]:
    """Their numbers; which write they are of, and what was emptied, does not matter."""
    rows = cypher(settings, "MATCH (s:Share) RETURN properties(s) AS p ORDER BY s.id")
    nodes = ({**row["p"], "written": None, "checksum": None} for row in rows)
    return [node for node in nodes if not is_empty(node)]


def test_a_newer_judges_lower_figure_takes_the_place_of_the_best(store: GraphStore) -> None:
    first = plan("a", problem="p", measurements=[measured(effect=9.0)])
    store.merge([first, plan("a", problem="q", measurements=[measured(effect=4.0)])])
    again = plan("a", problem="p", measurements=[measured(effect=2.0, evaluator="2")])
    store.merge([again])
    assert [row.best_effect for row in store.transitions()] == [4.0]
    assert store.check() == ()
    for problem, best in (("p", 4.0), ("q", 2.0)):
        (one,) = store.neighbourhood("cuda/start", device=H200, exclude_problem=problem).successors
        assert one.best_effect == best


def test_a_best_effect_that_a_newer_judge_could_not_time_is_gone(store: GraphStore) -> None:
    first = [measured(effect=9.0), measured(A100, effect=2.0, run="2026-11-22")]
    store.merge([plan("a", measurements=first)])
    noisy = measured(evaluator="2", outcome=Outcome.UNSTABLE_TIMING)
    store.merge([plan("a", measurements=[noisy])])
    assert [row.best_effect for row in store.transitions()] == [2.0]
    assert store.check() == ()


def test_nothing_less_a_problem_is_nothing(store: GraphStore) -> None:
    store.merge([plan("a", problem="p")])
    assert store.neighbourhood("cuda/start", device=H200, exclude_problem="p").successors == ()
    for source in ("cuda/a", "cuda/nowhere"):
        assert store.neighbourhood(source, device=H200, exclude_problem="q").successors == ()


def test_an_arrow_says_its_gain_and_how_often_it_worked(
    store: GraphStore, store_settings: Settings
) -> None:
    store.merge(
        [plan("a", code="1", measurements=[measured(effect=2.0), measured(run="x", effect=9.0)])]
    )
    store.merge([plan("a", code="2", measurements=[measured(effect=None)])])
    store.merge([plan("b", measurements=[measured(effect=None)])])
    rows = cypher(
        store_settings,
        "MATCH ()-[n:NEXT]->(d) RETURN n.gain AS gain, n.tries AS tries ORDER BY d.id",
    )
    assert rows == [{"gain": 4.24, "tries": "2 of 3"}, {"gain": None, "tries": "0 of 1"}]


def test_what_a_sender_calls_his_device_is_no_row_of_a_model(store: GraphStore) -> None:
    learned = Source(model="m", created="2026-11-20T10:00:00Z", learned=True)
    store.merge([plan("a", measurements=[measured("GPU", effect=4.0)], source=learned)])
    named = [measured("GPU learned from m", effect=2.0)]
    store.merge([plan("a", problem="q", measurements=named)])
    assert store.check() == ()
    assert sorted((row.device, row.best_effect) for row in store.transitions()) == [
        ("GPU", 4.0),
        ("GPU learned from m", 2.0),
    ]
