"""`regraph graph purge` and `ingest --rebuild` as they are typed."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import measured, plan
from tests.in_process import typed
from tests.recount import wrong_counts
from tests.stores import cypher, environment

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, embedded_settings: Settings) -> Run:
    """`regraph graph WORDS` on a graph of ten examples of one pair: exit code and output."""
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    with closing(open_store(embedded_settings)) as store:
        store.merge(
            [
                plan("a", code=f"int x{n};", measurements=[measured(effect=1.0 + n)])
                for n in range(10)
            ]
        )

    def words(*given: str) -> tuple[int, str]:
        said = typed("graph", *given)
        return said.code, said.out + said.err

    return words


@pytest.mark.usefixtures("run")
def test_a_rebuild_mends_what_follows_from_trajectories(embedded_settings: Settings) -> None:
    cypher(embedded_settings, "MATCH ()-[n:NEXT]->() SET n.tried = 99")
    with closing(open_store(embedded_settings)) as store:
        assert wrong_counts(store)
        assert typed("ingest", "--rebuild").code == 0
        assert wrong_counts(store) == []


def test_a_rebuild_takes_no_file(run: Run, tmp_path: Path) -> None:
    assert typed("ingest", "--rebuild", str(tmp_path / "any.jsonl")).code == 2


def test_a_purge_says_what_goes_and_is_not_done_unasked(run: Run) -> None:
    told = json.loads(run("purge", "--problem", "saxpy", "--json")[1])
    assert (told["trajectories"], told["examples"]) == (10, 10)
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 10
    assert run("purge", "--source", "m", "--yes")[0] == 0
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 0


@pytest.mark.parametrize("words", [(), ("--yes",)])
def test_a_purge_of_a_mistyped_name_is_refused(run: Run, words: tuple[str, ...]) -> None:
    assert run("purge", "--problem", "saxpi", *words)[0] == 2
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 10


def test_a_purge_of_no_or_of_two_origins_is_refused(run: Run) -> None:
    for given in ([], ["--problem", ""], ["--problem", "p", "--run", "r"]):
        code, said = run("purge", *given, "--yes")
        assert code == 2
        assert "one of --problem, --source and --run" in said
