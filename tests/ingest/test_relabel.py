"""Labels resolve by given id, name, alias, other words; else to a new technique, always alike."""

import itertools

import pytest

from regraph_kg.ingest.relabel import LexicalLabeller, relabel
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.technique import Technique, Vocabulary
from tests.ingest.trajectories import VOCABULARY, many, trajectory

LEXICAL = LexicalLabeller(VOCABULARY)


def resolved(label: str, vocabulary: Vocabulary | None = None) -> Relabelled:
    labels = relabel(trajectory(0, label), vocabulary or Vocabulary(VOCABULARY), LEXICAL)
    return labels.steps[0]


@pytest.mark.parametrize(
    ("label", "technique", "stage"),
    [
        ("Shared-memory tiling", "cuda/shared-memory-tiling", "exact"),
        ("SMEM tiling", "cuda/shared-memory-tiling", "alias"),
        ("tiling with shared memory", "cuda/shared-memory-tiling", "lexical"),
        ("Use tiled shared memory", "cuda/shared-memory-tiling", "lexical"),
        ("Coalesced memory", "cuda/memory-coalescing", "lexical"),
        ("Warp Shuffle", "cuda/warp-shuffle", "new"),
    ],
)
def test_each_stage_of_the_cascade(label: str, technique: str, stage: str) -> None:
    found = resolved(label)
    assert (found.technique, found.stage) == (technique, stage)


@pytest.mark.parametrize(
    "label",
    [
        "Remove shared memory tiling",
        "shared memory",
        "memory",
        "Shared memory tiling and memory coalescing",
        "texture memory tiling",
        "uncoalesced memory",
        "optimization technique",
    ],
)
def test_what_is_not_surely_the_same_is_new(label: str) -> None:
    assert resolved(label).stage == "new"


def test_a_draw_between_two_techniques_is_new() -> None:
    names = {"cuda/one": "prefetch buffer", "cuda/two": "buffer prefetch"}
    twins = [Technique(id=key, name=name, target="cuda") for key, name in names.items()]
    assert LexicalLabeller(twins).resolve("prefetching buffers", "cuda") is None
    alone = LexicalLabeller(twins[:1]).resolve("prefetching buffers", "cuda")
    assert alone == Relabelled("prefetching buffers", "cuda/one", "lexical")


def test_a_verdict_names_the_runner_up() -> None:
    other = Technique(id="cuda/other", name="Shared memory pool", target="cuda")
    found = LexicalLabeller((*VOCABULARY, other)).resolve("tiled shared memory", "cuda")
    assert found is not None
    assert (found.technique, found.runner_up) == ("cuda/shared-memory-tiling", "cuda/other")


def test_a_label_never_resolves_across_targets() -> None:
    assert resolved("#pragma omp simd").technique == "cuda/openmp-simd"


def test_a_given_id_wins_over_the_label() -> None:
    steps = [{"label": "SMEM tiling", "technique": "cuda/other", "code": "c"}]
    labels = relabel(trajectory(steps=steps), Vocabulary(VOCABULARY), LEXICAL)
    assert labels.steps[0] == Relabelled("SMEM tiling", "cuda/other", "given")


@pytest.mark.parametrize("label", ["start", "Serial code", "baseline"])
def test_no_label_leads_to_the_initial_state(label: str) -> None:
    start = Technique(id="cuda/start", name="Serial code", target="cuda", aliases=("baseline",))
    found = resolved(label, Vocabulary((*VOCABULARY, start)))
    assert found.stage == "new"
    assert found.technique != "cuda/start"
    assert LexicalLabeller((start,)).resolve(f"{label} optimization", "cuda") is None


def test_failures_are_resolved_like_steps() -> None:
    failure = {"after_step": 0, "label": "smem tiling", "outcome": "crashed"}
    labels = relabel(trajectory(failures=[failure]), Vocabulary(VOCABULARY), LEXICAL)
    assert [found.technique for found in labels.failures] == ["cuda/shared-memory-tiling"]


def test_the_lexical_stage_has_nothing_to_say_of_an_unknown_target() -> None:
    only_cuda = [one for one in VOCABULARY if one.target == "cuda"]
    assert LexicalLabeller(only_cuda).resolve("cache tiling", "openmp") is None


def test_a_label_means_the_same_whatever_came_before() -> None:
    """Techniques and aliases that the file itself teaches change nothing."""
    labels = ("odd trick", "Odd tricks", "odd-trick!", "tiling by shared memory", "tilings")
    fresh = {label: resolved(label).technique for label in labels}
    for first, second in itertools.permutations(labels, 2):
        taught = Technique(
            id=fresh[first],
            name=first.capitalize(),
            target="cuda",
            aliases=(first,),
            created="2026-01-01",
        )
        assert resolved(second, Vocabulary(VOCABULARY, (taught,))).technique == fresh[second]


def test_an_id_that_a_sender_chose_takes_no_labels_from_the_id_they_get() -> None:
    chosen = Technique(id="cuda/odd-tricks", name="Odd tricks", target="cuda", created="2026-01-01")
    assert resolved("odd trick", Vocabulary(VOCABULARY, (chosen,))).technique == "cuda/odd-trick"


def test_every_label_of_a_file_is_resolved() -> None:
    for one in many(6):
        found = trajectory(**one)
        labels = relabel(found, Vocabulary(VOCABULARY), LEXICAL)
        assert [r.label for r in labels.steps] == [step.label for step in found.steps]
        assert [r.label for r in labels.failures] == [bad.label for bad in found.failures]
