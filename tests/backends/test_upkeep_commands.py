"""`regraph graph check`, `update --bound` and `purge` as they are typed, on the embedded store."""

import json
from collections.abc import Callable
from contextlib import closing

import pytest

from regraph_kg.models.purge import Provenance
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_purge, open_store
from tests.contract.plans import measured, plan
from tests.in_process import typed
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


def test_a_sound_graph_says_so(run: Run) -> None:
    assert run("check") == (0, "the graph is what its trajectories say\n")


def test_damage_is_named_mended_and_then_gone(run: Run, embedded_settings: Settings) -> None:
    cypher(embedded_settings, "MATCH ()-[n:NEXT]->() SET n.tried = 99")
    code, said = run("check")
    assert code == 1
    assert "cuda/start -> cuda/a: tried on NVIDIA H200: 99, but the trajectories say 10" in said
    assert "regraph graph check --repair" in said
    assert json.loads(run("check", "--json")[1])[0]["kind"] == "statistics"
    assert run("check", "--repair") == (
        0,
        "1 findings mended\nthe graph is what its trajectories say\n",
    )
    assert run("check")[0] == 0


def test_a_lost_example_is_named_and_sends_to_an_export(
    run: Run, embedded_settings: Settings
) -> None:
    cypher(embedded_settings, "MATCH (s:Steps) WITH s LIMIT 1 DELETE s")
    code, said = run("check", "--repair")
    assert code == 1
    assert "nowhere" in said
    assert "from an export only" in said


def test_the_bound_is_shown_changed_and_refused(run: Run, embedded_settings: Settings) -> None:
    assert "in sight      128 examples of a pair at most" in run("stats")[1]
    code, said = run("update", "--bound", "3")
    assert (code, "3 examples of a transition stay in sight" in said) == (0, True)
    (row,) = cypher(embedded_settings, "MATCH ()-[r:TRANSITION]->() RETURN count(r) AS kept")
    assert row["kept"] == 3
    assert run("check")[0] == 0
    assert run("update", "--bound", "0")[0] == 2
    assert "in sight      3 examples" in run("stats")[1]


def test_a_purge_says_what_goes_and_is_not_done_unasked(run: Run) -> None:
    said = "10 trajectories, 10 examples, 0 failures, 0 runs of free steps"
    assert run("purge", "--problem", "saxpy", "--dry-run") == (0, f"would go: {said}\n")
    code, refused = run("purge", "--problem", "saxpy")
    assert (code, "say --yes" in refused) == (2, True)
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 10
    assert run("purge", "--source", "m", "--yes")[1].startswith(f"gone: {said}")
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 0
    code, refused = run("purge", "--run", "r", "--yes", "--json")
    assert (code, "nothing in the graph is of run 'r'; nor one like it" in refused) == (2, True)


def test_a_purge_of_a_mistyped_name_says_what_it_may_have_meant(run: Run) -> None:
    for words in (["--yes"], ["--dry-run"]):
        code, said = run("purge", "--problem", "saxpi", *words)
        assert (code, "of problem 'saxpi'; did you mean 'saxpy'?" in said) == (2, True)
    assert json.loads(run("stats", "--json")[1])["trajectories"] == 10


def test_a_purge_that_was_killed_before_its_end_is_run_again(
    run: Run, embedded_settings: Settings
) -> None:
    with closing(open_purge(embedded_settings)) as purge:
        next(iter(purge.run(Provenance("problem", "saxpy"))))
    shares = "MATCH (s:Share) RETURN count(s) AS left"
    assert cypher(embedded_settings, shares) == [{"left": 1}]
    assert run("purge", "--problem", "saxpy", "--yes")[0] == 0
    assert cypher(embedded_settings, shares) == [{"left": 0}]
    assert run("purge", "--problem", "saxpy", "--yes")[0] == 2


def test_a_purge_of_no_or_of_two_origins_is_refused(run: Run) -> None:
    for given in ([], ["--problem", ""], ["--problem", "p", "--run", "r"]):
        code, said = run("purge", *given, "--yes")
        assert code == 2
        assert "one of --problem, --source and --run" in said
