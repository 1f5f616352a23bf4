"""Every saved query for Neo4j Browser runs on a real Neo4j and says what is so."""

import json
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import neo4j
import pytest

from regraph_kg.backends.statistics import DOUBLINGS
from regraph_kg.models.trajectory import Trajectory, standing
from regraph_kg.settings import Settings
from tests.browser import sample as made
from tests.stores import address, wipe

FOLDER = Path(__file__).parents[2] / "cypher" / "browser"
COMMANDS = ("draw-results-only", "parameters")  # what only the Browser understands
QUERIES = sorted(path.stem for path in FOLDER.glob("*.cypher") if path.stem not in COMMANDS)
H200 = "NVIDIA H200"
SOURCE, TECHNIQUE = "cuda/start", "cuda/thread-per-element"


def text(name: str) -> str:
    return (FOLDER / f"{name}.cypher").read_text(encoding="utf-8")


def header(name: str) -> list[str]:
    return [line.removeprefix("// ") for line in text(name).splitlines() if line.startswith("//")]


def said(name: str, what: str) -> list[str]:
    """The comma-separated list of a header line, explanations in parentheses left out."""
    (line,) = (line for line in header(name) if line.startswith(f"{what}: "))
    bare = re.sub(r" \([^)]*\)", "", line.removeprefix(f"{what}: "))
    return [] if bare == "none" else bare.split(", ")


class Reader:
    """Runs saved queries with a person's parameters."""

    def __init__(self, session: neo4j.Session) -> None:
        self._session = session
        self.warnings: list[str] = []

    def __call__(self, name: str, **parameters: str) -> list[dict[str, object]]:
        return self.all(text(name), **parameters)

    def all(self, query: str, **parameters: str) -> list[dict[str, object]]:
        """Rows of any query."""
        found = self._session.run(query, parameters)
        rows = [dict(record) for record in found]
        summary = found.consume()
        self.columns = found.keys()
        self.warnings = [one.status_description for one in summary.gql_status_objects[1:]]
        return rows


@pytest.fixture(scope="module")
def sample(neo4j_server: Settings) -> Iterator[Settings]:
    """A Neo4j that holds the sample graph; read it only."""
    wipe(neo4j_server)
    made.grow(neo4j_server)
    yield neo4j_server
    wipe(neo4j_server)


@pytest.fixture
def run(sample: Settings) -> Iterator[Reader]:
    where = address(sample)
    with (
        neo4j.GraphDatabase.driver(
            where.uri,
            auth=(where.user, where.password),
            warn_notification_severity=neo4j.NotificationMinimumSeverity.OFF,
        ) as driver,
        driver.session(database=where.database) as session,
    ):
        yield Reader(session)


def test_headers_tell_a_person_what_a_query_is_and_what_to_paste() -> None:
    every = [*QUERIES, *COMMANDS]
    titles = sorted(header(name)[0] for name in every)
    assert [title[:2] for title in titles] == [f"{number:02}" for number in range(len(every))]
    # the Browser's sidebar shows no longer one
    assert all(re.fullmatch(r"\d\d [A-Z][\w' ]{5,24}", title) for title in titles)
    defaults = set(re.findall(r"^  (\w+):", text("parameters"), re.MULTILINE))
    for name in QUERIES:
        used = set(re.findall(r"\$(\w+)", text(name)))
        pasted = {line.split()[1] for line in header(name) if line.startswith(":param ")}
        assert used == set(said(name, "Parameters")) == pasted <= defaults, name


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_something_without_a_warning(name: str, run: Reader) -> None:
    example = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)[0]["example"]
    given = {"device": H200, "target": "cuda", "source": SOURCE, "technique": TECHNIQUE}
    rows = run(name, **given, example=str(example))
    assert rows
    assert run.warnings == []
    assert list(run.columns) == said(name, "Columns")
    assert len(rows) <= 500


def test_the_examples_most_like_one_are_found_by_the_index(run: Reader) -> None:
    example = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)[0]["example"]
    rows = run("examples-alike", example=str(example))
    assert (rows[0]["alike"], len(rows)) == (1.0, 12)
    # two made-up models tell each step in the same words
    assert str(example) in {row["example"] for row in rows[:3]}
    alike = [float(str(row["alike"])) for row in rows]
    assert alike == sorted(alike, reverse=True)


def effects(*, whole: bool = False) -> dict[tuple[str, str], list[float]]:
    """What the corpus says each verified step gained on the H200: `whole`, or as NEXT counts it."""
    found = defaultdict(list)
    for line in made.corpus():
        trajectory = Trajectory.model_validate_json(line)
        at, most = f"{trajectory.target}/start", 2.0 ** DOUBLINGS[trajectory.target]
        for step in trajectory.steps:
            assert step.technique is not None
            found[at, step.technique] += [
                min(one.before_seconds / one.seconds, math.inf if whole else most)
                for one in standing(step.measurements)
                if one.device == H200 and one.outcome == "passed" and not one.ruled_out
                if one.before_seconds is not None and one.seconds is not None
            ]
            at = step.technique
    return {pair: gained for pair, gained in found.items() if gained}


def names() -> dict[str, str]:
    listed = json.loads((made.CORPUS / "techniques.json").read_bytes())
    return {one["id"]: one["name"] for one in listed} | {"cuda/start": "serial code"}


def cautious(gained: list[float]) -> float:
    """The order of the queries: a mean of few measurements is drawn towards no gain."""
    return sum(map(math.log2, gained)) / (len(gained) + 1)


def test_the_strongest_transitions_are_those_of_the_measurements(run: Reader) -> None:
    known = names()
    expected = sorted(effects().items(), key=lambda item: -cautious(item[1]))[:25]
    assert [
        (row["after"], row["apply"], row["times faster"], row["verified"])
        for row in run("strongest-transitions", device=H200)
    ] == [
        (
            known[source],
            known[target],
            pytest.approx(statistics.geometric_mean(gained), abs=0.006),
            len(gained),
        )
        for (source, target), gained in expected
    ]


def test_the_map_grows_from_the_serial_code_along_steps_that_gain(run: Reader) -> None:
    gained = effects()
    rows = run("map-of-a-target", target="cuda", device=H200)
    assert len(rows) > 8
    children: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        ids = walked(row, gained)
        assert ids[0] == "cuda/start"
        assert all(cautious(gained[pair]) > 0 for pair in pairwise(ids))
        for source, target in pairwise(ids):
            children[source].add(target)
    assert max(map(len, children.values())) <= 3
    # one best path leads to each technique
    assert len({row["path"].nodes[-1]["id"] for row in rows}) == len(rows)  # type: ignore[attr-defined]


def walked(row: dict[str, object], gained: dict[tuple[str, str], list[float]]) -> list[str]:
    """The techniques of a row's path, none twice, which gains what its steps gain."""
    path = row["path"]
    assert isinstance(path, neo4j.graph.Path)
    ids = [str(node["id"]) for node in path.nodes]
    assert len(set(ids)) == len(ids)
    means = [statistics.geometric_mean(gained[pair]) for pair in pairwise(ids)]
    assert row["times faster"] == pytest.approx(math.prod(means), rel=1e-3)
    return ids


def test_paths_begin_at_the_serial_code_and_gain_what_their_steps_gain(run: Reader) -> None:
    rows = run("paths-to-a-technique", technique="cuda/memory-coalescing", device=H200)
    gained = effects()
    for row in rows:
        ids = walked(row, gained)
        assert (ids[0], ids[-1]) == ("cuda/start", "cuda/memory-coalescing")
        assert len(ids) == row["steps"] + 1  # type: ignore[operator]
    assert str(rows[0]["by way of"]).endswith("Memory coalescing")
    assert len({row["by way of"] for row in rows}) == len(rows) > 1


def test_examples_side_by_side_are_the_best_with_their_code(run: Reader) -> None:
    rows = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)
    gained = [row["times faster"] for row in rows]
    assert gained == sorted(gained, reverse=True)  # type: ignore[type-var]
    assert gained[0] == pytest.approx(max(effects(whole=True)[SOURCE, TECHNIQUE]) / 0.8, rel=1e-3)
    assert "__global__" not in str(rows[0]["before"])
    assert "__global__" in str(rows[0]["after"])


def test_failures_are_counted_by_step_and_outcome_with_their_models(run: Reader) -> None:
    rows = run("where-models-fail")
    expected: dict[tuple[str, str, str], int] = defaultdict(int)
    known = names() | {"openmp/start": "serial code"}
    for line in made.lines():
        trajectory = json.loads(line)
        for failure in trajectory.get("failures", ()):
            expected[
                failure["label"], failure["outcome"].replace("_", " "), failure["diagnosis"]
            ] += 1
    assert sum(row["failures"] for row in rows) == sum(expected.values())  # type: ignore[misc]
    (shuffle,) = (row for row in rows if row["apply"] == known["cuda/warp-shuffle"])
    assert shuffle["after"] == "Block reduction"
    assert shuffle["what went wrong"] == "wrong answer"
    assert shuffle["failures"] == 3
    assert str(shuffle["for instance"]).startswith("only the first warp's sum was added")
    assert {"model-a", "model-b"} < set(shuffle["models"])  # type: ignore[call-overload]


def test_provenance_leads_from_code_to_model_and_verdict(run: Reader) -> None:
    best = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)[0]
    rows = run("provenance", example=str(best["example"]))
    found = {row["fact"]: row["value"] for row in rows}
    assert found["written by"] == "model-a"
    assert str(found["in its words"]).startswith("use ")
    assert found["taken for"] == f"{TECHNIQUE} (model)"
    assert found["step"] == "serial code -> Thread per element"
    assert found["verdict"] == f"passed on {made.DEVICE}"
    assert found["code after"] == best["after"]
    assert str(found["its path"]).startswith("cuda/start -> cuda/thread-per-element -> ")


def test_the_vocabulary_says_what_to_look_at(run: Reader) -> None:
    rows = {row["id"]: row for row in run("vocabulary", target="cuda")}
    assert set(rows) > {name for name in names() if name.startswith("cuda/")}
    assert not any(str(row).startswith("openmp/") for row in rows)
    assert rows["cuda/thread-per-element"]["examples"] == 18
    assert rows["cuda/pairwise-tally-in-round"]["look at"] == "new: needs review"
    assert rows["cuda/occupancy-tuning"]["look at"] == "never seen"
    assert rows["cuda/start"]["look at"] == ""


def test_names_that_a_model_took_are_counted_by_technique(run: Reader) -> None:
    rows = run("names-taken")
    assert {row["by"] for row in rows} == {"model"}
    counts = [row["steps"] for row in rows]
    assert counts == sorted(counts, reverse=True)  # type: ignore[type-var]
    assert any(str(row["label"]).startswith("use ") for row in rows)


def test_new_techniques_show_the_names_and_code_they_came_with(run: Reader) -> None:
    (row, *_) = (row for row in run("new-techniques") if "tally" in str(row["id"]))
    assert row["examples"] == 1
    assert "__global__" in str(row["for instance"])


def test_a_name_of_two_techniques_is_shown_with_both(run: Reader) -> None:
    (row,) = run("shared-names")
    assert (row["name"], row["techniques"]) == ("warp shuffle", ["cuda/fold", "cuda/warp-shuffle"])
