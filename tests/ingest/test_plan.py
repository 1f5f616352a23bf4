"""A plan carries a trajectory, its resolved labels, and what they teach."""

from regraph_kg.ingest.plan import plan
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
    )
    assert made.new == ()
    assert made.path() == ("cuda/start", TILING, TILING, TILING)


def test_a_new_technique_is_named_by_its_spelling_whatever_the_label() -> None:
    for label in ("Odd-Trick!", "odd tricks"):
        made = planned(Relabelled(label, "cuda/odd-trick", "new"))
        assert made.new == (
            Technique(
                id="cuda/odd-trick", name="Odd trick", target="cuda", aliases=(label,), created=NOW
            ),
        )


def test_two_spellings_of_a_new_technique_make_one_with_both_aliases() -> None:
    made = planned(
        Relabelled("Odd trick", "cuda/odd-trick", "new"),
        Relabelled("odd tricks", "cuda/odd-trick", "new"),
    )
    assert [technique.aliases for technique in made.new] == [("Odd trick", "odd tricks")]


def test_a_verdict_of_the_labeller_is_remembered_as_an_alias() -> None:
    made = planned(Relabelled("tiled shared memory", TILING, "lexical", 0.9))
    assert [technique.id for technique in made.new] == [TILING]
    assert made.new[0].aliases == (*KNOWN[TILING].aliases, "tiled shared memory")


def test_a_given_id_that_nobody_knows_becomes_a_technique_without_alias() -> None:
    made = planned(Relabelled("whatever", "cuda/fancy-thing", "given"))
    assert [(one.id, one.name, one.aliases) for one in made.new] == [
        ("cuda/fancy-thing", "Fancy thing", ())
    ]


def test_a_name_in_another_script_stays_legible() -> None:
    label = "向量化"
    made = planned(Relabelled(label, "cuda/technique-db257cf1", "new"))
    assert made.new[0].name == label


def test_a_name_without_letters_is_kept() -> None:
    made = planned(Relabelled("???", "cuda/technique-e3b0c442", "new"))
    assert made.new[0].name == "???"


def test_a_name_that_grows_when_it_is_spelled_out_is_cut() -> None:
    label = "\ufdfa" * 200  # one character, spelled in eighteen
    made = planned(Relabelled(label, technique_id("cuda", label), "new"))
    assert len(made.new[0].name) == 200


def test_failed_steps_teach_too() -> None:
    failed = (Relabelled("Bad idea", "cuda/bad-idea", "new"),)
    made = planned(Relabelled("smem tiling", TILING, "alias"), failed=failed)
    assert [technique.id for technique in made.new] == ["cuda/bad-idea"]
    assert made.failed_labels == failed
