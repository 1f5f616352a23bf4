"""`regraph learn`: what finished runs taught gets into a real graph, once."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from regraph_kg.backends.store import GraphStore
from regraph_kg.cli.learn import learn
from regraph_kg.errors import BadInput
from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import Likeness
from regraph_kg.models.run import RunHeader
from regraph_kg.models.technique import Technique
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.trace import Trace
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.key import trace_key
from regraph_kg.wiring.stores import open_store
from tests.recount import transitions, wrong_counts
from tests.search.toy import SERIAL, Toy, code, fenced, header, judge, names, noisy_script, traced
from tests.stores import environment

PROBLEM = """
schema = 1
name = "toy"
entry = "work"
tolerance = "conditioned"
[sizes]
check = [{ n = 1 }]
time = { n = 1000 }
[[args]]
name = "x"
type = "float32"
role = "inout"
shape = ["n"]
values = ["normal"]
[[args]]
name = "n"
type = "int32"
role = "size"
size = "n"
"""
GRAPH = {"start": ["a", "b"], "a": ["b", "c"], "b": ["a"], "c": ["a"]}
HEAD = header(40, excluded="toy", model="small@1")


@dataclass(frozen=True)
class Desk:
    """A corpus, a store, traces, and the command."""

    folder: Path
    settings: Settings
    store: GraphStore

    @property
    def key(self) -> bytes:
        """This installation's."""
        return trace_key(self.settings)

    def run(self, *words: str | Path) -> Result:
        """`regraph learn WORDS` in this process."""
        app = typer.Typer()
        app.command()(learn)
        return CliRunner().invoke(app, [str(word) for word in words])

    def search(self, head: RunHeader = HEAD, seed: int = 1) -> Path:
        """The trace of a whole search."""
        with Trace.create(self.folder / "runs", head, self.key) as trace:
            traced(Toy(GRAPH, noisy_script(seed)), trace, head)
        return trace.path

    def tried(self) -> int:
        return sum(row.tried for row in transitions(self.store))


def write_problem(folder: Path, serial: str = SERIAL) -> Path:
    folder.mkdir(parents=True)
    (folder / "problem.toml").write_text(PROBLEM)
    (folder / "serial.cpp").write_text(serial)
    return folder


@pytest.fixture
def desk(
    embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    write_problem(tmp_path / "corpus" / "problems" / "toy")
    vocabulary = [
        Technique(id=f"openmp/{name}", name=f"Technique {name}", target="openmp").model_dump()
        for name in "abc"
    ]
    (tmp_path / "corpus" / "techniques.json").write_text(json.dumps(vocabulary))
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CORPUS", str(tmp_path / "corpus"))
    monkeypatch.chdir(tmp_path)
    store = open_store(embedded_settings)
    yield Desk(tmp_path, read_settings(), store)
    store.close()


def samples(path: Path) -> int:
    """How many samples a trace holds."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return sum(len(line["value"]["steps"]) for line in lines if line["event"] == "record")


def test_a_run_teaches_its_paths_once_however_often_it_is_taught(desk: Desk) -> None:
    trace = desk.search()
    done = desk.run(trace)
    assert done.exit_code == 0, done.output
    first, second, last = done.output.splitlines()
    assert first.split() == ["trajectories", "steps", "failures", "run"]
    assert second.split()[3:] == [trace.name]
    added = int(second.split()[0])
    assert last == f"in the graph: {added} trajectories added, 0 known already, 0 rejected"
    assert desk.tried() == samples(trace) == sum(map(int, second.split()[1:3]))
    before = tuple(desk.store.export()), transitions(desk.store)
    again = desk.run(trace, "--json")
    assert again.exit_code == 0
    found = json.loads(again.stdout)
    assert (found["added"], found["known"]) == (0, added)
    assert (tuple(desk.store.export()), transitions(desk.store)) == before
    assert wrong_counts(desk.store) == []


def test_what_was_learned_is_marked_embedded_and_hidden_from_its_own_problem(desk: Desk) -> None:
    desk.run(desk.search())
    examples = desk.store.examples("openmp/start", "openmp/a", near=Likeness("for"))
    assert all(example.similarity is not None for example in examples)
    assert {example.learner for example in examples} == {"small@1"}
    assert {example.problem for example in examples} == {"toy"}
    own = desk.store.neighbourhood("openmp/start", device="toy device", exclude_problem="toy")
    assert own.successors == ()


def test_a_dry_run_says_the_same_and_writes_nothing_to_the_graph(desk: Desk) -> None:
    trace = desk.search()
    dry = desk.run(trace, "--dry-run")
    assert (dry.exit_code, desk.tried()) == (0, 0)
    wet = desk.run(trace)
    assert wet.output.startswith(dry.output)
    assert all(one.source.learned for one in desk.store.export())


def test_refused_runs_are_named_with_the_reason_and_the_others_are_learned(desk: Desk) -> None:
    good = desk.search()
    recorded = desk.search(HEAD.model_copy(update={"model": "recorded:1"}))
    own = desk.search(HEAD.model_copy(update={"excluded": None}))
    done = desk.run(recorded, good, own)
    assert done.exit_code == 0
    assert done.output.count("refused: ") == 2
    assert desk.tried() == samples(good)


def test_where_no_run_teaches_anything_the_exit_code_is_1(desk: Desk) -> None:
    assert desk.run(desk.search(HEAD.model_copy(update={"model": "recorded:1"}))).exit_code == 1

    def wrong(key: Any) -> str:
        return fenced(code("wrong_answer", names(key)))

    head = header(6, excluded="toy", model="small@1")
    with Trace.create(desk.folder / "runs", head, desk.key) as trace:
        traced(Toy(GRAPH, wrong), trace, head)
    assert desk.run(trace.path).exit_code == 1
    assert desk.tried() == 0


def test_a_file_that_is_no_trace_is_refused_before_anything_is_written(desk: Desk) -> None:
    other = desk.folder / "other.jsonl"
    other.write_text("{}\n")
    done = desk.run(desk.search(), other)
    assert isinstance(done.exception, BadInput)
    assert (done.exception.exit_code, desk.tried()) == (2, 0)


def test_a_problem_that_is_not_in_the_corpus_is_named_by_its_folder(desk: Desk) -> None:
    trace = desk.search()
    (desk.folder / "corpus" / "problems" / "toy").rename(desk.folder / "mine")
    assert desk.run(trace).exit_code == 1
    assert desk.run(trace, "--problem", desk.folder / "mine").exit_code == 0
    changed = write_problem(desk.folder / "changed", SERIAL + "\n")
    assert desk.run(trace, "--problem", changed).exit_code == 1


BAD = SERIAL.replace("*= 2", "*= 3")
"""What a stranger's trace claims to be ten times faster, and is wrong."""


def theirs(desk: Desk, *codes: str) -> Path:
    """A trace of somebody else, in which each of `codes` is ten times as fast; and its stop."""

    def claim(candidate: Candidate) -> EvalReport:
        report = judge(Candidate("openmp", code(2.3)))
        return report.model_copy(update={"code_hash": code_hash(candidate.code)})

    head = header(
        len(codes), excluded="toy", model="small@1", settings=McgsSettings(samples=9, free=False)
    )
    answers = iter(codes)
    with Trace.create(desk.folder / "theirs", head, bytes(32)) as trace:
        traced(Toy({"start": ["a", "b", "c"]}, lambda _: fenced(next(answers)), claim), trace, head)
    return trace.path


def test_a_trace_of_others_teaches_only_who_trusts_it_and_not_by_an_older_judge(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = theirs(desk, BAD)
    done = desk.run(trace, "--json")
    assert (done.exit_code, desk.tried()) == (1, 0)
    with monkeypatch.context() as newer:
        newer.setattr("regraph_kg.evaluation.evaluate.EVALUATOR", "newer")
        assert (desk.run(trace, "--trust").exit_code, desk.tried()) == (1, 0)
    done = desk.run(trace, "--trust", "--json")
    (told,) = json.loads(done.stdout)["runs"]
    assert (len(told["trajectories"]), desk.tried()) == (1, 1)
