"""Contract of `regraph graph query`: it answers, it changes nothing, and it says what is wrong."""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from regraph_kg.backends import reader
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import BadInput, StoreError
from regraph_kg.models.graph import GraphTable
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import query
from tests.contract.plans import plan
from tests.in_process import regraph
from tests.stores import cypher

Ask = Callable[..., "CompletedProcess[str]"]
Asked = Callable[..., GraphTable]

WRITES = [
    "CREATE (:Evil)",
    "MATCH (t:Technique) SET t.name = 'evil'",
    "MATCH (t:Technique) SET t:Evil",
    "MATCH (t) DETACH DELETE t",
    "MATCH (t:Technique) REMOVE t.name",
    "MERGE (:Evil) RETURN 1",
    "FOREACH (x IN [1] | CREATE (:Evil))",
    "CALL { CREATE (:Evil) } IN TRANSACTIONS",
    "CREATE INDEX evil FOR (n:Evil) ON (n.x)",
    "DROP CONSTRAINT technique_id",
    "/* a comment */ CREATE (:Evil)",
    "MATCH (t) WHERE t.name = 'it''s' CREATE (:Evil)",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "LOAD /**/ CSV FROM 'http://localhost/x' AS line RETURN line",
    "CR\\u0045ATE (:Evil)",
    "RETURN 1 AS x //\r UNION LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line AS x",
    "RETURN 1 AS x /*'*/ UNION LOAD CSV FROM 'file:///etc/passwd' AS line /*'*/ RETURN line AS x",
    "CALL apoc.load.json('http://127.0.0.1:9/') YIELD value RETURN value",
    "CALL `apoc`.`load`.`json`('http://127.0.0.1:9/') YIELD value RETURN value",
    "CALL `apoc.load.json`('http://127.0.0.1:9/') YIELD value RETURN value",
    "CALL/**/dbms.killConnections(['bolt-1'])",
    "CALL db.clearQueryCaches()",
    "PROFILE CREATE (:Evil)",
    "RETURN 1; CREATE (:Evil)",
]
BY_WORDS = re.compile("LOAD|clear|kill")  # what Neo4j takes for reading
PROCEDURES = {
    "neo4j": ["CALL db.createLabel('Evil')", "CALL db.createProperty('evil')"],
    "embedded": ["CALL merge.node(['Evil'], {a: 1}, {}) YIELD node RETURN node"],
}


@pytest.fixture
def asked(store: GraphStore, store_settings: Settings) -> Asked:
    """Answers queries of a graph that holds something."""
    store.merge([plan("a")])
    return partial(query, store_settings)


@pytest.fixture
def ask(store: GraphStore, store_env: Mapping[str, str], tmp_path: Path) -> Ask:
    """`regraph graph query WORDS` on that graph."""
    store.merge([plan("a")])

    def words(*given: str) -> "CompletedProcess[str]":
        return regraph("graph", "query", *given, folder=tmp_path, env=store_env)

    return words


def held(settings: Settings) -> object:
    """All that a store holds, its indexes and labels too."""
    return (
        cypher(
            settings, "MATCH (n) RETURN properties(n) AS of, labels(n) AS labels ORDER BY of.id"
        ),
        len(cypher(settings, "MATCH ()-[r]->() RETURN r")),
        len(cypher(settings, "SHOW INDEXES")),
        sorted(row["label"] for row in cypher(settings, "CALL db.labels() YIELD label")),
    )


@pytest.mark.parametrize("filtered", [True, False], ids=["by words", "by the store"])
def test_what_writes_is_refused_and_changes_nothing(
    asked: Asked,
    store_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    filtered: bool,
) -> None:
    if not filtered:  # the store itself holds, too
        monkeypatch.setattr(reader, "_require_reading", lambda _: None)
    before = held(store_settings)
    engine = "embedded" if store_settings.store == "embedded" else "neo4j"
    writing = WRITES if filtered else [one for one in WRITES if not BY_WORDS.search(one)]
    for statement in [*writing, *PROCEDURES[engine]]:
        refused = ""
        try:
            asked(statement, {}, limit=10, seconds=30)
        except (BadInput, StoreError) as error:
            refused = str(error)
        if refused:
            assert not filtered or re.search(r"only reading|\\u", refused), statement
        else:
            # ArcadeDB tells of what it would change; nothing is committed
            assert not filtered
            assert engine == "embedded"
            assert re.search("(SET|REMOVE) t.name|PROFILE", statement)
        assert held(store_settings) == before, statement


def test_words_within_texts_and_names_are_no_writes(asked: Asked) -> None:
    for statement in (
        "RETURN 'CREATE (:Evil)' AS said",
        'RETURN "SET" AS said // DELETE',
        "RETURN 1 AS `create`",
        "MATCH (t:Technique) WHERE t.set IS NULL RETURN t.id AS said",
        "MATCH (t:Technique) RETURN count(t) AS dataset",
        "CALL db.labels() YIELD label RETURN label",
        "MATCH (t:Technique) CALL (t) { RETURN t.id AS id } RETURN id",
    ):
        assert asked(statement, {}, limit=1, seconds=30).rows, statement


@pytest.mark.parametrize("value", [2**63, "\ud800", {"a": [-(2**64)]}])
def test_a_parameter_that_no_store_takes_is_bad_input(asked: Asked, value: object) -> None:
    with pytest.raises(BadInput):
        asked("RETURN $x", {"x": value}, limit=1, seconds=30)  # type: ignore[dict-item]


def test_values_come_as_json_has_them(asked: Asked) -> None:
    found = asked(
        "MATCH p = (t:Technique)-[n:NEXT]->() WHERE t.id = $id"
        " RETURN t, n, p, date('2026-11-26') AS day, [1, 2.5] AS list, {a: null} AS map",
        {"id": "cuda/start"},
        limit=1,
        seconds=30,
    )
    assert found.columns == ["t", "n", "p", "day", "list", "map"]
    technique, edge, path, *rest = json.loads(json.dumps(found.rows[0]))
    assert technique["labels"] == ["Technique"]
    assert technique["properties"]["id"] == "cuda/start"
    assert edge["type"] == "NEXT"
    assert len(path["nodes"]) == len(path["relationships"]) + 1
    assert rest == ["2026-11-26", [1, 2.5], {"a": None}]


def test_rows_beyond_the_limit_are_told(asked: Asked) -> None:
    rows = "UNWIND range(1, 3) AS x RETURN x"
    assert asked(rows, {}, limit=3, seconds=30).cut is False
    found = asked(rows, {}, limit=2, seconds=30)
    assert (found.rows, found.cut) == ([[1], [2]], True)


def test_what_takes_too_long_ends(
    asked: Asked, store_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "GRACE_SECONDS", 0.5)
    long = "UNWIND range(1, 100000) AS x UNWIND range(1, 200) AS y RETURN sum(sqrt(x * y)) AS all"
    with pytest.raises(StoreError, match=r"query: no answer within 0\.2 s"):
        asked(long, {}, limit=1, seconds=0.2)


def test_a_table_shortens_and_json_does_not(ask: Ask) -> None:
    words = [
        "RETURN $text AS text, $list AS list",
        f'--param=text="{"x" * 200}"',
        f"--param=list={list(range(50))}",
    ]
    table = ask(*words).stdout
    assert "x" * 200 not in table.replace("\n", "")
    found = json.loads(ask(*words, "--json").stdout)
    assert found == {
        "columns": ["text", "list"],
        "rows": [["x" * 200, list(range(50))]],
        "cut": False,
    }


def test_mistakes_are_one_line_with_the_stores_words_and_no_password(
    ask: Ask, store_settings: Settings
) -> None:
    for words, said in (
        (["MATCH (n) RETUR n"], "RETUR"),
        (["RETURN unheard_of(1)"], "unheard_of"),
        (["RETURN $absent"], "absent"),
        (["RETURN $x", "--param", "x=text"], "--param x=text"),
        (["MATCH (n) SET n.x = 1"], "SET is refused"),
    ):
        done = ask(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert said in done.stderr
        password = store_settings.store_password.get_secret_value()
        assert not password or password not in done.stderr
