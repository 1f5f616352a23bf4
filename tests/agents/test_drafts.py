"""Drafts of agents: signed, one writer at a time, named as the ingest names."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from regraph_kg.agents import drafts
from regraph_kg.agents.draft_folder import FOLDER, DraftFolder
from regraph_kg.agents.drafts import AgentDraft, Author
from regraph_kg.errors import BadInput
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Vocabulary
from regraph_kg.models.trajectory import Step
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import read_vocabulary
from tests.ingest.trajectories import lexical
from tests.search.toy import SEAL

SERIAL = "void f(float* x, int n) {\n  for (int i = 0; i < n; ++i) x[i] *= 2;\n}\n"
PARALLEL = SERIAL.replace("  for", "#pragma omp parallel for\n  for")
UNUSED = f"{SERIAL}static int unused() {{ return 3; }}\n"
BEGUN = AgentDraft(
    id="0123456789ab",
    created="2026-11-24T08:00:00Z",
    author=Author(agent="agent", model="model"),
    problem="scale",
    target="openmp",
    serial=SERIAL,
)


def taken(
    root: Path, id_: str = BEGUN.id, begun: AgentDraft = BEGUN, key: bytes = SEAL
) -> AgentDraft:
    async def take() -> AgentDraft:
        async with DraftFolder(root, key).taken(id_, begun) as draft:
            return draft

    return asyncio.run(asyncio.wait_for(take(), 20))


def longer(draft: AgentDraft, label: str) -> AgentDraft:
    return draft.model_copy(update={"steps": (*draft.steps, Step(label=label, code=label))})


def named(technique: str, code: str, target: Target = "openmp") -> Step:
    cascade = lexical(Vocabulary(read_vocabulary(Settings())))
    return drafts.named(drafts.step(technique, "because", code, target), BEGUN, cascade)


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    draft = longer(BEGUN, 'with ,"mac":"in it"')
    DraftFolder(tmp_path, SEAL).keep(draft)
    assert taken(tmp_path) == draft
    assert json.loads((tmp_path / FOLDER / f"{BEGUN.id}.json").read_text())["problem"] == "scale"


def test_a_draft_that_another_hand_wrote_counts_for_nothing(tmp_path: Path) -> None:
    kept = DraftFolder(tmp_path, SEAL).keep(longer(BEGUN, "a"))
    honest = kept.read_bytes()
    unsigned = longer(BEGUN, "a").model_dump_json().encode()
    for content in (honest.replace(b"model", b"forge"), unsigned, b"", b"[" * 200_000):
        kept.write_bytes(content)
        with pytest.raises(BadInput, match="this installation did not write it so; begin a new"):
            taken(tmp_path)
    kept.write_bytes(honest)
    with pytest.raises(BadInput, match="did not write it so"):
        taken(tmp_path, key=b"another")


def test_a_signed_draft_under_another_id_is_refused(tmp_path: Path) -> None:
    kept = DraftFolder(tmp_path, SEAL).keep(BEGUN)
    kept.rename(kept.with_stem("f0f0f0f0f0f0"))
    with pytest.raises(BadInput, match=f"holds trajectory {BEGUN.id}: give that id"):
        taken(tmp_path, "f0f0f0f0f0f0")


@pytest.mark.parametrize("id_", ["../../etc/passwd", "f" * 5000, "nosuch", "0" * 12])
def test_what_is_no_trajectory_is_one_line(tmp_path: Path, id_: str) -> None:
    with pytest.raises(BadInput, match=r"^trajectory [^\n]{1,120}$"):
        taken(tmp_path, id_)


def test_a_pipe_in_the_place_of_a_draft_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    os.mkfifo(tmp_path / FOLDER / f"{BEGUN.id}.json")
    with pytest.raises(BadInput, match="cannot be read; begin a new trajectory"):
        taken(tmp_path)


@pytest.mark.parametrize(
    ("field", "said"),
    [("serial", "began with other serial code of scale"), ("problem", "is of scale \\(openmp\\)")],
)
def test_a_draft_goes_on_with_what_it_began_with_only(
    tmp_path: Path, field: str, said: str
) -> None:
    DraftFolder(tmp_path, SEAL).keep(BEGUN)
    with pytest.raises(BadInput, match=said):
        taken(tmp_path, begun=BEGUN.model_copy(update={field: "other"}))


def test_steps_at_once_on_one_trajectory_all_stay(tmp_path: Path) -> None:
    folder = DraftFolder(tmp_path, SEAL)
    folder.keep(BEGUN)

    async def add(label: str) -> None:
        async with DraftFolder(tmp_path, SEAL).taken(BEGUN.id, BEGUN) as draft:
            await asyncio.sleep(0.02)  # the judge's time
            folder.keep(longer(draft, label))

    async def all_of_them() -> None:
        await asyncio.wait_for(asyncio.gather(*map(add, "abcde")), 30)

    asyncio.run(all_of_them())
    assert sorted(step.label for step in taken(tmp_path).steps) == [*"abcde"]


@pytest.mark.parametrize("name", ["Loop collapse", "Collapse the loops", "Use parallel for"])
def test_another_spelling_passes_no_check_of_signs(name: str) -> None:
    with pytest.raises(BadInput, match="the code shows no sign of openmp/"):
        named(name, UNUSED)


def test_what_is_decided_is_what_the_graph_is_told() -> None:
    assert named("Use parallel for", PARALLEL).technique == "openmp/parallel-for"
    assert named("Iterations shared out", PARALLEL).technique == "openmp/parallel-for"
    odd = named("A trick of mine", UNUSED)
    names = (odd.technique, drafts.technique_names(odd))
    assert names == (None, "A trick of mine (new to the graph)")
    with pytest.raises(BadInput, match="names and comments only"):
        named("A trick of mine", f"// faster\n{SERIAL}")


def test_a_technique_of_another_target_is_no_new_one() -> None:
    with pytest.raises(BadInput, match="'cuda/tiling' is of cuda, and the step for openmp"):
        named("cuda/tiling", PARALLEL)
