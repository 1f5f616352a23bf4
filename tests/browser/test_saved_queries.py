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

from regraph_kg.models.trajectory import Trajectory, standing
from regraph_kg.settings import Settings
from tests.browser import sample as made
from tests.stores import address

FOLDER = Path(__file__).parents[2] / "cypher" / "browser"
COMMANDS = ("draw-results-only", "parameters")
"""What only the Browser understands."""
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


@pytest.mark.parametrize("name", [*QUERIES, *COMMANDS])
def test_a_header_tells_a_person_what_the_query_is(name: str) -> None:
    title, about, *_ = header(name)
    assert re.fullmatch(r"\d\d [A-Z][\w' ]{5,24}", title), "title: what Browser's sidebar can show"
    assert len(about.split()) > 5


def test_titles_are_in_order_and_of_their_own() -> None:
    numbers = sorted(header(name)[0][:2] for name in [*QUERIES, *COMMANDS])
    assert numbers == [f"{number:02}" for number in range(len(numbers))]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_s_parameters_have_lines_to_paste_and_defaults(name: str) -> None:
    used = set(re.findall(r"\$(\w+)", text(name)))
    pasted = {line.split()[1] for line in header(name) if line.startswith(":param ")}
    assert used == set(said(name, "Parameters")) == pasted
    assert used <= set(re.findall(r"^  (\w+):", text("parameters"), re.MULTILINE))


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_something_without_a_warning(name: str, run: Reader) -> None:
    example = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)[0]["example"]
    given = {"device": H200, "target": "cuda", "source": SOURCE, "technique": TECHNIQUE}
    rows = run(name, **given, example=str(example))
    assert rows
    assert run.warnings == []
    assert list(run.columns) == said(name, "Columns")
    assert len(rows) <= 500


def effects() -> dict[tuple[str, str], list[float]]:
    """What the corpus says each verified step gained on the H200, without any store."""
    found = defaultdict(list)
    for line in made.corpus():
        trajectory = Trajectory.model_validate_json(line)
        at = f"{trajectory.target}/start"
        for step in trajectory.steps:
            assert step.technique is not None
            found[at, step.technique] += [
                one.before_seconds / one.seconds
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


def test_the_map_grows_from_the_serial_code_along_the_best_paths(run: Reader) -> None:
    gained = effects()
    gaining = {
        pair: cautious(effect) for pair, effect in gained.items() if sum(map(math.log2, effect)) > 0
    }
    kept = defaultdict(list)
    for source, target in sorted(gaining, key=lambda pair: -gaining[pair]):
        kept[source] += [target] * (len(kept[source]) < 3)

    def paths(so_far: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for target in kept[so_far[-1]]:
            if target not in so_far and len(so_far) <= 5:
                yield (*so_far, target)
                yield from paths((*so_far, target))

    best: dict[str, float] = {}
    for path in paths(("cuda/start",)):
        sure = sum(gaining[pair] for pair in pairwise(path))
        best[path[-1]] = max(best.get(path[-1], 0.0), sure)
    rows = run("map-of-a-target", target="cuda", device=H200)
    assert len(rows) == len(best) > 8
    for row in rows:
        path = row["path"]
        assert isinstance(path, neo4j.graph.Path)
        ids = [str(node["id"]) for node in path.nodes]
        assert ids[0] == "cuda/start"
        sure = sum(gaining[pair] for pair in pairwise(ids))
        assert sure == pytest.approx(best[ids[-1]], abs=1e-4)
        means = [statistics.geometric_mean(gained[pair]) for pair in pairwise(ids)]
        assert row["times faster"] == pytest.approx(math.prod(means), rel=1e-3)


def test_techniques_are_labelled_by_family(run: Reader) -> None:
    listed = {
        load["id"]: load for load in json.loads((made.CORPUS / "techniques.json").read_bytes())
    }
    seen = run.all("MATCH (t:Technique) RETURN t.id AS id, labels(t) AS labels")
    for row in seen:
        one = listed.get(str(row["id"]), {})
        family = "start" if str(row["id"]).endswith("/start") else one.get("family", "")
        assert set(row["labels"]) - {"Technique"} == {family.capitalize()} - {""}  # type: ignore[call-overload]
    assert len(seen) > 60


def test_paths_begin_at_the_serial_code_and_gain_what_their_steps_gain(run: Reader) -> None:
    rows = run("paths-to-a-technique", technique="cuda/memory-coalescing", device=H200)
    gained = effects()
    for row in rows:
        path = row["path"]
        assert isinstance(path, neo4j.graph.Path)
        ids = [node["id"] for node in path.nodes]
        assert (ids[0], ids[-1]) == ("cuda/start", "cuda/memory-coalescing")
        assert len(set(ids)) == len(ids) == row["steps"] + 1  # type: ignore[operator]
        means = [statistics.geometric_mean(gained[pair]) for pair in pairwise(ids)]
        assert row["times faster"] == pytest.approx(math.prod(means), rel=1e-3)
    assert str(rows[0]["by way of"]).endswith("Memory coalescing")
    assert len({row["by way of"] for row in rows}) == len(rows) > 1


def test_examples_side_by_side_are_the_best_with_their_code(run: Reader) -> None:
    rows = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)
    gained = [row["times faster"] for row in rows]
    assert gained == sorted(gained, reverse=True)  # type: ignore[type-var]
    assert gained[0] == pytest.approx(max(effects()[SOURCE, TECHNIQUE]) / 0.8, rel=1e-3)
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
    assert [row["failures"] for row in rows] == sorted(
        (row["failures"] for row in rows), reverse=True
    )  # type: ignore[type-var]
    (shuffle,) = (row for row in rows if row["apply"] == known["cuda/warp-shuffle"])
    assert shuffle["after"] == "Block reduction"
    assert shuffle["what went wrong"] == "wrong answer"
    assert shuffle["failures"] == 3
    assert str(shuffle["for instance"]).startswith("only the first warp's sum was added")
    assert {"model-a", "model-b"} < set(shuffle["models"])  # type: ignore[call-overload]


def facts(run: Reader, example: object) -> dict[str, str]:
    return {str(row["fact"]): str(row["value"]) for row in run("provenance", example=str(example))}


def test_provenance_leads_from_code_to_model_and_verdict(run: Reader) -> None:
    best = run("examples-side-by-side", source=SOURCE, technique=TECHNIQUE)[0]
    found = facts(run, best["example"])
    assert found["written by"] == "model-a"
    assert found["in its words"].startswith("use ")
    assert found["taken for"] == f"{TECHNIQUE} (lexical)"
    assert found["step"] == "serial code -> Thread per element"
    assert found["verdict"] == f"passed on {made.DEVICE}"
    assert found["code after"] == best["after"]
    assert found["its path"].startswith("cuda/start -> cuda/thread-per-element -> ")


def test_an_unknown_example_has_no_provenance(run: Reader) -> None:
    assert facts(run, "nobody/1") == {}


def test_the_vocabulary_says_what_to_look_at(run: Reader) -> None:
    rows = {row["id"]: row for row in run("vocabulary", target="cuda")}
    assert set(rows) > {name for name in names() if name.startswith("cuda/")}
    assert not any(str(row).startswith("openmp/") for row in rows)
    assert rows["cuda/thread-per-element"]["examples"] == 18
    assert rows["cuda/pairwise-tally-in-round"]["look at"] == "new: needs review"
    assert rows["cuda/occupancy-tuning"]["look at"] == "never seen"
    assert rows["cuda/start"]["look at"] == ""


def test_names_that_a_rule_took_are_counted_by_technique(run: Reader) -> None:
    rows = run("names-taken")
    assert {row["by"] for row in rows} == {"lexical"}
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
