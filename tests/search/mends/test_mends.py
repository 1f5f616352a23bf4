"""What is mended in a code's form, by answers of Qwen2.5-Coder-1.5B, shortened; and what is not."""

import time

import pytest

from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.entry import RequestedEntry
from regraph_kg.search.mends.includes import included
from regraph_kg.search.mends.mend import mended

HEAD = 'extern "C" void reduction(const float* x, double* total, int n)'
LAUNCH = "void launch(const float* x, double* total, int n)"
CUDA = RequestedEntry(("launch", "reduction"), {"reduction": HEAD, "launch": LAUNCH}, on_gpu=True)
OPENMP = RequestedEntry(("reduction",), {"reduction": HEAD})
BODY = "{\n    total[0] = x[0] * n;\n}\n"

KERNEL_OF_THE_SAME_NAME = """\
__global__ void reduction(const float* x, double* total, int n) {
    total[0] += x[threadIdx.x];
}

extern "C" void reduction(const float* x, double* total, int n) {
    reduction<<<1, 256>>>(x, total, n);
}
"""
KERNEL_INSIDE = """\
extern "C" void reduction(const float* x, double* total, int n) {
    __global__ void reduce(double* total, int n) {
        total[threadIdx.x] = n;
    }
    reduce<<<1, 256>>>(total, n);
}
"""
KERNEL_BEHIND = """\
extern "C" void reduction(const float* x, double* total, int n) {
    reductionKernel<<<1, 256>>>(x, total, n);
}

__global__ void reductionKernel(const float* x, double* total, int n) {
    total[threadIdx.x] = x[0];
}
"""
ANOTHER_NAME = """\
#include <cuda_runtime.h>

void reduction_gpu(const float *values, double* __restrict__ result, int count) {
    result[0] = count;
}
"""
FORCED = """\
#define FORCE_INLINE inline __attribute__((always_inline))
typedef float REAL_F;static FORCE_INLINE REAL_F third(REAL_F v) { return v / 3; }
"""
MENDED: dict[str, tuple[str, RequestedEntry, str, tuple[str, ...]]] = {
    "a brace of a loop that was taken away": (
        f"__global__ void add(double* total) {{\n    total[0] += 1;\n    }}\n}}\n\n{LAUNCH} {{\n"
        "    add<<<1, 1>>>(total);\n}\n",
        CUDA,
        f"__global__ void add(double* total) {{\n    total[0] += 1;\n    }}\n\n\n{LAUNCH} {{\n"
        "    add<<<1, 1>>>(total);\n}\n",
        ("left out a brace that closes nothing",),
    ),
    "a kernel of the same name": (
        KERNEL_OF_THE_SAME_NAME,
        CUDA,
        KERNEL_OF_THE_SAME_NAME.replace(
            "__global__ void reduction", "__global__ void reduction_kernel"
        ).replace("reduction<<<", "reduction_kernel<<<"),
        ("the kernel reduction called reduction_kernel",),
    ),
    "a kernel in the function": (
        KERNEL_INSIDE,
        CUDA,
        "__global__ void reduce(double* total, int n) {\n        total[threadIdx.x] = n;\n    }\n\n"
        f"{HEAD} {{\n    \n    reduce<<<1, 256>>>(total, n);\n}}\n",
        ("reduce moved out of reduction",),
    ),
    "a kernel behind the function": (
        KERNEL_BEHIND,
        CUDA,
        "__global__ void reductionKernel(const float* x, double* total, int n);\n\n"
        + KERNEL_BEHIND,
        ("reductionKernel declared before its first call",),
    ),
    "another name": (
        ANOTHER_NAME,
        CUDA,
        ANOTHER_NAME.replace("reduction_gpu", "launch"),
        ("reduction_gpu called launch",),
    ),
    "another name and no linkage": (
        f"static int two() {{ return 2; }}\nvoid reduction_optimized{HEAD[25:]} {BODY}",
        OPENMP,
        f"static int two() {{ return 2; }}\n{HEAD} {BODY}",
        ("reduction_optimized called reduction", 'reduction made extern "C"'),
    ),
    "a kernel with its name and a host function with another": (
        KERNEL_OF_THE_SAME_NAME.replace('"C" void reduction', '"C" void reduction_host'),
        RequestedEntry(("reduction",), {"reduction": HEAD}, on_gpu=True),
        KERNEL_OF_THE_SAME_NAME.replace(
            "__global__ void reduction", "__global__ void reduction_kernel"
        ).replace("reduction<<<", "reduction_kernel<<<"),
        (
            "the kernel reduction called reduction_kernel",
            "reduction_host called reduction",
        ),
    ),
    "no linkage": (
        f"{HEAD[11:]} {BODY}",
        OPENMP,
        f"{HEAD} {BODY}",
        ('reduction made extern "C"',),
    ),
    "defined twice": (
        f"{HEAD} {BODY}\n{HEAD} {BODY.replace('    ', ' ')}",
        OPENMP,
        f"{HEAD} {BODY}\n\n",
        ("left out what defines reduction again in the same words",),
    ),
    "no header": (
        f"{HEAD} {{\n    total[0] = std::max(1, omp_get_max_threads());\n}}\n",
        OPENMP,
        "#include <algorithm>\n#include <omp.h>\n"
        f"{HEAD} {{\n    total[0] = std::max(1, omp_get_max_threads());\n}}\n",
        ("included <algorithm>, <omp.h>",),
    ),
}
MENDED |= {
    "twice, a macro in the head": (
        f"{FORCED}{HEAD} {BODY}\n{FORCED.partition(';')[2]}",
        OPENMP,
        f"{FORCED}{HEAD} {BODY}\n\n",
        ("left out what defines third again in the same words",),
    ),
    "no linkage, a macro in the head": (
        f"#define FORCE_INLINE __attribute__((hot))\nFORCE_INLINE {HEAD[11:]} {BODY}",
        OPENMP,
        f'#define FORCE_INLINE __attribute__((hot))\nextern "C" FORCE_INLINE {HEAD[11:]} {BODY}',
        ('reduction made extern "C"',),
    ),
    "a kernel with a macro in its head in the function": (
        KERNEL_INSIDE.replace("__global__ void", "__global__ BOUND_ONE void"),
        CUDA,
        "__global__ BOUND_ONE void reduce(double* total, int n) {\n"
        "        total[threadIdx.x] = n;\n    }\n\n"
        f"{HEAD} {{\n    \n    reduce<<<1, 256>>>(total, n);\n}}\n",
        ("reduce moved out of reduction",),
    ),
    "another name, with helpers and a main": (
        f"float square(float v) {{ return v * v; }}\nvoid reduction_fast{HEAD[25:]} {{\n"
        "    total[0] = square(x[0]);\n}\nint main() { reduction_fast(0, 0, 0); }\n",
        OPENMP,
        f"float square(float v) {{ return v * v; }}\n{HEAD} {{\n"
        "    total[0] = square(x[0]);\n}\nint main() { reduction(0, 0, 0); }\n",
        ("reduction_fast called reduction", 'reduction made extern "C"'),
    ),
    "a helper behind the function, a comment behind its head": (
        f"{HEAD} {{ total[0] = one(n); }}\nstatic int one(int a /* n */) // ;\n{{ return a; }}\n",
        OPENMP,
        f"static int one(int a  );\n\n{HEAD} {{ total[0] = one(n); }}\n"
        "static int one(int a /* n */) // ;\n{ return a; }\n",
        ("one declared before its first call",),
    ),
}
LEFT: dict[str, tuple[str, RequestedEntry]] = {
    "a brace of a macro": (
        f"#define BEGIN {{\n{HEAD} BEGIN total[0] = x[0];\n}}\nvoid other() {{}}\n",
        OPENMP,
    ),
    "a brace of another branch": (
        f"{HEAD} {{ {{\n#if 1\n}}\n#else\n}}\n#endif\n}}\nvoid other() {{}}\n",
        OPENMP,
    ),
    "a kernel of its own name": (
        KERNEL_OF_THE_SAME_NAME.replace(
            "__global__ void reduction", "__global__ void reduce_all"
        ).replace("reduction<<<", "reduce_all<<<"),
        CUDA,
    ),
    "an overload": (
        KERNEL_OF_THE_SAME_NAME.replace("(const float* x, double* total, int n) {", "(int n) {", 1),
        CUDA,
    ),
    "a kernel that something else names, too": (
        KERNEL_OF_THE_SAME_NAME.replace("    reduction<<<", "    tune(reduction); reduction<<<"),
        CUDA,
    ),
    "declared before": (
        "__global__ void reductionKernel(const float*, double*, int);\n" + KERNEL_BEHIND,
        CUDA,
    ),
    "a lambda in the function": (
        f"{HEAD} {{\n    auto add = [&](int i) {{ total[0] += x[i]; }};\n    add(n);\n}}\n"
        "static void add(int i) { (void)i; }\n",
        OPENMP,
    ),
    "two that may be meant": (
        "".join(f"void reduction_{one}{HEAD[25:]} {BODY}" for one in "ab"),
        OPENMP,
    ),
    "other parameters": (
        "void reduction_fast(const double* x, double* y, int n) { y[0] = 1; }",
        OPENMP,
    ),
    "a static function": (f"static {HEAD[11:]} {BODY}", OPENMP),
    "linkage from a declaration": (f"{HEAD};\n{HEAD[11:]} {BODY}", OPENMP),
    "linkage from a block": (f'extern "C" {{\n{HEAD[11:]} {BODY}}}\n', OPENMP),
    "a function for each type": (
        "static int one(int a) { return a; }\nstatic int one(float a) { return a; }\n"
        f"{HEAD} {BODY}",
        OPENMP,
    ),
    "functions that differ in words like macros": (
        f"{FORCED}{FORCED.partition(';')[2].replace('REAL_F', 'REAL_D')}{HEAD} {BODY}",
        OPENMP,
    ),
    "device code of a class in the function": (
        f"{LAUNCH} {{\n    struct Dims {{\n        int n;\n"
        "        __host__ __device__ int blocks() const { return n / 256; }\n    };\n"
        "    total[0] = Dims{n}.blocks();\n}\n",
        CUDA,
    ),
    "the right parameters, and another function that may be meant": (
        f"void reduction_serial{HEAD[25:]} {BODY}\n"
        f"void reduction_parallel{HEAD[25:-1]}, int threads) {BODY}",
        OPENMP,
    ),
    "the right parameters, and a kernel that it does not launch": (
        f"__global__ void sum(double* t) {{ t[0] = 1; }}\nvoid reduction_cpu{HEAD[25:]} {BODY}",
        CUDA,
    ),
    "a head with a type that is defined behind the call": (
        f"{HEAD} {{ total[0] = one(n).a; }}\nstruct P {{ int a; }};\n"
        "static P one(int n) { return P{n}; }\n",
        OPENMP,
    ),
    "a head with a macro that is defined behind the call": (
        f"{HEAD} {{ total[0] = one(n); }}\n#define REAL float\n"
        "static REAL one(int n) { return n; }\n",
        OPENMP,
    ),
    "all headers": (
        "#include <algorithm>\n#include <omp.h>\n"
        f"{HEAD} {{\n    total[0] = std::max(1, omp_get_max_threads());\n}}\n",
        OPENMP,
    ),
    "what nvcc includes": (f"{LAUNCH} {{\n    total[0] = sqrt(n) * sizeof(size_t);\n}}\n", CUDA),
    "an unfinished function": (f"{HEAD} {{\n    for (int i = 0;", OPENMP),
    "words": ("The loop is fast already.", OPENMP),
    "nothing": ("", OPENMP),
}


@pytest.mark.parametrize("name", MENDED)
def test_a_code_that_can_mean_one_thing_is_made_to_say_it(name: str) -> None:
    code, wanted, after, done = MENDED[name]
    found = mended(code, wanted)
    assert (found.code, found.done) == (after, done)
    assert mended(after, wanted).done == (), "once is enough"


@pytest.mark.parametrize("name", LEFT)
def test_a_code_that_is_sound_or_in_doubt_is_left_as_it_is(name: str) -> None:
    code, wanted = LEFT[name]
    found = mended(code, wanted)
    assert (found.code, found.done) == (code, ())


@pytest.mark.parametrize("name", MENDED)
def test_a_mend_leaves_the_bodies_as_they_are(name: str) -> None:
    code, wanted, *_ = MENDED[name]
    before, after = normalized(code), normalized(mended(code, wanted).code)
    assert {"total", "result"} & set(after.split())
    assert after.count("threadIdx") == before.count("threadIdx")


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


HOSTILE = {
    "braces": "{" * 60_000,
    "parentheses": "f(" * 30_000,
    "less than": "a<" * 30_000,
    "kernels in kernels": f"{HEAD} {{" + "__global__ void k(int* a) {" * 2000,
    "many kernels": f"{HEAD} {{" + "__global__ void k(int* a) { a[0] = 1; }\n" * 1400 + "}",
    "many functions": "void f(int n) { n++; }\n" * 2500,
    "late functions": f"{HEAD} {{ {'f9(1);' * 3000} }}\n" + "void f9(int n) {}\n" * 2000,
    "templates": "template <class T> " * 3000 + f"{HEAD} {BODY}",
    "linkages": 'extern "C" {' * 5000,
    "launches": "reduction<<<1, 1>>>(" * 3000,
    "late functions of a type that is late": f"{HEAD} {{"
    + "".join(f"f{n}(n);" for n in range(1500))
    + "}\nstruct P { int n; };"
    + "".join(f"P f{n}(int n) {{}}\n" for n in range(1500)),
    "names": "std::sort reduction " * 3000,
    "letters": "é" * 60_000,
    "zero bytes": "\0" * 60_000,
    "quotes": '"' * 60_000,
}


@pytest.mark.parametrize("size", [6_000, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_takes_bounded_time(name: str, size: int | None) -> None:
    begin = time.process_time()
    for wanted in (CUDA, OPENMP):
        assert len(mended(HOSTILE[name][:size], wanted).done) < 30
    assert time.process_time() - begin < 20  # seconds; a second at most on a quiet machine


@pytest.mark.parametrize("levels", [190, 800])
def test_calls_deep_in_blocks_take_little_time(levels: int) -> None:
    calls = "{" * levels + "reduction(x, total, n);\n" * levels + "}" * levels
    begin = time.process_time()
    found = mended(f"{HEAD[11:]} {{\n{calls}}}\n", OPENMP)
    assert time.process_time() - begin < 2  # seconds; a tenth on a quiet machine
    assert bool(found.done) == (levels < 200)
