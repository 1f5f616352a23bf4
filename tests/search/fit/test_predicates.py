"""Each predicate holds for one code and not for another."""

import pytest

from regraph_kg.cpp.facts import facts_of
from regraph_kg.search.fit.predicates import PREDICATES

X = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
LOOP = "for (int i=0;i<n;++i)"
NEST = "for (int i=0;i<n;++i) for (int j=0;j<n;++j)"
COPY = f"{LOOP} c[i] = a[i];"
SUM = f"float s = 0; {LOOP} s += a[i]; c[0] = s;"
SWEEP = "for (int i=1;i<n-1;++i) c[i] = d[i-1] + d[i+1];"
MATMUL = f"{NEST} {{ float s=0; for (int p=0;p<n;++p) s += a[i*n+p]*d[p*n+j]; c[i*n+j]=s; }}"
TREE = "for (int w=128;w>0;w/=2) { if (threadIdx.x < w) t[threadIdx.x] += t[threadIdx.x+w]; B }"
TREE = "__shared__ float t[256]; " + TREE.replace("B", "__syncthreads();")
TILE = "__shared__ float t[256]; for (int p=0;p<n;p+=256) { t[threadIdx.x]=a[p]; __syncthreads(); }"


def host(body: str, head: str = "") -> str:
    parameters = "const float* a, const int* b, float* c, float* d, int n"
    return f"{head} void f({parameters}) {{ {body} }}"


def omp(directive: str, body: str = COPY) -> str:
    return host(f"\n#pragma omp {directive}\n{body}\n")


def kernel(body: str, launch: str = "k<<<n / 256, 256>>>(a, c, n);", head: str = "") -> str:
    parameters = "const float* a, float* c, int n"
    return (
        f"__global__ void {head} k({parameters}) {{ {X} {body} }}\n"
        f"void f({parameters}) {{ {launch} }}"
    )


ONE = kernel("c[i] = a[i];")  # negative for most of CUDA
CASES = {
    "loop": (host(COPY), host("c[0] = 1;")),
    "nest": (host(f"{NEST} c[i*n+j] = 0;"), host(COPY)),
    "perfect_nest": (host(f"{NEST} c[i*n+j] = 0;"), host(f"{LOOP} {{ c[i]=0; {SUM} }}")),
    "library_loop": (host("std::transform(a, a + n, c, g);"), host(COPY)),
    "library_reduction": (host("c[0] = std::accumulate(a, a + n, 0);"), host("std::copy(a);")),
    "sorting": (host("std::sort(c, c + n);"), host(COPY)),
    "collapsible_nest": (host(f"{NEST} c[i*n+j] = 0;"), host(COPY)),
    "reduction": (host(SUM), host(COPY)),
    "inner_reduction": (host(MATMUL), host(COPY)),
    "shared_reduction": (host(SUM), host(MATMUL)),
    "shared_array_reduction": (host(f"{LOOP} c[(int)a[i]] += 1;"), host(SUM)),
    "divided_task": (host(MATMUL), host(f"{LOOP} for (int k=1;k<n;++k) c[i] = a[k]*c[i] + k;")),
    "outer_reduction": (host(SUM), host(COPY)),
    "time_loop": (host(f"for (int s=0;s<9;++s) {{ {SWEEP} std::swap(c, d); }}"), host(SWEEP)),
    "indirect": (host(f"{LOOP} c[i] = a[b[i]];"), host(COPY)),
    "reuse": (host(MATMUL), host(COPY)),
    "strided": (host(f"{LOOP} c[i] = a[i*n];"), host(COPY)),
    "stride_one_outside": (host(f"{NEST} c[j*n+i] = 0;"), host(f"{NEST} c[i*n+j] = 0;")),
    "contiguous": (host(COPY), host(f"{LOOP} c[i] = a[i*n];")),
    "interleaved": (host(f"{LOOP} c[i] = a[3*i];"), host(f"{LOOP} c[i] = a[i*n];")),
    "branch_in_loop": (host(f"{LOOP} {{ if (a[i]>0) c[i]=1; }}"), host(f"if (n) {COPY}")),
    "costly_arithmetic": (host(f"{LOOP} c[i] = a[i] / n;"), host(f"{LOOP} c[i] = a[i] * n;")),
    "math_calls": (host(f"{LOOP} c[i] = exp(a[i]);"), host(COPY)),
    "invariant_access": (host(f"{LOOP} c[0] += a[i];"), host(COPY)),
    "adjacent_loops": (host(COPY + COPY), host(f"{COPY} for (int i=0;i<9;++i) d[i] = 0;")),
    "several_results": (host(f"{LOOP} {{ c[i] = 1; d[i] = 2; }}"), host(COPY)),
    "copies_back": (
        host(f"for (int s=0;s<9;++s) {{ {SWEEP} {LOOP} d[i] = c[i]; }}"),
        host(f"for (int s=0;s<9;++s) {{ {SWEEP} std::swap(c, d); }}"),
    ),
    "swaps": (host(f"for (int s=0;s<9;++s) {{ {SWEEP} std::swap(c, d); }}"), host(SWEEP)),
    "while_loop": (host("while (n--) c[n] = 0;"), host(COPY)),
    "unrolled_loop": (host("for (int i=0;i<n;i+=4) c[i] = 0;"), host(COPY)),
    "tiled_nest": (
        host("for (int t=0;t<n;t+=64) for (int i=t;i<t+64;++i) c[i] = 0;"),
        host(f"{NEST} c[i*n+j] = 0;"),
    ),
    "several_accumulators": (
        host("float p,q,r,s; for (int i=0;i<n;i+=4) { p+=a[i]; q+=a[i+1]; r+=a[i+2]; s+=a[i+3]; }"),
        host(SUM),
    ),
    "plain_store": (host(COPY), host(f"{LOOP} c[i] += 1;")),
    "small_elements": ("void f(char* s, int n) { while (n--) g(s[n]); }", host(COPY)),
    "recursive": ("int f(int n) { return n ? f(n - 1) : 0; }", host(COPY)),
    "own_array": (host("float t[9]; t[0] = 1;"), host(COPY)),
    "plain_pointers": (host(COPY), host("float* __restrict p = c;")),
    "multiply_add": (host(f"{LOOP} c[i] += a[i] * d[i];"), host(COPY)),
    "parallel_region": (omp("parallel for"), host(COPY)),
    "worksharing_loop": (omp("parallel for"), omp("simd")),
    "loop_of_region": (omp("for"), omp("parallel for")),
    "unshared_parallel_loop": (host(COPY), omp("parallel for")),
    "unshared_scan": (host(f"{LOOP} c[i] = c[i-1] + a[i];"), host(COPY)),
    "region_in_loop": (
        host(f"for (int s=0;s<9;++s) {{\n#pragma omp parallel for\n{COPY} }}"),
        omp("parallel for"),
    ),
    "several_regions": (omp("parallel for") + omp("parallel for"), omp("parallel for")),
    "barrier": (omp("parallel", f"{{\n#pragma omp for\n{COPY} }}"), omp("parallel for")),
    "vector_loop": (host(COPY), host(f"{LOOP} c[b[i]] += 1;")),
    "unvectorized_loop": (host(COPY), omp("simd")),
    "intrinsics": (host("_mm256_storeu_ps(c, x);"), host(COPY)),
    "collapse": (omp("parallel for collapse(2)"), omp("parallel for")),
    "schedule": (omp("parallel for schedule(static)"), omp("parallel for")),
    "reduction_clause": (omp("parallel for reduction(+:s)"), omp("simd reduction(+:s)")),
    "array_reduction": (
        omp("parallel for reduction(+ : c[:n])"),
        omp("parallel for reduction(+:s)"),
    ),
    "atomic": (omp("atomic", "c[0] += 1;"), host(COPY)),
    "critical": (omp("critical", "c[0] += 1;"), host(COPY)),
    "tasks": (omp("task", "g(c);"), omp("parallel for")),
    "bound_threads": (omp("parallel for proc_bind(close)"), omp("parallel for")),
    "prefetch": (host(f"{LOOP} __builtin_prefetch(&a[b[i]]);"), host(COPY)),
    "streaming": (omp("simd nontemporal(c)"), omp("simd")),
    "aligned": (host("alignas(64) float t[9];"), host("float t[9];")),
    "per_thread_array": (
        omp("parallel", "c[omp_get_thread_num()] = 1;"),
        omp("parallel", "c[0]=1;"),
    ),
    "region_array": (omp("parallel", "{ float t[9]; t[0] = 1; }"), host("float t[9];")),
    "threads": (ONE, ONE.replace("n / 256, 256", "1, 1")),
    "one_thread_loop": (host(COPY), ONE),
    "kernel_loop": (kernel("for (int p=0;p<n;++p) c[p] = a[p];"), ONE),
    "grid_stride": (kernel("for (;i<n;i+=gridDim.x*blockDim.x) c[i] = 0;"), ONE),
    "several_launches": (kernel("c[i] = 0;", "k<<<9, 9>>>(a); k<<<9, 9>>>(a);"), ONE),
    "shared_memory": (kernel(TILE), ONE),
    "block_tree": (kernel(TREE), kernel(TILE)),
    "tile_loop": (kernel(TILE), kernel(TREE)),
    "atomics": (kernel("atomicAdd(&c[0], a[i]);"), ONE),
    "global_atomic": (kernel("atomicAdd(&c[0], a[i]);"), ONE),
    "shared_atomic": (
        kernel("__shared__ int t[9]; atomicAdd(&t[0], 1);"),
        kernel("atomicAdd(&c[0], a[i]);"),
    ),
    "one_address": (kernel("atomicAdd(&c[0], a[i]);"), kernel("atomicAdd(&c[i], a[i]);")),
    "shuffles": (kernel("c[i] = __shfl_down_sync(~0, a[i], 1);"), ONE),
    "scattered": (kernel("c[i * n] = a[i];"), ONE),
    "coalesced": (ONE, kernel("c[i * n] = a[i * n];")),
    "kernel_reuse": (kernel("for (int p=0;p<n;++p) c[i] += a[p];"), ONE),
    "uniform_input": (kernel("c[i] = a[0] + a[1];"), ONE),
    "bank_conflict": (
        kernel("__shared__ float t[32][32]; t[threadIdx.x][0] = a[i];"),
        kernel("__shared__ float t[32][33]; t[0][threadIdx.x] = a[i];"),
    ),
    "divergent": (kernel("if (a[i] > 0) c[i] = 1;"), kernel("if (i < n) c[i] = 1;")),
    "read_only_input": (ONE, "__global__ void k(float* c) { c[threadIdx.x] = 1; }"),
    "read_only_loads": (kernel("c[i] = __ldg(&a[i]);"), ONE),
    "vector_types": (kernel("float4 v; c[i] = v.x;"), ONE),
    "launch_bounds": (kernel("c[i] = 1;", head="__launch_bounds__(256)"), ONE),
    "unrolled": (kernel("\n#pragma unroll\nfor (int p=0;p<4;++p) c[p] = 0;"), ONE),
    "fast_math": (kernel("c[i] = __expf(a[i]);"), ONE),
    "kernel_division": (kernel("c[i] /= a[i];"), kernel("c[i] = a[i] / 2; c[i / n] = 0;")),
    "repeated_launch": (
        ONE + " void g(float* c, int n) { for (int s=0;s<9;++s) f(c, c, n); }",
        ONE,
    ),
    "fused": (kernel("c[i] = fmaf(a[i], 2, 1);"), ONE),
    "async_copy": (kernel("__pipeline_memcpy_async(&c[i], &a[i], 4);"), ONE),
    "tensor_cores": (kernel("wmma::mma_sync(x, y, z, x);"), ONE),
    "constant_memory": ("__constant__ float t[9];" + ONE, ONE),
    "transfers": (kernel("c[i]=1;", "cudaMemcpy(d, a, n, cudaMemcpyHostToDevice);"), ONE),
    "allocations": (kernel("c[i]=1;", "float* d; cudaMalloc(&d, n);"), ONE),
    "kept_buffers": (kernel("c[i]=1;", "static float* d; cudaMalloc(&d, n);"), ONE),
    "pinned": (kernel("c[i]=1;", "cudaMallocHost(&p, n);"), ONE),
    "managed": (kernel("c[i]=1;", "cudaMallocManaged(&p, n);"), ONE),
    "streams": (kernel("c[i]=1;", "cudaStreamCreate(&s);"), ONE),
}


def test_every_predicate_has_a_case() -> None:
    assert CASES.keys() == PREDICATES.keys()
    assert all(one.what for one in PREDICATES.values())


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_predicate_holds_or_not(name: str) -> None:
    yes, no = map(facts_of, CASES[name])
    assert (PREDICATES[name].holds(yes), PREDICATES[name].holds(no)) == (True, False)


def test_what_is_not_known() -> None:
    unknown = facts_of(host(f"{LOOP} c[b[i]] = a[i];"))
    assert PREDICATES["unshared_parallel_loop"].holds(unknown) is None
    assert PREDICATES["outer_reduction"].holds(facts_of(host(MATMUL))) is None
    broken = facts_of("void f( {")
    assert PREDICATES["nest"].holds(broken) is None


RUN = "void f(const float* a, float* c, int n) { k<<<n / 256, 256>>>(a, c, n); }"
HEAD = "__global__ void k(const float* a, float* c, int n) {"
GROUP, OF_GROUP = ("__syncthreads()", "cg::sync(g)"), ("__syncthreads()", "g.sync()")
MINE = "blockIdx.x * blockDim.x + threadIdx.x"


@pytest.mark.parametrize(
    "code",
    [
        f"#define ME ({MINE})\n{HEAD} int i = ME; c[i] = a[i]; }}",
        f"#define EACH(i, n) for (int i = {MINE}; i < n;)\n{HEAD} EACH(i, n) {{ c[i] = 0; }} }}",
        f"__device__ int me() {{ return {MINE}; }} {HEAD} int i = me(); c[i] = a[i]; }}",
        f"{HEAD} auto g = cg::this_thread_block(); int i = g.thread_rank(); c[i] = a[i]; }}",
    ],
)
def test_a_thread_number_may_come_from_elsewhere(code: str) -> None:
    facts = facts_of(f"{code}\n{RUN}")
    assert PREDICATES["threads"].holds(facts)
    for name in ("coalesced", "scattered", "kernel_reuse", "uniform_input"):
        assert PREDICATES[name].holds(facts) is None
    assert not PREDICATES["one_thread_loop"].holds(facts)


def test_threads_are_not_known_where_none_is_seen_and_not_there_where_one_is_launched() -> None:
    code = f"{HEAD} int i = from_a_header(); c[i] = a[i]; }} {RUN}"
    assert PREDICATES["threads"].holds(facts_of(code)) is None
    assert PREDICATES["threads"].holds(facts_of(code.replace("n / 256, 256", "1, 1"))) is False


@pytest.mark.parametrize(
    "body",
    [
        "for (int z = 0; z < n; ++z, i += n) c[i] = a[i - 1] + a[i + 1];",
        "for (int z = 0; z < n; ++z) { c[i] = a[i - 1] + a[i + 1]; i += n; }",
        "const float* p = a + i; for (int z = 0; z < n; ++z, p += n) c[z] = p[-1] + p[1];",
    ],
)
def test_the_stride_of_an_index_that_moves_in_a_loop_is_not_known(body: str) -> None:
    facts = facts_of(f"{HEAD} int i = {MINE}; {body} }} {RUN}")
    for name in ("coalesced", "scattered"):
        assert PREDICATES[name].holds(facts) is None, name


def test_a_clamped_index_that_began_with_data_is_indirect() -> None:
    clamped = "int b = (int)a[i]; if (b > 255) b = 255; atomicAdd(&c[b], 1);"
    facts = facts_of(f"{HEAD} int i = {MINE}; {clamped} }} {RUN}")
    assert {access.thread for access in facts.outside if access.array == "c"} == {"indirect"}
    assert PREDICATES["scattered"].holds(facts) is False


def test_a_fraction_of_a_value_is_a_product_and_an_index_is_none() -> None:
    values = "float v = a[i], u = d[i]; c[i] = 0.5f * v + 0.1f * u;"
    assert PREDICATES["multiply_add"].holds(facts_of(host(f"{LOOP} {{ {values} }}")))
    assert not PREDICATES["multiply_add"].holds(facts_of(host(f"{LOOP} c[2 * i + 1] = a[i];")))


def test_a_scan_by_each_thread_of_a_kernel_is_none_by_one() -> None:
    scan = f"{HEAD} int i = {MINE}; for (int k = 1; k < n; ++k) c[i + k] = c[i + k - 1] + a[k]; }}"
    unshared = PREDICATES["unshared_scan"]
    assert unshared.holds(facts_of(f"{scan} {RUN}")) is False
    assert unshared.holds(facts_of(f"{scan} {RUN.replace('n / 256, 256', '1, 1')}")) is True
    first = "if (threadIdx.x == 0) for (int k = 1; k < n; ++k) c[k] = c[k - 1] + a[k]; }"
    assert unshared.holds(facts_of(f"{HEAD} int i = {MINE}; {first} {RUN}")) is True


def test_threads_are_those_of_the_kernel_that_does_most() -> None:
    clear = f"__global__ void clear(float* c) {{ int i = {MINE}; if (i < 99) c[i] = 0; }}"
    count = f"{HEAD} {LOOP} c[i] += a[i]; }}"
    mine = f"{HEAD} int i = {MINE}; if (i < n) c[i] += a[i]; }}"

    def holds(kernel: str, launch: str) -> bool | None:
        code = f"{clear} {kernel} void f(int n) {{ clear<<<9, 9>>>(c); k{launch}(a, c, n); }}"
        return PREDICATES["threads"].holds(facts_of(code))

    assert holds(count, "<<<1, 1>>>") is False
    assert holds(count, "<<<9, 9>>>") is None
    assert holds(mine, "<<<9, 9>>>") is True
    assert holds(f"{mine} {count.replace('k(', 'last(')}", "<<<9, 9>>>") is True


@pytest.mark.parametrize(
    ("helper", "use", "holds", "unknown"),
    [
        ("float h(const float* p) { return p[1]; }", "h(a + i)", "threads", "kernel_reuse"),
        ("float h(float* p) { return atomicAdd(p, 1); }", "h(c)", "atomics", "global_atomic"),
        ("float h(float v) { return __shfl_down_sync(~0, v, 9); }", "h(a[i])", "shuffles", ""),
        ("float h(float v) { while (v) --v; return v; }", "h(a[i])", "kernel_loop", ""),
        ("float h(float v) { return fmaf(v, v, v); }", "h(a[i])", "fused", ""),
        (f"float h() {{ {TREE} return t[0]; }}", "h()", "block_tree", ""),
        (f"float h() {{ {TREE} return t[0]; }}".replace(*GROUP), "h()", "block_tree", ""),
        (f"float h() {{ {TREE} return t[0]; }}".replace(*OF_GROUP), "h()", "block_tree", ""),
    ],
)
def test_a_helper_belongs_to_its_kernel(helper: str, use: str, holds: str, unknown: str) -> None:
    facts = facts_of(f"__device__ {helper}\n{HEAD} int i = {MINE}; c[i] = {use}; }} {RUN}")
    assert facts.read_whole
    assert PREDICATES[holds].holds(facts)
    assert not unknown or PREDICATES[unknown].holds(facts) is None


def test_a_copy_that_does_not_say_its_way_is_not_known() -> None:
    for way, known in (
        ("cudaMemcpyDefault", None),
        ("way", None),
        ("cudaMemcpyHostToDevice", True),
    ):
        code = kernel("c[i] = 0;", f"cudaMemcpy(c, a, n, {way}); k<<<n, 9>>>(a, c, n);")
        assert PREDICATES["transfers"].holds(facts_of(code)) is known


@pytest.mark.parametrize(
    ("code", "holds"),
    [
        ("int f(int n) { return n ? g(n) : 0; } int g(int n) { return f(n - 1); }", True),
        ("void f() { std::function<int(int)> h = [&](int k) { return k ? h(k - 1) : 0; }; }", True),
        ("void f() { auto h = [](auto me, int k) -> int { return me(me, k - 1); }; }", True),
        ("struct T { T* l; int sum() { return this->sum(); } };", True),
        ("struct T { T* l; int sum() { return l->sum(); } };", None),
        ("int g(int n) { return n; } int f(int n) { return g(n) + g(g(n)); }", False),
    ],
)
def test_recursion_is_a_circle_of_calls(code: str, holds: bool | None) -> None:
    assert PREDICATES["recursive"].holds(facts_of(code)) is holds
