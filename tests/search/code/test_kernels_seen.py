"""Kernels are seen whatever stands before them and in their heads."""

import pytest

from regraph_kg.search.code.facts import facts_of

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
