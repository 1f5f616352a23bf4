"""Contract: a backup holds everything, is the same bytes for the same graph, and comes back."""

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.backends import backup, difference
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.curation import Note
from regraph_kg.models.graph import EmbeddingSpace, FreeChoice, FreeRun, FreeSteps, Relabelled
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_backup, open_curator, open_store
from tests.contract.plans import A100, H200, failure, measured, plan
from tests.stores import cypher, environment, wipe

REGRAPH = str(Path(sys.executable).parent / "regraph")
HOSTILE = "'}) DETACH DELETE n //\u2028\u202e\\ \"\n\ttab é \U0001f600"


def embedded(texts: Sequence[str]) -> list[bytes]:
    return [struct.pack("<2f", 1.0, 0.0) for _ in texts]


def fill(settings: Settings) -> None:
    """A bit of everything: archive, failures with code, verdicts, a merged and a renamed name."""
    guessed = Relabelled(
        "Label b", "cuda/b", "lexical", 0.75, "cuda/c", 0.5, "m:1", "sha256:0", ("cuda/c", "cuda/z")
    )
    steps = FreeChoice(first=FreeSteps(tried=3, verified=2), later=FreeSteps(tried=1))
    with closing(open_store(settings)) as store:
        list(store.set_bound(2))
        for number in range(8):
            effects = [measured(H200, effect=1.0 + number / 7), measured(A100, effect=None)]
            broken = failure("c", after=number % 2, code=f"{HOSTILE}{number}")
            path = ("ab", "aba", "bcd")[number % 3]
            one = plan(
                path,
                problem=f"p{number % 3}",
                code=f"/*{HOSTILE}*/ x{number}",
                measurements=effects[: number % 3],
                failures=[broken][: number % 2],
            )
            labels = tuple(
                guessed if label.technique == "cuda/b" else label for label in one.labels
            )
            store.merge([replace(one, labels=labels, created=f"2026-11-2{number}T00:00:00Z")])
        for model in (HOSTILE, "m"):
            free = FreeRun(
                run=f"{model} 1", model=model, target="cuda", device=H200, problem="p", choice=steps
            )
            store.add_free_runs([free])
        list(store.embed(EmbeddingSpace("m", 2), embedded))
    with closing(open_curator(settings)) as curator:
        curator.merge("cuda/c", ["cuda/d"], Note("somebody", HOSTILE))
        curator.rename("cuda/a", "Another name", Note("somebody"))


def saved(settings: Settings, path: Path) -> bytes:
    with closing(open_backup(settings)) as graph, path.open("wb") as file:
        file.writelines(graph.lines())
    return path.read_bytes()


def restored(settings: Settings, path: Path, stop_after: int | None = None) -> bool:
    """Restore, or stop after so many batches as a killed process does; whether it got through."""
    with closing(open_backup(settings)) as graph:
        return all(number != stop_after for number, _ in enumerate(graph.restore(path), 1))


def state(settings: Settings) -> object:
    with closing(open_store(settings)) as store:
        assert store.check() == ()
        return (
            tuple(store.export()),
            store.transitions(),
            store.techniques(),
            store.stats(),
            store.bound(),
            store.embedding_space(),
            store.free_choice("m", "cuda", device=H200),
        )


def log(settings: Settings) -> object:
    with closing(open_curator(settings)) as curator:
        return curator.log(), curator.verdicts()


def test_a_backup_brings_everything_back_and_is_the_same_bytes_again(
    store_settings: Settings, tmp_path: Path
) -> None:
    fill(store_settings)
    before, told = state(store_settings), log(store_settings)
    text = saved(store_settings, tmp_path / "one")
    assert saved(store_settings, tmp_path / "two") == text
    failed = cypher(store_settings, "MATCH (f:Failure) RETURN f.id AS i, f.code AS c ORDER BY i")
    assert len(failed) == 4
    wipe(store_settings)
    assert restored(store_settings, tmp_path / "one")
    with closing(open_store(store_settings)) as store:
        list(store.embed(EmbeddingSpace("m", 2), embedded))
    assert (state(store_settings), log(store_settings)) == (before, told)
    again = cypher(store_settings, "MATCH (f:Failure) RETURN f.id AS i, f.code AS c ORDER BY i")
    assert again == failed
    assert saved(store_settings, tmp_path / "three") == text
    with closing(open_curator(store_settings)) as curator:
        curator.undo(None, Note("somebody"))  # a log that came back is still good for that


@pytest.mark.slow
def test_a_backup_moves_a_graph_to_neo4j_and_back(
    embedded_settings: Settings, neo4j_settings: Settings, tmp_path: Path
) -> None:
    fill(embedded_settings)
    text, before = saved(embedded_settings, tmp_path / "one"), state(embedded_settings)
    restored(neo4j_settings, tmp_path / "one")
    assert saved(neo4j_settings, tmp_path / "two") == text
    assert state(neo4j_settings) == before
    wipe(embedded_settings)
    restored(embedded_settings, tmp_path / "two")
    assert saved(embedded_settings, tmp_path / "three") == text


@pytest.mark.slow
def test_a_restore_cut_off_anywhere_is_simply_run_again(
    store_settings: Settings, tmp_path: Path
) -> None:
    fill(store_settings)
    text = saved(store_settings, tmp_path / "one")
    (tmp_path / "other").write_bytes(_sealed(text.splitlines(keepends=True)[:3]))
    stop = 1
    while True:
        wipe(store_settings)
        if restored(store_settings, tmp_path / "one", stop):
            break
        with pytest.raises(StoreError, match="run the same regraph graph restore again"):
            open_store(store_settings)
        with pytest.raises(BadInput, match="another backup was being restored"):
            restored(store_settings, tmp_path / "other")
        assert restored(store_settings, tmp_path / "one")
        assert saved(store_settings, tmp_path / "two") == text
        stop += 1
    assert stop > 3


def test_only_an_empty_database_is_restored_into(store_settings: Settings, tmp_path: Path) -> None:
    with closing(open_store(store_settings)) as store:
        store.merge([plan()])
    text = saved(store_settings, tmp_path / "one")
    with pytest.raises(BadInput, match="holds a graph already; restore into an empty database"):
        restored(store_settings, tmp_path / "one")
    assert saved(store_settings, tmp_path / "two") == text


def _sealed(lines: list[bytes]) -> bytes:
    """Lines with the end that belongs to them."""
    import hashlib  # noqa: PLC0415

    body = b"".join(lines)
    end = {"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


HEAD = b'{"format":"regraph-kg backup","version":1,"bound":128}\n'
DAMAGE: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda _: b"", "not a whole backup"),
    "cut off": (lambda text: text[:-200], "not a whole backup"),
    "a line lost": (lambda t: t[: t.index(b"\n") + 1] + t[t.index(b"\n", 99) + 1 :], "damaged"),
    "a byte changed": (lambda text: text.replace(b"cuda", b"cudb", 1), "damaged"),
    "something else": (lambda _: b"hello\n" * 5, "not a whole backup"),
    "another format": (lambda _: _sealed([b'{"format":"x"}\n']), ":1: format"),
    "newer": (lambda _: _sealed([HEAD.replace(b"1,", b"2,")]), ":1: version.*newer regraph-kg"),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_file_that_is_no_whole_backup_is_refused_and_nothing_written(
    how: str, embedded_settings: Settings, tmp_path: Path
) -> None:
    with closing(open_store(embedded_settings)) as store:
        store.merge([plan()])
    change, message = DAMAGE[how]
    text = saved(embedded_settings, tmp_path / "good")
    (tmp_path / "bad").write_bytes(change(text))
    wipe(embedded_settings)
    with pytest.raises(BadInput, match=message) as caught:
        restored(embedded_settings, tmp_path / "bad")
    assert "\n" not in str(caught.value)
    assert cypher(embedded_settings, "MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


KEPT = b'{"kept":{"stages":["given"],"trajectory":{"schema":1,"target":"cuda","problem":"p",'
NO_STORE_TAKES = {
    "a nested property": b'{"decision":{"id":"a","kind":"x","of":{"a":1}}}\n',
    "a property of 65 bits": b'{"decision":{"id":"a","number":9223372036854775808}}\n',
    "a decision without an id": b'{"decision":{"kind":"x"}}\n',
    "a name of the store's own": b'{"decision":{"id":"a","@rid":"#1:0"}}\n',
    "a name with a null byte": b'{"decision":{"id":"a","a\\u0000":1}}\n',
    "an id too long for an index": b'{"decision":{"id":"' + b"a" * 40_000 + b'"}}\n',
    "a number that JSON has not": b'{"decision":{"id":"a","x":NaN}}\n',
    "an id that is no text": b'{"decision":{"id":null}}\n',
    "a technique that is not there": KEPT + b'"serial":"a","steps":[{"label":"b",'
    b'"technique":"cuda/absent","code":"b"}]}}}\n',
    "counts of 65 bits": b'{"free":{"run":"r","model":"m","target":"cuda","device":"d",'
    b'"problem":"p","choice":{"first":{"tried":9223372036854775808}}}}\n',
}


@pytest.mark.parametrize("what", NO_STORE_TAKES)
def test_a_line_that_no_store_takes_is_named(
    what: str, store_settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "bad").write_bytes(_sealed([HEAD, NO_STORE_TAKES[what]]))
    with pytest.raises(BadInput, match=r"bad:2: ") as caught:
        restored(store_settings, tmp_path / "bad")
    assert "\n" not in str(caught.value)


def test_a_pipe_a_folder_and_an_endless_file_are_refused_at_once(
    embedded_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    monkeypatch.setattr(backup, "LONGEST_LINE", 100)
    (tmp_path / "long").write_bytes(_sealed([HEAD, b"x" * 200 + b"\n"]))
    for name in ("pipe", "link", "long", "."):
        with pytest.raises(BadInput):
            restored(embedded_settings, tmp_path / name)
        with pytest.raises(BadInput):
            difference.of_file(tmp_path / name)
    assert cypher(embedded_settings, "MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


def test_a_bad_line_is_named(embedded_settings: Settings, tmp_path: Path) -> None:
    bad = [HEAD, b'{"technique":{"id":"cuda/a","name":"a","target":"cuda"}}\n', b'{"kept":{}}\n']
    (tmp_path / "bad").write_bytes(_sealed(bad))
    with pytest.raises(BadInput, match=r"bad:3: kept\.trajectory"):
        restored(embedded_settings, tmp_path / "bad")


def run(env: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [REGRAPH, *words], env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
def test_the_commands(embedded_settings: Settings, tmp_path: Path) -> None:
    fill(embedded_settings)
    env = environment(embedded_settings)
    file = tmp_path / "graph.jsonl"
    done = run(env, "graph", "export", "--format", "backup", "-o", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    refused = run(
        env, "graph", "export", "--format", "backup", "-o", str(tmp_path / "absent" / "graph.jsonl")
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [file]
    before = state(embedded_settings)
    wipe(embedded_settings)
    done = run(env, "graph", "restore", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("restored: ")
    assert state(embedded_settings) == before
