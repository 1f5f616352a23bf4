"""Spellings, ids and names of techniques."""

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.models.technique import Technique, Vocabulary, spelling, technique_id
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
