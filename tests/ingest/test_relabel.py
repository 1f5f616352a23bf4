"""Labels resolve by given id, name, alias; else to a new technique, always alike."""

import itertools

import pytest

from regraph_kg.ingest.cascade import Cascade
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.technique import Technique, Vocabulary
from tests.ingest.trajectories import VOCABULARY, by_name, trajectory

KNOWN = Vocabulary(VOCABULARY)


def resolved(label: str, vocabulary: Vocabulary = KNOWN) -> Relabelled:
    return by_name(vocabulary).resolve(label, "cuda").relabelled


def of(*techniques: Technique) -> Cascade:
    return by_name(Vocabulary(techniques))


@pytest.mark.parametrize(
    ("label", "technique", "stage"),
    [
        ("Shared-memory tiling", "cuda/shared-memory-tiling", "exact"),
        ("SMEM tiling", "cuda/shared-memory-tiling", "alias"),
        ("tiling with shared memory", "cuda/tiling-with-shared-memory", "new"),
        ("Warp Shuffle", "cuda/warp-shuffle", "new"),
    ],
)
def test_each_stage_of_the_cascade(label: str, technique: str, stage: str) -> None:
    found = resolved(label)
    assert (found.technique, found.stage) == (technique, stage)


def test_a_given_id_wins_over_the_label() -> None:
    steps = [{"label": "SMEM tiling", "technique": "cuda/other", "code": "c"}]
    labels = by_name(KNOWN).relabel(trajectory(steps=steps))
    assert labels.steps[0] == Relabelled("SMEM tiling", "cuda/other", "given")


@pytest.mark.parametrize("label", ["start", "Serial code", "baseline", "the serial code"])
def test_no_label_leads_to_the_initial_state(label: str) -> None:
    start = Technique(id="cuda/start", name="Serial code", target="cuda", aliases=("baseline",))
    found = resolved(label, Vocabulary((*VOCABULARY, start)))
    assert found.stage == "new"
    assert found.technique != "cuda/start"


def test_failures_are_resolved_like_steps() -> None:
    failure = {"after_step": 0, "label": "smem tiling", "outcome": "crashed"}
    labels = by_name(KNOWN).relabel(trajectory(failures=[failure]))
    assert [found.technique for found in labels.failures] == ["cuda/shared-memory-tiling"]


def test_a_target_without_vocabulary_has_only_new_techniques() -> None:
    only_cuda = [one for one in VOCABULARY if one.target == "cuda"]
    assert of(*only_cuda).resolve("cache tiling", "openmp").relabelled.stage == "new"


def test_a_label_means_the_same_whatever_came_before() -> None:
    """Techniques and aliases that the file itself teaches change nothing."""

    def one(label: str, *stored: Technique) -> str:
        vocabulary = Vocabulary(VOCABULARY, stored)
        cascade = by_name(vocabulary)
        return cascade.resolve(label, "cuda").relabelled.technique

    labels = ("odd trick", "Odd tricks", "odd-trick!", "oddtrick", "tiling by shared memory")
    fresh = {label: one(label) for label in labels}
    for first, second in itertools.permutations(labels, 2):
        known = next((t for t in VOCABULARY if t.id == fresh[first]), None)
        taught = known or Technique(
            id=fresh[first],
            name=first.capitalize(),
            target="cuda",
            review=True,
            created="2026-01-01",
        )
        taught = taught.model_copy(update={"aliases": (*taught.aliases, first)})
        assert one(second, taught) == fresh[second]


def test_an_id_that_a_sender_chose_takes_no_labels_from_the_id_they_get() -> None:
    chosen = Technique(
        id="cuda/odd-tricks", name="Odd tricks", target="cuda", review=True, created="2026-01-01"
    )
    assert resolved("odd trick", Vocabulary(VOCABULARY, (chosen,))).technique == "cuda/odd-trick"


@pytest.mark.parametrize(
    "label",
    [
        "x" * 10_000,
        "word " * 2_000,
        "\x00\x1b[2J\u202e",
        "'}) DETACH DELETE n //",
        "$technique",
        "",
    ],
)
def test_hostile_labels_become_techniques_of_their_own(label: str) -> None:
    found = resolved(label)
    assert found.stage == "new"
    Technique(id=found.technique, name="x", target="cuda")
