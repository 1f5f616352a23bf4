"""Embeddings of real MiniLM: other words for the same thing are near, which hashes cannot know."""

import json
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from regraph_kg.llm.embedder import Embedder, SentenceTransformerEmbedder
from regraph_kg.llm.ngrams import HashEmbedder
from regraph_kg.settings import Settings
from tests.requirement import require
from tests.small_model.conftest import REGRAPH
from tests.stores import environment

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

CORPUS = Path(__file__).parents[2] / "corpus"
MEANT = {
    "pin workers to processors": "openmp/thread-affinity",
    "cut work into independent jobs that idle cores pick up": "openmp/task-parallelism",
    "promise that pointers do not alias": "openmp/restrict-pointers",
    "replace expensive arithmetic with cheaper one": "openmp/strength-reduction",
    "balance uneven iterations among workers": "openmp/schedule-tuning",
}
"""What somebody would say -> the technique, of all that there are for OpenMP."""
ASKED = "let all cores of the processor work at once"
"""Threads, in no words that their examples have to themselves."""


@pytest.fixture
def minilm(embedder: Path) -> str:
    """The folder, where the library is there, too."""
    if find_spec("sentence_transformers") is None:
        require("embed", "sentence-transformers is not installed")
    return str(embedder)


def nearest(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    """The place of each of `MEANT` among `texts`, which it is nearest to."""
    found = floats(embedder.embed_queries(list(MEANT))) @ floats(embedder.embed(texts)).T
    return [int(place) for place in np.argmax(found, axis=1)]


def floats(packed: Sequence[bytes]) -> NDArray[np.float64]:
    return np.stack([np.frombuffer(one, dtype="<f4") for one in packed]).astype(np.float64)


def test_other_words_for_a_technique_are_nearest_to_it(minilm: str) -> None:
    listed = json.loads((CORPUS / "techniques.json").read_text(encoding="utf-8"))
    known = [one for one in listed if one["target"] == "openmp"]
    texts = [f"{one['name']}. {one['definition']}" for one in known]
    real = SentenceTransformerEmbedder(minilm)
    assert real.space.dimension == 384
    assert len(texts) > 30
    assert [known[one]["id"] for one in nearest(real, texts)] == list(MEANT.values())
    assert [known[one]["id"] for one in nearest(HashEmbedder(), texts)] != list(MEANT.values())


def test_a_graph_is_changed_to_real_embeddings_and_asked_in_other_words(
    minilm: str, embedded_settings: Settings, tmp_path: Path
) -> None:
    variables = environment(embedded_settings) | {"REGRAPH_CACHE_DIR": str(tmp_path)}

    def run(*words: str) -> str:
        done = subprocess.run(
            [*REGRAPH, *words],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def found() -> list[str]:
        told = json.loads(run("examples", "--near", ASKED, "-k", "3", "--json"))
        return [one["target"] for one in told]

    run("ingest", str(CORPUS / "trajectories" / "matmul.openmp.jsonl"))
    hashed = found()
    updated = json.loads(
        run("graph", "embed", "--embedder", f"sentence-transformers:{minilm}", "--json")
    )
    assert updated["embeddings"]["model"].startswith(f"sentence-transformers:{minilm}@")
    assert found() == ["openmp/parallel-for"] * 3 != hashed
