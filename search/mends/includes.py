"""Headers of the standard library, of OpenMP and of CUDA that code uses and does not include.

A table gives the header of each common name. nvcc includes `cuda_runtime.h` by itself, and with it
C's mathematics and memory. Not covered: rarer names; headers that another header includes, which
one more line does not harm.
"""

import itertools
import re

from regraph_kg.search.code.tokens import normalized

_STD: dict[str, str] = {
    "algorithm": "sort stable_sort nth_element partial_sort copy copy_n fill fill_n generate"
    " transform for_each find find_if count count_if min max minmax min_element max_element clamp"
    " reverse unique lower_bound upper_bound binary_search all_of any_of none_of rotate merge"
    " partition is_sorted swap_ranges",
    "array": "array",
    "atomic": "atomic atomic_ref memory_order_relaxed",
    "bitset": "bitset",
    "chrono": "chrono",
    "cmath": "sqrt pow exp log log2 log10 sin cos tan atan2 atan fabs floor ceil round fma hypot"
    " cbrt isnan isfinite lround trunc",
    "complex": "complex polar conj",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdlib": "malloc free calloc aligned_alloc",
    "cstring": "memcpy memset memmove memcmp strlen",
    "cstddef": "size_t ptrdiff_t",
    "deque": "deque",
    "execution": "execution",
    "functional": "function plus multiplies greater less bit_xor bit_and bit_or logical_and",
    "iostream": "cout cerr endl",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr make_unique make_shared",
    "mutex": "mutex lock_guard unique_lock",
    "numeric": "accumulate reduce transform_reduce inclusive_scan exclusive_scan partial_sum iota"
    " inner_product gcd adjacent_difference",
    "queue": "queue priority_queue",
    "set": "set multiset",
    "stack": "stack",
    "string": "string to_string",
    "thread": "thread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "swap move pair make_pair forward exchange",
    "vector": "vector",
}
"""Header -> names of namespace std."""
_C: dict[str, str] = {
    "assert.h": "assert",
    "float.h": "FLT_MAX FLT_MIN DBL_MAX DBL_MIN FLT_EPSILON DBL_EPSILON",
    "limits.h": "INT_MAX INT_MIN UINT_MAX LLONG_MAX ULLONG_MAX LONG_MAX CHAR_BIT",
    "math.h": "sqrt sqrtf pow powf exp expf log logf sin sinf cos cosf fabs fabsf floor floorf ceil"
    " ceilf fma fmaf fmax fmaxf fmin fminf INFINITY M_PI",
    "omp.h": "omp_get_thread_num omp_get_num_threads omp_get_max_threads omp_set_num_threads"
    " omp_get_wtime omp_get_num_procs omp_in_parallel",
    "stddef.h": "size_t ptrdiff_t",
    "stdint.h": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t"
    " UINT64_MAX INT64_MAX UINT32_MAX INT32_MAX SIZE_MAX",
    "stdio.h": "printf fprintf",
    "stdlib.h": "malloc free calloc aligned_alloc abs",
    "string.h": "memcpy memset memmove memcmp",
}
"""Header -> names of C."""
_NVCC = frozenset({"math.h", "stddef.h", "stdlib.h", "string.h", "cmath", "cstdlib", "cstddef"})
_SAME = {
    "assert.h": "cassert",
    "float.h": "cfloat",
    "limits.h": "climits",
    "math.h": "cmath",
    "stddef.h": "cstddef",
    "stdint.h": "cstdint",
    "stdio.h": "cstdio",
    "stdlib.h": "cstdlib",
    "string.h": "cstring",
}
"""C header -> C++ header, which declares the names of C, too."""
_OF_STD = {name: header for header, names in _STD.items() for name in names.split()}
_OF_C = {name: header for header, names in _C.items() for name in names.split()}
_INCLUDED = re.compile(r"^#include\s*[<\"]\s*([^>\"\n]+?)\s*[>\"]", re.MULTILINE)
_VECTORS = re.compile(r"(?:_mm(?:256|512)?_\w+|__m(?:128|256|512)[id]?)\Z")
_MEMBER = frozenset({".", "->"})
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_NO_TYPES = frozenset(
    {
        *("return", "else", "case", "throw", "new", "delete", "do", "and", "or", "not", "goto"),
        *("const", "constexpr", "static", "extern", "inline", "typedef", "unsigned", "signed"),
        *("struct", "__restrict__", "using", "typename", "volatile", "sizeof", "co_return"),
    }
)


def included(code: str, *, on_gpu: bool) -> tuple[str, str] | None:
    """The code with missing headers in front, and a note; None where none is missing."""
    lines = normalized(code)
    present = {name.replace(" ", "") for name in _INCLUDED.findall(lines)}
    if "bits/stdc++.h" in present:
        return None
    tokens = re.sub(r"^#include.*$", "", lines, flags=re.MULTILINE).split()
    needed = _needed(tokens, on_gpu=on_gpu, library=bool(present))
    available = present | needed
    lacking = sorted(name for name in needed - present if _SAME.get(name) not in available)
    if not lacking:
        return None
    named = [f"<{name}>" for name in lacking]
    return "".join(f"#include {name}\n" for name in named) + code, f"included {', '.join(named)}"


def _needed(tokens: list[str], *, on_gpu: bool, library: bool) -> set[str]:
    """The headers of all names; `library`: a header is included, which declares `size_t`."""
    everywhere = any(
        tokens[at : at + 3] == ["using", "namespace", "std"] for at in range(len(tokens))
    )
    declared = _declared(tokens)
    headers: set[str] = set()
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else ""
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        if before == "::":
            scope = tokens[at - 2] if at > 1 else ""
            headers |= {_OF_STD[token]} if scope == "std" and token in _OF_STD else set()
        elif after == "::":
            headers |= _of_library(token)
        elif before not in _MEMBER and token not in declared:
            headers |= _of_plain(token, everywhere=everywhere and after in ("(", "<"))
    if library:
        headers -= {"stddef.h", "cstddef"}
    return headers - _NVCC if on_gpu else headers


def _of_library(namespace: str) -> set[str]:
    headers = {"cub": "cub/cub.cuh", "cooperative_groups": "cooperative_groups.h"}
    return {headers[namespace]} if namespace in headers else set()


def _of_plain(token: str, *, everywhere: bool) -> set[str]:
    if everywhere and token in _OF_STD:
        return {_OF_STD[token]}
    if token in _OF_C:
        return {_OF_C[token]}
    if token == "cooperative_groups":
        return {"cooperative_groups.h"}
    return {"immintrin.h"} if _VECTORS.match(token) else set()


def _declared(tokens: list[str]) -> set[str]:
    """Names that the code declares: those behind a type or `#define`."""
    return {
        name
        for before, name in itertools.pairwise(tokens)
        if before == "#define" or (_NAME.match(before) and before not in _NO_TYPES)
    }
