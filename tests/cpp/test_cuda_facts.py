"""What is read of kernels, launches and the host's calls for them."""

import pytest

from regraph_kg.cpp.cuda_facts import KernelFacts
from regraph_kg.cpp.facts import facts_of

X = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
Y = "int j = blockIdx.y * blockDim.y + threadIdx.y;"


def kernel(body: str, head: str = "") -> KernelFacts:
    """The kernel with this body."""
    facts = facts_of(
        f"__global__ void {head} k(const float* a, const int* b, float* c, int n) {{ {body} }}"
    )
    assert facts.read_whole
    (one,) = facts.kernels
    return one


def test_axes_and_grid() -> None:
    assert kernel(f"{X} c[i] = a[i];").axes == ("x",)
    assert kernel(f"{X} {Y} c[j * n + i] = a[i];").axes == ("x", "y")
    assert kernel("for (int i = 0; i < n; ++i) c[i] = a[i];").axes == ()
    assert kernel(f"{X} for (; i < n; i += gridDim.x * blockDim.x) c[i] = 0;").grid_stride
    assert not kernel(f"{X} c[i] = a[i];").grid_stride


@pytest.mark.parametrize(
    ("body", "scattered"),
    [
        ("c[i] = a[i];", ()),
        ("c[i * n] = a[i];", ("c",)),
        ("c[i] = a[4 * i];", ("a",)),
        ("c[i] = a[b[i]];", ()),
        ("c[i] = a[7];", ()),
        ("for (int p = 0; p < n; ++p) c[i] += a[p * n + i];", ()),
        ("for (int p = 0; p < n; ++p) c[i] += a[i * n + p];", ("a",)),
    ],
)
def test_accesses_of_neighbouring_threads(body: str, scattered: tuple[str, ...]) -> None:
    assert kernel(f"{X} {body}").scattered == scattered


def test_data_that_threads_share() -> None:
    product = f"{X} {Y} for (int p=0;p<n;++p) c[j*n+i] += a[j*n+p] * a[p*n+i];"
    assert kernel(product).reuse == ("a",)
    assert kernel(f"{X} c[i] = a[i];").reuse == ()
    assert kernel(f"{X} for (int p=0;p<n;++p) c[i] += a[p];").uniform == ("a",)
    assert kernel(f"{X} c[i] = a[i];").uniform == ()


def test_shared_memory_and_its_banks() -> None:
    head = "__shared__ float t[32][32];"
    by_column = kernel(f"{head} t[threadIdx.x][threadIdx.y] = a[0]; __syncthreads();")
    assert by_column.shared == ("t[32][32]",)
    assert by_column.barriers == 1
    assert by_column.conflicts == ("t",)
    padded = kernel("__shared__ float t[32][33]; t[threadIdx.x][threadIdx.y] = a[0];")
    assert padded.conflicts == ()
    by_row = kernel(f"{head} t[threadIdx.y][threadIdx.x] = a[0];")
    assert by_row.conflicts == ()
    assert not by_row.barriers
    assert kernel("for (int i=0;i<n;++i) { __syncthreads(); }").barrier_in_loop
    assert not by_column.barrier_in_loop


@pytest.mark.parametrize(
    ("array", "element", "sure"),
    [
        ("t[32][32]", "t[threadIdx.x][threadIdx.y]", True),
        ("t[1024]", "t[threadIdx.x * 32]", True),
        ("t[32][N]", "t[threadIdx.x][threadIdx.y]", False),  # N may be odd
        ("t[32][2]", "t[threadIdx.x][0]", False),  # of bytes: two lanes a word
        ("t[32][64]", "t[threadIdx.x][threadIdx.x + 1]", False),  # a diagonal
    ],
)
def test_conflicts_are_sure_where_the_text_tells_all_lengths(
    array: str, element: str, sure: bool
) -> None:
    found = kernel(f"__shared__ float {array}; {element} = a[0];")
    assert found.conflicts == ("t",)
    assert found.sure_conflicts == (("t",) if sure else ())


def test_atomic_updates() -> None:
    one = kernel(f"{X} atomicAdd(&c[0], a[i]);")
    assert (one.global_atomics, one.shared_atomics, one.one_address) == (1, 0, True)
    two = kernel(f"{X} __shared__ float t[9]; atomicAdd(&t[b[i]], 1); atomicAdd(&c[b[i]], 1);")
    assert (two.global_atomics, two.shared_atomics, two.one_address) == (1, 1, False)
    assert kernel(f"{X} atomicAdd(c, a[i]);").one_address
    assert not kernel(f"{X} c[i] = a[i];").global_atomics


def test_threads_of_a_warp_diverge_by_their_number() -> None:
    assert kernel("if (threadIdx.x % 2) c[0] = 1;").divergent
    assert not kernel(f"{X} if (i >= n) return; c[i] = exp(a[i]);").divergent


def test_inputs_that_are_restricted() -> None:
    code = "__global__ void k(const float* __restrict__ a, float* __restrict__ c) { c[0] = a[0]; }"
    (one,) = facts_of(code).kernels
    assert one.read_only
    assert one.inputs == ("a",)


def test_launches() -> None:
    facts = facts_of(
        "__global__ void k(int n) {}\n"
        "void f(int n) { k<<<1, 1>>>(n); k<<<dim3(1, 1), dim3(1)>>>(n); dim3 one(1), many(16, 16);"
        " k<<<one, many>>>(n); const int g = (n + 255) / 256;"
        " for (int s=0;s<n;++s) k<<<g, 256, 0, stream>>>(n); }"
    )
    assert [launch.one_thread for launch in facts.launches] == [True, True, False, False]
    last = facts.launches[-1]
    assert (last.kernel, last.grid, last.block) == ("k", "(n + 255) / 256", "256")
    assert last.in_loop
    assert last.stream
    assert not facts.launches[0].in_loop
    assert not facts.launches[0].stream
    assert facts.loops[0].launches
    assert facts.loops[0].time


def test_the_host() -> None:
    host = facts_of(
        "__constant__ float t[9]; static float* kept; void f(float* a, int n) { float *d, *p;"
        " cudaMalloc(&d, n); cudaMalloc(&kept, n); cudaMallocHost(&p, n); cudaStreamCreate(&s);"
        " cudaMemcpyAsync(d, a, n, cudaMemcpyHostToDevice, s);"
        " for (;;) cudaMemcpy(d, d, n, cudaMemcpyDeviceToDevice);"
        " cudaMemcpy(a, d, n, cudaMemcpyDeviceToHost); cudaMallocManaged(&d, n); }"
    ).host
    assert (host.allocations, host.to_device, host.on_device, host.to_host) == (2, 1, 1, 1)
    assert (host.in_loop, host.asynchronous, host.streams) == (1, 1, 1)
    assert host.pinned
    assert host.managed
    assert host.kept
    assert host.constants == ("t",)
    none = facts_of("void f(float* a) { float* d; cudaMalloc(&d, 4); a[0] = 1; }").host
    assert not any((none.kept, none.pinned, none.managed, none.constants, none.to_device))


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 256) c[i] = 0;", "256"),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = 0;", "n"),
        ("int i = threadIdx.x; if (i < n) c[i] = 0;", ""),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = 0; c[1] = 0;", ""),
    ],
)
def test_the_guard_of_a_thread_number_tells_how_many_there_are(body: str, bound: str) -> None:
    assert kernel(body).guard == bound


FUNCTOR = "struct Max { __device__ float operator()(float a, float b) const { return a + b; } };"


@pytest.mark.parametrize(
    ("before", "head"),
    [
        (FUNCTOR, "__global__ void"),
        ("", "__global__ void __cluster_dims__(2, 1, 1)"),
        ("", "__global__ __maxnreg__(64) void"),
        ("", "__global__ void __block_size__((256, 1, 1), (2, 1, 1))"),
        ("struct A { operator float() const { return 0; } ~A() {} };", "__global__ void"),
    ],
)
def test_a_kernel_is_seen_behind_a_functor_and_with_any_attribute(before: str, head: str) -> None:
    body = "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"
    launch = "void f(const float* x, float* y, int n) { k<<<n / 256, 256>>>(x, y, n); }"
    facts = facts_of(f"{before} {head} k(const float* x, float* y, int n) {body} {launch}")
    assert facts.read_whole
    assert [kernel.name for kernel in facts.kernels] == ["k"]
