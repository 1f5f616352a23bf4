"""`--json` and `regraph docs --schema COMMAND`: every command's answer, and its form."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from regraph_kg.cli import app
from regraph_kg.cli.answers import FileWritten, answers_of, schema_of, tell
from tests.cli.taken_home import OWN, make, searched
from tests.cli.test_apply import here
from tests.in_process import typed as regraph
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import measured, row

__all__ = ["desk", "here"]

ANSWERS = {name: kind for group in app.COMMANDS for name, kind in answers_of(group).items()}
NO_JSON = {
    "corpus report": "prints Markdown",
    "dev browser-pack": "writes queries and a style for Neo4j Browser",
    "dev measure": "prints trajectories, a JSON object a line",
    "mcp": "serves",
}


def _has_json(command: Any) -> bool:
    return any("--json" in param.opts for param in command.params)


def commands(group: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Every command below a group, as it is typed, and its options."""
    within = getattr(group, "commands", {})
    if within and name in ANSWERS:
        yield name, ["--json"] if all(_has_json(one) for one in within.values()) else []
        return
    for one in within:
        yield from commands(group.get_command(None, one), f"{name} {one}")
    if not within or group.invoke_without_command:
        yield name, [option for param in group.params for option in param.opts]


ALL = dict(one for name in app.COMMANDS for one in commands(app._command(name), name))


def test_every_command_answers_in_json_or_says_why_not() -> None:
    with_json = {name for name, options in ALL.items() if "--json" in options}
    assert set(ALL) - with_json == set(NO_JSON)
    assert with_json == set(ANSWERS)


@pytest.mark.parametrize("command", ANSWERS)
def test_every_schema_is_one_and_tells_its_version(command: str) -> None:
    told = schema_of(command, ANSWERS[command])
    jsonschema.Draft202012Validator.check_schema(told)
    assert told["$id"].endswith(":1")


@dataclass(frozen=True)
class Checked:
    """Runs commands with --json, and holds what they print against their schemas."""

    run: Callable[..., tuple[int, str]]
    seen: set[str]

    def __call__(self, command: str, *words: str | Path, codes: tuple[int, ...] = (0,)) -> Any:
        """The answer of a command, which is the whole of standard output."""
        code, out = self.run(*command.split(), *words, "--json")
        assert code in codes, (command, out)
        answer = json.loads(out)
        jsonschema.validate(answer, schema_of(command, ANSWERS[command]))
        self.seen.add(command)
        return answer


GRAPH = {
    *("dev relabel-check", "docs", "examples", "graph check", "graph export", "graph purge"),
    *("graph query", "graph stats", "graph update", "ingest", "next"),
}
TECHNIQUES = {name for name in ANSWERS if name.startswith("techniques ")}
RUNS = {"apply", "report", "runs"}
JUDGED = {
    *("collect", "doctor", "evaluate", "problem check", "problem new"),
}
ELSEWHERE = {
    "bench": "tests/bench/test_bench.py",
    "learn": "tests/ingest/test_learn.py",
    "optimize": "tests/search/test_optimize.py, test_several.py, test_dry_run.py",
}


def test_every_answer_is_run_for_real() -> None:
    assert GRAPH | TECHNIQUES | RUNS | JUDGED | set(ELSEWHERE) == set(ANSWERS)


@pytest.fixture
def at_desk(desk: Desk) -> Checked:
    def run(*words: str | Path) -> tuple[int, str]:
        done = desk.run(*words)
        return done.code, done.out

    return Checked(run, set())


def test_what_the_graphs_commands_print_is_of_its_schema(desk: Desk, at_desk: Checked) -> None:
    one = row(1, "Odd trick", "Other trick")
    for step in one["steps"]:
        step["measurements"] = [measured(0.25)]
    file = desk.write("file.jsonl", one)
    (desk.folder / "mine.cu").write_text("int x;")
    labels = desk.folder / "labels"
    labels.mkdir()
    label = {"label": "tiles", "target": "cuda", "technique": None, "kind": "new", "split": "dev"}
    (labels / "dev.jsonl").write_text(json.dumps(label))
    assert at_desk("ingest", file)["added"] == 1
    assert at_desk("ingest", file)["known"] == 1
    assert at_desk("ingest", file, "--dry-run")[0]["label"]
    assert at_desk("next", "mine.cu", "--target", "cuda")["steps"]
    assert len(at_desk("examples", "start", "odd trick")) == 1
    assert at_desk("graph stats")["trajectories"] == 1
    assert at_desk("graph check") == []
    assert at_desk("graph query", "RETURN 1 AS one")["rows"] == [[1]]
    assert at_desk("graph update", "--bound", "5")["bound"] == 5
    assert at_desk("graph stats", "--page", "graph.html")["size"] > 0
    assert at_desk("graph export", "--output", "all.jsonl")["file"] == "all.jsonl"
    at_desk("docs", "--settings")
    at_desk("dev relabel-check", "--labels", labels, "--verbose", codes=(0, 1))
    assert at_desk("graph purge", "--problem", one["problem"], "--yes")["trajectories"] == 1
    assert at_desk.seen == GRAPH


def test_what_tells_of_runs_prints_is_of_its_schema(here: Path) -> None:
    told = Checked(lambda *words: regraph(*words)[:2], set())
    problem = make(here)
    one, nothing = searched(here, problem), searched(here, problem, None)
    assert len(told("runs")) == 2
    assert told("runs", one)["state"] == "done"
    told("runs", one, nothing, codes=(1,))
    assert told("report", one)["file"] == "report.html"
    assert told("apply", one, "--patch", "home.patch")["done"] == "patch"
    assert told("apply", one, "--yes")["done"] == "written"
    assert told("apply", one, "--undo")["done"] == "taken back"
    assert not told("runs", "--without-answer")["deleted"]
    assert told("runs", "--without-answer", "--delete")["deleted"]
    assert told.seen == RUNS


@pytest.mark.slow
def test_what_judges_prints_is_of_its_schema(desk: Desk, at_desk: Checked) -> None:
    desk.patch.setenv("REGRAPH_CACHE_DIR", str(desk.folder / "cache"))
    (desk.folder / "own.cpp").write_text(OWN)
    words = ("own.cpp", "--function", "own::scale", "--yes")
    assert at_desk("problem new", *words)["folder"] == "scale"
    assert [one["problem"] for one in at_desk("problem check", "--list")] == ["scale"]
    at_desk("problem check", "scale")
    serial = desk.folder / "scale" / "serial.cpp"
    assert at_desk("evaluate", "scale", serial)["outcome"] in {"passed", "unstable_timing"}
    assert len(at_desk("evaluate", "scale", serial, serial)) == 2
    asked = ("scale", "--model", "batch:prompts")
    assert at_desk("collect", *asked, "--dry-run")[0]["calls"]
    assert at_desk("collect", *asked, codes=(5,))["pending"] == 1
    assert at_desk("doctor", "--quick", codes=(0, 1))[0]["part"]
    assert at_desk.seen == JUDGED


def test_an_answer_steers_no_terminal_and_a_path_may_hold_any_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    odd = "\x1b[2J\x9b \u202e \udcff"
    tell(FileWritten, FileWritten(Path(odd), 1))
    said = capsys.readouterr().out
    assert said.isascii()
    assert "\x1b" not in said
    assert json.loads(said)["file"] == odd


def test_an_unknown_command_is_told_which_there_are(desk: Desk) -> None:
    done = desk.run("docs", "--schema", "problem shwo")
    assert done.code == 2
    assert done.err == (
        "regraph: no schema of 'problem shwo'; there are: problem check, problem new\n"
    )
    assert "evaluate" in desk.run("docs", "--schema", "nxet").err
