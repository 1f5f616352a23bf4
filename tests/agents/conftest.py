"""A project with the problem `scale`, an empty graph, and the environment of a server for both."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.runs.ingest import Ingested, IngestSource, ingest_files
from regraph_kg.settings import Settings
from tests.ingest.trajectories import VOCABULARY, write
from tests.stores import environment
from tests.stories import outcome

PROBLEMS = Path(__file__).parents[1] / "evaluation" / "problems"


@dataclass(frozen=True)
class Project:
    """A folder with a problem, and what a server for it is started with."""

    folder: Path
    env: Mapping[str, str]
    settings: Settings

    @property
    def serial(self) -> str:
        return (self.folder / "scale" / "serial.cpp").read_text()

    def ingest(self, *rows: dict[str, Any]) -> None:
        source = IngestSource([write(self.folder.parent / "rows.jsonl", *rows)])
        outcome(ingest_files(self.settings, source, Ingested()))


@pytest.fixture
def project(embedded_settings: Settings, tmp_path: Path) -> Project:
    corpus, folder = tmp_path / "corpus", tmp_path / "project"
    corpus.mkdir()
    shutil.copytree(PROBLEMS / "scale", folder / "scale")
    leaves = {"openmp/simd": ("new directives.simd",)}
    told = [one.model_dump() | {"leaves": leaves.get(one.id, ())} for one in VOCABULARY]
    (corpus / "techniques.json").write_text(json.dumps(told))
    env = {
        **environment(embedded_settings),
        "REGRAPH_CORPUS": str(corpus),
        "REGRAPH_CACHE_DIR": os.environ.get("REGRAPH_CACHE_DIR", str(tmp_path / "cache")),
    }
    settings = embedded_settings.model_copy(update={"corpus": corpus})
    return Project(folder, env, settings)
