"""An evolution's program database as trajectories: lineages, lost ancestors, broken files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.collect.judged_steps import TrajectoryDraft
from regraph_kg.collect.openevolve import EvolvedLineage, read_lineages
from regraph_kg.errors import BadInput
from regraph_kg.models.trajectory import Source, Step
from tests.collect.toy_task import SERIAL, TASK, code, judge


def program(folder: Path, name: str, parent: str | None, text: str, **more: Any) -> None:
    """Write one program as OpenEvolve does."""
    (folder / "programs").mkdir(parents=True, exist_ok=True)
    said = {
        **{"id": name, "code": text, "language": "cpp", "parent_id": parent, "generation": 1},
        **{"timestamp": 1.0, "iteration_found": 1, "complexity": 0.0, "diversity": 0.0},
        **{"prompts": None, "artifacts_json": None, "artifact_dir": None, "embedding": None},
        **{"metrics": {}, "metadata": {"island": 0, "changes": f"Change 1: {name}"}},
        **more,
    }
    (folder / "programs" / f"{name}.json").write_text(json.dumps(said))


def lineages(folder: Path, best: int = 1) -> list[EvolvedLineage]:
    return read_lineages(folder, best, TASK, Source())[0]


def judged(folder: Path) -> list[Step]:
    draft = TrajectoryDraft(TASK, judge)
    lineages(folder)[0].propose(draft)
    return draft.steps


def ids(lineage: EvolvedLineage) -> list[str]:
    return [program.id for program in lineage.programs]


@pytest.fixture
def evolution(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint_10"
    program(folder, "a", None, SERIAL, metrics={"combined_score": 1.0})
    program(folder, "b", "a", code("fast2"), metrics={"combined_score": 2.0})
    program(folder, "c", "b", code("fast2") + "// same\n", metrics={"combined_score": 2.0})
    program(folder, "d", "c", code("fast5"), metrics={"combined_score": 5.0, "noise": 900})
    program(folder, "e", "a", code("wrong"), metrics={"combined_score": 3.0})
    (folder / "metadata.json").write_text(json.dumps({"best_program_id": "d"}))
    return folder


def test_the_lineage_of_the_best_program_is_a_trajectory(evolution: Path) -> None:
    (found,) = lineages(evolution)
    assert ids(found) == ["a", "b", "c", "d"]
    # The first program is the serial code, and c only adds a comment.
    assert [step.label for step in judged(evolution)] == ["Change 1: b", "Change 1: d"]


def test_a_program_on_a_better_ones_way_is_no_lineage_of_its_own(evolution: Path) -> None:
    assert [ids(lineage)[-1] for lineage in lineages(evolution, best=5)] == ["d", "e"]


def test_what_the_model_said_is_the_reasoning(tmp_path: Path) -> None:
    said = {"diff_user": {"system": "s", "user": "u", "responses": ["Tiles fit.\n```\nx\n```"]}}
    program(tmp_path, "a", None, code("fast2"), prompts=said, changes_description="Tile the loop")
    (step,) = judged(tmp_path)
    assert (step.label, step.reasoning) == ("Tile the loop", "Tiles fit.")


def test_ancestors_that_a_checkpoint_lost_are_found_in_earlier_ones(tmp_path: Path) -> None:
    program(tmp_path / "checkpoints/checkpoint_2", "a", None, SERIAL)
    later = tmp_path / "checkpoints/checkpoint_10"
    program(later, "b", "a", code("fast2"), iteration_found=7)
    (found,) = lineages(tmp_path)
    assert ids(found) == ["a", "b"]


def test_programs_are_ranked_whatever_their_metrics(tmp_path: Path) -> None:
    told: list[Any] = [{"x": 1, "y": 5, "note": "z"}, {"x": float("nan"), "ok": True}, None]
    told += [{"combined_score": 10**400}, {"combined_score": 2}]
    for name, metrics in zip("abcde", told, strict=True):
        program(tmp_path, name, None, code(f"fast{ord(name)}"), metrics=metrics)
    assert [ids(one) for one in lineages(tmp_path, best=3)] == [["a"], ["e"], ["b"]]


def test_a_lineage_without_its_beginning_or_half_written_is_left_out(evolution: Path) -> None:
    (evolution / "programs" / "z.json").write_text('{"id": "z", "co')
    program(evolution, "f", "lost", code("fast9"), metrics={"combined_score": 9.0})
    (found,), notes = read_lineages(evolution, 1, TASK, Source())
    assert ids(found)[-1] == "d"
    assert len(notes) == 2


def test_programs_that_are_their_own_ancestors_are_left_out(tmp_path: Path) -> None:
    program(tmp_path, "a", "b", code("fast2"))
    program(tmp_path, "b", "a", code("fast3"))
    with pytest.raises(BadInput):
        lineages(tmp_path)


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, "[]", '{"id": "a"}', '{"id": "", "code": "x"}']
)
def test_a_broken_program_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "p.json").write_text(text)
    with pytest.raises(BadInput) as caught:
        lineages(tmp_path)
    assert "p.json" in str(caught.value)


def test_a_folder_without_programs_is_said(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BadInput):
            lineages(folder)


@pytest.mark.parametrize("target", ["/dev/zero", "fifo"])
def test_what_is_no_regular_file_is_not_opened(tmp_path: Path, target: str) -> None:
    (tmp_path / "programs").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "programs" / "p.json").symlink_to(tmp_path / target)
    with pytest.raises(BadInput):
        lineages(tmp_path)


def test_whatever_is_said_of_a_program_can_be_stored(tmp_path: Path) -> None:
    said = {"x": {"responses": ["\x1b]0;x\x07why" + "y" * 300_000]}}
    program(tmp_path, "a", "", code("fast2") + "// \ud800", changes_description="A\x1b[2J\n\u202e")
    program(tmp_path, "b", "a", code("fast3"), prompts=said, metrics={"combined_score": 3})
    first, second = judged(tmp_path)
    assert first.label == "A[2J"
    assert second.reasoning.startswith("]0;xwhy")
    assert Step.model_validate_json(second.model_dump_json())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("first", [None, "p1999"])
def test_long_lineages_take_no_time(tmp_path: Path, first: str | None) -> None:
    for number in range(2000):
        program(tmp_path, f"p{number}", f"p{number - 1}" if number else first, code("fast2"))
    if first is None:
        assert len(lineages(tmp_path)[0].programs) > 0
        return
    with pytest.raises(BadInput):
        lineages(tmp_path)
