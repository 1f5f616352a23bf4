"""Likeness as it is typed: ingest, examples --near, --code, graph embed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.llm.ngrams import SPACE
from regraph_kg.settings import Settings
from tests.in_process import typed
from tests.stores import cypher

pytestmark = pytest.mark.slow  # whole stories of the judge or the store: what parts show is quick

ROOT = Path(__file__).parents[2]
TRAJECTORIES = sorted((ROOT / "corpus" / "trajectories").glob("matmul.*.jsonl"))
TILES = "Each block keeps a tile of both matrices in shared memory."


class Command:
    """`regraph` in this process, on one store."""

    aside = ""  # what the last one said beside its result

    def __call__(self, *words: str, code: int = 0) -> str:
        """What `regraph WORDS` says; it must end with `code`."""
        said = typed(*words)
        assert said.code == code, said
        self.aside = said.err
        return said.err if code > 1 else said.out

    def examples(self, *words: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("examples", *words, "--json"))
        return found


@pytest.fixture
def regraph(store_env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Command:
    for name, value in store_env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REGRAPH_CORPUS", str(ROOT / "corpus"))
    return Command()


@pytest.fixture
def grown(regraph: Command) -> Command:
    regraph("ingest", *map(str, TRAJECTORIES))
    return regraph


def test_what_is_ingested_can_be_found_by_what_it_is_about(grown: Command, tmp_path: Path) -> None:
    found = grown.examples("--near", TILES, "-k", "4", "--target", "cuda")
    similarities = [one["similarity"] for one in found]
    assert len(similarities) == 4
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[0] > 0.2
    assert {one["target"].partition("/")[0] for one in found} == {"cuda"}
    source, target = found[0]["source"], found[0]["target"]
    on_the_pair = grown.examples(source, target, "--near", TILES, "-k", "1")
    assert on_the_pair[0]["similarity"] == pytest.approx(similarities[0], abs=1e-6)
    text = grown("examples", "--near", TILES, "-k", "1")
    assert f"{source} -> {target}" in text
    assert f"similarity {similarities[0]:.2f}; " in text
    (tmp_path / "code.cu").write_text(found[0]["before"])
    by_code = grown.examples("--code", str(tmp_path / "code.cu"), "-k", "1")
    assert by_code[0]["similarity"] == pytest.approx(1, abs=1e-6)
    assert "similarity" not in grown("examples", source, target)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["start"],
        ["--near", "tiles", "--code", "x.cu"],
        ["--near", " \x1b[ "],
        ["--code", "absent.cu"],
        ["--code", "."],
    ],
)
def test_bad_options_are_one_line(words: list[str], regraph: Command) -> None:
    assert regraph("examples", *words, code=2).count("\n") == 1


def test_vectors_of_another_version_are_refused_until_they_are_made_anew(
    grown: Command, store_settings: Settings
) -> None:
    cypher(store_settings, "MATCH (m:Meta) SET m.embedding_model = 'hash-ngrams-1'")
    assert "regraph graph embed" in grown("examples", "--near", TILES, code=2)
    grown("ingest", str(TRAJECTORIES[0]))
    assert "regraph graph embed" in grown.aside
    assert SPACE in grown("graph", "embed")
    assert sizes(store_settings) == {384}
    assert grown.examples("--near", TILES, "-k", "1")


def test_a_graph_from_elsewhere_gets_the_vectors_that_it_lacks(
    grown: Command, store_settings: Settings
) -> None:
    """As one that a version without vectors made."""
    cypher(store_settings, "MATCH (m:Meta) REMOVE m.embedding_model, m.dimension")
    cypher(
        store_settings,
        "MATCH ()-[r:TRANSITION]->() SET r.embedding = null, r.code_embedding = null",
    )
    assert "regraph graph embed" in grown("examples", "--near", TILES, code=2)
    grown("graph", "embed")
    assert sizes(store_settings) == {384}
    assert grown.examples("--near", TILES, "-k", "1")


def sizes(settings: Settings) -> set[object]:
    rows = cypher(
        settings,
        "MATCH ()-[r:TRANSITION]->() RETURN size(r.embedding) AS text, size(r.code_embedding) AS c",
    )
    return {size for row in rows for size in row.values()}
