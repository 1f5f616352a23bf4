"""Headers that code uses and does not include."""

import time

import pytest

from regraph_kg.search.mends.includes import included


@pytest.mark.parametrize(
    ("code", "header"),
    [
        ("std::sort(a, a + n);", "algorithm"),
        ("std::vector<int> a;", "vector"),
        ("std::memcpy(a, b, n);", "cstring"),
        ("memcpy(a, b, n);", "string.h"),
        ("a = sqrt(b);", "math.h"),
        ("size_t n = 1;", "stddef.h"),
        ("int64_t n = 1;", "stdint.h"),
        ("using namespace std;\nint f() { return accumulate(a, b, 0); }", "numeric"),
        ("__m256 a = _mm256_setzero_ps();", "immintrin.h"),
        ("cub::DeviceReduce::Sum(a, b);", "cub/cub.cuh"),
        ("namespace cg = cooperative_groups;", "cooperative_groups.h"),
        ("omp_get_thread_num();", "omp.h"),
    ],
)
def test_a_header_goes_with_a_name_unless_it_is_there(code: str, header: str) -> None:
    found = included(code, on_gpu=False)
    assert found == (f"#include <{header}>\n{code}", f"included <{header}>")
    assert included(found[0], on_gpu=False) is None


@pytest.mark.parametrize(
    "code",
    [
        "#include <bits/stdc++.h>\nstd::vector<int> a; int b = sqrt(2);",
        "#include <cmath>\nstatic double f() { return sqrt(2.0); }",
        "#include <vector>\nsize_t n = 1;",
        "static float sqrt(float x) { return x; }\nfloat a = sqrt(2.0f);",
        "struct A { int sort; }; int f(A a) { return a.sort + a.sqrt(1); }",
        'const char* said = "std::vector"; // std::sort',
        "int sort(int); int b = sort(1);",
    ],
)
def test_a_name_that_is_no_library_s_needs_no_header(code: str) -> None:
    assert included(code, on_gpu=False) is None


@pytest.mark.parametrize("size", [6_000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "code",
    ["{" * 60_000, "a<" * 30_000, "std::sort reduction " * 3000, "\0" * 60_000, '"' * 60_000],
)
def test_hostile_code_takes_bounded_time(code: str, size: int | None) -> None:
    begin = time.process_time()
    included(code[:size], on_gpu=False)
    assert time.process_time() - begin < 20  # seconds; a second at most on a quiet machine
