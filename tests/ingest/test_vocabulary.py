"""Spellings, ids and names of techniques."""

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.models.technique import Match, Technique, Vocabulary, spelling, technique_id
from tests.ingest.trajectories import VOCABULARY


@pytest.mark.parametrize(
    "label",
    [
        "shared-memory tiling",
        "Shared Memory Tiling",
        "SharedMemoryTiling",
        "shared_memory_tilings",
        "`__shared__` memory tiling",
        "  shared memory: tiling!",
    ],
)
def test_spellings_of_one_name_are_one(label: str) -> None:
    assert spelling(label) == "shared memory tiling"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("#pragma omp parallel for", "OpenMP parallel for"),
        ("__restrict__ pointers", "restrict pointer"),
        ("__syncthreads()", "syncthreads"),
        ("cudaMallocHost", "cudamallochost"),
        ("memory accesses", "memory access"),
        ("caches", "cache"),
        ("batches", "batch"),
        ("Caché blocking", "cache blocking"),
        ("thread-local copies", "thread-local copy"),
        ("matrices", "matrix"),
        ("Loop\u200b fusion", "loop fusion"),
    ],
)
def test_marks_of_the_languages_and_plurals_do_not_matter(one: str, other: str) -> None:
    assert spelling(one) == spelling(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loop tiling", "loop unrolling"),
        ("intra-warp shuffle", "inter-warp shuffle"),
        ("static schedule", "dynamic schedule"),
        ("float2 loads", "float4 loads"),
        ("bus", "bu"),
    ],
)
def test_other_words_are_other_names(one: str, other: str) -> None:
    assert spelling(one) != spelling(other)


@pytest.mark.parametrize(
    ("label", "slug"),
    [
        ("Loop Unrolling", "loop-unrolling"),
        ("#pragma unroll 4", "unroll-4"),
        ("start", "start-cced28c6"),
        ("向量化", "technique-db257cf1"),
        ("λ tiling", "tiling-50e8007f"),
    ],
)
def test_a_new_id_follows_from_the_spelling(label: str, slug: str) -> None:
    assert technique_id("cuda", label) == f"cuda/{slug}"


@pytest.mark.parametrize("label", ["???", "#pragma", "word " * 50, "é" * 200, "-"])
def test_every_label_makes_a_valid_id(label: str) -> None:
    Technique(id=technique_id("openmp", label), name="x", target="openmp")


def test_different_long_names_get_different_ids() -> None:
    assert technique_id("cuda", "word " * 39 + "one") != technique_id("cuda", "word " * 39 + "two")


@pytest.mark.parametrize(
    ("label", "technique", "stage"),
    [
        ("shared memory tiling", "cuda/shared-memory-tiling", "exact"),
        ("Smem-Tiling", "cuda/shared-memory-tiling", "alias"),
        ("Tiled kernels", "cuda/shared-memory-tiling", "alias"),
        ("Tiledkernel", "cuda/shared-memory-tiling", "alias"),
        ("Memory Co-alescing", "cuda/memory-coalescing", "alias"),
        ("cuda/memory_coalescing", "cuda/memory-coalescing", "exact"),
    ],
)
def test_names_ids_and_aliases_are_found(label: str, technique: str, stage: str) -> None:
    match = Vocabulary(VOCABULARY).find(label, "cuda")
    assert match is not None
    assert (match.technique, match.stage) == (technique, stage)


def test_a_name_counts_within_its_target_only() -> None:
    assert Vocabulary(VOCABULARY).find("smem tiling", "openmp") is None


@pytest.mark.parametrize("taken", ["Memory coalescing", "smem tilings", "shared-memory-tiling"])
def test_two_techniques_that_share_a_name_are_bad_input_naming_both(taken: str) -> None:
    clash = Technique(id="cuda/other", name="Other", target="cuda", aliases=(taken,))
    with pytest.raises(BadInput, match=r"cuda/.* and cuda/other share the name"):
        Vocabulary((*VOCABULARY, clash))


def test_another_target_may_use_the_same_name() -> None:
    same = Technique(id="openmp/other", name="Other", target="openmp", aliases=("smem tiling",))
    Vocabulary((*VOCABULARY, same))


def test_what_a_graph_learned_is_found_after_the_vocabulary() -> None:
    learned = (
        Technique(id="cuda/odd-trick", name="Odd trick", target="cuda", created="2026-01-01"),
        Technique(id="cuda/aaa", name="Aaa", target="cuda", aliases=("smem tiling", "odd ball")),
    )
    vocabulary = Vocabulary(VOCABULARY, learned)
    found = [vocabulary.find(label, "cuda") for label in ("odd tricks", "smem tiling", "odd ball")]
    assert [match and match.technique for match in found] == [
        "cuda/odd-trick",
        "cuda/shared-memory-tiling",
        "cuda/aaa",
    ]


def test_one_word_or_two_is_no_name_where_two_techniques_would_have_it() -> None:
    names = {"cuda/one": "Off load", "cuda/two": "Of floa d"}
    techniques = [Technique(id=key, name=name, target="cuda") for key, name in names.items()]
    assert Vocabulary(techniques[:1]).find("offload", "cuda") is not None
    techniques[1] = techniques[1].model_copy(update={"name": "O ffload"})
    assert Vocabulary(techniques).find("offload", "cuda") is None


def test_numbers_do_not_run_together() -> None:
    technique = Technique(id="cuda/unroll", name="Unroll 4 8", target="cuda")
    assert Vocabulary([technique]).find("unroll 48", "cuda") is None


def merged(*aliases: str, **fields: object) -> Technique:
    """Memory coalescing, after shared memory tiling was merged into it."""
    return VOCABULARY[1].model_copy(
        update={"aliases": aliases, "replaces": ("cuda/shared-memory-tiling",)} | fields
    )


@pytest.mark.parametrize("label", ["Shared memory tiling", "smem tiling", "tiled kernels"])
def test_names_of_a_merged_away_technique_mean_its_heir(label: str) -> None:
    vocabulary = Vocabulary(VOCABULARY, [merged()])
    assert vocabulary.find(label, "cuda") == Match("cuda/memory-coalescing", "alias")
    assert "cuda/shared-memory-tiling" not in {one.id for one in vocabulary.curated}
    assert "cuda/shared-memory-tiling" not in vocabulary.known


def test_ids_lead_to_the_heir_of_the_heir() -> None:
    last = Technique(
        id="cuda/last", name="Last", target="cuda", replaces=("cuda/memory-coalescing",)
    )
    vocabulary = Vocabulary((), [merged(), last])
    assert vocabulary.current("cuda/shared-memory-tiling") == "cuda/last"
    assert vocabulary.current("cuda/other") == "cuda/other"


def test_two_that_replace_each_other_do_not_hang() -> None:
    one = Technique(id="cuda/one", name="One", target="cuda", replaces=("cuda/two",))
    two = Technique(id="cuda/two", name="Two", target="cuda", replaces=("cuda/one",))
    assert Vocabulary((), [one, two]).current("cuda/one") in ("cuda/one", "cuda/two")


def test_a_reviewed_technique_has_a_name_before_an_unseen_one() -> None:
    unseen = Technique(id="cuda/odd-trick", name="Odd trick", target="cuda", review=True)
    seen = Technique(id="cuda/zzz", name="Zzz", target="cuda", aliases=("odd trick",))
    match = Vocabulary((), [unseen, seen]).find("odd trick", "cuda")
    assert match == Match("cuda/zzz", "alias")


def test_candidates_are_what_people_named_by_those_names_and_what_is_under_review() -> None:
    learned = VOCABULARY[1].model_copy(update={"aliases": ("learned by an ingest",)})
    unseen = Technique(id="cuda/odd-trick", name="Odd trick", target="cuda", review=True)
    found = {
        candidate.id: candidate
        for candidate in Vocabulary(VOCABULARY, [learned, unseen]).candidates
    }
    assert set(found) == {technique.id for technique in (*VOCABULARY, unseen)}
    assert found["cuda/memory-coalescing"].aliases == ()
    heir = {candidate.id: candidate for candidate in Vocabulary(VOCABULARY, [merged()]).candidates}
    assert set(heir["cuda/memory-coalescing"].aliases) == {
        "Shared memory tiling",
        "smem tiling",
        "tiled kernel",
    }
