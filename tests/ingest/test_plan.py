"""A plan carries a trajectory, its resolved labels, and what they teach."""

import pytest

from regraph_kg.ingest.pipeline import plan
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.technique import Technique, technique_id
from tests.ingest.trajectories import VOCABULARY, trajectory

KNOWN = {technique.id: technique for technique in VOCABULARY}
TILING = "cuda/shared-memory-tiling"
NOW = "2026-11-21T10:00:00+00:00"


def planned(*labels: Relabelled, failed: tuple[Relabelled, ...] = ()) -> MergePlan:
    found = trajectory(0, *(label.label for label in labels))
    return plan(found, labels, failed, KNOWN, NOW)


def test_known_names_teach_nothing() -> None:
    made = planned(
        Relabelled("Shared memory tiling", TILING, "exact"),
        Relabelled("smem tiling", TILING, "alias"),
        Relabelled("whatever", TILING, "given"),
        Relabelled("smem tiling", TILING, "model"),
    )
    assert (made.new, made.created) == ((), NOW)
    assert made.path() == ("cuda/start", *([TILING] * 4))


def test_a_new_technique_is_named_by_its_spelling_whatever_the_label() -> None:
    for label in ("Odd-Trick!", "odd tricks"):
        made = planned(Relabelled(label, "cuda/odd-trick", "new"))
        assert made.new == (
            Technique(
                id="cuda/odd-trick",
                name="Odd trick",
                target="cuda",
                aliases=(label,),
                review=True,
                created=NOW,
            ),
        )


def test_two_spellings_of_a_new_technique_make_one_with_both_aliases() -> None:
    made = planned(
        Relabelled("Odd trick", "cuda/odd-trick", "new"),
        Relabelled("odd tricks", "cuda/odd-trick", "new"),
    )
    assert [technique.aliases for technique in made.new] == [("Odd trick", "odd tricks")]


def test_a_verdict_is_remembered_as_an_alias_and_nothing_else_is_sent_again() -> None:
    made = planned(Relabelled("tiled shared memory", TILING, "model"))
    assert [(one.id, one.aliases) for one in made.new] == [(TILING, ("tiled shared memory",))]


def test_what_a_model_coined_is_made_as_it_described_it() -> None:
    coined = Technique(
        id="cuda/texture-path",
        name="Texture path",
        target="cuda",
        definition="Read through textures.",
        aliases=("tex1Dfetch",),
        review=True,
    )
    labels = [Relabelled(label, coined.id, "new") for label in ("tex1Dfetch", "texture units")]
    found = trajectory(0, *(label.label for label in labels))
    made = plan(found, labels, (), KNOWN, NOW, [coined, coined])
    aliases = ("tex1Dfetch", "texture units")
    assert made.new == (coined.model_copy(update={"aliases": aliases, "created": NOW}),)


def test_a_given_id_that_nobody_knows_becomes_a_technique_without_alias() -> None:
    made = planned(Relabelled("whatever", "cuda/fancy-thing", "given"))
    assert [(one.id, one.name, one.aliases, one.review) for one in made.new] == [
        ("cuda/fancy-thing", "Fancy thing", (), True)
    ]


@pytest.mark.parametrize("label", ["向量化", "???"])
def test_a_name_without_latin_letters_stays_legible(label: str) -> None:
    made = planned(Relabelled(label, technique_id("cuda", label), "new"))
    assert made.new[0].name == label


def test_a_name_that_grows_when_it_is_spelled_out_is_cut() -> None:
    label = "\ufdfa" * 200  # one character, spelled in eighteen
    made = planned(Relabelled(label, technique_id("cuda", label), "new"))
    assert len(made.new[0].name) == 200


def test_a_failure_makes_no_technique_and_is_left_out_until_its_name_is_known() -> None:
    claimed = [{"after_step": 0, "label": one, "outcome": "crashed"} for one in ("Bad", "Tiled")]
    labels = (Relabelled("Bad", "cuda/bad", "new"), Relabelled("Tiled", TILING, "model"))
    found = trajectory(0, "smem tiling", failures=claimed)
    made = plan(found, (Relabelled("smem tiling", TILING, "alias"),), labels, KNOWN, NOW)
    assert made.failed_labels == labels[1:]
    assert [failure.label for failure in made.trajectory.failures] == ["Tiled"]
    assert [(one.id, one.aliases) for one in made.new] == [(TILING, ("Tiled",))]
    assert made.trajectory.id == found.id
